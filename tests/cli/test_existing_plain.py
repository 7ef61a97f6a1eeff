"""Tests as projects have them, which something goes wrong in that fails no plain run: neither does it fail here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_existing_projects import explored

LOOP_IN_THREAD = """
import asyncio

def test_it():
    done = []

    async def fails():
        raise ValueError("nobody asks")

    async def main(name):
        FAULT
        await asyncio.sleep(0.01)
        done.append(name)

    both(lambda: asyncio.run(main("one")), lambda: asyncio.run(main("two")))
    assert sorted(done) == ["one", "two"]
"""


@pytest.mark.parametrize(
    "fault",
    [
        "asyncio.get_running_loop().call_soon(None)",
        "asyncio.get_running_loop().call_soon(lambda: 1 / 0)",
        "task = asyncio.ensure_future(fails())",
        "fails()",
    ],
)
def test_what_an_event_loop_only_writes_to_its_log_in_a_plain_run_fails_nothing(
    cli: Cli, project: Path, fault: str
) -> None:
    found = explored(cli, project, LOOP_IN_THREAD.replace("FAULT", fault), "--executions", "10")
    assert found["verdict"] in ("CUT", "PASSED-WITHIN-BOUNDS", "PASSED-EXHAUSTIVE"), found
    assert found["cut_by"] != "everywhere"
    assert "as in a plain run" in found["warnings"][0]["kind"]


def test_what_goes_wrong_in_no_plain_run_is_still_a_failure(cli: Cli, project: Path) -> None:
    """The exception comes only where the second thread is first."""
    fault = (
        "done.append(name)\n        asyncio.get_running_loop().call_soon(lambda: {}[done] if done == ['two'] else None)"
    )
    found = explored(cli, project, LOOP_IN_THREAD.replace("FAULT", fault).replace("sorted(done)", "sorted(set(done))"))
    assert found["verdict"] == "FAILED", found
    assert "in a callback of the event loop" in found["findings"][0]["message"]


NUMBER_KEPT = """
import kept

def test_it():
    seen = []
    both(lambda: seen.append(kept.in_main()), lambda: seen.append(kept.in_main()))
    assert kept.in_main() and seen == [False, False]
"""
KEPT = """
import threading
MAIN = threading.get_ident()

def in_main():
    return threading.get_ident() == MAIN
"""


def test_a_module_may_keep_the_number_of_the_thread_that_imported_it(cli: Cli, project: Path) -> None:
    assert explored(cli, project, NUMBER_KEPT, kept=KEPT)["verdict"].startswith("PASSED")


NEVER_THE_SAME = """
import counting

def test_it(tmp_path):
    def note():
        folder = tmp_path / counting.fresh()
        folder.mkdir()
        (folder / "note").write_text("x")

    both(note, note)
    assert len(list(tmp_path.iterdir())) == 2
"""
COUNTING = """
import itertools
_numbers = itertools.count()

def fresh():
    return f"folder-{next(_numbers)}"
"""


def test_executions_count_that_never_share_the_same(cli: Cli, project: Path) -> None:
    """What gives the names is no code of the project, and nobody puts it back."""
    elsewhere = project / "site-packages"
    elsewhere.mkdir()
    (elsewhere / "counting.py").write_text(COUNTING)
    source = f"\nimport sys\nsys.path.append({str(elsewhere)!r})\n" + NEVER_THE_SAME
    found = explored(cli, project, source, "--executions", "30")
    assert (found["verdict"], found["executions"]) == ("CUT", 30), found


REGISTRY = """
import threading

class Registry(threading.local):
    def __init__(self):
        self.held = set()

registry = Registry()
kept = threading.local()

class OfThread:
    def __init__(self, name):
        self.name = name

    def take(self):
        if self.name in registry.held:
            raise RuntimeError(f"{self.name} is already held in this thread")
        registry.held.add(self.name)
        kept.name = self.name

    def give(self):
        registry.held.remove(self.name)
        del kept.name
"""
WITH_REGISTRY = """
import ofthread

def test_it():
    total = [0]
    lock = threading.Lock()

    def add():
        ours = ofthread.OfThread("the lock")
        ours.take()
        with lock:
            total[0] += 1
        ours.give()

    ofthread.OfThread("main").take()
    both(add, add)
    assert total == [2]
    ofthread.OfThread("main").give()
"""


def test_a_library_has_what_it_keeps_for_each_thread(cli: Cli, project: Path) -> None:
    """It is not rewritten, and its `threading.local` was made before the test."""
    elsewhere = project / "site-packages"
    elsewhere.mkdir()
    (elsewhere / "ofthread.py").write_text(REGISTRY)
    source = f"\nimport sys\nsys.path.append({str(elsewhere)!r})\n" + WITH_REGISTRY
    found = explored(cli, project, source)
    assert found["verdict"].startswith("PASSED"), found
    assert found["executions"] > 1


ONE_SCHEDULE = """
def test_it():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(1))
    thread.start()
    thread.join()
    seen.append(2)
    assert seen == [1, 2]
"""


def test_one_schedule_is_shown_to_be_the_only_one(cli: Cli, project: Path) -> None:
    found = explored(cli, project, ONE_SCHEDULE)
    assert found["verdict"] == "NOTHING-TO-EXPLORE"
    row = json.loads(cli("try", "test_existing.py", "--json").out)["tests"][0]
    assert (row["verdict"], row["one_schedule"]) == ("NOTHING-TO-EXPLORE", True)


def test_threads_that_share_nothing_are_no_proof(cli: Cli, project: Path) -> None:
    explored(cli, project, ONE_SCHEDULE.replace("seen.append(1)", "len('x')").replace("[1, 2]", "[2]"))
    row = json.loads(cli("try", "test_existing.py", "--json").out)["tests"][0]
    assert (row["verdict"], row["one_schedule"]) == ("NOTHING-TO-EXPLORE", False)


TIME_PASSES = """
class Counter:
    hits = 0
    def hit(self):
        hits = self.hits
        self.hits = hits + 1

def test_it():
    start, counter = time.perf_counter(), Counter()
    both(counter.hit, counter.hit)
    assert time.perf_counter() - start > 0
    assert counter.hits EXPECTED
"""


def test_a_test_that_needs_time_to_pass_between_two_readings_is_explored_so(cli: Cli, project: Path) -> None:
    found = explored(cli, project, TIME_PASSES.replace("EXPECTED", "in (1, 2)"))
    assert found["verdict"] == "PASSED-EXHAUSTIVE", found
    assert found["executions"] > 1
    assert "ticking clock" in {warning["kind"] for warning in found["warnings"]}


def test_what_is_found_then_replays(cli: Cli, project: Path) -> None:
    found = explored(cli, project, TIME_PASSES.replace("EXPECTED", "== 2"))
    assert found["verdict"] == "FAILED", found
    (finding,) = found["findings"]
    assert finding["replayed"] == "a fresh process"


DATABASE_OF_ITS_OWN = """
def test_it(tmp_path):
    import sqlite3

    database = tmp_path / "db"
    made = sqlite3.connect(database)
    made.execute("create table t (n)")
    made.commit()
    made.close()

    def insert():
        connection = sqlite3.connect(database)
        connection.execute("insert into t values (1)")
        connection.commit()
        connection.close()

    both(insert, insert)
"""


def test_who_imports_sqlite_in_the_test_waits_for_its_locks_as_a_strand_does(cli: Cli, project: Path) -> None:
    found = explored(cli, project, DATABASE_OF_ITS_OWN, "--executions", "50")
    assert found["verdict"] in ("CUT", "PASSED-WITHIN-BOUNDS"), found
    assert found["executions"] > 1
