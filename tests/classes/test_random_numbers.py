"""Drawing a random number is an operation: who draws first gets the first number."""

from __future__ import annotations

import random
from random import randrange

import treadle
from tests.classes.drive import subject
from treadle.classes.linearizability import Outcome, judge, returned
from treadle.classes.subject import check_class


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


def _drawn(first: str, second: str) -> Outcome:
    return Outcome(((returned(("float", first)),), (returned(("float", second)),)))


def test_a_random_number_that_two_calls_get_is_told_and_the_order_of_draws_is_not() -> None:
    orders = [_drawn("0.1234567890", "0.2345678901"), _drawn("0.2345678901", "0.1234567890")]
    found = judge(_drawn("0.1234567890", "0.1234567890"), orders, values=False)
    assert found is not None
    assert found.message == "no order of the calls gives one value twice"
    assert judge(_drawn("0.3456789012", "0.4567890123"), orders, values=False) is None
    assert judge(_drawn("0.5", "0.5"), orders, values=False) is None  # which may be chance


def test_the_generator_of_the_standard_library_is_looked_into() -> None:
    check_class(random.Random, "random:Random")
    found = subject("random:Random")
    assert (found.draws, found.packages) == (True, ("random",))
