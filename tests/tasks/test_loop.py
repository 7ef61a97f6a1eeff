"""The event loop inside an execution: what asyncio promises holds, and only what it leaves open is explored."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import importlib
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.core.errors import Unsupported


def test_tasks_that_only_yield_have_one_schedule() -> None:
    log: list[tuple[str, int]] = []

    async def worker(name: str) -> None:
        for number in range(2):
            log.append((name, number))
            await asyncio.sleep(0)

    async def test() -> None:
        log.clear()
        await asyncio.gather(worker("a"), worker("b"))
        assert log == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]

    result = treadle.check(test)
    assert (result.verdict, result.executions) == (Verdict.NOTHING_TO_EXPLORE, 1)
    assert "event loop" in result.reason


def test_asyncio_run_in_an_ordinary_test() -> None:
    async def answer() -> int:
        await asyncio.sleep(3600)
        return 42

    def test() -> None:
        before = time.monotonic()
        assert asyncio.run(answer()) == 42
        assert time.monotonic() - before == 3600

    assert treadle.check(test).executions == 1


def test_timers_fire_by_deadline_then_creation() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[int] = []
        for number, delay in enumerate([2, 1, 2, 1]):
            loop.call_later(delay, fired.append, number)
        await asyncio.sleep(3)
        assert fired == [1, 3, 0, 2]

    assert treadle.check(test).executions == 1


def test_a_cancelled_timer_does_not_fire() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        fired: list[int] = []
        loop.call_later(1, fired.append, 1).cancel()
        await asyncio.sleep(2)
        assert fired == []

    assert treadle.check(test).executions == 1


def test_after_a_check_asyncio_is_what_it_was() -> None:
    before = (asyncio.Task, asyncio.Future, asyncio.get_running_loop, asyncio.new_event_loop, asyncio.SelectorEventLoop)
    treadle.check(lambda: asyncio.run(asyncio.sleep(1)))
    after = (asyncio.Task, asyncio.Future, asyncio.get_running_loop, asyncio.new_event_loop, asyncio.SelectorEventLoop)
    assert before == after
    asyncio.run(asyncio.sleep(0))


class Shared:
    def __init__(self) -> None:
        self.count = 0


def test_a_thread_races_with_the_steps_of_a_task() -> None:
    async def add(shared: Shared) -> None:
        value = shared.count
        await asyncio.sleep(0)
        shared.count = value + 1

    def add_in_thread(shared: Shared) -> None:
        shared.count += 1

    async def test() -> None:
        shared = Shared()
        await asyncio.gather(asyncio.to_thread(add_in_thread, shared), add(shared))
        assert shared.count == 2

    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    assert treadle.replay(result.findings[0].replay, test).failed


def test_call_soon_from_a_thread_does_not_wake_the_loop() -> None:
    def test(threadsafe: bool) -> None:
        async def main() -> None:
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            call = loop.call_soon_threadsafe if threadsafe else loop.call_soon
            thread = threading.Thread(target=call, args=(future.set_result, 1))
            thread.start()
            assert await future == 1
            thread.join()

        asyncio.run(main())

    wrong = treadle.check(lambda: test(False), source=test)
    assert [finding.kind for finding in wrong.findings] == ["deadlock"]
    assert "task main awaits" in wrong.findings[0].message
    assert treadle.check(lambda: test(True), source=test).verdict is Verdict.PASSED_EXHAUSTIVE


def test_stop_from_a_thread_does_not_wake_the_loop() -> None:
    def program(safely: bool) -> None:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        if safely:
            loop.call_soon_threadsafe(loop.stop)
        else:
            loop.stop()
        thread.join()
        loop.close()

    wrong = treadle.check(lambda: program(False), source=program)
    assert [finding.kind for finding in wrong.findings] == ["deadlock"]
    assert treadle.check(lambda: program(True), source=program).verdict is Verdict.PASSED_EXHAUSTIVE


@pytest.mark.parametrize("left", [[], [1], [2], [1, 2]])
def test_a_thread_cancels_handles_before_or_after_each_is_run(left: list[int]) -> None:
    def test() -> None:
        loop, log = asyncio.new_event_loop(), list[int]()
        handles = [loop.call_soon(log.append, number) for number in (1, 2)]
        loop.call_later(1, loop.stop)

        def cancel() -> None:
            for handle in handles:
                handle.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        loop.run_forever()
        thread.join()
        loop.close()
        assert log != left

    assert [finding.kind for finding in treadle.check(test).findings] == ["assertion"]


def test_a_loop_that_was_stopped_before_goes_round_once() -> None:
    def test() -> None:
        log: list[int] = []
        loop = asyncio.new_event_loop()
        loop.call_soon(log.append, 1)
        loop.call_soon(lambda: loop.call_soon(log.append, 2))
        loop.stop()
        loop.run_forever()
        assert log == [1]
        loop.stop()
        loop.run_forever()
        assert log == [1, 2]
        loop.close()

    assert treadle.check(test).verdict is Verdict.NOTHING_TO_EXPLORE
    assert not treadle.check(test, any_order=True).findings


def test_run_coroutine_threadsafe() -> None:
    async def double(value: int) -> int:
        await asyncio.sleep(1)
        return 2 * value

    async def test() -> None:
        loop = asyncio.get_running_loop()

        def ask() -> int:
            return asyncio.run_coroutine_threadsafe(double(21), loop).result()

        assert await loop.run_in_executor(None, ask) == 42

    assert treadle.check(test).verdict is Verdict.PASSED_EXHAUSTIVE


def test_two_loops_in_two_threads() -> None:
    async def work(results: list[int], number: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(2):
            await asyncio.sleep(1)
            assert asyncio.get_running_loop() is loop
        results.append(number)

    def test() -> None:
        results: list[int] = []
        threads = [threading.Thread(target=lambda n=n: asyncio.run(work(results, n))) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == [0, 1]

    result = treadle.check(test)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions == 2  # the two appends, both ways round


def test_two_loops_that_share_an_object() -> None:
    async def add(shared: Shared) -> None:
        value = shared.count
        await asyncio.sleep(0)
        shared.count = value + 1

    def test() -> None:
        shared = Shared()
        threads = [threading.Thread(target=lambda: asyncio.run(add(shared))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert shared.count == 2

    assert treadle.check(test).verdict is Verdict.FAILED


def test_context_variables_belong_to_a_task() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)

    async def worker(number: int) -> None:
        variable.set(number)
        await asyncio.sleep(0)
        assert variable.get() == number

    async def test() -> None:
        await asyncio.gather(worker(1), worker(2))
        assert variable.get() == 0

    assert treadle.check(test).executions == 1


def test_a_real_connection_is_refused_by_its_line() -> None:
    async def test() -> None:
        try:
            await asyncio.open_connection("example.org", 80)
        except Exception:
            pass

    with pytest.raises(Unsupported, match=r"test_loop\.py:\d+ uses a network connection of the real world"):
        treadle.check(test)


def test_a_subprocess_is_refused() -> None:
    async def test() -> None:
        await asyncio.create_subprocess_exec("true")

    with pytest.raises(Unsupported, match="a subprocess of the real world"):
        treadle.check(test)


def test_library_functions_of_asyncio_work() -> None:
    async def value(delay: float) -> float:
        await asyncio.sleep(delay)
        return delay

    async def test() -> None:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(value(3))
        assert task.result() == 3
        done, pending = await asyncio.wait([asyncio.ensure_future(value(n)) for n in (1, 99)], timeout=5)
        assert (len(done), len(pending)) == (1, 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await value(2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(value(2), 1)
        assert [await one for one in asyncio.as_completed([value(2), value(1)])] == [1, 2]
        assert await asyncio.shield(value(1)) == 1
        queue: asyncio.Queue[int] = asyncio.Queue(1)
        putting = asyncio.ensure_future(queue.put(1))
        assert await queue.get() == 1
        await putting
        barrier = asyncio.Barrier(2)
        await asyncio.gather(barrier.wait(), barrier.wait())
        condition = asyncio.Condition()
        async with condition:
            condition.notify_all()
        assert len(asyncio.all_tasks()) == 2  # this one, and the one that wait() left

    assert treadle.check(test).findings == []


def test_a_uvloop_policy_is_replaced_and_said() -> None:
    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> Any:
            raise AssertionError("not asked")

    Policy.__module__ = "uvloop"

    def test() -> None:
        asyncio.set_event_loop_policy(Policy())
        asyncio.run(asyncio.sleep(1))

    warnings = [warning.message for warning in treadle.check(test).warnings]
    assert warnings == ["uvloop's event loop policy is replaced: the test runs on Treadle's own event loop"]
    assert type(asyncio.get_event_loop_policy()) is not Policy  # it was the execution's


def test_the_loops_that_uvloop_makes_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    uvloop: Any = types.ModuleType("uvloop")  # as far as its functions are concerned
    uvloop.Loop = type("Loop", (), {})
    uvloop.new_event_loop = lambda: uvloop.Loop()
    monkeypatch.setitem(sys.modules, "uvloop", uvloop)

    def test() -> None:
        loop = uvloop.new_event_loop()
        assert isinstance(loop, uvloop.Loop)
        assert loop.run_until_complete(asyncio.sleep(1, 5)) == 5
        loop.close()

    result = treadle.check(test)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE
    assert [warning.message.partition(" is replaced")[0] for warning in result.warnings] == ["uvloop's event loop"]
    assert type(uvloop.new_event_loop()) is uvloop.Loop


def test_a_library_that_the_test_imports_by_itself_is_under_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uvloop.py").write_text("class Loop: pass\ndef new_event_loop():\n    return Loop()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "uvloop", raising=False)

    def test() -> None:
        uvloop = importlib.import_module("uvloop")
        loop = uvloop.new_event_loop()
        assert isinstance(loop, uvloop.Loop)
        assert loop.run_until_complete(asyncio.sleep(1, 5)) == 5
        loop.close()

    result = treadle.check(test)
    sys.modules.pop("uvloop", None)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE, result
    assert [warning.message.partition(" is replaced")[0] for warning in result.warnings] == ["uvloop's event loop"]


class OwnLoop(asyncio.SelectorEventLoop):
    """A class of event loops that a program has."""


def run_on(loop: asyncio.AbstractEventLoop) -> list[int]:
    """The order in which two tasks run on a loop."""
    seen: list[int] = []

    async def work(number: int) -> None:
        seen.append(number)

    async def main() -> None:
        await asyncio.gather(work(0), work(1))

    try:
        loop.run_until_complete(main())
    finally:
        loop.close()
    return seen


def test_a_loop_that_a_policy_makes_is_controlled() -> None:
    def test() -> None:
        policy = asyncio.get_event_loop_policy()
        policy.set_event_loop(policy.new_event_loop())
        assert run_on(policy.get_event_loop()) == [0, 1]

    assert treadle.check(test, any_order=True).failed


def test_a_loop_of_a_class_of_the_program_is_no_pass() -> None:
    def test() -> None:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        assert run_on(OwnLoop()) == [0, 1]
        thread.join()

    result = treadle.check(test, any_order=True)
    assert result.verdict is Verdict.CUT
    assert "event loop of its own class (OwnLoop)" in result.reason


def test_task_names_are_the_same_in_every_execution() -> None:
    names: list[str] = []

    async def test() -> None:
        names.append(asyncio.ensure_future(asyncio.sleep(0)).get_name())

    treadle.check(test)
    treadle.check(test)
    assert set(names) == {"Task-2"}


def test_a_set_of_tasks_is_looped_over_in_the_same_order() -> None:
    orders: list[list[str]] = []

    async def test() -> None:
        tasks = {asyncio.ensure_future(asyncio.sleep(0)) for _ in range(20)}
        orders.append([task.get_name() for task in tasks])

    treadle.check(test)
    treadle.check(test)
    assert orders[0] == orders[1]


@pytest.mark.parametrize("how", ["decorated", "plain"])
def test_the_decorator_takes_a_coroutine_function(how: str) -> None:
    async def test() -> None:
        shared = Shared()

        def add() -> None:
            shared.count += 1

        await asyncio.gather(asyncio.to_thread(add), asyncio.to_thread(add))
        assert shared.count == 2

    marked = treadle.explore(test) if how == "decorated" else treadle.explore()(test)
    with pytest.raises(AssertionError):
        marked()  # type: ignore[unused-coroutine]  # it explores and returns


def test_time_passes_for_a_loop_that_never_rests() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        changed = loop.create_future()
        loop.call_later(5, changed.set_result, None)
        while not changed.done():
            await asyncio.sleep(0)
        assert round(loop.time() % 10, 3) == 5

    assert treadle.check(test).findings == []


def test_a_loop_that_goes_round_for_ever_is_no_pass() -> None:
    async def test() -> None:
        while True:
            await asyncio.sleep(0)

    result = treadle.check(test)
    assert result.verdict is Verdict.CUT


def test_what_is_completed_first_does_not_depend_on_addresses() -> None:
    async def value(number: int) -> int:
        return await asyncio.to_thread(int, number)

    async def first() -> None:
        found = [await one for one in asyncio.as_completed([value(1), value(2)])]
        assert found == [1, 2]

    result = treadle.check(first)
    assert [finding.kind for finding in result.findings] == ["assertion"]


def test_a_thread_of_a_pool_costs_as_many_executions_as_there_are_orders_that_matter() -> None:
    async def in_a_thread() -> None:
        await asyncio.to_thread(int)

    result = treadle.check(in_a_thread)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions <= 10


def test_finalisers_behind_an_execution_find_a_loop_with_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of `unittest.IsolatedAsyncioTestCase`, which closes its runner."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)

    class Holder:
        def __init__(self) -> None:
            self.runner = asyncio.Runner()
            self.itself = self  # so it stays until the garbage collector comes

        def __del__(self) -> None:
            self.runner.close()

    async def wait_for_ever() -> None:
        await asyncio.to_thread(int)  # so there is an executor to be shut down
        await asyncio.get_running_loop().create_future()

    def test() -> None:
        Holder().runner.run(wait_for_ever())

    assert treadle.check(test).findings[0].kind == "deadlock"
    gc.collect()
    assert complaints == []
