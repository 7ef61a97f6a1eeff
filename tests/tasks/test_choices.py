"""Choices of the program and of its world: what is drawn, which timer is first, who is cancelled, what runs out."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

import treadle
from treadle import UsageError, Verdict


def test_every_option_is_explored() -> None:
    def test() -> None:
        treadle.choose([1, 2, 3])
        treadle.choose("ab")

    result = treadle.check(test)
    assert (result.verdict, result.executions) == (Verdict.PASSED_EXHAUSTIVE, 6)


def test_a_choice_that_fails_is_replayed() -> None:
    def test() -> None:
        first, second = treadle.choose([0, 1, 2]), treadle.choose([0, 1, 2])
        assert (first, second) != (2, 1)

    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    trail = result.findings[0].trail
    assert trail is not None
    assert "choice#1=2" in str(trail.choices)
    assert treadle.replay(result.findings[0].replay, test).failed


def test_threads_and_choices_are_explored_together() -> None:
    def test() -> None:
        total = [0]

        def add(amount: int) -> None:
            value = total[0]
            total[0] = value + amount

        treadle.parallel(lambda: add(treadle.choose([1, 10])), lambda: add(100))
        assert total[0] != 10  # the other update is lost, and ten was chosen

    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    assert treadle.replay(result.findings[0].replay, test).failed


def test_outside_an_execution_the_first_option_is_taken() -> None:
    assert treadle.choose(["a", "b"]) == "a"
    with pytest.raises(UsageError, match="at least one option"):
        treadle.choose([])


def test_a_choice_in_a_task() -> None:
    async def test() -> None:
        for _ in range(treadle.choose([0, 1, 2])):
            await asyncio.sleep(0)

    assert treadle.check(test).executions == 3


# ---------------------------------------------------------------------- timers


def test_timers_of_one_deadline_come_in_any_order() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[object] = []
        when = loop.time() + 1
        for number in range(3):
            loop.call_at(when, fired.append, number)
        await asyncio.sleep(2)
        assert fired != [2, 1, 0]

    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    assert treadle.replay(result.findings[0].replay, test).failed


def test_timers_set_one_after_the_other_keep_their_order() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[object] = []
        for number in range(3):
            loop.call_later(1, fired.append, number)
        await asyncio.sleep(2)
        assert fired == [0, 1, 2]

    assert treadle.check(test).executions == 1


async def slow_answer() -> str:
    for _ in range(2):
        await asyncio.sleep(0)
    return "answer"


def test_a_timeout_strikes_only_when_nothing_else_goes_on() -> None:
    async def test() -> None:
        assert await asyncio.wait_for(slow_answer(), 1) == "answer"

    assert treadle.check(test).findings == []


def test_a_timeout_may_strike_at_any_iteration() -> None:
    async def test() -> None:
        assert await asyncio.wait_for(slow_answer(), 1) == "answer"

    result = treadle.check(test, timeouts="any")
    assert result.verdict is Verdict.FAILED
    assert isinstance(result.findings[0].exception, TimeoutError)
    assert treadle.replay(result.findings[0].replay, test).failed


def test_a_timer_does_not_overtake_one_set_earlier_and_for_a_shorter_time() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[object] = []
        loop.call_later(1, fired.append, "short")
        loop.call_later(2, fired.append, "long")
        await asyncio.sleep(3)
        assert fired == ["short", "long"]

    assert treadle.check(test, timeouts="any").findings == []


def test_a_short_timer_that_was_set_later_may_come_first_or_not() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[object] = []
        loop.call_later(2, fired.append, "long")
        loop.call_later(1, fired.append, "short")
        await asyncio.sleep(3)
        assert fired != ["long", "short"]

    assert treadle.check(test).findings == []
    assert treadle.check(test, timeouts="any").verdict is Verdict.FAILED


# ---------------------------------------------------------------------- cancellation


def test_a_task_is_cancelled_at_each_of_its_awaits() -> None:
    async def test() -> None:
        done: list[str] = []

        async def work() -> None:
            await asyncio.sleep(0)
            done.append("first")
            await asyncio.sleep(0)
            done.append("second")

        task = asyncio.ensure_future(work())
        await asyncio.wait([task])
        assert done != ["first"]  # cancelled at the second await

    assert treadle.check(test).findings == []
    result = treadle.check(test, cancel="at-await")
    assert result.verdict is Verdict.FAILED
    assert any("is cancelled" in step.object for step in result.findings[0].steps)
    assert treadle.replay(result.findings[0].replay, test).failed


def test_a_task_that_has_not_begun_is_not_cancelled() -> None:
    """Such a task stands at no await, whatever its coroutine takes from the function around it."""

    async def test() -> None:
        began: list[str] = []

        async def work() -> None:
            began.append("work")
            await asyncio.sleep(1)

        await asyncio.gather(asyncio.create_task(work()), return_exceptions=True)
        assert began == ["work"]

    result = treadle.check(test, cancel="at-await")
    assert (result.verdict, result.executions) == (Verdict.PASSED_WITHIN_BOUNDS, 3)


def test_a_pass_with_cancellations_is_within_bounds() -> None:
    async def test() -> None:
        task = asyncio.ensure_future(asyncio.sleep(1))
        await asyncio.wait([task])

    result = treadle.check(test, cancel="at-await")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.bounds == {"cancellations": 1}


def test_a_lock_that_is_kept_by_a_cancelled_task() -> None:
    def program(careful: bool) -> None:
        async def hold(lock: asyncio.Lock) -> None:
            await lock.acquire()
            if careful:
                try:
                    await asyncio.sleep(0)
                finally:
                    lock.release()
            else:
                await asyncio.sleep(0)
                lock.release()

        async def main() -> None:
            lock = asyncio.Lock()
            await asyncio.wait([asyncio.ensure_future(hold(lock))])
            async with lock:
                pass

        asyncio.run(main())

    wrong = treadle.check(lambda: program(False), source=program, cancel="at-await")
    assert [finding.kind for finding in wrong.findings] == ["deadlock"]
    right = treadle.check(lambda: program(True), source=program, cancel="at-await")
    assert right.verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_a_wrong_option_is_told() -> None:
    with pytest.raises(UsageError, match="cancel must be 'never', 'at-await' or"):
        treadle.check(lambda: None, cancel="always")


def test_only_tasks_of_the_names_given_are_cancelled() -> None:
    async def work() -> None:
        await asyncio.sleep(1)

    async def test() -> None:
        named, plain = asyncio.create_task(asyncio.sleep(1), name="named"), asyncio.create_task(work())
        await asyncio.wait([named, plain])
        async with asyncio.timeout(5):
            await asyncio.sleep(1)
        assert not named.cancelled()

    assert treadle.check(test, cancel="at-await: work").verdict is Verdict.PASSED_WITHIN_BOUNDS
    result = treadle.check(test, cancel="at-await:work,named")
    assert [finding.kind for finding in result.findings] == ["assertion"]
    assert treadle.replay(result.findings[0].replay, test).failed


def test_a_name_that_no_task_has_is_no_pass() -> None:
    async def test() -> None:
        await asyncio.wait([asyncio.create_task(asyncio.sleep(1), name="one")])

    result = treadle.check(test, cancel="at-await:one,other")
    assert result.verdict is Verdict.CUT
    assert "no task other was there to be cancelled" in result.reason


def test_an_event_is_waited_for_by_a_thread_while_tasks_choose() -> None:
    async def test() -> None:
        event = threading.Event()

        def wait() -> None:
            event.wait()

        thread = threading.Thread(target=wait)
        thread.start()
        if treadle.choose([True, False]):
            event.set()
        thread.join()

    assert [finding.kind for finding in treadle.check(test).findings] == ["deadlock"]


@pytest.mark.parametrize("cleans_up", [False, True])
def test_the_task_that_a_loop_runs_for_its_caller_is_cancelled_by_its_name(cleans_up: bool) -> None:
    def program() -> None:
        held: list[str] = []

        async def serve() -> None:
            held.append("socket")
            try:
                await asyncio.sleep(1)
            finally:
                if cleans_up:
                    held.remove("socket")
            held.clear()

        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(serve())
        assert not held

    assert treadle.check(program, cancel="at-await").findings == []  # without its name it is let alone
    result = treadle.check(program, cancel="at-await:serve")
    if cleans_up:  # never, before its timer has been run, and after that
        assert (result.verdict, result.executions) == (Verdict.PASSED_WITHIN_BOUNDS, 3)
    else:
        assert result.verdict is Verdict.FAILED
        assert treadle.replay(result.findings[0].replay, program).failed
