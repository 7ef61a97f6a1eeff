"""State that lives in code that is not rewritten: the search may not see it, and then must not claim a proof."""

from __future__ import annotations

import threading
import types
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any
from unittest import mock

import pytest

import treadle
from treadle import Verdict

# A lock by another name: nobody but this module can tell whether it is taken.
SOURCE = """
taken = False

def reset():
    global taken
    taken = False

def try_take():
    global taken
    if taken:
        return False
    taken = True
    return True

def give():
    global taken
    taken = False

def flip():
    global taken
    taken = not taken
"""


class Box:
    def __init__(self) -> None:
        self.a = self.b = self.c = self.quiet = 0


@pytest.fixture
def hidden() -> Any:
    module = types.ModuleType("asyncio.hidden_lock")  # the modules of asyncio are taken to be under control
    exec(compile(SOURCE, "hidden_lock.py", "exec"), vars(module))
    return module


def test_an_execution_in_which_all_that_is_left_was_run_before_is_no_pass(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.c = 1
            _ = box.quiet
            hidden.try_take()

        def other() -> None:
            _ = box.c
            _ = box.quiet
            if not hidden.try_take():
                box.c = 3

        treadle.parallel(one, other)

    result = treadle.check(run, strategy="dpor")
    assert result.statistics["blocked"] > 0
    assert result.verdict is Verdict.CUT
    assert "share something that Treadle does not see" in result.reason


def test_a_strand_that_has_ended_where_it_was_to_go_on_is_no_pass(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.c = 1
            _ = box.a
            box.a = 1
            hidden.flip()

        def other() -> None:
            if hidden.try_take():
                _ = box.b
            else:
                box.c = 3
            _ = box.c
            if hidden.try_take():
                box.a = 1

        treadle.parallel(one, other)

    result = treadle.check(run, strategy="dpor")
    assert result.verdict is Verdict.CUT
    assert "share something that Treadle does not see" in result.reason


def test_waiting_for_one_of_several_futures_is_seen_and_passes() -> None:
    def run() -> None:
        futures: list[Future[int]] = [Future(), Future()]
        box = Box()

        def finish(number: int) -> None:
            box.a += 1
            futures[number].set_result(number)

        def waiter() -> None:
            done, _ = wait(futures, return_when=FIRST_COMPLETED)
            box.b = len(done)

        treadle.parallel(lambda: finish(0), lambda: finish(1), waiter)

    result = treadle.check(run, strategy="dpor")
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.statistics["blocked"] > 0  # executions tried in vain: each future alone does not tell


def test_looking_at_a_mock_changes_nothing_in_it() -> None:
    """Whatever is read from the class of a MagicMock in the usual way makes another mock."""
    made = set()

    def test() -> None:
        shared = mock.MagicMock()
        shared.seen = [shared]
        threads = [threading.Thread(target=shared.append, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        made.add(frozenset(vars(shared)["_mock_children"]))

    treadle.check(test)
    assert made == {frozenset({"append"})}
