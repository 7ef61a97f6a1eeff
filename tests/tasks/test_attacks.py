"""Programs that were written to get a false pass or a false alarm: what tasks share is reached in unusual ways."""

from __future__ import annotations

import asyncio
import bisect
import collections
import contextlib
import contextvars
import functools
import io
import itertools
import logging
import random
import threading
import types
import unittest
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import treadle
from treadle import Verdict

Act = Callable[[int], object]
Look = Callable[[], object]


def shared_counter() -> tuple[Act, Look]:
    numbers, drawn = itertools.count(), dict[int, int]()

    def draw(number: int) -> None:
        drawn[number] = next(numbers)

    return draw, lambda: drawn[1]


def shared_generator() -> tuple[Act, Look]:
    numbers, drawn = (number for number in (1, 2)), dict[int, int]()

    def draw(number: int) -> None:
        drawn[number] = next(numbers)

    return draw, lambda: drawn[1]


def shared_deque() -> tuple[Act, Look]:
    left, drawn = collections.deque([1, 2]), dict[int, int]()

    def draw(number: int) -> None:
        drawn[number] = left.popleft()

    return draw, lambda: drawn[1]


def shared_random() -> tuple[Act, Look]:
    chance, drawn = random.Random(1), dict[int, float]()

    def draw(number: int) -> None:
        drawn[number] = chance.random()

    return draw, lambda: drawn[1]


def sorted_list() -> tuple[Act, Look]:
    numbers, sizes = list[int](), dict[int, int]()

    def put(number: int) -> None:
        bisect.insort(numbers, number)
        sizes[number] = len(numbers)

    return put, lambda: sizes[1]


def cached_function() -> tuple[Act, Look]:
    calls = list[int]()

    @functools.lru_cache
    def first() -> int:
        return calls[-1]

    def call(number: int) -> None:
        calls.append(number)
        first()

    return call, first


def text_stream() -> tuple[Act, Look]:
    stream = io.StringIO()
    return lambda number: stream.write(str(number)), stream.getvalue


def value_in_context() -> tuple[Act, Look]:
    variable = contextvars.ContextVar[list[int]]("variable")
    variable.set([])
    return lambda number: variable.get().append(number), lambda: variable.get()[0]


def attribute_of_module() -> tuple[Act, Look]:
    module: Any = types.ModuleType("module")
    return lambda number: setattr(module, "last", number), lambda: module.last


def default_argument() -> tuple[Act, Look]:
    def put(number: int, seen: list[int] = []) -> list[int]:  # noqa: B006 - that is the bug
        seen.append(number)
        return seen

    return put, lambda: [number for number in put(0) if number][-2:]


def records_of_log() -> tuple[Act, Look]:
    records, logger = list[object](), logging.Logger("some")
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.msg)  # type: ignore[method-assign]
    logger.addHandler(handler)
    return logger.warning, lambda: records[0]


def callbacks_of_stack() -> tuple[Act, Look]:
    stack, seen = contextlib.ExitStack(), list[int]()

    def look() -> int:
        stack.close()
        return seen[0]

    return lambda number: stack.callback(seen.append, number), look


ROUTES = [
    *(shared_counter, shared_generator, shared_deque, shared_random, sorted_list, cached_function, text_stream),
    *(value_in_context, attribute_of_module, default_argument, records_of_log, callbacks_of_stack),
]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
def test_who_came_first_is_found_out(route: Callable[[], tuple[Act, Look]]) -> None:
    in_order = route()
    for number in (1, 2):
        in_order[0](number)
    expected = in_order[1]()

    async def test() -> None:
        act, look = route()

        async def do(number: int) -> None:
            act(number)

        await asyncio.gather(do(1), do(2))
        assert look() == expected

    result = treadle.check(test, source=route, any_order=True)
    assert [finding.kind for finding in result.findings] == ["assertion"]
    assert treadle.replay(result.findings[0].replay, test, source=route).failed


def held(releasing: Callable[[], Coroutine[Any, Any, None]] | None) -> Callable[[], Coroutine[Any, Any, None]]:
    async def test() -> None:
        opened = [0]

        async def use() -> None:
            opened[0] += 1
            try:
                await asyncio.sleep(0)
            finally:
                if releasing is not None:
                    await releasing()
                opened[0] -= 1

        await asyncio.wait([asyncio.create_task(use())])
        assert opened == [0]

    return test


def test_a_cancellation_strikes_in_the_cleaning_up() -> None:
    assert treadle.check(held(None), cancel="at-await").verdict is Verdict.PASSED_WITHIN_BOUNDS
    [finding] = treadle.check(held(lambda: asyncio.sleep(0)), cancel="at-await").findings
    assert finding.kind == "assertion"


def test_what_happens_before_is_kept() -> None:
    async def test() -> None:
        log: list[tuple[int, int]] = []

        async def work(number: int) -> None:
            assert began == [True]
            log.append((number, 0))
            await asyncio.sleep(0)
            log.append((number, 1))

        began = [True]
        await asyncio.gather(work(1), work(2))
        assert [step for number, step in log if number == 1] == [0, 1]
        assert [step for number, step in log if number == 2] == [0, 1]

    assert treadle.check(test, any_order=True).verdict is Verdict.PASSED_EXHAUSTIVE


def test_an_isolated_test_case_with_any_order() -> None:
    class Case(unittest.IsolatedAsyncioTestCase):
        async def test_it(self) -> None:
            log: list[int] = []

            async def work(number: int) -> None:
                log.append(number)

            await asyncio.gather(work(1), work(2))
            assert log == [1, 2]

    def test() -> None:
        outcome = unittest.TestResult()
        Case("test_it").run(outcome)
        assert outcome.wasSuccessful()

    assert [finding.kind for finding in treadle.check(test, any_order=True).findings] == ["assertion"]


def test_a_thread_cancels_a_task_the_right_way() -> None:
    async def test() -> None:
        task = asyncio.create_task(asyncio.sleep(1))
        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(task.cancel))
        thread.start()
        await asyncio.wait([task])
        thread.join()
        assert task.cancelled()  # before time has passed

    result = treadle.check(test)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.evidence is not None
    assert result.evidence.deadlines == ["a timer"]  # of the task that only sleeps


def test_a_pass_beside_threads_names_the_timers_that_it_rests_on() -> None:
    fired: list[int] = []

    async def test() -> None:
        fired.clear()
        handle = asyncio.get_running_loop().call_later(1, fired.append, 1)
        thread = threading.Thread(target=handle.cancel)
        thread.start()
        await asyncio.sleep(2)
        thread.join()
        assert not fired

    result = treadle.check(test)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.evidence is not None
    first = test.__code__.co_firstlineno
    assert result.evidence.deadlines == [f"test_attacks.py:{first + 2}", f"test_attacks.py:{first + 5}"]
    assert [warning.kind for warning in result.warnings] == ["early deadline"]
    assert treadle.check(test, timeouts="any").verdict is Verdict.FAILED


def test_what_asyncio_grants_threads_at_its_end_is_no_deadline() -> None:
    async def test() -> None:
        await asyncio.to_thread(int)

    assert treadle.check(test).verdict is Verdict.PASSED_EXHAUSTIVE
    assert treadle.check(test, timeouts="any").verdict is Verdict.PASSED_EXHAUSTIVE
