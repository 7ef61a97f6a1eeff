"""What a page says about a failing schedule before anybody steps through it: which lines, and what to do."""

from __future__ import annotations

from pathlib import Path

from treadle.core.operation import ACQUIRE, MULTI, WAIT, verb
from treadle.core.result import Step, Waiting
from treadle.report.lanes import lanes

SOURCE = """class Database:
    def get(self):
        if self.pool is None:
            with self.lock:
                self.pool = self.connect()
"""

KINDS = {verb((kind, None, ())): kind for kind in range(16) if kind != MULTI}


def step(strand: str, operation: str, thing: str, line: int, file: str = "/p/db.py") -> Step:
    name, _, key = thing.partition(".")
    return Step(strand, operation, thing, file, line, "get", performed=(KINDS[operation], name, key))


def double_checked(file: str, lock: str = "Lock#1") -> list[Step]:
    return [
        step("T1", "reads", "Database#1.pool", 3, file),
        step("T2", "reads", "Database#1.pool", 3, file),
        step("T1", "acquires", lock, 4, file),
        step("T1", "writes", "Database#1.pool", 5, file),
        step("T1", "releases", lock, 4, file),
        step("T2", "acquires", lock, 4, file),
        step("T2", "writes", "Database#1.pool", 5, file),
    ]


def test_the_lines_that_clash_are_quoted(tmp_path: Path) -> None:
    file = tmp_path / "db.py"
    file.write_text(SOURCE)
    assert lanes(double_checked(str(file)))["lines"] == [
        {"strand": "T2", "verb": "reads", "place": "db.py:3", "source": "if self.pool is None:"},
        {"strand": "T1", "verb": "writes", "place": "db.py:5", "source": "self.pool = self.connect()"},
        {"strand": "T2", "verb": "writes", "place": "db.py:5", "source": "self.pool = self.connect()"},
    ]


def test_a_lock_that_only_some_of_them_hold_is_named() -> None:
    told = lanes(double_checked("/p/db.py"))["repair"]
    assert told.startswith(
        "Lock#1 is held at db.py:5, but not at db.py:3: take it before db.py:3 already and keep it up to"
    )
    assert "once only" in told  # taking a plain lock at both places would be a deadlock


def test_columns_stand_in_the_order_in_which_threads_were_started() -> None:
    steps = [step(name, "reads", "Database#1.pool", 3) for name in ("main", "T10", "T2", "T1.1", "T1", "worker")]
    assert lanes(steps)["strands"] == ["main", "T1", "T1.1", "T2", "T10", "worker"]


def test_a_lock_that_may_have_been_tried_for_is_not_said_to_be_missing() -> None:
    tried = [step("T2", "tries", "Lock#1", 2), *double_checked("/p/db.py")]
    assert lanes(tried)["repair"].startswith("nothing keeps T1 and T2 apart at db.py:3 and db.py:5")


def test_without_locks_the_threads_and_their_lines_are_named() -> None:
    steps = [one for one in double_checked("/p/db.py") if one.operation in ("reads", "writes")]
    assert lanes(steps)["repair"].startswith("nothing keeps T1 and T2 apart at db.py:3 and db.py:5")


def test_a_lock_belongs_into_the_function_that_makes_both_accesses() -> None:
    steps = [one for one in double_checked("/p/db.py") if one.operation in ("reads", "writes")]
    for one in steps:
        one.stack = (("/p/db.py", one.line, "get"), ("/p/app.py", 10 + one.line, "start"), ("/p/app.py", 30, "main"))
    assert lanes(steps)["repair"].startswith(
        "nothing keeps T1 and T2 apart between app.py:13 and app.py:15, where start makes both of its accesses"
    )
    for one in steps:
        one.stack = (("/p/db.py", one.line, "get"), ("/p/app.py", 30, "main"))
    assert lanes(steps)["repair"].startswith("nothing keeps T1 and T2 apart at db.py:3 and db.py:5")


def test_a_notify_that_came_too_early_is_named() -> None:
    steps = [step("T2", "signals", "Condition#1", 16), step("T1", "releases", "RLock#1", 21)]
    stuck = [Waiting("main", (WAIT, "T1", None), "T1"), Waiting("T1", (WAIT, "Condition#1", None))]
    stuck[1].stack = (("/p/db.py", 21, "enter"),)
    told = lanes(steps, stuck)["repair"]
    assert told.startswith("T1 waits at db.py:21 for a notify that came before it, at db.py:16, and is not kept")


def test_a_ring_names_who_and_what() -> None:
    ring = [
        Waiting("T1", (ACQUIRE, "Lock#2", None), "T2", ["Lock#1"]),
        Waiting("T2", (ACQUIRE, "Lock#1", None), "T1", ["Lock#2"]),
    ]
    assert lanes([], ring)["repair"].startswith("let T1 and T2 take Lock#2 and Lock#1 in the same order")


def test_a_strand_waits_while_another_one_has_the_lock_that_it_takes_next() -> None:
    steps = [
        step("T1", "acquires", "Lock#1", 1),
        step("T2", "reads", "db.n", 2),
        step("T1", "writes", "db.n", 3),
        step("T1", "releases", "Lock#1", 4),
        step("T2", "acquires", "Lock#1", 5),
        step("T2", "releases", "Lock#1", 6),
        step("T1", "acquires", "Lock#1", 7),
    ]
    stuck = [Waiting("T2", (ACQUIRE, "Lock#1", None), held_by="T1")]
    told = lanes(steps, stuck, started={"T1": 0, "T2": 0})
    assert told["waits"] == [("T2", 1, 3, "Lock#1"), ("T1", 4, 5, "Lock#1"), ("T2", 5, 7, "Lock#1")]


def test_the_schedule_that_passes_has_its_steps_beside_the_same_ones() -> None:
    one, two, three = (step("T1", "writes", f"db.{name}", 1) for name in "abc")
    assert lanes([one, two, three], passing=[one, three, two])["twin"] == [(0, 0), (None, 1), (1, 2), (2, None)]
    assert lanes([one, two, three])["twin"] == []
