"""sqlite: who finds the database locked waits as a strand."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import execute, inside, together
from treadle import Verdict
from treadle.threads.primitives import databases


def test_a_writer_waits_for_the_other_and_both_get_through(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with sqlite3.connect(path) as made:
        made.execute("create table t (n)")
    made.close()

    def main() -> None:
        def write() -> None:
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute("begin immediate")
            connection.execute("insert into t values (1)")
            connection.execute("commit")
            connection.close()

        together(write, write)

    run = execute(main)
    assert [strand.exception for strand in run.strands] == [None] * 3
    with sqlite3.connect(path) as after:
        assert after.execute("select count(*) from t").fetchone() == (2,)
    after.close()


def test_a_lock_that_is_never_released_fails_when_the_timeout_is_over(tmp_path: Path) -> None:
    path = tmp_path / "db"

    def main() -> float:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("begin exclusive")
        waits = sqlite3.connect(path, timeout=0.05)
        start = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            waits.execute("create table t (n)")
        passed = time.monotonic() - start
        holder.close()
        waits.close()
        return passed

    assert inside(main) >= 0.05


def test_a_connection_of_another_strand_is_refused_as_by_sqlite() -> None:
    seen: list[str] = []

    def main() -> None:
        connection = sqlite3.connect(":memory:")

        def use() -> None:
            try:
                connection.execute("select 1")
            except sqlite3.ProgrammingError as error:
                seen.append(str(error)[:40])

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        connection.close()

    execute(main)
    assert seen == ["SQLite objects created in a thread can o"]


def test_an_interpreter_without_sqlite_has_no_model_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sqlite3", "sqlite3.dbapi2"):
        monkeypatch.setitem(sys.modules, name, None)
    assert databases.patches() == []


def _counted_by_sqlite(connections: int) -> treadle.Result:
    """Two threads let sqlite call a function that counts, with one connection, or with one each."""

    def program() -> None:
        made = [sqlite3.connect(":memory:", check_same_thread=False) for _ in range(connections)]
        calls = {"n": 0}

        def count() -> int:
            calls["n"] += 1
            return calls["n"]

        for connection in made:
            connection.create_function("count_one", 0, count)
        treadle.parallel(*(partial(made[k % connections].execute, "select count_one()") for k in range(2)))
        assert calls["n"] == 2

    return treadle.check(program, executions=500, builds=False)


def test_a_function_that_sqlite_calls_is_run_with_the_lock_of_the_connection() -> None:
    """What CPython does besides, waiting for that lock with the interpreter lock in its hands, is told."""
    result = _counted_by_sqlite(1)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert "a function that sqlite calls, while another thread waits for its connection" in result.reason


def test_two_connections_have_two_locks() -> None:
    assert _counted_by_sqlite(2).verdict is Verdict.FAILED


def test_a_commit_does_not_wait_for_the_disk_and_who_asks_is_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "data"
    usual = sqlite3.connect(path).execute("PRAGMA synchronous").fetchone()

    def main() -> tuple[Any, ...]:
        connection = sqlite3.connect(path)
        connection.row_factory = sqlite3.Row
        connection.execute("CREATE TABLE IF NOT EXISTS numbers (number)")
        hurries = sqlite3.Cursor(connection).execute("PRAGMA synchronous").fetchone()  # asked behind our back
        told = connection.execute("pragma SYNCHRONOUS").fetchone()
        connection.execute("PRAGMA synchronous = 1")
        connection.execute("INSERT INTO numbers VALUES (1)")
        connection.commit()
        chosen = connection.execute("PRAGMA synchronous").fetchone()
        connection.close()
        return hurries, tuple(told), tuple(chosen)

    assert inside(main) == ((0,), usual, (1,))


def test_who_follows_the_statements_of_a_connection_meets_none_but_its_own() -> None:
    def main() -> list[str]:
        connection = sqlite3.connect(":memory:")
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        connection.execute("SELECT 1")
        connection.close()
        return seen

    assert inside(main) == ["SELECT 1"]
