"""What went wrong in an execution, in the order of importance."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tests.threads_primitives.running import execute, start
from treadle.core.operation import ACQUIRE, READ, WAIT, WRITE
from treadle.core.result import Finding
from treadle.threads import outcome


def fails_in_a_thread_and_waits_for_ever() -> None:
    def work() -> None:
        raise KeyError("k")

    start(work)
    threading.Event().wait()


def test_an_exception_comes_before_the_deadlock_that_it_caused() -> None:
    found = outcome.judge(execute(fails_in_a_thread_and_waits_for_ever))
    assert [(one.kind, one.message) for one in found] == [
        ("exception", "KeyError: 'k' in T1"),
        ("deadlock", "no strand can go on: main waits for Event#1"),
    ]


def test_an_exception_that_is_usual_in_threads_is_a_warning_and_no_finding() -> None:
    def main() -> None:
        def work() -> None:
            raise KeyError("k")

        (thread,) = start(work)
        thread.join()

    run = execute(main)
    assert [outcome.type_in_thread(one) for one in outcome.judge(run)] == ["builtins.KeyError"]
    with outcome.usual_in_plain_runs(["builtins.KeyError"]):
        assert outcome.judge(run) == []
        assert [one.kind for one in outcome.leftovers(run)] == ["exception in a thread"]
    assert len(outcome.judge(run)) == 1


def test_a_lock_that_is_held_at_the_end_is_told_with_its_owner() -> None:
    run = execute(lambda: threading.Lock().acquire())
    assert outcome.leftovers(run) == []  # nobody has that lock any more

    kept: list[Any] = []

    def main() -> None:
        kept.append(threading.Lock())
        kept[0].acquire()

    assert [one.message for one in outcome.leftovers(execute(main))] == ["Lock#1 was still held by main at the end"]


def test_an_exception_of_the_test_itself_is_in_no_thread() -> None:
    """Whatever it says: only who was ended by it counts."""
    assert outcome.type_in_thread(Finding("exception", "ValueError: nothing in T1", exception=ValueError())) == ""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (ValueError(), "ValueError"),
        (ValueError("Traceback (most recent call last):\n ...\nKeyError: 1"), "ValueError: KeyError: 1"),
    ],
)
def test_the_message_is_one_line(error: Exception, message: str) -> None:
    assert outcome.message_of(error) == message


def test_an_exception_that_cannot_be_shown_is_told_by_its_type() -> None:
    class Unshowable(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert outcome.message_of(Unshowable()) == "Unshowable"


@pytest.mark.parametrize(
    ("trace", "period"),
    [
        ([1] * 100, 1),
        ([0] * 60 + [1, 2, 3] * 20, 3),
        ([0] * 10 + [1, 2, 3] * 20, 0),  # it has not gone round for as long as it took to get there
        ([*range(100)], 0),
        ([1] * 99 + [2], 0),
    ],
)
def test_the_end_of_a_trace_repeats_itself(trace: list[int], period: int) -> None:
    assert outcome.period_of(trace) == period


def going_round(left_out: tuple[int, object, object]) -> Any:
    """The first strand goes round; the second stands before an operation, and never gets a turn."""
    one, two = (SimpleNamespace(index=number, treadle_name=f"T{number}") for number in (1, 2))
    trace = [(1, (READ, "flag", None))] * 100
    return SimpleNamespace(trace=trace, held=[("lock", "T1")], unfinished=[(one, trace[0][1]), (two, left_out)])


@pytest.mark.parametrize(
    ("left_out", "endless"),
    [
        ((ACQUIRE, "lock", None), True),  # who goes round has it
        ((ACQUIRE, "other lock", None), False),
        ((WAIT, "T1", None), True),
        ((WRITE, "flag", None), False),  # no real scheduler withholds its turn for ever
    ],
)
def test_going_round_is_a_livelock_only_if_nobody_else_could_go_on(
    left_out: tuple[int, object, object], endless: bool
) -> None:
    assert outcome.endless(going_round(left_out)) is endless
