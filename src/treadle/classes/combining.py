"""Which values of several pools go together in one call, the plainest first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from treadle.classes.calls import Argument, Value

# Values of one optional parameter that are tried, and pairs of optional parameters.
_MOST_VALUES = 3
_MOST_PAIRS = 6


def with_options(bases: list[list[Argument]], pools: list[tuple[str, list[Value]]]) -> list[list[Argument]]:
    """Calls with one optional argument, the likeliest values first, then with two."""
    made = [
        _and(base, Argument(pool[place], name))
        for place in range(_MOST_VALUES)
        for base in reversed(bases)
        for name, pool in pools
        if place < len(pool)
    ]
    pairs = [two for two in itertools.combinations(pools, 2) if two[0][1] and two[1][1]][:_MOST_PAIRS]
    return made + [_and(_and(bases[-1], Argument(a[0], x)), Argument(b[0], y)) for (x, a), (y, b) in pairs]


def _and(arguments: list[Argument], one: Argument) -> list[Argument]:
    """One more argument: those without a name come first."""
    return sorted([*arguments, one], key=lambda argument: bool(argument.name))


def choices(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Which value of each pool: the first of all, then all the second, then one at a time."""
    yield (0,) * len(sizes)
    if not sizes:
        return
    if max(sizes) > 1:
        yield tuple(min(1, size - 1) for size in sizes)
    for number in range(1, max(sizes)):
        for place, size in enumerate(sizes):
            if number < size:
                yield tuple(number if other == place else 0 for other in range(len(sizes)))
    for number in range(2, max(sizes)):
        yield tuple(min(number, size - 1) for size in sizes)
