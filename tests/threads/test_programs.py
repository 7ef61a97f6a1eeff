"""Whole programs: what is found, what passes, and how honestly it is said."""

from __future__ import annotations

import contextlib
import queue
import random
import re
import sys
import threading
import time
import traceback
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import treadle
from treadle import UsageError, Verdict
from treadle.core.errors import Unsupported


class Account:
    def __init__(self) -> None:
        self.balance = 0
        self.lock = threading.Lock()

    def deposit(self, amount: int) -> None:
        self.balance = self.balance + amount

    def deposit_safely(self, amount: int) -> None:
        with self.lock:
            self.balance = self.balance + amount


def lost_update() -> None:
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2


def no_lost_update() -> None:
    account = Account()
    treadle.parallel(account.deposit_safely, account.deposit_safely, args=(1,))
    assert account.balance == 2


def test_a_lost_update_is_found_shrunk_and_explained() -> None:
    result = treadle.check(lost_update)
    assert (result.verdict, result.executions, result.exhaustive) == (Verdict.FAILED, 2, False)
    (finding,) = result.findings
    assert finding.kind == "assertion"
    assert isinstance(finding.exception, AssertionError)
    assert "between" in finding.explanation
    assert "Account#1.balance" in finding.explanation
    switches = [(one.strand, two.strand) for one, two in zip(finding.steps, finding.steps[1:], strict=False)]
    assert sum(one != two and "main" not in (one, two) for one, two in switches) == 2


def test_the_corrected_program_passes_exhaustively() -> None:
    result = treadle.check(no_lost_update)
    assert (result.verdict, result.executions, result.exhaustive) == (Verdict.PASSED_EXHAUSTIVE, 2, True)


@pytest.mark.parametrize(("strategy", "executions"), [("dpor", 328), ("dfs", 924), ("source-dpor", 328)])
def test_two_threads_of_three_increments(strategy: str, executions: int) -> None:
    def run() -> None:
        account = Account()

        def three() -> None:
            for _ in range(3):
                account.deposit(1)

        threads = [threading.Thread(target=three) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = treadle.check(run, strategy=strategy)
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, executions)


def test_a_trail_replays_and_says_when_it_no_longer_fits() -> None:
    trail = treadle.check(lost_update).findings[0].replay
    again = treadle.replay(trail, lost_update)
    assert again.verdict is Verdict.FAILED
    assert again.findings[0].message.startswith("AssertionError")
    with pytest.raises(UsageError, match="no longer fits"):
        treadle.replay(trail, no_lost_update)


@pytest.mark.parametrize("text", ["", "tr1:x", "tr1:a.py::b:????", "nonsense", '{"treadle": "tr0"}'])
def test_a_corrupt_trail_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="not a trail"):
        treadle.replay(text, lost_update)


# ---------------------------------------------------------------------- verdicts


def test_a_cut_search_is_not_a_pass() -> None:
    def run() -> None:
        account = Account()
        treadle.parallel(*[lambda: account.deposit(1) for _ in range(4)])

    result = treadle.check(run, executions=10)
    assert (result.verdict, result.executions, result.exhaustive) == (Verdict.CUT, 10, False)
    assert "not a pass" in result.reason


def test_a_bounded_search_says_its_bound() -> None:
    result = treadle.check(no_lost_update, preemptions=0)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.bounds == {"preemptions": 0}
    assert not result.exhaustive


def test_a_bound_that_cut_nothing_is_no_bound() -> None:
    assert treadle.check(no_lost_update, preemptions=20).verdict is Verdict.PASSED_EXHAUSTIVE


def test_a_lost_update_needs_a_preemption() -> None:
    assert treadle.check(lost_update, preemptions=0).verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert treadle.check(lost_update, preemptions=1).verdict is Verdict.FAILED


def one_after_the_other() -> None:
    account = Account()
    treadle.parallel(account.deposit, args=(1,))
    treadle.parallel(account.deposit, args=(1,))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (lambda: None, "the test starts no thread that Treadle controls"),
        (lambda: treadle.parallel(int, int), "the threads share nothing that Treadle sees"),
        (one_after_the_other, "what the threads share they touch one after the other"),
    ],
)
def test_nothing_to_explore_is_an_alarm(body: Any, why: str) -> None:
    result = treadle.check(body)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE
    assert result.reason == f"{why}: there was one schedule to run"
    assert not result.exhaustive


