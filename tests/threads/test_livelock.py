"""Loops that never end: a livelock goes on although everybody has a turn; waiting for one's turn is none."""

from __future__ import annotations

import threading
import time

import treadle
from treadle.core.result import Verdict


class Corridor:
    """Two people who step aside for each other, again and again."""

    def __init__(self) -> None:
        self.left = self.right = False

    def from_left(self) -> None:
        self.left = True
        while self.right:
            self.left = False
            self.left = True
        self.left = False

    def from_right(self) -> None:
        self.right = True
        while self.left:
            self.right = False
            self.right = True
        self.right = False


class Counting:
    """A lock that is tried again and again, with a count of the trials."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.trials = 0

    def enter(self) -> None:
        while not self.lock.acquire(False):
            self.trials += 1
        self.lock.release()


def test_stepping_aside_for_ever_is_a_livelock() -> None:
    def run() -> None:
        corridor = Corridor()
        treadle.parallel(corridor.from_left, corridor.from_right)

    result = treadle.check(run)
    assert [finding.kind for finding in result.findings] == ["livelock"]
    assert treadle.replay(result.findings[0].replay, run).failed


def test_waiting_for_a_turn_that_the_schedule_withholds_is_none() -> None:
    def run() -> None:
        shared = Counting()
        treadle.parallel(shared.enter, shared.enter)

    result = treadle.check(run, executions=40)
    assert result.verdict is Verdict.CUT
    assert result.findings == []


class Flag:
    def __init__(self) -> None:
        self.up = False


def test_a_loop_that_counts_for_itself_ends() -> None:
    def run() -> None:
        def count() -> None:
            trials = [0]

            def done() -> bool:
                trials[0] += 1
                return trials[0] > 3

            while not done():
                pass

        treadle.parallel(count, count)

    assert treadle.check(run).verdict is Verdict.NOTHING_TO_EXPLORE


def test_a_loop_that_gives_up_may_do_so_before_the_others_had_a_turn() -> None:
    def run() -> None:
        flag, trials = Flag(), [0]

        def done() -> bool:
            trials[0] += 1
            return flag.up or trials[0] > 2

        def wait() -> None:
            while not done():
                pass
            assert flag.up

        def raise_flag() -> None:
            flag.up = True

        treadle.parallel(wait, raise_flag)

    assert treadle.check(run, strategy="dpor").failed


def test_time_passes_beside_a_strand_that_only_asks_again_and_again() -> None:
    def run() -> None:
        flag = Flag()
        asked = threading.Event()

        def goes_on() -> bool:
            asked.is_set()
            return not flag.up

        def poll() -> None:
            while goes_on():
                goes_on()

        def sleep_and_stop() -> None:
            time.sleep(1)
            flag.up = True

        treadle.parallel(poll, sleep_and_stop)

    assert treadle.check(run, executions=5).reason == "the budget of 5 executions is used up: not a pass"


def test_an_execution_that_is_only_long_where_a_pass_checks_itself_is_no_livelock() -> None:
    """The check has points also where one strand works alone on what nobody else knows."""

    class Element:
        def __init__(self) -> None:
            self.value = 3

    def test() -> None:
        threads = [threading.Thread(target=lambda: None) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        element, total = Element(), 0
        for _ in range(3000):
            total += element.value
        assert total == 9000

    result = treadle.check(test, operations=1000)
    assert result.verdict.is_pass or result.verdict is Verdict.NOTHING_TO_EXPLORE
    assert not result.findings
