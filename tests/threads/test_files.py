"""Files as shared state: what a pass rests on, and what a test leaves behind."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import re
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from tests.threads_primitives.running import execute
from treadle import Verdict
from treadle.core.errors import Unsupported
from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import files, kept_files
from treadle.threads.strands import current


def before_the_search() -> None:
    """What was written is old enough to be known as what was there before."""
    time.sleep(0.05)


def counted(path: Path, add: Callable[[], object]) -> Callable[[], None]:
    def test() -> None:
        path.write_text("0")
        treadle.parallel(add, add)
        assert path.read_text() == "2"

    return test


def test_a_lock_around_a_file_is_enough(tmp_path: Path) -> None:
    path, lock = tmp_path / "count", threading.Lock()

    def add() -> None:
        with lock:
            path.write_text(str(int(path.read_text()) + 1))

    result = treadle.check(counted(path, add))
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, 2)


def test_the_file_is_named_in_the_schedule(tmp_path: Path) -> None:
    path = tmp_path / "count"
    finding = treadle.check(counted(path, lambda: path.write_text(str(int(path.read_text() or 0) + 1)))).findings[0]
    assert "files['count']" in finding.explanation


LARGE = b"x" * (5 << 20)  # too much to be kept


@pytest.mark.parametrize("fails", [False, True])
def test_a_test_that_finds_what_it_left_is_no_pass_and_refused_where_it_fails(tmp_path: Path, fails: bool) -> None:
    path = tmp_path / "large"
    path.write_bytes(LARGE)

    def add() -> None:
        with path.open("ab") as file:
            file.write(b"x")
        if fails and path.stat().st_size > len(LARGE) + 1:
            raise ValueError(path)

    def test() -> None:
        treadle.parallel(add, lambda: None)

    said = r"test_files.py:\d+ looks at the file .*large, which an execution before"
    if fails:
        with pytest.raises(Unsupported, match=said):
            treadle.check(test)
    else:
        result = treadle.check(test)
        assert result.verdict is Verdict.CUT
        assert re.search(said, result.reason)


def test_a_test_that_takes_away_first_what_it_left_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "made"

    def make() -> None:
        if not path.exists():
            path.open("x").close()

    def test() -> None:
        path.unlink(missing_ok=True)
        treadle.parallel(make, make)

    assert treadle.check(test).findings[0].kind == "exception"


def test_a_socket_in_a_folder_is_found_as_it_was(tmp_path: Path) -> None:
    """There is nothing in it, and each execution makes another one."""
    path = tmp_path / "socket"

    def test() -> None:
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.close()
        found: list[bool] = []
        treadle.parallel(lambda: found.append(path.exists()), lambda: found.append(path.exists()))
        path.unlink()
        assert found == [True, True]

    assert treadle.check(test).verdict.is_pass


def test_a_file_is_known_by_its_name_and_a_listing_by_its_folder(tmp_path: Path) -> None:
    found: list[Operation] = []

    def main() -> None:
        strand = current()
        assert strand is not None
        files.include_entry(strand, found, tmp_path / "early")  # nobody has listed the folder yet
        files.include_list(strand, found, tmp_path)
        files.include(strand, found, WRITE, tmp_path / "made")
        files.include_entry(strand, found, tmp_path / "made")
        files.include(strand, found, READ, object())  # a path that nobody can read

    execute(main)
    folder = f"{tmp_path.name}/"
    assert found == [
        (READ, "files", folder),
        (WRITE, "files", "made"),
        (WRITE, "files", folder),
        (READ, "files", None),
    ]


def test_a_pipe_is_no_file() -> None:
    reading, writing = os.pipe()
    try:
        assert files.path_of(reading) is None
    finally:
        os.close(reading)
        os.close(writing)


def test_a_large_file_that_each_execution_writes_anew_is_found_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "large"

    def test() -> None:
        path.write_bytes(b"x" * 100_000)
        sizes: list[int] = []
        treadle.parallel(lambda: sizes.append(path.stat().st_size), lambda: sizes.append(len(path.read_bytes())))
        assert sizes == [100_000] * 2

    assert treadle.check(test).verdict.is_pass


@pytest.mark.parametrize("takes_away", [True, False])
def test_a_file_that_an_execution_makes_itself_was_not_left_by_another(tmp_path: Path, takes_away: bool) -> None:
    """Something else is in it each time: the search goes on, and is no pass."""
    path, keys = tmp_path / "key", itertools.count()

    def test() -> None:
        path.write_text(str(next(keys)))
        seen: list[str] = []
        treadle.parallel(lambda: seen.append(path.read_text()), lambda: seen.append(path.read_text()))
        assert len(seen) == 2
        if takes_away:
            path.unlink()

    result = treadle.check(test, executions=50)
    assert (result.verdict, result.executions) == (Verdict.CUT, 50)
    assert "what the test writes to key is not the same in every execution" in result.reason


def test_who_adds_to_a_file_finds_it_as_the_first_execution_did(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def add() -> None:
        with path.open("a") as file:
            file.write("x")

    def test() -> None:
        add()
        treadle.parallel(add, path.read_text)
        assert path.read_text() == "xx"

    assert treadle.check(test).verdict is Verdict.PASSED_EXHAUSTIVE
    assert not path.exists()


def test_what_an_execution_does_to_files_is_put_back(tmp_path: Path) -> None:
    """Changed, added to, made, moved, taken away, and folders: also by code that Treadle does not see into."""
    for name in ("changed", "added", "gone", "moved", "copied"):
        (tmp_path / name).write_text(name)
    (tmp_path / "changed").chmod(0o640)
    (tmp_path / "empty").mkdir()

    def found() -> dict[str, object]:
        times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.is_file()}
        texts = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
        return {"times": times, "texts": texts, "folders": sorted(p.name for p in tmp_path.iterdir() if p.is_dir())}

    before = found()
    before_the_search()

    def change() -> None:
        (tmp_path / "changed").write_text("other")
        (tmp_path / "changed").chmod(0o600)
        with open(tmp_path / "added", "a") as file:
            file.write("more")
        os.remove(tmp_path / "gone")
        os.rename(tmp_path / "moved", tmp_path / "elsewhere")
        (tmp_path / "deep" / "er").mkdir(parents=True)
        (tmp_path / "deep" / "er" / "made").write_text("made")
        os.makedirs(tmp_path / "below" / "it")
        shutil.copy(tmp_path / "changed", tmp_path / "copied")
        os.rmdir(tmp_path / "empty")

    def test() -> None:
        treadle.parallel(change, lambda: None)
        assert (tmp_path / "changed").read_text() == "other"

    result = treadle.check(test)
    assert result.verdict.is_pass
    assert found() == before
    assert (tmp_path / "changed").stat().st_mode & 0o777 == 0o640


def test_who_has_a_file_open_goes_on_to_add_to_it(tmp_path: Path) -> None:
    """A log that was opened before the search."""
    path = tmp_path / "log"
    path.write_text("begin\n")
    before_the_search()
    with path.open("a") as log:

        def say() -> None:
            log.write("said\n")
            log.flush()

        def test() -> None:
            treadle.parallel(say, say)
            assert path.read_text() == "begin\nsaid\nsaid\n"

        assert treadle.check(test).verdict.is_pass
        say()
    assert path.read_text() == "begin\nsaid\n"


def test_what_was_lost_in_a_file_is_found_where_nobody_makes_it_anew(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")
    before_the_search()

    def add() -> None:
        path.write_text(str(int(path.read_text() or 0) + 1))

    def test() -> None:
        treadle.parallel(add, add)
        assert path.read_text() == "2"

    finding = treadle.check(test).findings[0]
    assert "assert '1' == '2'" in finding.message
    assert path.read_text() == "0"


def test_a_full_disk_takes_nothing_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "count"
    path.write_text("before")
    before_the_search()

    tried: list[Path] = []

    def full(path: Path, *_args: object, **_options: object) -> None:
        tried.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept_files, "write_whole", full)
    treadle.check(lambda: path.write_text("after"))
    assert path in tried
    assert path.read_text() == "after"


def test_what_a_test_takes_away_itself_does_not_come_back(tmp_path: Path) -> None:
    """It was made by code that Treadle does not see into, so it may have been there before."""
    log = tmp_path / "log"

    def test() -> None:
        temporary = tempfile.NamedTemporaryFile(dir=tmp_path, delete=False)  # noqa: SIM115
        folder = tempfile.mkdtemp(dir=tmp_path)
        handler = logging.FileHandler(log)
        handler.emit(logging.makeLogRecord({"msg": "said"}))
        handler.close()
        sizes: list[int] = []
        treadle.parallel(lambda: sizes.append(log.stat().st_size), lambda: sizes.append(log.stat().st_size))
        assert sizes == [5, 5]
        temporary.close()
        os.unlink(temporary.name)
        os.rmdir(folder)
        log.unlink()

    assert treadle.check(test).verdict.is_pass
    assert not list(tmp_path.iterdir())
