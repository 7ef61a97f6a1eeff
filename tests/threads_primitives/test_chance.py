"""Chance is the same in every execution, and drawing is an operation."""

from __future__ import annotations

import os
import random
import secrets

from tests.threads_primitives.running import announced, inside
from treadle.core.operation import WRITE
from treadle.threads.primitives import chance


def numbers() -> tuple[object, ...]:
    return random.random(), secrets.token_hex(4), os.urandom(2)


def test_a_seed_is_where_every_source_starts_again() -> None:
    found = []
    for seed in (1, 1, 2):
        chance.fresh(seed)
        assert not chance.drawn()
        found.append(inside(numbers))
        assert chance.drawn()
    assert found[0] == found[1] != found[2]


def test_each_source_is_a_location_of_its_own() -> None:
    assert announced(lambda: random.random()) == [(WRITE, "random", None)]
    assert announced(lambda: os.urandom(2)) == [(WRITE, "os.urandom", None)]


def test_a_generator_without_a_seed_gets_one_and_one_with_a_seed_keeps_it() -> None:
    own = random.Random(7).random()

    def main() -> tuple[float, float]:
        return random.Random(7).random(), random.Random().random()

    chance.fresh(1)
    first = inside(main)
    chance.fresh(1)
    assert inside(main) == first
    assert first[0] == own
