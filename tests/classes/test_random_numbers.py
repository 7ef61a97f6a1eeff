"""Drawing a random number is an operation: who draws first gets the first number."""

from __future__ import annotations

import random
from random import randrange

import treadle


class Sampler:
    def __init__(self) -> None:
        self.items: dict[int, int] = {}

    def offer(self, value: int) -> None:
        self.items[randrange(100)] = value


def test_both_orders_of_two_draws_are_run() -> None:
    random.seed(1)
    seen: set[tuple[tuple[int, int], ...]] = set()

    def test() -> None:
        sampler = Sampler()
        treadle.parallel(lambda: sampler.offer(1), lambda: sampler.offer(2))
        note(tuple(sorted(sampler.items.items())))

    note = seen.add
    result = treadle.check(test)
    assert result.exhaustive
    assert len(seen) == 2
