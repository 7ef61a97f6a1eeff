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
    assert result.verdict is Verdict.CUT  # see below: other programs with threads miss classes


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


def test_tasks_beside_threads_are_no_proof() -> None:
    """Classes are still missed there (18 of this program, and 16 are run): so it is not called a pass."""
    tasks: list[Task] = [[[("R", "x")], []], [[("W", "y")], [], [("W", "x")]]]
    threads: list[Thread] = [[("R", "y")], [("W", "y")]]
    result = treadle.check(program(tasks, threads), any_order=True)
    assert result.verdict is Verdict.CUT
    assert "not yet run in every order" in result.reason


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_of_tasks_lose_no_class(seed: int) -> None:
    """The order in which tasks end is part of a class: their callbacks keep it."""
    tasks, _ = random_program(seed)
    ending = [[*task[:-1], [*task[-1], ("W", "end")]] for task in tasks]
    expected = len(classes(ending, []))
    result = treadle.check(program(tasks, []), any_order=True)
    assert result.executions >= expected
    assert result.executions <= 1.5 * expected + 1
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)
