"""Files are written as a whole or not at all, and what a person wrote is not replaced without being asked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from treadle.core.errors import UsageError
from treadle.core.files import (
    check_may_write,
    from_here,
    is_unedited,
    prepare,
    seal,
    without_seal,
    write_sealed,
    write_whole,
)


@pytest.mark.parametrize("suffix", [".py", ".abs", ".svg", ".dot"])
def test_a_sealed_file_is_replaced_and_an_edited_one_is_not(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"made{suffix}"
    write_sealed(path, "one\n", "--write")
    write_sealed(path, "two\n", "--write")
    assert without_seal(path.read_text()) == "two\n"
    path.write_text(path.read_text().replace("two", "mine"))
    with pytest.raises(UsageError, match=r"edited by hand.*--force.*--write"):
        write_sealed(path, "three\n", "--write")
    assert "mine" in path.read_text()
    write_sealed(path, "three\n", "--write", force=True)
    assert without_seal(path.read_text()) == "three\n"


def test_a_file_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "test_mine.py"
    path.write_text("mine\n")
    with pytest.raises(UsageError, match="not written by treadle"):
        check_may_write(path, "--output")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not written by treadle"):
        check_may_write(path, "--output")
    with pytest.raises(UsageError, match="is a folder; --output names a file"):
        check_may_write(tmp_path, "--output")


def test_text_added_below_the_seal_is_an_edit() -> None:
    assert is_unedited(seal("x = 1\n"))
    assert not is_unedited(seal("x = 1\n") + "y = 2\n")
    assert not is_unedited(seal("x = 1\n").replace("1", "2", 1))


def test_the_seal_of_earlier_versions_is_known() -> None:
    text = "x = 1\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert is_unedited(f"{text}\n\n# treadle unit, unedited: {digest}\n")


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "made.txt"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["made.txt"]


def test_what_is_prepared_and_not_published_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "made.txt"
    write_whole(path, "old")
    prepared = prepare(path, "new")
    assert path.read_text() == "old"
    prepared.discard()
    assert [entry.name for entry in tmp_path.iterdir()] == ["made.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_path_is_told_from_here_where_it_is_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert from_here(str(tmp_path / "shop" / "cart.py")) == os.path.join("shop", "cart.py")
    assert from_here("shop/cart.py") == "shop/cart.py"
    assert from_here(str(tmp_path.parent / "cart.py")) == str(tmp_path.parent / "cart.py")
