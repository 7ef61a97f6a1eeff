"""any_order: one execution per class of orders of task steps, also beside threads; compared with brute force."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from tests.tasks.brute_force import Task, Thread, classes
from treadle import Verdict
from treadle.core.result import Result


class Shared:
    def __init__(self) -> None:
        self.x = 0
        self.y = 0


def updates(tasks: int, times: int, threads: int = 0) -> Callable[[], None]:
    async def update(shared: Shared) -> None:
        for _ in range(times):
            value = shared.x
            await asyncio.sleep(0)
            shared.x = value + 1

    def update_in_thread(shared: Shared) -> None:
        shared.x += 1

    async def main(shared: Shared) -> None:
        await asyncio.gather(*[update(shared) for _ in range(tasks)])

    def test() -> None:
        shared = Shared()
        started = [threading.Thread(target=update_in_thread, args=(shared,)) for _ in range(threads)]
        for thread in started:
            thread.start()
        asyncio.run(main(shared))
        for thread in started:
            thread.join()
        assert 0 < shared.x <= tasks * times + threads

    return test


def model(times: int) -> Task:
    """The accesses of `update`, step by step."""
    return [[("R", "x")], *[[("W", "x"), ("R", "x")] for _ in range(times - 1)], [("W", "x")]]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_two_tasks_need_one_execution_per_class(times: int) -> None:
    expected = len(classes([model(times)] * 2, []))
    result = treadle.check(updates(2, times), any_order=True)
    assert (result.executions, result.statistics["blocked"]) == (expected, 0)
    assert expected == {1: 4, 2: 14, 3: 50}[times]
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE


@pytest.mark.parametrize(("tasks", "times", "expected"), [(1, 1, 4), (2, 1, 36), (1, 2, 9)])
def test_tasks_and_a_thread_need_one_execution_per_class(tasks: int, times: int, expected: int) -> None:
    assert expected == len(classes([model(times)] * tasks, [[("R", "x"), ("W", "x")]]))
    result = treadle.check(updates(tasks, times, threads=1), any_order=True)
    assert (result.executions, result.statistics["blocked"]) == (expected, 0)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE


def test_without_any_order_there_is_one_schedule() -> None:
    assert treadle.check(updates(2, 3)).executions == 1


def test_a_finding_that_needs_any_order_says_so() -> None:
    async def test() -> None:
        seen: list[str] = []

        async def first() -> None:
            seen.append("first")

        async def second() -> None:
            seen.append("second")

        await asyncio.gather(first(), second())
        assert seen == ["first", "second"]

    assert treadle.check(test).verdict is Verdict.NOTHING_TO_EXPLORE
    result = treadle.check(test, any_order=True)
    assert result.verdict is Verdict.FAILED
    assert "This needs any_order" in result.findings[0].explanation
    assert treadle.replay(result.findings[0].replay, test).failed


def test_a_step_through_code_that_is_not_seen_depends_on_every_other() -> None:
    """`contextlib` is not rewritten: what its generators do to each other would be lost."""
    import contextlib

    async def test() -> None:
        stacks = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

        async def close(stack: Any) -> None:
            await stack.aclose()

        await asyncio.gather(*[close(stack) for stack in stacks])

    assert treadle.check(test, any_order=True).executions >= 2


def test_locks_of_asyncio_are_seen() -> None:
    async def test() -> None:
        lock, order = asyncio.Lock(), []

        async def hold(name: str) -> None:
            async with lock:
                order.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(hold("a"), hold("b"))
        assert sorted(order) == ["a", "b"]

    result = treadle.check(test, any_order=True)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions >= 2


def test_what_the_world_does_between_two_steps_is_run_in_every_schedule() -> None:
    async def test() -> None:
        lock = asyncio.Lock()

        async def hold() -> None:
            async with lock:
                await asyncio.sleep(0)

        await asyncio.wait([asyncio.create_task(hold()), asyncio.create_task(hold())])
        assert not lock.locked()

    result = treadle.check(test, any_order=True, cancel="at-await")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    every = treadle.check(test, any_order=True, cancel="at-await", strategy="dfs")
    assert result.executions == every.executions > treadle.check(test, any_order=True).executions


@pytest.mark.parametrize("strategy", ["auto", "dpor", "dfs"])
def test_timers_of_one_deadline_come_in_every_order_among_the_steps_of_tasks(strategy: str) -> None:
    outcomes: set[str] = set()

    async def test() -> None:
        loop = asyncio.get_running_loop()
        log: list[str] = []
        fired = asyncio.Event()

        async def after_first() -> None:
            await fired.wait()
            log.append("x")

        def first() -> None:
            log.append("a")
            fired.set()

        waiting = asyncio.create_task(after_first())
        when = loop.time() + 1
        loop.call_at(when, first)
        loop.call_at(when, log.append, "b")
        await waiting
        await asyncio.sleep(1)
        outcomes.add("".join(log))

    result = treadle.check(test, any_order=True, strategy=strategy)
    assert outcomes == {"abx", "axb", "bax"}
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE


def test_a_step_that_schedules_itself_has_a_turn_of_its_own() -> None:
    """Awaiting a future that is done schedules the task that is running; what it touches afterwards is no next step."""

    async def test() -> None:
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        done.set_result(1)

        async def twice() -> int:
            return await asyncio.wait_for(done, 5) + await done

        assert sum(await asyncio.gather(twice(), twice())) == 4

    assert treadle.check(test, any_order=True).verdict is Verdict.PASSED_EXHAUSTIVE


# ---------------------------------------------------------------------- random programs


def program(tasks: list[Task], threads: list[Thread]) -> Callable[[], None]:
    def touch(shared: Shared, kind: str, key: str) -> None:
        if key == "x":
            if kind == "R":
                _ = shared.x
            else:
                shared.x = 1
        elif kind == "R":
            _ = shared.y
        else:
            shared.y = 1

    async def run_task(shared: Shared, steps: Task) -> None:
        for number, step in enumerate(steps):
            for kind, key in step:
                touch(shared, kind, key)
            if number + 1 < len(steps):
                await asyncio.sleep(0)

    def run_thread(shared: Shared, accesses: Thread) -> None:
        for kind, key in accesses:
            touch(shared, kind, key)

    async def main(shared: Shared) -> None:
        await asyncio.gather(*[run_task(shared, steps) for steps in tasks])

    def test() -> None:
        shared = Shared()
        started = [threading.Thread(target=run_thread, args=(shared, accesses)) for accesses in threads]
        for thread in started:
            thread.start()
        asyncio.run(main(shared))
        for thread in started:
            thread.join()

    return test


def random_program(seed: int) -> tuple[list[Task], list[Thread]]:
    chance = random.Random(seed)

    def accesses(least: int) -> Thread:
        return [(chance.choice("RW"), chance.choice("xy")) for _ in range(chance.randint(least, 2))]

    tasks = [[accesses(0) for _ in range(chance.randint(1, 2))] for _ in range(chance.randint(2, 3))]
    threads = [accesses(1) for _ in range(chance.choice([1, 1, 2]))]
    return tasks, threads


def with_ends(tasks: list[Task]) -> list[Task]:
    """The order in which tasks end is part of a class: their callbacks keep it."""
    return [[*task[:-1], [*task[-1], ("W", "end")]] for task in tasks]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_tasks_need_one_execution_per_class(seed: int) -> None:
    tasks, _ = random_program(seed)
    result = treadle.check(program(tasks, []), any_order=True)
    assert (result.executions, result.statistics["blocked"]) == (len(classes(with_ends(tasks), [])), 0)
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
def test_random_programs_of_tasks_and_threads_need_one_execution_per_class(seed: int) -> None:
    tasks, threads = random_program(seed)
    result = treadle.check(program(tasks, threads), any_order=True)
    assert (result.executions, result.statistics["blocked"]) == (len(classes(with_ends(tasks), threads)), 0)
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)


def test_what_a_thread_schedules_without_waking_the_loop_is_named_where_orders_are_left_out() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        called: list[int] = []
        thread = threading.Thread(target=lambda: loop.call_soon(called.append, 1))
        thread.start()
        await asyncio.sleep(0)
        await asyncio.sleep(1)
        thread.join()

    result = treadle.check(test, any_order=True, executions=20, seconds=600)
    assert result.verdict is Verdict.CUT
    assert "call_soon_threadsafe" in result.reason


@pytest.mark.skipif(not hasattr(asyncio, "eager_task_factory"), reason="there are none before 3.12")
@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_eager_tasks_begin_at_once_and_go_on_in_any_order(strategy: str) -> None:
    def program(told: str) -> None:
        async def main() -> None:
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined]
            seen: list[str] = []

            async def work(name: str) -> None:
                seen.append(name)
                await asyncio.sleep(0)
                seen.append(name)

            first, second = asyncio.create_task(work("a")), asyncio.create_task(work("b"))
            assert seen == ["a", "b"]
            await first
            await second
            assert "".join(seen) != told

        asyncio.run(main())

    def explored(told: str) -> Result:
        return treadle.check(lambda: program(told), any_order=True, strategy=strategy, executions=20)

    assert [explored(told).failed for told in ("abab", "abba", "aabb")] == [True, True, False]


@pytest.mark.skipif(not hasattr(asyncio, "eager_task_factory"), reason="there are none before 3.12")
@pytest.mark.parametrize("any_order", [False, True])
def test_an_eager_task_that_was_put_into_a_set_by_its_first_step_is_found_there(any_order: bool) -> None:
    async def test() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined]
        known: set[Any] = set()

        async def work() -> None:
            known.add(asyncio.current_task())
            assert asyncio.current_task() in asyncio.all_tasks()
            await asyncio.sleep(0)
            assert asyncio.current_task() in known

        await asyncio.gather(work(), work())

    assert not treadle.check(test, any_order=any_order).findings
