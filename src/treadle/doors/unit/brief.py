"""Which tests a file keeps that would have too many to read: every branch and every distinct outcome has its test.

All paths are followed as before; what is left out are tests that take no new way at any line, pair of lines or
condition, and end as others do. A file of a readable length keeps all of its tests.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Iterator

from treadle.core.choice import ConditionGoes
from treadle.doors.unit.result import Suite
from treadle.symbolic.testcase import TestCase
from treadle.units.explore import ExploredTarget
from treadle.units.select import fewest

# A file that a person reads from top to bottom.
_MOST_TESTS = 30


class Shortened:
    """A long suite without what shows nothing new, and what could take the place of a test that does not hold."""

    def __init__(self, suite: Suite) -> None:
        self.spare: list[tuple[ExploredTarget, list[TestCase], dict[int, int]]] = []
        if sum(len(explored.cases) for explored in suite.explored) <= _MOST_TESTS:
            return
        for explored in suite.explored:
            numbers: dict[Hashable, int] = {}
            shows = {id(case): _bits(case, numbers) for case in explored.cases}
            kept = fewest(explored.cases, lambda case, shows=shows: shows[id(case)])  # type: ignore[misc]
            chosen = set(map(id, kept))
            self.spare.append((explored, [case for case in explored.cases if id(case) not in chosen], shows))
            suite.untold += len(explored.cases) - len(kept)
            explored.cases = kept

    def replaced(self, suite: Suite) -> bool:
        """Whether tests that did not hold have others in their place now, which are to be run."""
        held, changed = set(map(id, suite.cases)), False
        for explored, spare, shows in self.spare:
            lost = 0
            for case in explored.cases:
                lost |= shows[id(case)] if id(case) not in held else 0
            explored.cases = [case for case in explored.cases if id(case) in held]
            for case in explored.cases:
                lost &= ~shows[id(case)]
            others = [case for case in spare if shows[id(case)] & lost]
            new = fewest(others, lambda case, shows=shows, lost=lost: shows[id(case)] & lost)  # type: ignore[misc]
            spare[:] = [case for case in spare if not any(case is one for one in new)]
            explored.cases += new
            suite.untold -= len(new)
            changed = changed or bool(new)
        return changed


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
    try:
        return repr(ast.literal_eval(case.symbolic["outcome"]))
    except (ValueError, SyntaxError, KeyError):
        return type(outcome.value).__name__
