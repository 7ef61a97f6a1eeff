"""Schedule coverage: which orders of receives are goals, and which of them a set of schedules has reached.

Decides the criteria of Bita, section III-A, and two more:

    PR     pair of receives: r_i before r_j at one actor (Definition 2)
    PCR    pair of consecutive receives: the same with nothing between them at that actor (Definition 1)
    PMR    pair of handler change and receive: one of the two changes the actor's message handlers, and no change of
           handlers comes between them (Definition 3)
    PETR   pair of event types: PR with all receives of one message type at one type of actor taken together
    PCETR  pair of consecutive event types: PCR by type
    TRIPLE three receives that come one right after the other at one actor

Goals are bit sets: the goals r_i -> r_j that start at one receive are one integer. An actor that stops drops what it
has not received: that counts as the order "stop before it" (PR and PETR), which no receive could show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from treadle.messages.must_hb import bits
from treadle.messages.receive import Receive, Schedule

# the receives of one actor in order, as (number, does it change handlers) -> (number, mask of the numbers after it)
Rows = Callable[[list[tuple[int, bool]]], Iterator[tuple[int, int]]]


def _pr(receives: list[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    later = 0
    for number, _ in reversed(receives):
        yield number, later
        later |= 1 << number


def _pcr(receives: list[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    for (number, _), (following, _) in pairwise(receives):
        yield number, 1 << following


def _pmr(receives: list[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    until_change = change = 0  # the receives up to the next change of handlers, and that change
    for number, changes in reversed(receives):
        yield number, until_change if changes else change
        if changes:
            until_change = change = 1 << number
        else:
            until_change |= 1 << number


@dataclass(frozen=True, slots=True)
class Criterion:
    """A coverage criterion: its name, its goals, and which receives it takes for the same."""

    name: str
    rows: Rows
    by_type: bool = False
    consecutive: bool = True  # must r_i and r_j stay next to each other? (Algorithm 2, the tail)

    def key(self, event: Receive) -> int | str:
        return event.type if self.by_type else event.hash

    def is_related(self, first: Receive, second: Receive) -> bool:
        """isCrRelated(r_i, r_j, cr), section IV-B."""
        return first.rec == second.rec and (self is not PMR or first.cmh or second.cmh)


PR = Criterion("PR", _pr, consecutive=False)
PCR = Criterion("PCR", _pcr)
PMR = Criterion("PMR", _pmr)
PETR = Criterion("PETR", _pr, by_type=True, consecutive=False)
PCETR = Criterion("PCETR", _pcr, by_type=True)
CRITERIA = {criterion.name: criterion for criterion in (PR, PCR, PMR, PETR, PCETR)}


class Goals:
    """The ordering goals that schedules have reached: the set O of Algorithm 1, and the measure of Definition 4."""

    __slots__ = ("back", "criterion", "forth", "number", "of_actor")

    def __init__(self, criterion: Criterion, schedules: Iterable[Schedule] = ()) -> None:
        self.criterion = criterion
        self.number: dict[int | str, int] = {}  # key of a receive -> its number here
        self.forth: list[int] = []  # forth[i]: mask of the j with r_i -> r_j reached
        self.back: list[int] = []  # back[i]: mask of the j with r_j -> r_i reached
        self.of_actor: dict[int, int] = {}  # actor -> mask of its receives
        for schedule in schedules:
            self.add(schedule)

    def number_of(self, event: Receive) -> int:
        key = self.criterion.key(event)
        number = self.number.get(key)
        if number is None:
            number = self.number[key] = len(self.forth)
            self.forth.append(0)
            self.back.append(0)
        self.of_actor[event.rec] = self.of_actor.get(event.rec, 0) | 1 << number
        return number

    def add(self, schedule: Schedule) -> int:
        """Add what a schedule reaches; how many goals are new."""
        new = 0
        for number, mask in list(self._rows(schedule)):
            fresh = mask & ~self.forth[number]
            if fresh:
                new += fresh.bit_count()
                self.forth[number] |= fresh
                for other in bits(fresh):
                    self.back[other] |= 1 << number
        return new

    def new_goals(self, schedule: Schedule) -> int:
        """How many goals a schedule reaches that are not reached yet."""
        return sum((mask & ~self.forth[number]).bit_count() for number, mask in self._rows(schedule))

    def _rows(self, schedule: Schedule) -> Iterator[tuple[int, int]]:
        """For each receive of a schedule the mask of those that it comes before, in the way of the criterion."""
        by_actor: dict[int, list[tuple[int, bool]]] = {}
        stops: dict[int, int] = {}
        for event in schedule:
            number = self.number_of(event)
            by_actor.setdefault(event.rec, []).append((number, event.cmh))
            if event.stops:
                stops[event.rec] = number
        for rec, receives in by_actor.items():
            yield from self.criterion.rows(receives)
            if rec in stops and not self.criterion.consecutive:
                received = sum({1 << number for number, _ in receives})
                yield stops[rec], self.of_actor[rec] & ~received

    def take_over(self, other: Goals, schedule: Schedule) -> None:
        """Count as reached here what is reached there, between receives of this schedule."""
        by_actor: dict[int, dict[int, int]] = {}
        for event in schedule:
            there = other.number.get(other.criterion.key(event))
            if there is not None:
                by_actor.setdefault(event.rec, {})[there] = self.number_of(event)
        for numbers in by_actor.values():
            for there, here in numbers.items():
                row = other.forth[there]
                for target_there, target_here in numbers.items():
                    if row >> target_there & 1:
                        self.forth[here] |= 1 << target_here
                        self.back[target_here] |= 1 << here

    def __contains__(self, goal: tuple[Receive, Receive]) -> bool:
        """Is r_i -> r_j reached?"""
        first, second = (self.number.get(self.criterion.key(event)) for event in goal)
        return first is not None and second is not None and bool(self.forth[first] >> second & 1)

    def __len__(self) -> int:
        return sum(mask.bit_count() for mask in self.forth)

    def pairs_covered(self) -> int:
        """Definition 4: pairs of which both orders are reached."""
        return sum((self.forth[n] & self.back[n] & ((1 << n) - 1)).bit_count() for n in range(len(self.forth)))


def triples(schedule: Schedule) -> set[tuple[int, int, int]]:
    """The goals of TRIPLE: three receives, one right after the other at one actor."""
    by_actor: dict[int, list[int]] = {}
    for event in schedule:
        by_actor.setdefault(event.rec, []).append(event.hash)
    return {triple for events in by_actor.values() for triple in zip(events, events[1:], events[2:], strict=False)}
