"""any_order with schedules that are drawn: what steps do is not recorded, and nothing is lost by that."""

from __future__ import annotations

import asyncio
import contextvars
import csv
import decimal
import gc
import logging
import random
import string
import threading
import time
import unittest
import weakref
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.threads.strands import current


class Shared:
    def __init__(self) -> None:
        self.x = 0


async def update(shared: Shared, times: int = 2) -> None:
    for _ in range(times):
        value = shared.x
        await asyncio.sleep(0)
        shared.x = value + 1


def test_drawn_schedules_reach_every_outcome() -> None:
    outcomes: dict[str, set[int]] = {"dpor": set(), "random": set()}

    def explored(strategy: str) -> None:
        async def main() -> None:
            shared = Shared()
            await asyncio.gather(update(shared), update(shared))
            outcomes[strategy].add(shared.x)

        treadle.check(main, any_order=True, strategy=strategy, executions=200)

    explored("dpor")
    explored("random")
    assert outcomes["random"] == outcomes["dpor"] == {2, 3, 4}


def test_a_finding_of_a_drawn_schedule_replays() -> None:
    async def test() -> None:
        shared = Shared()
        await asyncio.gather(update(shared), update(shared))
        assert shared.x != 3

    result = treadle.check(test, any_order=True, strategy="random", executions=200)
    assert result.findings[0].kind == "assertion"
    assert treadle.replay(result.findings[0].replay, test).failed
    assert {step.strand for step in result.findings[0].steps} >= {"update", "update#2"}


def test_a_thread_that_a_step_starts_is_seen() -> None:
    """The first execution shows the thread, and does not count: from then on what steps do is recorded."""

    async def test() -> None:
        shared = Shared()

        def add() -> None:
            shared.x += 1

        thread = threading.Thread(target=add)
        thread.start()
        shared.x += 1
        thread.join()
        assert shared.x == 2

    result = treadle.check(test, any_order=True, strategy="random", executions=100)
    assert result.failed
    assert treadle.replay(result.findings[0].replay, test).failed


def test_tasks_that_an_earlier_loop_left_do_not_run_on_the_next_one() -> None:
    ran: list[str] = []

    async def left_behind() -> None:
        while True:
            ran.append("left")
            await asyncio.sleep(0)

    async def first() -> Any:
        return asyncio.ensure_future(left_behind())

    async def second() -> None:
        ran.clear()
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
        assert not ran

    def test() -> None:
        early, late = asyncio.new_event_loop(), asyncio.new_event_loop()
        task = early.run_until_complete(first())
        late.run_until_complete(second())
        task.cancel()
        early.run_until_complete(asyncio.wait([task]))

    result = treadle.check(test, any_order=True, strategy="random", executions=50)
    assert not result.findings, result.findings
    assert result.verdict is Verdict.CUT


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_a_cancelled_handle_is_not_run(strategy: str) -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        called: list[int] = []
        loop.call_soon(called.append, 1).cancel()
        loop.call_later(1, called.append, 2).cancel()
        await asyncio.sleep(2)
        assert not called

    assert not treadle.check(test, any_order=True, strategy=strategy, executions=20).findings


def test_a_loop_that_waits_inside_a_step_ends_when_schedules_are_drawn() -> None:
    async def test() -> None:
        shared = Shared()

        async def wait() -> None:
            while shared.x == 0:
                pass

        async def set_it() -> None:
            shared.x = 1

        await asyncio.gather(wait(), set_it())

    result = treadle.check(test, any_order=True, strategy="random", executions=6, operations=300)
    assert result.executions == 6
    assert "stopped after 300 operations" in result.reason


_MADE_BEFORE = threading.Lock()


def test_models_stand_for_what_drawn_steps_use() -> None:
    """A real lock and a function taken by name, in steps whose accesses are not recorded."""

    def pause(seconds: float, sleep: Any = time.sleep) -> None:
        sleep(seconds)

    async def test() -> None:
        started = time.monotonic()
        pause(3600.0)
        assert round(time.monotonic() - started, 3) == 3600.0
        assert _MADE_BEFORE.acquire()
        assert not _MADE_BEFORE.acquire(timeout=5)

    result = treadle.check(test, any_order=True, strategy="random", executions=3)
    assert result.verdict is Verdict.CUT
    assert not _MADE_BEFORE.locked()


