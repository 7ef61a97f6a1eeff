"""Which operations commute, and which events happen before which others: every such rule of Treadle is in this file,
and the searches are parametric in it.

Two operations are *dependent* when swapping them may change what either does. Three rules:

1. operations on different objects, or on different keys of one object, commute; an access to the whole object (its
   length, an iteration, a structural change) depends on every key (`same_place`); the ends of a queue are keys, too;
2. operations that only read commute: reads of memory, looks at a synchronisation object, waits that change nothing,
   and an attempt to take that failed (`performed`: it was a look);
3. everything else on the same object is dependent.

Steps of tasks depend on each other when what they did conflicts, by the same rules (`search.step_dpor`).

A blocking operation adds a question: could it have gone first at all? `reversible` answers it from the state the
object had before the earlier operation (`guards`): a release cannot be swapped with the acquire that waited for it,
two acquires of one lock can.

`HappensBefore` follows from them. The compiled search has both inlined (`search.dpor`, `search.bounded.TraceHash`), and
tests/core/test_dependency.py compares them on random executions: change the rule here, and it says where to follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from treadle.core.operation import (
    ACQUIRE,
    BLOCKING,
    FAILED,
    GET,
    LOOK,
    MULTI,
    PUT,
    READ,
    SPIN,
    TIMEOUT,
    TRY,
    WAIT,
    WRITE,
    Operation,
    cause_of,
    parts,
)

MEMORY: Final = frozenset({READ, WRITE})
READING: Final = frozenset({READ, LOOK, WAIT})
# What takes something, unless nothing was there (`performed`). A wait for something to take may end so as well.
TAKING: Final = (TRY, GET)

# Blocking operations that others enable and disable. When the one before cannot be swapped with it (a release, the
# setting of an event), the one before that may (the acquire of the same lock, the clearing of the event): the search
# looks on.
ENABLED_BY: Final = frozenset({ACQUIRE, GET, PUT, WAIT})

# reads[kind]: rule 2 as a table, for the hot loop of the search
READS: Final = tuple(kind in READING for kind in range(17))


class Footprint:
    """What a step of a task did: which object, whether it only read, and which key of it."""

    __slots__ = ("accesses", "everything")

    def __init__(self) -> None:
        self.accesses: set[tuple[Any, bool, Any]] = set()
        self.everything = False  # it went through code that is not seen

    def add(self, op: Operation) -> None:
        kind, name, key = op
        if kind == MULTI:
            for part in key:
                self.add(part)
        elif name is not None:
            self.accesses.add((name, READS[kind], key))


def same_place(one: Operation, other: Operation) -> bool:
    """Do two operations touch the same part of the same object? (Rule 1; what they do there is not asked.)"""
    of_other = parts(other)
    names = {name for _, name, _ in of_other}  # of calls into code that is not seen, each may have a hundred parts
    return any(overlap(mine, theirs) for mine in parts(one) if mine[1] in names for theirs in of_other)


def overlap(one: Operation, other: Operation) -> bool:
    """The same of two single accesses."""
    _, name, key = one
    _, other_name, other_key = other
    return name is not None and name == other_name and (key is None or other_key is None or bool(key == other_key))


def only_reads(op: Operation) -> bool:
    """Does it change nothing? (Rule 2.)"""
    return READS[op[0]] if op[0] != MULTI else all(READS[part[0]] for part in op[2])


def performed(op: Operation, guards: int) -> Operation:
    """What an operation turned out to be: an attempt to take that failed was only a look."""
    return (LOOK, op[1], op[2]) if op[0] in TAKING and guards & FAILED else op


def dependent(one: Operation, other: Operation) -> bool:
    """May swapping two neighbouring operations of different strands change what either does?"""
    kind, name, key = one
    if kind == MULTI:
        return any(dependent(part, other) for part in key)
    other_kind, other_name, other_key = other
    if other_kind == MULTI:
        return any(dependent(one, part) for part in other_key)
    if name != other_name or name is None:
        return False
    if READS[kind] and READS[other_kind]:
        return False
    return key is None or other_key is None or bool(key == other_key)


def reversible(guards: int, kind: int) -> bool:
    """Could an operation of this kind have gone on in the state described by guards?"""
    return kind not in BLOCKING or bool((guards >> kind) & 1)


class HappensBefore:
    """Which events of one execution happen before which others: `before[j]` is the mask of those before event j, and j.

    An event happens after the strand's own events before it, after the making of its strand, after all of a strand
    whose end it waited for, after every event it depends on, after what ended its waiting loop or put what it takes;
    and a time-out, which says that nobody else could go on, is ordered with everything. `orders` may leave out
    dependencies that are not to count: `synchronised` gives the order in which data races are looked for.
    """

    def __init__(
        self,
        trace: Sequence[tuple[int, Operation]],
        guards: Sequence[int],
        spawned: Mapping[int, int],
        indexes: Mapping[str, int],
        orders: Callable[[Operation, Operation], bool] = dependent,
    ) -> None:
        self.before: list[int] = []
        last: dict[int, int] = {}  # strand -> its last event
        on_object: dict[Any, list[int]] = {}
        fence = -1
        done = [performed(op, guards[number]) for number, (_, op) in enumerate(trace)]
        for number, (strand, _) in enumerate(trace):
            op = done[number]
            kind, name, _ = op
            made = last[strand] if strand in last else spawned.get(strand, -1)
            after = {made, fence}
            if kind == WAIT and name in indexes:
                after.add(last.get(indexes[name], -1))
            if kind == SPIN and not guards[number] & FAILED:  # else it went on because its time was over
                after.add(guards[number])
            if kind == GET:
                after.add(cause_of(guards[number]))
            mask = 1 << number
            if kind == TIMEOUT:
                fence = number
                mask = (2 << number) - 1
            else:
                for part in _on_objects(op):
                    after.update(event for event in on_object.get(part[1], ()) if orders(done[event], op))
            for event in after:
                if event >= 0:
                    mask |= self.before[event]
            self.before.append(mask)
            for part in _on_objects(op):
                on_object.setdefault(part[1], []).append(number)
            last[strand] = number

    def ordered(self, earlier: int, later: int) -> bool:
        return bool(self.before[later] >> earlier & 1)


def _on_objects(op: Operation) -> list[Operation]:
    return [part for part in parts(op) if part[1] is not None and part[0] != SPIN]


def synchronised(one: Operation, other: Operation) -> bool:
    """Dependent operations that programs use to wait for each other; accesses to memory are not."""
    return any(
        dependent(mine, theirs)
        for mine in parts(one)
        for theirs in parts(other)
        if mine[0] not in MEMORY and theirs[0] not in MEMORY
    )
