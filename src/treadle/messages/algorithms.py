"""Algorithms 1, 2 and 3 of Bita, section IV: from one schedule of a program, others that are feasible and reach goals
that none before them reached.

Names and order of steps are the paper's; positions count from 0 here. Three things differ:

- Algorithms 2 and 3 call each other once per reordered pair, which may be thousands of times: the calls are a loop,
  and the tail is a bit set over the positions of the schedule, in whose order it stays;
- what a receive waits for (a blocking ask) is scheduled before the next receive of the same actor, which could not
  begin otherwise, and an actor that was stopped receives nothing more;
- Algorithm 1 is a generator: a caller that has seen enough stops it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from treadle.messages.criteria import PMR, Criterion, Goals, triples
from treadle.messages.must_hb import MustHB, bits
from treadle.messages.receive import Receive, Schedule


def generate_schedules(
    s: Schedule,
    cr: Criterion,
    *,
    known: Goals | None = None,
    must_hb: MustHB | None = None,
) -> Generation:
    """Algorithm 1. The goals `known` to be reached are not tried again."""
    generation = Generation(list(s), cr, must_hb or MustHB(s))
    if known is not None:
        generation.O.take_over(known, s)
    return generation


class Generation:
    """One run of Algorithm 1: the initial schedule s, its mustHB, and the goals O reached so far.

    Iterating generates; whoever runs the schedules may `learn` what the executions really reached.
    """

    def __init__(self, s: list[Receive], cr: Criterion, must_hb: MustHB) -> None:
        self.s = s
        self.cr = cr
        self.must_hb = must_hb
        self.O = Goals(cr, [s])  # s comes first, so its receives have their positions in s as numbers
        self.same: dict[int, int] = {}  # receiver -> its receives
        self.of_type: dict[int, dict[int, int]] = {}  # receiver -> number of a key -> its receives
        self.changes = 0  # the receives that change handlers
        self.stops = 0  # the receives that stop their actor
        for place, event in enumerate(s):
            bit = 1 << place
            self.same[event.rec] = self.same.get(event.rec, 0) | bit
            if event.cmh:
                self.changes |= bit
            if event.stops:
                self.stops |= bit
            if cr.by_type:
                types = self.of_type.setdefault(event.rec, {})
                number = self.O.number_of(event)
                types[number] = types.get(number, 0) | bit

    # ------------------------------------------------------------------ Algorithm 1

    def __iter__(self) -> Iterator[list[Receive]]:
        s, after = self.s, self.must_hb.after
        for i in range(len(s)):
            later = self.related(i) & ~after[i] & ~((2 << i) - 1)
            if not later:
                continue
            for j in bits(later):
                if self.forth_open(i) >> j & 1:  # r_i -> r_j not in O
                    yield self._new(self.schedule(i, j, False))
                if self.back_open(i) >> j & 1:  # r_j -> r_i not in O
                    yield self._new(self.schedule(i, j, True))

    def _new(self, schedule: list[Receive]) -> list[Receive]:
        self.O.add(schedule)
        return schedule

    def learn(self, reached: Schedule) -> None:
        """The goals of this schedule need not be tried any more."""
        self.O.add(reached)

    # ------------------------------------------------------------------ Algorithms 2 and 3

    def schedule(self, i: int, j: int, swap: bool) -> list[Receive]:
        """A feasible schedule in which the event at j comes before the event at i if and only if swap is true."""
        before, after = self.must_hb.before, self.must_hb.after
        prefix = _Prefix(self.s, before)
        tail = (1 << len(self.s)) - 1
        while True:
            # Algorithm 2: everything ahead of r_i, what must happen before r_j, and the pair
            prefix.append(tail & ((1 << i) - 1))
            between = tail & ((1 << j) - 1) & ~((2 << i) - 1)
            prefix.append(between & before[j])
            first, second = (j, i) if swap else (i, j)
            prefix.append_one(first)
            tail &= ~(after[i] | after[j]) & ~((1 << i) - 1)
            if self.s[first].stops:  # what it has not received now is dropped
                tail &= ~self.same[self.s[first].rec]
                second = first
            if self.cr.consecutive:
                prefix.append_one(second)
                tail &= ~prefix.done
            elif second != first:
                tail = tail & ~prefix.done | 1 << second  # the second of the pair may move on within the tail
            # Algorithm 3: the next pair in the tail that reaches a goal
            pair = self.schedule_tail(tail)
            if pair is None:
                prefix.append_one(second)
                return prefix.events()
            i, j, swap = pair

    def schedule_tail(self, tail: int) -> tuple[int, int, bool] | None:
        """Algorithm 3: the first pair of the tail with a goal that is not in O, and whether to swap it."""
        after = self.must_hb.after
        rest = tail
        while rest:
            low = rest & -rest
            rest ^= low
            i = low.bit_length() - 1
            candidates = self.related(i) & rest & ~after[i]
            if not candidates:
                continue
            forth = candidates & self.forth_open(i)
            back = candidates & self.back_open(i)
            either = forth | back
            if either:
                lowest = either & -either
                return i, lowest.bit_length() - 1, not forth & lowest
        return None

    # ------------------------------------------------------------------ goals as masks over positions in s

    def related(self, i: int) -> int:
        """The receives that isCrRelated holds for with r_i."""
        event = self.s[i]
        mask = self.same[event.rec]
        return mask & self.changes if self.cr is PMR and not event.cmh else mask

    def forth_open(self, i: int) -> int:
        """The r_j with r_i -> r_j not in O."""
        return self._open(i, self.O.forth)

    def back_open(self, i: int) -> int:
        """The r_j with r_j -> r_i not in O. After a stop nothing can come right away."""
        found = self._open(i, self.O.back)
        return found & ~self.stops if self.cr.consecutive else found

    def _open(self, i: int, goals: list[int]) -> int:
        event = self.s[i]
        if not self.cr.by_type:
            return ~goals[i]
        reached = goals[self.O.number_of(event)]
        return sum(mask for number, mask in self.of_type[event.rec].items() if not reached >> number & 1)


class _Prefix:
    """The schedule under construction. What the last receive of an actor waits for comes before the actor's next."""

    __slots__ = ("before", "done", "number", "order", "s", "waited_for")

    def __init__(self, s: list[Receive], before: list[int]) -> None:
        self.s = s
        self.before = before
        self.order: list[int] = []
        self.done = 0
        self.number = {event.hash: place for place, event in enumerate(s)} if any(e.awaits for e in s) else {}
        self.waited_for: dict[int, int] = {}  # actor -> receives that its last handler waits for

    def append(self, places: int) -> None:
        for place in bits(places & ~self.done):
            self.append_one(place)

    def append_one(self, place: int) -> None:
        if self.done >> place & 1:
            return
        event = self.s[place]
        open_asks = self.waited_for.pop(event.rec, 0)
        if open_asks:
            self._complete(open_asks & ~(1 << place))
        if self.done >> place & 1:
            return
        self.done |= 1 << place
        self.order.append(place)
        if event.awaits:
            asked = 0
            for hash_ in event.awaits:
                if hash_ in self.number:
                    asked |= 1 << self.number[hash_]
            self.waited_for[event.rec] = asked

    def _complete(self, asked: int) -> None:
        needed = asked
        for place in bits(asked):
            needed |= self.before[place]
        self.append(needed)

    def events(self) -> list[Receive]:
        return [self.s[place] for place in self.order]


