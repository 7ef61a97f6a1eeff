"""Actors that break isolation: an object that two of them touch without a message between, in an execution that looks
at every access.

Decides it by happens-before over the recorded operations, as far as synchronisation makes it. Two accesses to one place
by different actors, one of them a write, with neither before the other, are a finding of their own: whatever the actors
do with it, it is not theirs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treadle.core.builds import EVERY
from treadle.core.dependency import MEMORY, HappensBefore, dependent, synchronised
from treadle.core.operation import Operation, location, parts
from treadle.core.result import Finding


def shared_objects(run: Any, actors: dict[int, str]) -> list[Finding]:
    """One finding for each object that two actors share; `actors` are strands by number, with their names."""
    found: dict[str, Finding] = {}
    for place, first, second in _conflicts(run, actors):
        kind = f"{place} is shared by {actors[first]} and {actors[second]}"
        said = f"{kind}: no message orders what they do to it"
        found.setdefault(place, Finding("shared object", said, builds=EVERY))
    return list(found.values())


def _conflicts(run: Any, actors: dict[int, str]) -> Iterator[tuple[str, int, int]]:
    """(place, strand, strand) of accesses by two actors that nothing puts in order."""
    order = HappensBefore(run.trace, run.guards, run.spawned, run.indexes, orders=synchronised)
    accesses: dict[Any, list[tuple[int, int, Operation]]] = {}  # by object
    for number, (strand, op) in enumerate(run.trace):
        if strand not in actors:
            continue
        for part in parts(op):
            if part[0] not in MEMORY or part[1] is None:
                continue
            earlier = accesses.setdefault(part[1], [])
            for event, other, access in earlier:
                if other != strand and dependent(access, part) and not order.ordered(event, number):
                    yield location(part), other, strand
            earlier.append((number, strand, part))