def test_a_drawn_step_that_blocks_takes_its_time_while_others_are_ready() -> None:
    async def test() -> None:
        async def block() -> None:
            started = time.monotonic()
            time.sleep(3600.0)
            assert time.monotonic() - started >= 3600.0

        await asyncio.gather(block(), asyncio.sleep(0), asyncio.sleep(0))

    assert treadle.check(test, any_order=True, strategy="random", executions=20).findings == []


def test_executions_leave_nothing_for_the_garbage_collector() -> None:
    left: list[int] = []

    async def test() -> None:
        left.append(gc.collect(0))  # what the executions before this one left
        shared = Shared()
        await asyncio.gather(update(shared), update(shared))

    treadle.check(test, any_order=True, strategy="random", executions=6)
    assert left[3:] == [0, 0, 0]


@pytest.mark.parametrize("strategy", ["random", "dpor"])
def test_executions_leave_nothing_behind(strategy: str) -> None:
    """Nor what the garbage collector does not find: a compiled class may initialise its objects twice."""
    of_executions = {"Clock", "Loop", "DrawnLoop", "Queue"}

    async def test() -> None:
        shared = Shared()
        await asyncio.gather(update(shared), update(shared))

    def alive() -> int:
        gc.collect()
        return sum(type(one).__name__ in of_executions for one in gc.get_objects())

    treadle.check(test, any_order=True, strategy=strategy, executions=2)
    before = alive()
    treadle.check(test, any_order=True, strategy=strategy, executions=15)
    assert alive() <= before


# Computed when they are asked for, or common to all executions of a search.
_NOT_KEPT = {"is_blank", "troubled", "network", "name", "ident", "indexes"}


def state(thing: Any) -> dict[str, object]:
    """What an execution or a strand knows, by attribute, as far as it can be compared with another's."""
    found: dict[str, object] = {}
    for name in sorted(set(dir(type(thing))) | set(getattr(thing, "__dict__", ()))):
        value = None if name.startswith("__") or name in _NOT_KEPT else getattr(thing, name, None)
        if callable(value):
            continue
        if isinstance(value, (list, dict, set)):
            found[name] = (type(value).__name__, len(value))
        elif isinstance(value, (int, float, str, tuple)) or value is None:
            found[name] = value
        else:
            found[name] = (type(value).__name__, getattr(value, "now", None))
    return found