def test_sampling_is_never_exhaustive() -> None:
    result = treadle.check(no_lost_update, strategy="random", executions=20)
    assert result.verdict is Verdict.CUT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "dporr"}, "did you mean 'dpor'"),
        ({"executions": 0}, "executions must be 1 or more"),
        ({"seconds": 0}, "seconds must be more than 0"),
        ({"strategy": "random", "preemptions": 2}, "would ignore preemptions"),
        ({"preemptions": -1}, "preemptions must be 0 or more"),
        ({"preemptions": 1, "delays": 1}, "not both"),
        ({"timeouts": "never"}, "'idle' or 'any'"),
        ({"instrument": ["no_such_package_anywhere"]}, "no_such_package_anywhere"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        treadle.check(no_lost_update, **options)


# ---------------------------------------------------------------------- deadlock, livelock, spin loops


def test_a_deadlock_names_the_cycle() -> None:
    def run() -> None:
        one, two = threading.Lock(), threading.Lock()

        def forth() -> None:
            with one, two:
                pass

        def back() -> None:
            with two, one:
                pass

        treadle.parallel(forth, back)

    result = treadle.check(run)
    finding = result.findings[0]
    assert finding.kind == "deadlock"
    assert "cycle: T1 -> Lock#2 -> T2 -> Lock#1 -> T1" in finding.explanation
    assert treadle.replay(finding.replay, run).findings[0].kind == "deadlock"


class Flag:
    def __init__(self) -> None:
        self.up = False
        self.value = 0


def test_a_spin_loop_that_ends_is_no_livelock() -> None:
    def run() -> None:
        flag = Flag()

        def waiter() -> None:
            while not flag.up:
                pass
            assert flag.value == 1

        def setter() -> None:
            flag.value = 1
            flag.up = True

        treadle.parallel(waiter, setter)

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE


def test_a_spin_loop_in_the_wrong_order_is_found() -> None:
    def run() -> None:
        flag = Flag()

        def waiter() -> None:
            while not flag.up:
                time.sleep(0.01)
            assert flag.value == 1

        def setter() -> None:
            flag.up = True
            flag.value = 1

        treadle.parallel(waiter, setter)

    assert treadle.check(run).verdict is Verdict.FAILED


def test_a_spin_loop_that_never_ends_is_a_livelock() -> None:
    def run() -> None:
        flag = Flag()

        def waiter() -> None:
            while not flag.up:
                pass

        treadle.parallel(waiter)

    finding = treadle.check(run).findings[0]
    assert finding.kind == "livelock"


@pytest.mark.parametrize("timeouts", ["idle", "any"])
def test_a_loop_until_a_deadline_ends_in_virtual_time(timeouts: str) -> None:
    def run() -> None:
        flag = Flag()

        def waiter() -> None:
            end = time.monotonic() + 3600
            while time.monotonic() < end and not flag.up:
                pass

        def setter() -> None:
            flag.value = 1

        treadle.parallel(waiter, setter)

    started = time.perf_counter()
    assert treadle.check(run, executions=50, timeouts=timeouts).verdict is not Verdict.FAILED
    assert time.perf_counter() - started < 1800  # an hour of virtual time


def test_a_loop_that_counts_while_it_waits_is_no_livelock() -> None:
    def run() -> None:
        flag = Flag()

        def waiter() -> None:
            rounds = 0
            while not flag.up:
                rounds += 1

        def setter() -> None:
            flag.up = True

        treadle.parallel(waiter, setter)

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.bounds == {"reads of a waiting loop": 64}


def test_taking_a_lock_by_trying_again_ends() -> None:
    def run() -> None:
        account = Account()

        def patient() -> None:
            while not account.lock.acquire(blocking=False):
                pass
            account.deposit(1)
            account.lock.release()

        treadle.parallel(patient, patient)
        assert account.balance == 2

    result = treadle.check(run)
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, 4)


