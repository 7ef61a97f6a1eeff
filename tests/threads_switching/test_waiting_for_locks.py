"""Who waited for a lock took it without the GIL: others go on before its next operation, on every version."""

from __future__ import annotations

import threading

import treadle
from treadle.core.builds import Builds
from treadle.core.result import Verdict
from treadle.examples.threads.abba_deadlock import test_buggy_transfers as opposite_once
from treadle.threads.switching import ENTERED, running


def opposite_after_a_wait() -> None:
    """The second thread waits for the first lock, gets it, and has not come to the second when the first takes that.
    Plain threads of 3.11.7 and 3.13.0 come to a standstill here."""
    first, second = threading.Lock(), threading.Lock()

    def one() -> None:
        with first:
            len("")
        with second, first:
            pass

    def other() -> None:
        with first, second:
            pass

    treadle.parallel(one, other)


def opposite_twice() -> None:
    """The second round meets a lock that the other one waited for, took, and holds while it waits for the GIL. Plain
    threads of 3.11.7 and 3.13.0 come to a standstill soon in loops; with one round, not in 100 000 pairs."""
    first, second = threading.Lock(), threading.Lock()

    def one() -> None:
        for _ in range(2):
            with first, second:
                pass

    def other() -> None:
        for _ in range(2):
            with second, first:
                pass

    treadle.parallel(one, other)


def locked_without_a_call() -> None:
    """Nobody is switched away while it holds the lock, until 3.13: nobody waits for it."""
    lock = threading.Lock()
    values = [0]

    def add() -> None:
        value = values[0]
        with lock:
            values[0] = value + 1

    treadle.parallel(add, add)
    assert values == [2]


def test_a_lock_that_was_waited_for_is_taken_without_the_gil() -> None:
    assert treadle.check(opposite_after_a_wait, switches="gil").verdict is Verdict.FAILED
    assert str(treadle.check(opposite_after_a_wait).findings[0].builds) == "every build"


def test_a_lock_that_nobody_waits_for_is_taken_with_it() -> None:
    builds = treadle.check(locked_without_a_call).findings[0].builds
    assert builds is not None
    assert (builds.possible, builds.impossible) == (("3.14",), ("3.11", "3.12", "3.13"))


def test_a_lock_that_was_not_waited_for_in_this_execution_is_taken_with_it() -> None:
    """Somebody waits for each of the two locks in some execution, but not in the one that fails."""
    builds = treadle.check(opposite_once).findings[0].builds
    assert builds is not None
    assert (builds.possible, builds.impossible) == (("3.14",), ("3.11", "3.12", "3.13"))
    verdict = treadle.check(opposite_once, switches="gil").verdict
    assert verdict is (Verdict.FAILED if running() & ENTERED else Verdict.PASSED_EXHAUSTIVE)
    assert treadle.check(opposite_twice).findings[0].builds == Builds()
