"""Making what fails small: one descent for every door, delta debugging for sets, and what a smaller schedule is.

Keeps: whatever is returned was run and failed as before. A door says what is smaller (`smaller`), runs it (`attempt`:
the failing thing as it really went, or None) and how long it may go on; `shrink` does the rest. Schedules of strands
are shrunk by explore and class (`shrink_schedule`), tests by class (classes.minimise), orders of messages by schedule
(messages.minimise).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

Failing = TypeVar("Failing")
Candidate = TypeVar("Candidate")
Shown = TypeVar("Shown")


def shrink(
    failing: Failing,
    smaller: Callable[[Failing], Iterable[Candidate]],
    attempt: Callable[[Candidate], Failing | None],
    may_go_on: Callable[[], bool],
) -> Failing:
    """Greedy descent: the first smaller one that still fails is gone on from, until none does."""
    improved = True
    while improved and may_go_on():
        improved = False
        for candidate in smaller(failing):
            found = attempt(candidate)
            if found is not None:
                failing, improved = found, True
                break
            if not may_go_on():
                break
    return failing


def delta_debug(
    parts: list[Candidate], shown: Shown, attempt: Callable[[Sequence[Candidate]], Shown | None]
) -> tuple[list[Candidate], Shown]:
    """Parts without any of which it no longer fails, and what showed it: ddmin (Zeller, Hildebrandt, TSE 2002), smaller
    and smaller pieces are left out until none can be."""
    pieces = 2
    while len(parts) > 1:
        size = max(1, len(parts) // pieces)
        for start in range(0, len(parts), size):
            rest = parts[:start] + parts[start + size :]
            found = attempt(rest)
            if found is not None:
                parts, shown, pieces = rest, found, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(len(parts), pieces * 2)
    return parts, shown


# ---------------------------------------------------------------------- schedules

Cost = tuple[int, int, int]  # preemptions, switches, operations
Schedule = tuple[list[str], Cost]  # the names of the strands, one per operation
# runs a schedule; None when it does not fail as before, else the schedule as it really went and its cost
Attempt = Callable[[list[str]], Schedule | None]


def shrink_schedule(failing: Schedule, attempt: Attempt, most: int = 400, seconds: float = math.inf) -> Schedule:
    """The cheapest failing schedule found within so many attempts and seconds: fewest preemptions, then fewest
    switches, then fewest operations. Runs of one strand are left out or joined, and the rest follows
    without preemptions."""
    tried = {tuple(failing[0])}
    best = failing[1]

    def untried(schedule: Schedule) -> Iterator[list[str]]:
        for candidate in _smaller(schedule[0]):
            if tuple(candidate) not in tried:
                tried.add(tuple(candidate))
                yield candidate

    def cheaper(candidate: list[str]) -> Schedule | None:
        nonlocal best, most
        most -= 1
        found = attempt(candidate)
        if found is None or found[1] >= best:
            return None
        best = found[1]
        return found

    until = time.monotonic() + seconds
    return shrink(failing, untried, cheaper, lambda: most > 0 and time.monotonic() < until)


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
