"""Random programs of tasks, threads, locks, queues, timers and cancellations: the reduced search sees every outcome
that running all schedules sees, with and without any_order."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.doors.explore.models import SearchSetup

TASK_OPS = ("read", "write", "yield", "timer", "lock", "put", "get", "set", "wait", "in a pool")
THREAD_OPS = ("read", "write", "put from outside", "set from outside", "set without waking", "hold", "look at the loop")

Program = tuple[list[list[str]], list[str], bool]


class Shared:
    def __init__(self) -> None:
        self.x = 0
        self.lock = asyncio.Lock()
        self.queue: asyncio.Queue[int] = asyncio.Queue(1)
        self.event = asyncio.Event()
        self.outer = threading.Lock()
        self.loop = asyncio.get_running_loop()

    def add(self, number: int) -> int:
        before = self.x
        self.x = before + number
        return before


def random_program(seed: int) -> Program:
    """The operations of each task and of one thread (none for some), and whether the first task is cancelled."""
    chance = random.Random(seed)
    tasks = [[chance.choice(TASK_OPS) for _ in range(chance.randint(1, 2))] for _ in range(2)]
    thread = [chance.choice(THREAD_OPS) for _ in range(chance.choice([0, 1, 1, 2]))]
    return tasks, thread, chance.random() < 0.3


async def do(shared: Shared, op: str, log: list[Any], me: int) -> None:
    if op == "read":
        log.append(shared.x)
    elif op == "write":
        shared.x = me
    elif op == "yield":
        await asyncio.sleep(0)
    elif op == "timer":
        await asyncio.sleep(1)
    elif op == "lock":
        async with shared.lock:
            log.append(shared.x)
            await asyncio.sleep(0)
            shared.x = me
    elif op == "put":
        await shared.queue.put(me)
    elif op == "get":
        log.append(await shared.queue.get())
    elif op == "set":
        shared.event.set()
    elif op == "wait":
        await shared.event.wait()
        shared.event.clear()
    elif op == "in a pool":
        log.append(await asyncio.to_thread(shared.add, me))


def do_in_thread(shared: Shared, op: str, log: list[Any]) -> None:
    if op == "read":
        log.append(shared.x)
    elif op == "write":
        shared.x = 9
    elif op == "put from outside":
        asyncio.run_coroutine_threadsafe(shared.queue.put(9), shared.loop)
    elif op == "set from outside":
        shared.loop.call_soon_threadsafe(shared.event.set)
    elif op == "set without waking":
        shared.loop.call_soon(shared.event.set)
    elif op == "look at the loop":
        log.append((shared.loop.is_running(), shared.loop.is_closed()))
    elif op == "hold":
        with shared.outer:
            log.append(shared.x)


def program(described: Program, outcomes: set[Any]) -> Callable[[], Any]:
    tasks, thread_ops, cancels = described

    async def run_task(shared: Shared, ops: list[str], log: list[Any], me: int) -> None:
        for op in ops:
            await do(shared, op, log, me)
        log.append("end")

    def run_thread(shared: Shared, log: list[Any]) -> None:
        for op in thread_ops:
            do_in_thread(shared, op, log)

    async def test() -> None:
        shared = Shared()
        logs: list[list[Any]] = [[] for _ in range(len(tasks) + 1)]
        running = [asyncio.create_task(run_task(shared, ops, logs[me], me)) for me, ops in enumerate(tasks)]
        thread = threading.Thread(target=run_thread, args=(shared, logs[-1]))
        if thread_ops:
            thread.start()
        if cancels:
            await asyncio.sleep(0)
            running[0].cancel()
        await asyncio.wait(running, timeout=5)
        if thread_ops:
            thread.join()
        ended = tuple(task.done() for task in running)
        outcomes.add((shared.x, ended, shared.queue.qsize(), tuple(map(tuple, logs))))
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    return test


# Schedules that the enumeration may need; where it needs more, as many are drawn at random.
MOST = 100


@pytest.mark.slow
@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2, *range(4, 13)])  # 3 has thousands of classes
def test_the_reduced_search_sees_every_outcome(seed: int, any_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # what happens when time runs out early is not part of the comparison
    monkeypatch.setattr(SearchSetup, "with_early_deadlines", lambda self, model, idle, *rest: idle)
    described = random_program(seed)
    every: set[Any] = set()
    found = treadle.check(program(described, every), any_order=any_order, strategy="dfs", executions=MOST)
    if found.verdict is Verdict.CUT:
        treadle.check(program(described, every), any_order=any_order, strategy="random", executions=MOST)
    seen: set[Any] = set()
    result = treadle.check(program(described, seen), any_order=any_order)
    assert every <= seen
    if found.verdict is not Verdict.CUT:
        assert seen == every
        assert result.executions <= found.executions
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE), result.reason
    assert result.statistics["blocked"] == 0
