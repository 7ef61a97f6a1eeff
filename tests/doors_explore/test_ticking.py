"""A clock that each reading moves on: what reads it is ordered, and its order is searched."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import treadle
from treadle.core.errors import UsageError
from treadle.core.verdict import Verdict


def _read_by(*counts: int) -> list[list[float]]:
    """What threads read that look at the clock so often."""
    read: list[list[float]] = [[] for _ in counts]

    def look(mine: list[float], count: int) -> None:
        mine += [time.monotonic() for _ in range(count)]

    threads = [threading.Thread(target=look, args=pair) for pair in zip(read, counts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return read


@pytest.mark.parametrize(("strategy", "executions"), [("dpor", 3), ("dfs", None)])
def test_every_order_of_readings_is_run(strategy: str, executions: int | None) -> None:
    seen: set[tuple[int, ...]] = set()

    def test() -> None:
        (one, other), (alone,) = _read_by(2, 1)
        seen.add((alone > one, alone > other))

    result = treadle.check(test, strategy=strategy, clock="ticking")
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert seen == {(False, False), (True, False), (True, True)}
    if executions is not None:
        assert result.executions == executions


def test_a_reading_is_later_than_what_came_before_it_in_any_thread() -> None:
    def test() -> None:
        before = time.perf_counter()
        ((inside,),) = _read_by(1)
        assert before < inside < time.perf_counter()

    assert treadle.check(test).failed
    assert not treadle.check(test, clock="ticking").failed


def test_the_clock_of_every_drawn_execution_of_tasks_ticks() -> None:
    async def look() -> None:
        before = time.monotonic()
        await asyncio.sleep(0)
        assert before < time.monotonic()

    async def test() -> None:
        await asyncio.gather(look(), look())

    result = treadle.check(test, strategy="random", any_order=True, executions=20, clock="ticking")
    assert not result.findings
    assert result.executions == 20


def test_what_fails_by_the_order_of_readings_replays() -> None:
    def test() -> None:
        (one,), (other,) = _read_by(1, 1)
        assert one < other

    found = treadle.check(test, clock="ticking", target="t")
    assert found.failed
    assert treadle.replay(found.findings[0].replay, test).failed


def test_another_clock_is_refused() -> None:
    with pytest.raises(UsageError, match="'still' or 'ticking'"):
        treadle.check(_read_by, clock="fast")
