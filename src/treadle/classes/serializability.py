"""Predictive trace analysis: which problematic interleavings of two threads are feasible, from their separate traces.

The eleven access patterns that break atomic-set serializability are those of Vaziri, Tip, Dolby, "Associating
Synchronization Constraints with Data in an Object-Oriented Language", POPL 2006, figure 7, as AutoConTest uses them
(section 5). The two traces come from running the threads one after the other from the same state, so neither disturbs
the other; a pattern is dropped when a lock held by both makes it impossible. Happens-before between two threads that
are started together and meet only at locks adds nothing to that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treadle.core.dependency import MEMORY, dependent, overlap
from treadle.core.operation import ACQUIRE, MULTI, RELEASE, TRY, WRITE, Operation, parts

# u's accesses are capital, those of the other thread u' are small; 1 and 2 are locations of one atomic set.
PATTERNS: tuple[tuple[int, str, str], ...] = (
    (1, "R1 w1 W1", "the value read is stale when it is used for an update"),
    (2, "R1 w1 R1", "two reads of one location differ"),
    (3, "W1 r1 W1", "a value is seen that was not meant to be seen"),
    (4, "W1 w1 R1", "a value is read that is not the one just written"),
    (5, "W1 w1 W1", "the other's write is lost"),
    (6, "W1 w1 w2 W2", "two locations are left that belong to different updates"),
    (7, "W1 w2 W2 w1", "two locations are left that belong to different updates"),
    (8, "W1 r1 r2 W2", "two locations are seen that belong to different updates"),
    (9, "W1 r2 W2 r1", "two locations are seen that belong to different updates"),
    (10, "R1 w1 w2 R2", "two locations are seen that belong to different updates"),
    (11, "R1 w2 R2 w1", "two locations are seen that belong to different updates"),
)

# More than this of one pair of calls is left to the systematic search.
_MOST = 400


@dataclass(frozen=True)
class Access:
    """One access of a trace: where in it, what, and under which locks."""

    place: int
    operation: Operation
    locks: frozenset[tuple[object, int]]  # the acquisitions in force, each by lock and place

    @property
    def writes(self) -> bool:
        return self.operation[0] == WRITE

    @property
    def name(self) -> object:
        return self.operation[1]

    @property
    def key(self) -> object:
        return self.operation[2]

    def meets(self, other: Access) -> bool:
        return overlap(self.operation, other.operation)

    def conflicts(self, other: Access) -> bool:
        return dependent(self.operation, other.operation)


@dataclass(frozen=True)
class Interleaving:
    """A problematic interleaving: the pattern, and the order of accesses (thread, place in that thread's trace)."""

    pattern: int
    order: tuple[tuple[int, int], ...]


def accesses(operations: Sequence[Operation]) -> list[Access]:
    """The memory accesses of one thread with the locks it holds at each."""
    found: list[Access] = []
    held: dict[object, int] = {}
    for place, operation in enumerate(operations):
        kind, name, _ = operation
        if kind in (ACQUIRE, TRY):
            held.setdefault(name, place)
        elif kind == RELEASE:
            held.pop(name, None)
        locks = frozenset(held.items())
        found += [Access(place, part, locks) for part in parts(operation) if part[0] in MEMORY]
    return found


def conflict(one: Sequence[Operation], other: Sequence[Operation]) -> bool:
    """Do two traces touch anything in common that at least one of them changes?"""
    mine, theirs = accesses(one), accesses(other)
    written = {a.name for a in mine if a.writes} | {b.name for b in theirs if b.writes}
    shared = {a.name for a in mine} & {b.name for b in theirs} & written
    if any(a.conflicts(b) for a in mine if a.name in shared for b in theirs if b.name in shared):
        return True
    return bool(_synchronised(one) & _synchronised(other))


def shared(one: Sequence[Operation], other: Sequence[Operation]) -> tuple[list[Access], list[Access]]:
    """The accesses of each trace to what both touch and one of them changes: the others cost no schedules."""
    mine, theirs = accesses(one), accesses(other)
    written = {a.name for a in mine if a.writes} | {b.name for b in theirs if b.writes}
    both = {a.name for a in mine} & {b.name for b in theirs} & written
    return [a for a in mine if a.name in both], [b for b in theirs if b.name in both]


def unlocked(mine: Sequence[Access], theirs: Sequence[Access]) -> bool:
    """Are there conflicting accesses that no common lock keeps apart?"""
    for a in mine:
        for b in theirs:
            if a.conflicts(b) and not {n for n, _ in a.locks} & {n for n, _ in b.locks}:
                return True
    return False


def races(one: Sequence[Operation], other: Sequence[Operation]) -> bool:
    """Do two traces hold conflicting accesses that no common lock keeps apart?"""
    return unlocked(accesses(one), accesses(other))


def walks(operations: Sequence[Operation], strand: str) -> bool:
    """Does a call only read, and read a container as a whole and then again? What it made itself may be written."""
    whole: set[object] = set()
    again = False
    for access in accesses(operations):
        if access.writes and f"#{strand}." not in str(access.name):
            return False
        again = again or access.name in whole
        if access.key is None:
            whole.add(access.name)
    return again


def _synchronised(operations: Sequence[Operation]) -> set[object]:
    return {name for kind, name, _ in operations if kind not in MEMORY and kind != MULTI and name is not None}


def problematic(
    first: Sequence[Operation], second: Sequence[Operation], sets: Sequence[frozenset[str]] = ()
) -> Iterator[Interleaving]:
    """The feasible problematic interleavings of two traces, either thread in the role of u."""
    traces = (accesses(first), accesses(second))
    count = 0
    for u in (0, 1):
        for number, pattern, _ in PATTERNS:
            for order in _matches(pattern.split(), traces[u], traces[1 - u], sets):
                steps = tuple((u if mine else 1 - u, access.place) for mine, access in order)
                yield Interleaving(number, steps)
                count += 1
                if count >= _MOST:
                    return


def _matches(
    pattern: list[str], mine: list[Access], theirs: list[Access], sets: Sequence[frozenset[str]]
) -> Iterator[list[tuple[bool, Access]]]:
    """Ways to find a pattern in two traces; neighbouring accesses of one thread only, as those belong together."""
    own = [part for part in pattern if part[0].isupper()]
    others = [part for part in pattern if part[0].islower()]
    for pair in _pairs(own, mine, sets):
        for group in _singles(others, theirs) if len(others) == 1 else _pairs(others, theirs, sets):
            locations = {part[1]: access for part, access in zip(own, pair, strict=True)}
            if not all(access.meets(locations[part[1]]) for part, access in zip(others, group, strict=True)):
                continue
            taken, given = list(pair), list(group)
            order = [(part[0].isupper(), (taken if part[0].isupper() else given).pop(0)) for part in pattern]
            if _feasible(order):
                yield order


def _kind(part: str, access: Access) -> bool:
    return access.writes == (part[0].upper() == "W")


def _singles(parts: list[str], trace: list[Access]) -> Iterator[tuple[Access, ...]]:
    for access in trace:
        if _kind(parts[0], access):
            yield (access,)


def _pairs(parts: list[str], trace: list[Access], sets: Sequence[frozenset[str]]) -> Iterator[tuple[Access, ...]]:
    same = parts[0][1] == parts[1][1]
    for start, first in enumerate(trace):
        if not _kind(parts[0], first):
            continue
        for second in trace[start + 1 :]:
            if second.place == first.place:
                continue
            if same and first.meets(second):
                if _kind(parts[1], second):
                    yield first, second
                break
            if not same and not first.meets(second) and _one_set(first, second, sets) and _kind(parts[1], second):
                yield first, second
                break


def _one_set(one: Access, other: Access, sets: Sequence[frozenset[str]]) -> bool:
    return any(one.key in fields and other.key in fields for fields in sets)


def _feasible(order: list[tuple[bool, Access]]) -> bool:
    """No lock that one thread holds from one access to the next is held by the other for an access between them."""
    for mine in (True, False):
        places = [number for number, (whose, _) in enumerate(order) if whose is mine]
        for start, end in itertools.pairwise(places):
            kept = {name for name, _ in order[start][1].locks & order[end][1].locks}
            for whose, access in order[start + 1 : end]:
                if whose is not mine and kept & {name for name, _ in access.locks}:
                    return False
    return True
