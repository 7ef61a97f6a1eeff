"""Tests with several calls in a thread: for faults that no pair of single calls shows.

One call that is interrupted may survive every single call of the other thread and still be wrong after two of them (a
value that changes and changes back). Such tests are assembled when the pairs were explored, the shortest first. A test
is left out when a shorter one does the same: every call of it must touch what some call of the other thread touches,
and its calls must together do something that was not tried before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from treadle.classes.assembler import Assembler
from treadle.classes.calls import MethodCall
from treadle.classes.coverage import Trace
from treadle.classes.sequences import LONGEST_CALL, Delta, Transition
from treadle.classes.serializability import conflict

# States to start from, the nearest first, and variants of one method: enough for keys that differ and agree.
_MOST_STATES = 6
_MOST_VARIANTS = 2
# Calls of one test together: beyond that nobody reads it.
MOST_CALLS = 5
# Suffixes from one state: their pairs are what is tried.
_MOST_SUFFIXES = 400


@dataclass(frozen=True)
class Suffix:
    """The calls of one thread from a state, with what each of them does there."""

    calls: tuple[MethodCall, ...]
    steps: tuple[Transition, ...]

    @property
    def traces(self) -> tuple[Trace, ...]:
        return tuple(step.trace for step in self.steps)

    @property
    def length(self) -> int:
        return sum(len(step.ran.operations) for step in self.steps)


@dataclass
class Longer:
    """Assembles tests of up to `most` calls in a thread."""

    assembler: Assembler
    judged: frozenset[str]
    most: int
    seen: set[Hashable] = field(default_factory=set)

    def tests(self) -> Iterator[tuple[tuple[MethodCall, ...], tuple[tuple[MethodCall, ...], ...]]]:
        """What to run before, and the calls of the two threads; fewest calls first."""
        ways = sorted(self.assembler.automaton.shortest.items(), key=lambda item: len(item[1]))[:_MOST_STATES]
        sizes = [(one, two) for two in range(2, self.most + 1) for one in range(1, two + 1) if one + two <= MOST_CALLS]
        for one, two in sorted(sizes, key=sum):
            for state, alpha in ways:
                for first, second in self._pairs(state, one, two):
                    yield alpha, (first.calls, second.calls)

    def _pairs(self, state: Hashable, one: int, two: int) -> list[tuple[Suffix, Suffix]]:
        """New pairs of suffixes from a state, those with the fewest operations first."""
        found: list[tuple[Suffix, Suffix]] = []
        for first in self._suffixes(state, one):
            for second in self._suffixes(state, two):
                key = frozenset((first.traces, second.traces))
                if key not in self.seen and _all_meet(first, second) and _all_meet(second, first):
                    self.seen.add(key)
                    found.append((first, second))
        return sorted(found, key=lambda pair: pair[0].length + pair[1].length)

    def _suffixes(self, state: Hashable, length: int) -> list[Suffix]:
        """Sequences of so many calls from a state, one after the other."""
        found = [Suffix((), ())]
        for _ in range(length):
            found = [longer for suffix in found for longer in self._extended(state, suffix)][:_MOST_SUFFIXES]
        return found

    def _extended(self, state: Hashable, suffix: Suffix) -> Iterator[Suffix]:
        automaton = self.assembler.automaton
        at = suffix.steps[-1].state if suffix.steps else state
        if at not in automaton.shortest:
            return  # the last call blocks
        for method in sorted(self.judged):
            for call in self.assembler.siblings.get(method, ())[:_MOST_VARIANTS]:
                step = automaton.step(Delta(automaton.shortest[at], states=(at,)), call)
                if len(step.ran.operations) <= LONGEST_CALL and not (step.excp and step.state == at):
                    yield Suffix((*suffix.calls, call), (*suffix.steps, step))


def _all_meet(one: Suffix, other: Suffix) -> bool:
    """Does every call of a suffix touch what some call of the other one touches?"""
    return all(
        any(conflict(mine.ran.operations, theirs.ran.operations) for theirs in other.steps) for mine in one.steps
    )
