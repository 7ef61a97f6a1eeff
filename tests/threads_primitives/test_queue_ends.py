"""Puts and gets commute: few executions are enough, and none of the outcomes of all schedules is lost."""

from __future__ import annotations

import queue
import random
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import together
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.strategy import Strategy
from treadle.threads.execution import Execution
from treadle.threads.greenlets import Pool
from treadle.threads.patches import patched

Log = list[list[Any]]
# What strands do, per kind of program: at the ends only, with looks, with what makes a queue one whole.
ACTIONS = ("put get", "put get look try done", "put get done join timed", "put get items", "put get locked")


def act(q: Any, action: str, item: Any) -> Any:
    match action:
        case "put":
            return q.put(item)
        case "get":
            return q.get()
        case "try":
            return q.get_nowait()
        case "timed":
            return q.get(timeout=1)
        case "look":
            return q.qsize()
        case "done":
            return q.task_done()
        case "join":
            return q.join()
        case "locked":
            with q.mutex:
                return q.unfinished_tasks
        case _:
            with q.mutex:
                return len(q.queue)


def program_of(seed: int) -> Callable[[Log], None]:
    chance = random.Random(seed)
    actions = ["put", "get", *chance.choice(ACTIONS).split()]
    limit, before = chance.choice((0, 0, 0, 1)), chance.choice((0, 0, 1))
    strands = [[chance.choice(actions) for _ in range(chance.choice((1, 2)))] for _ in range(3)]

    def program(log: Log) -> None:
        q: queue.Queue[Any] = queue.Queue(limit)
        for _ in range(before):
            q.put("before")
        log[:] = [[] for _ in strands]

        def go(number: int) -> None:
            for action in strands[number]:
                try:
                    log[number].append(act(q, action, number))
                except (queue.Empty, ValueError) as problem:
                    log[number].append(type(problem).__name__)

        together(*(lambda number=number: go(number) for number in range(len(strands))))

    return program


def outcomes(program: Callable[[Log], None], make: Callable[[], Strategy], known: set[str]) -> set[str] | None:
    """What the strands got in all executions; None when more is known now, and the search must begin again."""
    found: set[str] = set()
    strategy, indexes, log = make(), {"main": 0}, list[Any]()
    with patched():
        pool = Pool()
        try:
            while strategy.begin():
                run = Execution(pool, strategy, strategy.plan, strategy.trace, strategy.guards, indexes, limit=1000)
                run.shared = set()
                run.know_rebound(known)
                run.run(lambda: program(log))
                if run.revealed:
                    return None
                strategy.end(run)
                assert strategy.blocked == 0
                found.add(f"{run.stop_reason} {log}")
        finally:
            pool.close()
    assert not isinstance(strategy, Dpor) or strategy.surprise is None
    return found


def all_of(program: Callable[[Log], None], make: Callable[[], Strategy]) -> set[str]:
    known: set[str] = set()
    while (found := outcomes(program, make, known)) is None:
        pass
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_outcome_of_a_random_program_is_lost(seed: int) -> None:
    program = program_of(seed)
    assert all_of(program, Dpor) == all_of(program, Dfs)


@pytest.mark.parametrize(("consumers", "told_done", "executions"), [(1, False, 1), (1, True, 1), (2, False, 12)])
def test_who_produces_and_who_consumes_are_in_one_order(consumers: int, told_done: bool, executions: int) -> None:
    def test() -> None:
        q: queue.Queue[Any] = queue.Queue()
        got: list[Any] = []

        def produce() -> None:
            for item in (0, 1, *[None] * consumers):
                q.put(item)

        def consume() -> None:
            while (item := q.get()) is not None:
                got.append(item)
                if told_done:
                    q.task_done()

        together(produce, *[consume] * consumers)
        assert sorted(got) == [0, 1]

    result = treadle.check(test)
    assert (result.verdict, result.executions) == (treadle.Verdict.PASSED_EXHAUSTIVE, executions)


def test_told_done_before_it_was_put() -> None:
    """The two ends do not explain that: the order of the put and of task_done decides."""

    def test() -> None:
        q: queue.Queue[int] = queue.Queue()
        together(lambda: q.put(1), q.task_done)

    (found,) = treadle.check(test).findings
    assert "task_done() called too many times" in found.message


def test_a_wait_for_the_condition_inside() -> None:
    def test() -> None:
        q: queue.Queue[int] = queue.Queue()
        q.put(0)
        seen = []

        def work() -> None:
            q.get()
            q.task_done()

        def wait() -> None:
            with q.all_tasks_done:
                while q.unfinished_tasks:
                    q.all_tasks_done.wait()
                seen.append(q.qsize())

        together(work, wait, lambda: q.put(1))
        assert seen == [0], seen

    assert treadle.check(test).verdict is treadle.Verdict.FAILED  # the put comes first: nobody ends
