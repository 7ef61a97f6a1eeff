"""Which tests a file keeps that would have too many to read: every branch and every distinct outcome has its test.

All paths are followed as before; what is left out are tests that take no new way at any line, pair of lines or
condition, and end as others do. A file of a readable length keeps all of its tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from treadle.core.choice import ConditionGoes
from treadle.doors.unit.result import Suite
from treadle.symbolic.testcase import TestCase
from treadle.units.explore import ExploredTarget
from treadle.units.select import fewest

# A file that a person reads from top to bottom.
_MOST_TESTS = 30


@dataclass(slots=True, eq=False)
class _Spares:
    """The tests of a function that are not in the file, and what each of all its tests shows."""

    explored: ExploredTarget
    tests: list[TestCase]
    shows: dict[int, int]
    rounds: int = 0

    def lost(self, held: set[int]) -> int:
        """What no test shows any more, now that only these hold; the others are gone."""
        lost = 0
        for case in self.explored.cases:
            lost |= self.shows[id(case)] if id(case) not in held else 0
        self.explored.cases = [case for case in self.explored.cases if id(case) in held]
        for case in self.explored.cases:
            lost &= ~self.shows[id(case)]
        return lost

    def instead(self, lost: int) -> list[TestCase]:
        """Those that show it; each time twice as many, since where one does not hold, others like it do not either."""
        found: list[TestCase] = []
        for _ in range(2**self.rounds):
            others = [case for case in self.tests if self.shows[id(case)] & lost]
            found += (new := fewest(others, lambda case: self.shows[id(case)] & lost))
            chosen = set(map(id, new))
            self.tests = [case for case in self.tests if id(case) not in chosen]
        self.rounds += 1
        return found


class Shortened:
    """A long suite without what shows nothing new, and what could take the place of a test that does not hold."""

    def __init__(self, suite: Suite) -> None:
        self.spare: list[_Spares] = []
        if sum(len(explored.cases) for explored in suite.explored) <= _MOST_TESTS:
            return
        for explored in suite.explored:
            numbers: dict[Hashable, int] = {}
            shows = {id(case): _bits(case, numbers) for case in explored.cases}
            self.spare.append(_Spares(explored, [], shows))
            self._keep_fewest(suite, self.spare[-1])

    def _keep_fewest(self, suite: Suite, spares: _Spares) -> bool:
        cases = spares.explored.cases
        kept = fewest(cases, lambda case: spares.shows[id(case)])
        chosen = set(map(id, kept))
        spares.tests += [case for case in cases if id(case) not in chosen]
        spares.explored.cases = kept
        suite.untold += len(cases) - len(kept)
        return len(kept) < len(cases)

    def replaced(self, suite: Suite) -> bool:
        """Whether tests that did not hold have others in their place now, or are too many: they are to be run."""
        held, changed = set(map(id, suite.cases)), False
        for spares in self.spare:
            new = spares.instead(lost) if (lost := spares.lost(held)) else []
            spares.explored.cases += new
            suite.untold -= len(new)
            changed = changed or bool(new)
        if changed:
            return True
        fewer = [self._keep_fewest(suite, spares) for spares in self.spare if spares.rounds > 1]
        return any(fewer)


def _bits(case: TestCase, numbers: dict[Hashable, int]) -> int:
    return sum(1 << number for number in {numbers.setdefault(fact, len(numbers)) for fact in _facts(case)})


def _facts(case: TestCase) -> Iterator[Hashable]:
    """What a test shows: its lines and pairs of lines, which way conditions go after one another, how it ends."""
    yield from case.lines
    yield from itertools.pairwise(case.walk)
    before: tuple[str, bool] | None = None
    for choice in case.trail:
        if isinstance(choice, ConditionGoes):
            here = (choice.where, choice.way)
            yield here, before if before is not None and before[0] == choice.where else None
            before = here
    if case.violation is not None:
        yield "violation", id(case)
    yield _end(case)


def _end(case: TestCase) -> Hashable:
    """The exception and where it is raised, or the result: itself if it is the same for all inputs, else its type."""
    outcome = case.outcome
    if outcome.raises is not None:
        return outcome.raises.__name__, case.walk[-1:]
    if case.symbolic is not None and case.symbolic.fixed:
        return case.symbolic.text
    return type(outcome.value).__name__
