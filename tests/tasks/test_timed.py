"""Timers of a loop: when they go off, and in which order."""

from __future__ import annotations

import asyncio

import treadle
from treadle.core.verdict import Verdict
from treadle.tasks.timed import Timed


def _orders(how: str) -> set[str]:
    """In which orders timers go off: two for one moment, one that is cancelled, and one that is due before them."""
    seen: set[str] = set()

    async def test() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Timed)
        begin = loop.time()
        done: list[str] = []
        for name in "ab":
            if how == "at":
                loop.call_at(begin + 2, done.append, name)
            else:
                loop.call_later(2, done.append, name)
        loop.call_later(3, done.append, "cancelled").cancel()
        loop.call_later(1, done.append, "first")
        await asyncio.sleep(5)
        seen.add(" ".join(done))

    assert treadle.check(test).verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)
    return seen


def test_timers_go_off_in_the_order_of_deadline_and_creation() -> None:
    assert _orders("later") == {"first a b"}


def test_those_that_were_set_for_one_moment_go_off_in_either_order() -> None:
    assert _orders("at") == {"first a b", "first b a"}
