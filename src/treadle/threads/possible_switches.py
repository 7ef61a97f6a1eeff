"""Which versions with a GIL can run an execution, in some order of the steps that do not touch each other.

Under a GIL the search lets a strand be interrupted behind a lock that it waits for in some execution: who waited took
it without the GIL. Whether it can have waited in this one is asked here, of the executions that fail.

What a strand does without a look at the eval breaker in between is one block of a version. A version can run the
execution if its blocks can be put in an order: if nothing must come between two operations of one block. An operation
that a strand stands at when all is over is asked as well: it cannot have stopped before it without a look.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from treadle.core.dependency import HappensBefore
from treadle.core.operation import ACQUIRE, FAILED, LOOK, RELEASE, SPIN, TRY, Operation, accesses, parts
from treadle.threads.execution import Execution
from treadle.threads.strands import ARRIVED, Arrival
from treadle.threads.switching import ALL

# Accesses of an execution that is asked, which takes time with their square: longer ones are taken for possible.
MOST: Final = 3_000


class _Event(NamedTuple):
    strand: int
    op: Operation
    guards: int
    arrival: Arrival
    waited: bool = False  # for the lock that it takes: it was held


def versions_that_can(run: Execution) -> int:
    """The mask of the versions that can run a recorded execution, or one that does the same."""
    if len(run.arrivals) != len(run.trace) or accesses(op for _, op in run.trace) > MOST:
        return ALL
    events, spawned = _events(run)
    order = HappensBefore(
        [(one.strand, one.op) for one in events], [one.guards for one in events], spawned, run.indexes
    )
    before = _before_in_strand(events)
    looks: list[int] = []
    for number, event in enumerate(events):
        mask = event.arrival.looks
        if event.arrival.if_waited and before[number] >= 0:
            mask |= event.arrival.if_waited & _waited(events, order, before, looks, before[number], spawned)
        looks.append(mask)
    versions = (1 << number for number in range(ALL.bit_length()))
    return sum(one for one in versions if _can_be_ordered(order, before, [bool(mask & one) for mask in looks]))


def _events(run: Execution) -> tuple[list[_Event], dict[int, int]]:
    """The operations of an execution, those that it ended before, and each look at a lock that was held."""
    plain = [
        _Event(strand, op, guards, arrival)
        for (strand, op), guards, arrival in zip(run.trace, run.guards, run.arrivals, strict=True)
    ]
    plain += [_Event(strand.index, op, 0, strand.arrival) for strand, op in run.unfinished]
    last: dict[int, int] = {}
    looked: dict[int, list[_Event]] = {}  # the number of an operation -> the looks that follow it at once
    for number, event in enumerate(plain):
        if event.arrival.at_held_lock:
            if event.strand in last:
                look = event._replace(op=(LOOK, event.op[1], event.op[2]), guards=0)
                looked.setdefault(last[event.strand], []).append(look)
            plain[number] = event._replace(arrival=ARRIVED, waited=True)
        last[event.strand] = number
    events: list[_Event] = []
    place: list[int] = []
    for number, event in enumerate(plain):
        place.append(len(events))
        if event.op[0] == SPIN and not event.guards & FAILED and 0 <= event.guards < number:
            event = event._replace(guards=place[event.guards])
        events += [event, *looked.get(number, ())]
    return events, {strand: place[at] if at >= 0 else at for strand, at in run.spawned.items()}


def _before_in_strand(events: list[_Event]) -> list[int]:
    """Of each operation, the number of the one before it in its strand; -1 for the first."""
    last: dict[int, int] = {}
    found = []
    for number, event in enumerate(events):
        found.append(last.get(event.strand, -1))
        last[event.strand] = number
    return found


def _waited(
    events: list[_Event],
    order: HappensBefore,
    before: list[int],
    looks: list[int],
    number: int,
    spawned: dict[int, int],
) -> int:
    """The versions on which a strand can have waited for the lock that it took in this operation: another one could be
    interrupted while it held it, and the strand can have come to the lock by then."""
    mine = events[number]
    taken = [name for kind, name, _ in parts(mine.op) if kind in (ACQUIRE, TRY)]
    if not taken:
        return 0
    if mine.waited:
        return ALL
    came_from = before[number] if before[number] >= 0 else spawned.get(mine.strand, -1)
    versions = 0
    for later in _while_held(events, taken[-1], number, before):
        if events[later].strand != mine.strand and not (came_from >= 0 and order.ordered(later, came_from)):
            versions |= looks[later]
    return versions


def _while_held(events: list[_Event], lock: object, end: int, before: list[int]) -> Iterator[int]:
    """The operations before `end` that a holder of the lock came to while it had it."""
    holder, since, until = -1, -1, -1
    for number in range(end):
        event = events[number]
        if event.strand == holder and before[number] >= since and (until < 0 or before[number] < until):
            yield number
        for kind, name, _ in parts(event.op):
            if name == lock and kind in (ACQUIRE, TRY) and not event.guards & FAILED:
                holder, since, until = event.strand, number, -1
            elif name == lock and kind == RELEASE:
                until = number


def _can_be_ordered(order: HappensBefore, before: list[int], looks: list[bool]) -> bool:
    """Can blocks, which begin where there is a look, be put one behind the other?"""
    block: list[int] = []
    members: dict[int, int] = {}
    needed: dict[int, int] = {}
    for number, earlier in enumerate(before):
        first = number if earlier < 0 or looks[number] else block[earlier]
        block.append(first)
        members[first] = members.get(first, 0) | 1 << number
        needed[first] = needed.get(first, 0) | order.before[number]
    done = 0
    while members:
        ready = [first for first in members if not needed[first] & ~members[first] & ~done]
        if not ready:
            return False
        for first in ready:
            done |= members.pop(first)
    return True