def test_an_execution_that_is_used_again_is_as_a_new_one() -> None:
    """Whatever the one before did, for which it may have had to be left."""
    lock = threading.Lock()
    seen: list[tuple[dict[str, object], dict[str, object]]] = []
    runs: set[int] = set()

    def hold() -> None:
        with lock:
            pass

    def draw() -> None:
        random.random()
        treadle.choose("ab")

    async def serve() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "localhost", 8000)
        server.close()

    deeds: list[Any] = [
        *(lambda: None, hold, draw, time.time, lambda: weakref.ref(Shared())),
        *(lambda: asyncio.sleep(3), lambda: asyncio.wait_for(asyncio.sleep(9), 10), serve),
        lambda: asyncio.gather(update(Shared()), update(Shared())),
        lambda: asyncio.get_running_loop().call_later(1, print),
    ]

    def test() -> None:
        strand: Any = current()
        seen.append((state(strand.execution), state(strand)))
        runs.add(id(strand.execution))

        async def main() -> None:
            awaited: Any = deeds[len(seen) // 3 % len(deeds)]() if len(seen) % 3 == 0 else None
            if hasattr(awaited, "__await__"):
                await awaited

        asyncio.run(main())

    result = treadle.check(test, any_order=True, strategy="random", executions=4 * len(deeds))
    assert not result.findings
    assert len(seen) >= 4 * len(deeds)
    assert len(runs) < len(seen)  # some were used again
    for run, strand in seen[1:]:
        assert run == seen[0][0]
        assert strand == seen[0][1]


SET_BY_ONE: contextvars.ContextVar[int] = contextvars.ContextVar("SET_BY_ONE", default=0)
COUNTED: list[int] = []


class OwnPolicy(asyncio.DefaultEventLoopPolicy):
    pass


def test_drawn_executions_that_follow_each_other_find_the_world_as_it_was() -> None:
    found: set[str] = set()
    strands: list[int] = []

    def sets() -> None:
        SET_BY_ONE.set(1)
        decimal.getcontext().prec = 5
        string.set_by_one = 1  # type: ignore[attr-defined]

    deeds: list[Any] = [
        *(lambda: None, lambda: COUNTED.append(1), lambda: random.random()),
        *(lambda: asyncio.sleep(3), lambda: setattr(update, "called", True)),
        *(lambda: asyncio.set_event_loop_policy(OwnPolicy()), sets, sets, lambda: logging.disable(logging.ERROR)),
        lambda: logging.getLogger("tests.drawn").setLevel(logging.ERROR),
    ]

    def test() -> None:
        strand: Any = current()
        strands.append(id(strand.execution))

        async def main() -> None:
            level = logging.getLogger("tests.drawn").level, logging.root.manager.disable
            here = (
                SET_BY_ONE.get(),
                decimal.getcontext().prec,
                list(COUNTED),
                vars(update),
                level,
                vars(string).get("set_by_one"),
            )
            policy = type(asyncio.get_event_loop_policy()).__name__
            task: Any = asyncio.current_task()
            found.add(f"{here} {policy} {asyncio.get_running_loop().time()} {task.get_name()}")
            done: Any = deed()
            if hasattr(done, "__await__"):
                await done

        deed = deeds[len(strands) % len(deeds)]
        asyncio.run(main())
        if deed is sets:
            deed()  # outside of the loop, whose tasks have contexts of their own

    result = treadle.check(test, any_order=True, strategy="random", executions=6 * len(deeds))
    assert not result.findings
    assert result.executions > 4 * len(deeds)  # it may start again when a variable of another module is set
    assert len(found) == 1, found


def test_one_that_fails_among_many_that_follow_each_other_is_found_and_replayed() -> None:
    """A lost update in a few of the schedules only."""

    async def main() -> None:
        shared = Shared()
        await asyncio.gather(*(update(shared) for _ in range(3)))
        assert shared.x > 2

    result = treadle.check(main, any_order=True, strategy="random", executions=2000)
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].trail is not None
    assert 1 < result.executions < 2000


def test_tasks_have_the_names_and_the_order_in_sets_that_a_replay_has() -> None:
    """Drawn schedules run on tasks and futures in C, a replay on their Python forms."""
    seen: dict[str, set[str]] = {"dpor": set(), "random": set()}

    async def main() -> None:
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(asyncio.sleep(0)) for _ in range(5)]
        futures = [loop.create_future() for _ in range(5)]
        names = [task.get_name() for task in set(tasks)]
        numbers = [futures.index(future) for future in set(futures)]
        seen[strategy].add(f"{names} {numbers} {len(asyncio.all_tasks())}")
        await asyncio.gather(*tasks)

    for strategy in seen:
        treadle.check(main, any_order=True, strategy=strategy, executions=3)
    assert seen["random"] == seen["dpor"]
    assert len(seen["random"]) == 1


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_an_exception_that_nobody_looked_at_is_told_of_drawn_schedules_too(strategy: str) -> None:
    kept: list[Any] = []

    async def fails() -> None:
        raise ValueError("lost")

    async def task() -> None:
        kept[:] = [asyncio.ensure_future(fails())]
        await asyncio.sleep(1)

    async def future() -> None:
        kept[:] = [asyncio.get_running_loop().create_future()]
        kept[0].set_exception(ValueError("lost"))

    for test in (task, future):
        result = treadle.check(test, any_order=True, strategy=strategy, executions=3)
        assert [finding.kind for finding in result.findings] == ["exception never retrieved"], (test, result.findings)


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_a_task_is_a_future_in_every_form(strategy: str) -> None:
    async def test() -> None:
        task = asyncio.ensure_future(asyncio.sleep(0))
        future = asyncio.get_running_loop().create_future()
        gathered = asyncio.gather(task)
        assert all(isinstance(one, asyncio.Future) for one in (task, future, gathered, asyncio.Future()))
        assert isinstance(task, asyncio.Task)
        assert not isinstance(future, asyncio.Task)
        assert not isinstance(3, asyncio.Future)
        assert issubclass(asyncio.Task, asyncio.Future)
        await gathered

        class Own(asyncio.Future[int]):
            pass

        assert isinstance(Own(), asyncio.Future)
        assert not isinstance(future, Own)

    assert not treadle.check(test, any_order=True, strategy=strategy, executions=3).findings