# ---------------------------------------------------------------------- beyond pairs


def arrange(s: Schedule, order: list[int], must_hb: MustHB) -> list[Receive] | None:
    """The receives at these positions in this order, after all that must happen before any of them.

    None when they cannot be: one must happen before another, so that reordering them may keep it from coming.
    """
    chosen = needed = 0
    for one in order:
        chosen |= 1 << one
        needed |= must_hb.before[one]
    if needed & chosen:
        return None
    prefix = _Prefix(list(s), must_hb.before)
    prefix.append(((1 << min(order)) - 1) | needed)
    for one in order:
        prefix.append_one(one)
    return prefix.events()


def generate_triples(
    s: Schedule, *, reached: Iterable[Schedule] = (), must_hb: MustHB | None = None
) -> Iterator[list[Receive]]:
    """Schedules for the orders of three receives of one actor, consecutive (TRIPLE), that nobody has reached."""
    must_hb = must_hb or MustHB(s)
    done = triples(s)
    for schedule_ in reached:
        done |= triples(schedule_)
    by_actor: dict[int, list[int]] = {}
    for place, event in enumerate(s):
        by_actor.setdefault(event.rec, []).append(place)
    for places in by_actor.values():
        for a, first in enumerate(places):
            for b in range(a + 1, len(places)):
                for third in places[b + 1 :]:
                    for order in permutations((first, places[b], third)):
                        goal = (s[order[0]].hash, s[order[1]].hash, s[order[2]].hash)
                        if goal in done:
                            continue
                        found = arrange(s, list(order), must_hb)
                        if found is not None and goal in triples(found):
                            done |= triples(found)
                            yield found
