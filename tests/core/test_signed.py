"""Files that are run when they are read: only what this user wrote under this very name is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.core.signed import SignedFiles, kept_secret

MAGIC = b"magic\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SignedFiles:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return SignedFiles(tmp_path / ".treadle" / "kept", MAGIC)


def test_what_was_saved_is_loaded_and_not_committed(files: SignedFiles) -> None:
    assert files.save("entry", b"body")
    assert files.load("entry") == b"body"
    assert files.folder is not None
    assert (files.folder.parent / ".gitignore").read_text().endswith("*\n")
    assert [file.name for file in files.folder.iterdir()] == ["entry"]  # nothing was left aside


def test_an_entry_that_was_changed_or_renamed_is_none(files: SignedFiles) -> None:
    files.save("entry", b"body")
    assert files.folder is not None
    content = (files.folder / "entry").read_bytes()
    (files.folder / "other").write_bytes(content)
    (files.folder / "entry").write_bytes(content[:-1] + b"Y")
    (files.folder / "short").write_bytes(MAGIC)
    assert [files.load(name) for name in ("entry", "other", "short", "missing")] == [None] * 4


def test_a_secret_that_others_can_read_is_none(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(bytes(32))
    file.chmod(0o644)
    assert kept_secret(file) is None