def test_the_numbers_that_were_drawn_are_the_same_schedule_with_strands() -> None:
    """Timers, callbacks, choices and tasks that wait: what a failing execution did is what the recorded one does."""

    async def test() -> None:
        seen: list[str] = []
        loop = asyncio.get_running_loop()

        async def wait(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            loop.call_soon(seen.append, name)
            await asyncio.sleep(0)
            seen.append(treadle.choose([f"{name}1", f"{name}2"]))

        async with asyncio.TaskGroup() as group:
            for name, seconds in (("a", 0), ("b", 0), ("c", 1), ("d", 1)):
                group.create_task(wait(name, seconds))
        assert seen != sorted(seen) or "a2" not in seen, seen

    result = treadle.check(test, any_order=True, strategy="random", executions=2000)
    assert result.findings[0].kind == "assertion"
    assert treadle.replay(result.findings[0].replay, test).failed


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_a_task_factory_of_the_program_is_asked(strategy: str) -> None:
    made: list[str] = []

    def factory(loop: Any, coroutine: Any, **options: Any) -> Any:
        made.append("task")
        return asyncio.Task(coroutine, loop=loop, **options)

    async def test() -> None:
        made.clear()
        asyncio.get_running_loop().set_task_factory(factory)
        shared = Shared()
        await asyncio.gather(update(shared), update(shared))
        assert len(made) == 2
        assert shared.x != 3

    result = treadle.check(test, any_order=True, strategy=strategy, executions=200)
    assert result.findings[0].message.startswith("AssertionError: assert 3 != 3"), result.findings
    assert treadle.replay(result.findings[0].replay, test).failed


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_asyncio_in_debug_mode_takes_all_tasks_of_a_loop_for_one_thread(strategy: str) -> None:
    class Case(unittest.IsolatedAsyncioTestCase):  # runs its loop in debug mode
        async def test(self) -> None:
            shared = Shared()
            await asyncio.gather(update(shared), update(shared))
            assert threading.get_ident() == threading.main_thread().ident
            assert shared.x >= 2

    def test() -> None:
        outcome = unittest.TestResult()
        Case("test").run(outcome)
        assert outcome.wasSuccessful(), outcome.failures + outcome.errors

    assert not treadle.check(test, any_order=True, strategy=strategy, executions=60).findings


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_asyncio_run_ends_what_its_loop_left(strategy: str) -> None:
    ended: list[str] = []
    left: list[Any] = []

    async def numbers() -> Any:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ended.append("generator")

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async def main() -> int:
        left.extend([numbers(), asyncio.create_task(forever())])
        await asyncio.sleep(0)
        return int(await anext(left[0]))

    def test() -> None:
        ended.clear()
        left.clear()
        assert asyncio.run(main()) == 1
        assert set(ended) <= {"task", "generator"}
        assert "generator" in ended
        assert left[1].cancelled()
        assert asyncio.run(asyncio.sleep(0, "again")) == "again"

    result = treadle.check(test, any_order=True, strategy=strategy, executions=20)
    assert not result.failed, result.findings


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_asyncio_run_is_refused_as_ever(strategy: str) -> None:
    async def test() -> None:
        inner = asyncio.sleep(0)
        for main in (inner, lambda: None):
            with pytest.raises((RuntimeError, ValueError, TypeError)):
                asyncio.run(main)  # type: ignore[arg-type]
        inner.close()
        await asyncio.gather(update(Shared()), update(Shared()))

    result = treadle.check(test, any_order=True, strategy=strategy, executions=20)
    assert not result.failed, result.findings


def test_a_setting_that_an_execution_changes_is_not_for_the_next_one() -> None:
    async def sets() -> None:
        assert csv.field_size_limit() == 131_072
        csv.field_size_limit(7)
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))

    def test() -> None:
        asyncio.run(sets())

    assert not treadle.check(test, any_order=True, strategy="random", executions=20).findings
