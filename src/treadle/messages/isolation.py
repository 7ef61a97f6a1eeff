"""Actors that break isolation: an object that two of them touch without a message between, in an execution that looks
at every access.

Decides it by happens-before over the recorded operations: program order, starts, and everything on one synchronisation
object in its order. Two accesses to one place by different actors, one of them a write, with neither before the other,
are a finding of their own: whatever the actors do with it, it is not theirs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treadle.core.operation import MULTI, READ, WRITE, Operation, location
from treadle.core.result import Finding


def shared_objects(run: Any, actors: dict[int, str]) -> list[Finding]:
    """One finding for each object that two actors share; `actors` are strands by number, with their names."""
    found: dict[str, Finding] = {}
    for place, first, second in _conflicts(run, actors):
        kind = f"{place} is shared by {actors[first]} and {actors[second]}"
        found.setdefault(place, Finding("shared object", f"{kind}: no message orders what they do to it"))
    return list(found.values())


def _conflicts(run: Any, actors: dict[int, str]) -> Iterator[tuple[str, int, int]]:
    """(place, strand, strand) of accesses by two actors that nothing puts in order."""
    before: list[int] = []
    last: dict[int, int] = {}  # strand -> its last event
    on_object: dict[Any, int] = {}  # synchronisation object -> the last event on it
    accesses: dict[tuple[Any, Any], list[tuple[int, int, bool]]] = {}
    for number, (strand, op) in enumerate(run.trace):
        past = 1 << number
        made = last.get(strand, run.spawned.get(strand, -1))
        if made >= 0:
            past |= before[made]
        for kind, name, _ in _parts(op):
            if name is not None and kind not in (READ, WRITE):
                if name in on_object:
                    past |= before[on_object[name]]
                on_object[name] = number
        before.append(past)
        last[strand] = number
        if strand not in actors:
            continue
        for kind, name, key in _parts(op):
            if kind not in (READ, WRITE) or name is None:
                continue
            earlier = accesses.setdefault((name, _hashable(key)), [])
            for event, other, wrote in earlier:
                if other != strand and (wrote or kind == WRITE) and not past >> event & 1:
                    yield location((kind, name, key)), other, strand
            earlier.append((number, strand, kind == WRITE))


def _parts(op: Operation) -> tuple[Operation, ...]:
    return tuple(op[2]) if op[0] == MULTI else (op,)


def _hashable(key: Any) -> Any:
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key
