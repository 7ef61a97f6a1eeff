"""Chance and the hour, fixed: what stands for them during a call that is tried.

A function of `random` is that of a generator with a seed, `datetime.now` that of a class whose moment is known. They
are put where the code looks them up, as a person would do it, so a test of such a call does the same every day.
"""

from __future__ import annotations

import datetime
import random
import time
from collections.abc import Iterable, Iterator
from typing import Any

from treadle.units.probing.values import ValuePool

_SEEDS = range(6)
# a leap day in the morning, the end of a year late on a Sunday, a Monday at noon, the first moment of a century
_MOMENTS = ("2024, 2, 29, 8, 30", "2023, 12, 31, 23, 59, 59", "2025, 6, 2, 12", "2000, 1, 1")
_NOW = ("now", "utcnow", "today")


def frozen(chains: Iterable[str], names: dict[str, Any], pool: ValuePool) -> Iterator[list[tuple[str, str]]]:
    """Ways to fix all that these chains of names ask: what is patched, and the source of what stands there."""
    found = {chain: _value(chain, names) for chain in chains}
    chance = [chain for chain, value in found.items() if isinstance(getattr(value, "__self__", None), random.Random)]
    made = [chain for chain, value in found.items() if value is random.Random]
    for seed in _SEEDS if chance or made else ():
        generator = f"{pool.name(random.Random)}({seed})"
        drawn = [(chain, f"{generator}.{found[chain].__name__}") for chain in chance]
        yield drawn + [(chain, f"lambda *_: {generator}") for chain in made]
    dates: dict[str, list[str]] = {}
    for chain, value in found.items():
        if getattr(value, "__self__", None) in (datetime.datetime, datetime.date) and value.__name__ in _NOW:
            dates.setdefault(chain.rpartition(".")[0], []).append(value.__name__)
    hours = [chain for chain, value in found.items() if value is time.localtime]
    for moment in _MOMENTS if dates or hours else ():
        shown = [(chain, f"lambda *_: {pool.name(datetime.datetime)}({moment}).timetuple()") for chain in hours]
        yield [(clock, _stopped(_value(clock, names), asked, moment, pool)) for clock, asked in dates.items()] + shown


def _stopped(cls: type, asked: list[str], moment: str, pool: ValuePool) -> str:
    """A class that is like this one, but its time stands still."""
    name = pool.name(cls)
    now = f"lambda tz=None: {name}({moment}, tzinfo=tz)"
    if cls is datetime.date:
        now = f"lambda: {name}({', '.join(moment.split(', ')[:3])})"
    methods = ", ".join(f'"{method}": {now}' for method in asked)
    return f'type("{cls.__name__}", ({name},), {{{methods}}})'


def _value(chain: str, names: dict[str, Any]) -> Any:
    first, *rest = chain.split(".")
    value = names.get(first)
    for part in rest:
        value = getattr(value, part, None)
    return value
