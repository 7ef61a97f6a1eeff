"""Rewritten code is kept on disk; a cache that is missing, broken or read-only changes nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from treadle.core.signed import kept_secret
from treadle.threads.instrument import chunks
from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.rewrite import rewrite

SOURCE = b"def f(o):\n    return o.x\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's secret is."""
    folder = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry per source that is really rewritten."""
    made: list[str] = []
    original = rewrite

    def counted(tree: Any) -> Any:
        made.append("rewritten")
        return original(tree)

    monkeypatch.setattr(chunks, "rewrite", counted)
    return made


def entries(root: Path) -> list[Path]:
    return [path for path in (root / ".treadle" / "cache").iterdir() if path.is_file()]


def test_second_time_nothing_is_rewritten(tmp_path: Path, compilations: list[str]) -> None:
    cache = CodeCache(tmp_path)
    first = chunks.compile_chunk(SOURCE, "a.py", None, cache)
    second = chunks.compile_chunk(SOURCE, "a.py", None, cache)
    assert compilations == ["rewritten"]
    assert second.rewritten == first.rewritten
    assert (tmp_path / ".treadle" / ".gitignore").read_text().endswith("*\n")


def test_other_source_or_other_file_is_another_entry(tmp_path: Path, compilations: list[str]) -> None:
    cache = CodeCache(tmp_path)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    chunks.compile_chunk(SOURCE, "b.py", None, cache)
    chunks.compile_chunk(SOURCE + b"\n", "a.py", None, cache)
    assert len(entries(tmp_path)) == len(compilations) == 3


@pytest.mark.parametrize("content", [b"", b"garbage", b"treadle rewritten code\n" + b"\0" * 60])
def test_broken_entry_is_made_again(tmp_path: Path, compilations: list[str], content: bytes) -> None:
    cache = CodeCache(tmp_path)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    (entry,) = entries(tmp_path)
    good = entry.read_bytes()
    entry.write_bytes(content)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    assert len(compilations) == 2
    assert entry.read_bytes() == good


def test_entry_cut_short_is_made_again(tmp_path: Path, compilations: list[str]) -> None:
    cache = CodeCache(tmp_path)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    (entry,) = entries(tmp_path)
    entry.write_bytes(entry.read_bytes()[:-10])
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    assert len(compilations) == 2


def test_cache_that_cannot_be_written_is_ignored(tmp_path: Path, compilations: list[str]) -> None:
    (tmp_path / ".treadle").write_text("a file where the folder should be")
    chunk = chunks.compile_chunk(SOURCE, "a.py", None, CodeCache(tmp_path))
    assert chunk.rewritten.co_filename == "a.py"
    assert (tmp_path / ".treadle").is_file()


def test_without_a_project_nothing_is_written(tmp_path: Path, compilations: list[str]) -> None:
    chunks.compile_chunk(SOURCE, "a.py", None, CodeCache(None))
    assert list(tmp_path.iterdir()) == []


def test_an_entry_that_somebody_else_wrote_is_not_loaded(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    compilations: list[str],
) -> None:
    """An archive or a repository may bring a cache along: its code must never run."""
    cache = CodeCache(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("somebody else")))
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("mine")))
    assert cache.load(entries(tmp_path)[0].name) is None


def test_an_entry_under_another_name_is_not_loaded(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    (entry,) = entries(tmp_path)
    assert cache.load(entry.name) is not None
    entry.rename(entry.with_name("0" * 64))
    assert cache.load("0" * 64) is None


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
def test_a_secret_that_others_can_read_is_none(own_folder: Path, tmp_path: Path) -> None:
    cache = CodeCache(tmp_path)
    chunks.compile_chunk(SOURCE, "a.py", None, cache)
    secret = own_folder / "treadle" / "key"
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.chmod(0o644)
    kept_secret.cache_clear()
    assert cache.load(entries(tmp_path)[0].name) is None