def test_waiting_for_a_thread_by_looking_at_it_ends() -> None:
    def run() -> None:
        account = Account()
        thread = threading.Thread(target=account.deposit, args=(1,))
        thread.start()
        while thread.is_alive():
            pass
        assert account.balance == 1

    assert treadle.check(run).verdict is Verdict.PASSED_EXHAUSTIVE


def test_counting_loops_are_not_taken_for_livelocks() -> None:
    def run() -> None:
        flag = Flag()

        def reader() -> None:
            total = 0
            for _ in range(300):
                total += flag.value
            assert total == 0

        treadle.parallel(reader)

    assert treadle.check(run).verdict is not Verdict.FAILED


# ---------------------------------------------------------------------- time


def test_a_timeout_fires_only_when_nothing_else_can_run() -> None:
    def run() -> None:
        done = threading.Event()
        thread = threading.Thread(target=done.set)
        thread.start()
        assert done.wait(timeout=0.001)
        thread.join()

    assert treadle.check(run).verdict is not Verdict.FAILED
    assert treadle.check(run, timeouts="any").verdict is Verdict.FAILED


def test_sleeping_is_instant_and_ordered() -> None:
    def run() -> None:
        order: list[int] = []

        def late(seconds: int) -> None:
            time.sleep(seconds)
            order.append(seconds)

        before = time.time()
        treadle.parallel(lambda: late(3600), lambda: late(60))
        assert order == [60, 3600]
        assert time.time() - before >= 3600

    assert treadle.check(run).verdict is not Verdict.FAILED


# ---------------------------------------------------------------------- threads of all kinds


def test_threads_started_inside_threads_and_pools() -> None:
    def run() -> None:
        account = Account()

        def outer() -> None:
            with ThreadPoolExecutor(2) as pool:
                for _ in range(2):
                    pool.submit(account.deposit, 1)

        thread = threading.Thread(target=outer)
        thread.start()
        thread.join()
        assert account.balance == 2

    assert treadle.check(run).verdict is Verdict.FAILED


def test_a_bounded_queue_between_producer_and_consumer() -> None:
    def run() -> None:
        channel: queue.Queue[int | None] = queue.Queue(1)
        got: list[int] = []

        def produce() -> None:
            for number in range(2):
                channel.put(number)
            channel.put(None)

        def consume() -> None:
            while (item := channel.get()) is not None:
                got.append(item)

        treadle.parallel(produce, consume)
        assert got == [0, 1]

    assert treadle.check(run).verdict is Verdict.PASSED_EXHAUSTIVE


def test_a_daemon_that_is_not_waited_for_still_races() -> None:
    def run() -> None:
        flag = Flag()

        def later() -> None:
            flag.value = 1

        threading.Thread(target=later, daemon=True).start()
        assert flag.value == 0

    assert treadle.check(run).verdict is Verdict.FAILED


def test_an_exception_in_a_thread_that_nobody_joins_is_a_finding() -> None:
    def run() -> None:
        table: dict[str, int] = {}
        thread = threading.Thread(target=lambda: table["missing"])
        thread.start()

    finding = treadle.check(run).findings[0]
    assert (finding.kind, finding.message) == ("exception", "KeyError: 'missing' in T1")


def test_what_is_left_behind_is_a_warning() -> None:
    def run() -> None:
        account = Account()
        stop = threading.Event()
        threading.Thread(target=stop.wait, daemon=True).start()
        treadle.parallel(lambda: account.deposit_safely(1), account.lock.acquire)

    result = treadle.check(lambda: run(), source=run)
    assert {warning.message for warning in result.warnings} >= {
        "T1 was still running at the end",
        "Lock#1 was still held by T3 at the end",
    }


def test_the_traceback_shows_the_program_and_not_the_tool() -> None:
    def run() -> None:
        table = {"k": 1}

        def drop() -> None:
            if "k" in table:
                table.pop("k")

        treadle.parallel(drop, drop)

    error = treadle.check(run).findings[0].exception
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    assert [frame.name for frame in frames] == ["run", "drop"]
    assert {frame.filename for frame in frames} == {__file__}


