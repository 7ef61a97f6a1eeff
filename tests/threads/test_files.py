"""Files as shared state: what a pass rests on, and what a test leaves behind."""

from __future__ import annotations

import itertools
import os
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from tests.threads_primitives.running import execute
from treadle import Verdict
from treadle.core.errors import Unsupported
from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import files
from treadle.threads.strands import current


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


@pytest.mark.parametrize("fails", [False, True])
def test_a_test_that_finds_what_it_left_is_no_pass_and_refused_where_it_fails(tmp_path: Path, fails: bool) -> None:
    path = str(tmp_path / "made")

    def make() -> None:
        if not os.path.exists(path):
            open(path, "w").close()
        elif fails:
            raise FileExistsError(path)

    def test() -> None:
        treadle.parallel(make, lambda: None)

    said = r"test_files.py:\d+ looks at the file .*made, which an execution before"
    if fails:
        with pytest.raises(Unsupported, match=said):
            treadle.check(test)
    else:
        result = treadle.check(test, executions=50)
        assert (result.verdict, result.executions) == (Verdict.CUT, 50)
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


def test_who_adds_to_what_another_execution_left_is_no_pass(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def test() -> None:
        with path.open("a") as file:
            file.write("x")
        treadle.parallel(path.read_text, path.read_text)

    result = treadle.check(test, executions=50)
    assert (result.verdict, result.executions) == (Verdict.CUT, 50)
    assert "which an execution before has changed" in result.reason
