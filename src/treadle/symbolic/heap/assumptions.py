"""Heap assumptions: aliasing of the inputs that is known not to occur (section 2.2 of the paper).

    non_aliasing(a, b)   the two are never the same object
    non_sharing(a, b)    no object can be reached from both
    acyclic(a)           no object that can be reached from a can be reached from itself
    owned(f, g, ...)     what fields of these names hold is held by nothing else: inferred only, see unit_owned

`a` and `b` are access paths from a parameter: `l`, `self.first`. They speak of the heap before the call; what the
program does to it later is its own business. The heap asks here before it lets a reference be an object it knows:
resolving references only adds edges to the graph of the inputs, so an assumption that is broken stays broken, and
one that a later reference breaks is seen when that one is resolved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef

KINDS = {"non_aliasing": 2, "non_sharing": 2, "acyclic": 1}


@dataclass(frozen=True, slots=True)
class HeapAssumption:
    kind: str
    locations: tuple[str, ...]  # access paths

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(self.locations)})"


@dataclass(slots=True)
class Graph:
    """Objects and what they hold, as the assumptions see them: of a path's heap, or of a finished test case."""

    roots: Mapping[str, Any]  # parameter -> its value
    field: Callable[[Any, str], Any]  # a field's value; None if it is not known
    held: Callable[[Any], Iterable[Any]]  # what an object or a tuple holds
    key: Callable[[Any], Any]  # the identity of an object; None for what has none

    def at(self, location: str) -> Any:
        name, *fields = location.split(".")
        value = self.roots.get(name)
        for one in fields:
            if value is None:
                return None
            value = self.field(value, one)
        return value

    def reachable(self, start: Any) -> dict[Any, Any]:
        """Every object that can be reached, by identity; the start included."""
        found: dict[Any, Any] = {}
        todo = [start]
        while todo:
            value = todo.pop()
            key = self.key(value)
            if key is None:
                todo.extend(self.held(value))  # a tuple: no identity that matters, but what it holds does
            elif key not in found:
                found[key] = value
                todo.extend(self.held(value))
        return found

    def held_twice(self, field: str) -> bool:
        """Whether some object is in a field of this name, and elsewhere as well."""
        objects: dict[Any, Any] = {}
        for value in self.roots.values():
            objects |= self.reachable(value)
        holders = Counter(self._keys(value for name, value in self.roots.items() if name != "self"))
        for value in objects.values():
            holders.update(self._keys(self.held(value)))
        return any(holders[key] > 1 for value in objects.values() for key in self._keys([self.field(value, field)]))

    def _keys(self, values: Iterable[Any]) -> Iterator[Any]:
        """The objects among values; what a tuple holds is held by whatever holds the tuple."""
        for value in values:
            key = self.key(value)
            if key is not None:
                yield key
            else:
                yield from self._keys(self.held(value))

    def in_a_cycle(self, value: Any) -> bool:
        return any(self.key(value) in self.reachable(inner) for inner in self.held(value))


def broken(assumption: HeapAssumption, graph: Graph) -> bool:
    """Whether what is known of the inputs contradicts the assumption."""
    if assumption.kind == "owned":
        return any(map(graph.held_twice, assumption.locations))
    values = [graph.at(location) for location in assumption.locations]
    if assumption.kind == "acyclic":
        return any(graph.in_a_cycle(value) for value in graph.reachable(values[0]).values())
    keys = [graph.key(value) for value in values]
    if assumption.kind == "non_aliasing":
        return keys[0] is not None and keys[0] == keys[1]
    return bool(graph.reachable(values[0]).keys() & graph.reachable(values[1]).keys())


@dataclass(slots=True)
class Assumed:
    """The assumptions on the heap of one path."""

    assumptions: tuple[HeapAssumption, ...]
    roots: dict[str, Any] = field(default_factory=dict)  # parameter -> its value

    def may_alias(self, a: str, b: str) -> bool:
        """Whether two references may be one object, judged by their access paths alone."""
        return not any(_forbidden(one, a, b) for one in self.assumptions)

    def allow(self, ref: UnknownRef, known: Obj) -> bool:
        """Whether the reference may be this object, with everything else that the path has found out."""
        ref.resolved, ref.value = True, known
        try:
            graph = Graph(self.roots, _initial, _held, lambda value: _identity(_behind(value)))
            return not any(broken(one, graph) for one in self.assumptions)
        finally:
            ref.resolved, ref.value = False, None


def _forbidden(one: HeapAssumption, a: str, b: str) -> bool:
    if one.kind == "acyclic":
        inside = _below(a, one.locations[0]) and _below(b, one.locations[0])
        return inside and a != b and (_below(a, b) or _below(b, a))
    if one.kind == "owned":
        fields = [last if dot and last in one.locations else "" for _, dot, last in (p.rpartition(".") for p in (a, b))]
        return fields[0] != fields[1] and "self" not in (a, b)
    first, second = one.locations
    if one.kind == "non_aliasing":
        return {a, b} == {first, second}
    return any(_below(p, first) and _below(q, second) for p, q in ((a, b), (b, a)))


def _below(name: str, location: str) -> bool:
    """Whether an access path starts with another."""
    return name == location or name.startswith((f"{location}.", f"{location}["))


def _behind(value: Any) -> Any:
    while isinstance(value, UnknownRef):
        if not value.resolved:
            return None
        value = value.value
    return value


def _identity(value: Any) -> int | None:
    return value.number if isinstance(value, Obj) and value.is_input else None


def _initial(value: Any, name: str) -> Any:
    value = _behind(value)
    found = value.initial.get(name) if isinstance(value, InstanceObj) else None
    return None if found is MISSING else found


def _held(value: Any) -> list[Any]:
    value = _behind(value)
    if isinstance(value, InstanceObj):
        return [v for v in value.initial.values() if v is not MISSING]
    if isinstance(value, ListObj):
        return [v for _, v in value.reads]
    if isinstance(value, DictObj):
        return [v for pair in value.source for v in pair]
    return list(value) if isinstance(value, tuple) else []
