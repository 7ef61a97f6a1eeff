"""Making a failing schedule small: fewest preemptions, then fewest switches, then fewest operations.

A schedule is a list of strand names, one per operation. Shrinking leaves out or joins runs of one strand and lets the
rest follow without preemptions; whatever still fails in the same way and costs less is the new schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

Cost = tuple[int, int, int]
# runs a schedule; None when it does not fail as before, else the schedule as it really went and its cost
Attempt = Callable[[list[str]], tuple[list[str], Cost] | None]


def shrink(steps: list[str], cost: Cost, attempt: Attempt, most: int = 400) -> tuple[list[str], Cost]:
    """The cheapest failing schedule found within so many attempts."""
    tried: set[tuple[str, ...]] = {tuple(steps)}
    improved = True
    while improved and most > 0:
        improved = False
        for candidate in _smaller(steps):
            key = tuple(candidate)
            if key in tried:
                continue
            tried.add(key)
            most -= 1
            found = attempt(candidate)
            if found is not None and found[1] < cost:
                steps, cost = found
                improved = True
                break
            if most <= 0:
                break
    return steps, cost


def _smaller(steps: list[str]) -> Iterator[list[str]]:
    """Schedules with fewer runs: one left out, or joined with the next or the last run of the same strand."""
    runs = [(strand, len(list(group))) for strand, group in groupby(steps)]
    yield []
    for cut in range(1, len(runs)):
        yield _flat(runs[:cut])
    for place, (strand, _) in enumerate(runs):
        yield _flat(runs[:place] + runs[place + 1 :])
        for other in range(place + 2, len(runs)):
            if runs[other][0] == strand:
                joined = (strand, runs[place][1] + runs[other][1])
                yield _flat(runs[:place] + [joined] + runs[place + 1 : other] + runs[other + 1 :])
                yield _flat(runs[:place] + runs[place + 1 : other] + [joined] + runs[other + 1 :])
                break
    for place, (strand, length) in enumerate(runs):
        if length > 1 and place + 1 < len(runs):
            yield _flat(runs[:place] + [(strand, length - 1)] + runs[place + 1 :])


def _flat(runs: list[tuple[str, int]]) -> list[str]:
    return [strand for strand, length in runs for _ in range(length)]