def test_random_is_the_same_in_every_execution() -> None:
    def run() -> None:
        account = Account()
        drawn = random.random()
        treadle.parallel(account.deposit_safely, account.deposit_safely, args=(1,))
        assert drawn == random.Random(0).random()

    assert treadle.check(run).verdict is Verdict.PASSED_EXHAUSTIVE


CALLS: list[int] = []


def test_module_state_is_clean_at_every_start() -> None:
    def run() -> None:
        assert CALLS == []
        treadle.parallel(lambda: CALLS.append(1), lambda: CALLS.append(2))

    result = treadle.check(run)
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, 2)
    assert CALLS == []


def test_a_test_that_is_not_deterministic_is_told_so_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    outside: Any = types.ModuleType("outside")  # not rewritten, so what its functions keep is not put back
    exec("seen = []\ndef tick():\n    seen.append(1)\n    return len(seen)", vars(outside))
    monkeypatch.setitem(sys.modules, "outside", outside)

    def run() -> None:
        account = Account()

        def body() -> None:
            if outside.tick() % 3 == 0:
                account.deposit(1)
            else:
                account.deposit_safely(1)

        treadle.parallel(body, body)

    result = treadle.check(run, executions=100)
    assert result.verdict.name == "CUT"
    assert result.executions > 20  # and sampled all the same
    assert re.search(r"not deterministic: .*test_programs.py:\d+ \(outside.tick\) gave another value", result.reason)


def test_code_that_really_blocks_is_named() -> None:
    import os

    from treadle.search.random_walk import RandomWalk
    from treadle.threads.loom import Loom
    from treadle.threads.watchdog import ReallyBlocked

    def run() -> None:
        reading, writing = os.pipe()
        try:
            os.readv(reading, [bytearray(1)])  # nobody writes
        finally:
            os.close(writing)

    with Loom(run, patience=2.0) as loom:
        strategy = RandomWalk()
        strategy.begin()
        with pytest.raises(ReallyBlocked, match=r"test_programs.py:\d+ in .*run blocks outside"):
            loom.run(strategy)


def test_outside_an_execution_everything_is_as_before() -> None:
    before = (threading.Lock, threading.Thread.start, time.sleep, queue.SimpleQueue)
    treadle.check(lost_update)
    assert (threading.Lock, threading.Thread.start, time.sleep, queue.SimpleQueue) == before
    account = Account()
    threads = [threading.Thread(target=account.deposit_safely, args=(1,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 4


def test_state_that_is_shared_behind_the_back_of_the_tool_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that talk through code that is not rewritten: its calls are operations, and the verdict names them."""
    outside: Any = types.ModuleType("outside")
    exec("state = []\ndef say(): state.append(1)\ndef told(): return bool(state)", vars(outside))
    monkeypatch.setitem(sys.modules, "outside", outside)

    def run() -> None:
        outside.state = []
        word, door, left, right = Account(), Account(), Account(), Account()

        def teller() -> None:
            word.balance = 1
            outside.say()

        def listener() -> None:
            door.deposit(1)
            (left if outside.told() else right).balance = 1

        def reader() -> None:
            sum(account.balance for account in (word, door, left, right))

        treadle.parallel(teller, listener, reader)

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS  # every order of its calls was run, each as one step
    assert "outside.say, outside.told" in result.reason


def test_a_breakpoint_is_refused_by_its_line_instead_of_waiting_for_a_person() -> None:
    def stops() -> None:
        breakpoint()

    def test() -> None:
        thread = threading.Thread(target=stops)
        thread.start()
        thread.join()

    with pytest.raises(Unsupported, match=r"test_programs\.py:\d+ calls breakpoint\(\).*--debug"):
        treadle.check(test)


def test_a_context_manager_made_of_the_programs_own_generator_is_looked_into() -> None:
    items: list[int] = []

    @contextlib.contextmanager
    def noted() -> Iterator[None]:
        items.append(1)
        yield
        items.append(2)

    def enter() -> None:
        with noted():
            pass

    def test() -> None:
        items.clear()
        treadle.parallel(enter, enter)

    result = treadle.check(test)
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, 6)
