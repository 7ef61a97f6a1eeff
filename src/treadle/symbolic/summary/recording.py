"""Recording a summary: a path and heaps that write down what the function finds out and does.

`RecordingHeap` decides aliasing like lazy initialisation: its cases are the rows of the paper's tables.
`OpenHeap` leaves aliasing to the caller that the summary will be composed with. To it every reference is an object of
its own, and it relies on nothing that another reference could have changed: a write makes it forget that field of all
other inputs, a comparison is an unknown, and a second look at a value is an event. What it knows is true for any
aliasing, so the tree may have ways that no caller can take; the caller's own path rules them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.core.choice import Choice
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Truth, Value
from treadle.symbolic.heap.objects import InstanceObj, LazyHeap, ListObj, Obj, Some, UnknownRef, element_name, looked_up
from treadle.symbolic.path import PathEnd, SymbolicPath
from treadle.symbolic.summary.tree import (
    Change,
    Decide,
    Event,
    Force,
    IsNone,
    ReadField,
    ReadItem,
    Same,
    SetEnds,
    SetItems,
    Settled,
    Split,
    WroteField,
)


class NotSummarised(PathEnd):
    """The function does something that a summary cannot hold; what follows is not looked at."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class RecordingPath(SymbolicPath):
    events: list[tuple[Event, Any]] = field(default_factory=list)
    # inside a decision of the heap, which is recorded as a whole
    inside: int = 0

    def decide(self, condition: Value, free: Expr | None = None) -> bool:
        if not isinstance(condition, Expr):
            return bool(condition)
        side = SymbolicPath.decide(self, condition)
        self.events.append((Decide(condition, self.choices[-1].forced, self.place), side))
        return side

    def certain(self, condition: Value, side: bool) -> None:
        SymbolicPath.certain(self, condition, side)
        if isinstance(condition, Expr):
            self.events.append((Decide(condition, True, self.place), side))

    def choose(self, options: Sequence[Choice]) -> int:
        if len(options) > 1 and not self.inside:
            raise NotSummarised("a choice that is not recorded")
        return SymbolicPath.choose(self, options)

    def assume(self, condition: Value) -> None:
        if isinstance(condition, Expr) and not self.inside:
            raise NotSummarised("an assumption about elements")
        SymbolicPath.assume(self, condition)

    def pick(self, values: Sequence[Expr], what: str) -> list[Any]:
        raise NotSummarised(what)

    def rewind(self) -> None:
        SymbolicPath.rewind(self)
        self.events, self.inside = [], 0


class RecordingHeap(LazyHeap):
    """Lazy initialisation that writes down what is made, and from where."""

    path: RecordingPath

    def declare(self, kind: t.Type, name: str) -> Any:
        """An input of the function itself."""
        self.path.inside += 1
        made = LazyHeap.value_of_type(self, kind, name)
        self.path.inside -= 1
        return made

    def value_of_type(self, kind: t.Type, name: str) -> Any:
        if self.path.inside:
            return LazyHeap.value_of_type(self, kind, name)
        raise NotSummarised(f"an input that is not a field or an element: {name}")

    def field_at_start(self, kind: t.Type, obj: InstanceObj, name: str) -> Any:
        if self.path.inside or not self._is_given(obj):
            return LazyHeap.field_at_start(self, kind, obj, name)
        made = self.declare(kind, f"{obj.name}.{name}")
        self.path.events.append((ReadField(made, obj.name, name), None))
        return made

    def element_at_start(self, kind: t.Type, obj: ListObj, index: Integer) -> Any:
        if self.path.inside or not self._is_given(obj) or not isinstance(index, int) or index < 0:
            return LazyHeap.element_at_start(self, kind, obj, index)
        made = self.declare(kind, element_name(obj.name, index))
        self.path.events.append((ReadItem(made, obj.name, index), None))
        return made

    def _is_given(self, obj: Obj) -> bool:
        return any(obj is one for one in self.inputs)

    def is_none(self, ref: UnknownRef) -> bool:
        if ref.resolved or self.path.inside:
            return LazyHeap.is_none(self, ref)
        before = self.path.decisions
        self.path.inside += 1
        answer = LazyHeap.is_none(self, ref)
        self.path.inside -= 1
        self.path.events.append((IsNone(ref.name, self.path.decisions > before), answer))
        return answer

    def force(self, ref: UnknownRef) -> Any:
        if ref.resolved or self.path.inside:
            return LazyHeap.force(self, ref)
        if any(isinstance(o, t.OneOf | t.Samples) or _any_length(o) for o in ref.options):
            raise NotSummarised(f"'{ref.name}' is one of several known values")
        before, known = self.path.decisions, len(self.inputs)
        self.path.inside += 1
        value = LazyHeap.force(self, ref)
        self.path.inside -= 1
        outcome: Any = ("new", 0)
        if value is None:
            outcome = "none"
        elif isinstance(value, Obj) and any(value is o for o in self.inputs[:known]):
            outcome = ("is", value.name)
        made = [value] if outcome == ("new", 0) else []
        self.path.events.append((Force(ref.name, self.path.decisions > before, made), outcome))
        return value

    def split(self, obj: InstanceObj, groups: Sequence[tuple[type, ...]]) -> int:
        self.path.inside += 1
        chosen = LazyHeap.split(self, obj, groups)
        self.path.inside -= 1
        self.path.events.append((Split(obj.name, tuple(groups)), chosen))
        return chosen


class OpenHeap(RecordingHeap):
    """Aliasing is left open. `held(value)`: the value as an event can hold it, and the objects in it made here."""

    postpones = True

    def __init__(self, *args: Any, held: Callable[[Any], tuple[Any, list[Obj]]], **named: Any) -> None:
        super().__init__(*args, **named)
        self.held = held
        # objects that were made here and put into inputs
        self.given_away: dict[int, Obj] = {}
        self._written: set[str] = set()
        self._names = 0

    def _aliases(self, name: str, kind: t.Type) -> list[Obj]:
        return [] if isinstance(kind, t.Instance) else super()._aliases(name, kind)

    def _counted(self, before: int) -> None:
        """A loop counts the iteration, as with a caller for whom this is a question."""
        if self.path.decisions == before:
            self.path.decisions += 1

    def force(self, ref: UnknownRef) -> Any:
        if ref.resolved or self.path.inside:
            return super().force(ref)
        before = self.path.decisions
        value = super().force(ref)
        event, outcome = self.path.events[-1]
        assert isinstance(event, Force)
        self._counted(before)
        self.path.events[-1] = (Force(event.ref, True, event.made), outcome)
        return value

    def same(self, a: Any, b: Any, looks: bool = True) -> Truth | Any:
        sides = [looked_up(v) for v in (a, b)]
        if not all(isinstance(v, InstanceObj | ListObj) or _refers_to_objects(v) for v in sides):
            return NotImplemented
        if sides[0] is sides[1]:
            return True
        own = [isinstance(v, Obj) and not v.is_input for v in sides]
        if all(own):
            return False
        if any(own):
            raise NotSummarised("an object of its own is compared with one that was given")
        self._counted(self.path.decisions)
        self._names += 1
        made = x.var(f"is'{self._names}", x.BOOL)
        self.path.events.append((Same(made, sides[0], sides[1], looks), None))
        return made

    def first_read(self, obj: InstanceObj, name: str, kind: t.Type) -> Any:
        self._names += 1
        again = f"'{self._names}" if name in self._written else ""
        made = self.declare(kind, f"{obj.name}.{name}{again}")
        self.path.events.append((ReadField(made, obj.name, name), None))
        obj.fields[name] = obj.initial[name] = made
        return made

    def write_field(self, obj: InstanceObj, name: str, value: Any) -> None:
        super().write_field(obj, name, value)
        if not obj.is_input:
            return
        kept, own = self.held(value)
        self.given_away.update({o.number: o for o in own})
        self.path.events.append((WroteField(obj.name, name, kept), None))
        self._written.add(name)
        for other in self.inputs:
            if isinstance(other, InstanceObj) and other is not obj:
                other.fields.pop(name, None)
                other.initial.pop(name, None)

    def settled(self, value: Any) -> Any:
        if isinstance(value, Expr) or (isinstance(value, UnknownRef) and not value.resolved):
            self.path.events.append((Settled(value), None))
        return value

    def decided(self, value: Any) -> Any:
        if isinstance(value, Expr):
            self.path.events.append((Settled(value, wholly=True), None))
        return value

    def postpone(self, conditions: list[Expr], unread: Any, is_new: bool) -> None:
        raise NotSummarised("a read sees one of several writes")

    def write_element(self, obj: ListObj, index: Integer, value: Any) -> None:
        if obj.is_input and isinstance(index, Expr):
            raise NotSummarised("a list is written at an unknown place")
        super().write_element(obj, index, value)

    def _tuple(self, kind: t.TupleOf, name: str) -> Any:
        if kind.named is not None:
            raise NotSummarised("a named tuple")
        return super()._tuple(kind, name)

    def settle(self, obj: Some) -> Some:
        if obj.is_input and isinstance(obj, InstanceObj):
            raise NotSummarised("an object is looked at as a whole")
        return obj

    def delete_field(self, obj: InstanceObj, name: str) -> None:
        if obj.is_input:
            raise NotSummarised("a field is deleted")
        super().delete_field(obj, name)

    def written_elsewhere(self, obj: InstanceObj, name: str) -> bool:
        if name in self._written:
            raise NotSummarised("a field that no class declares is written and read")
        return False


def _refers_to_objects(value: Any) -> bool:
    return isinstance(value, UnknownRef) and all(
        isinstance(o, t.Instance | t.ListOf | t.NoneType) for o in value.options
    )


def _any_length(kind: t.Type) -> bool:
    return isinstance(kind, t.TupleOf) and kind.rest is not None


def changes_of(heap: LazyHeap) -> tuple[Change, ...]:
    """What a finished path has done to the lists it was given."""
    found: list[Change] = []
    for obj in heap.inputs:
        if isinstance(obj, ListObj):
            found += _list_changes(obj)
        elif isinstance(obj, InstanceObj):
            continue  # every write was an event
        elif getattr(obj, "source", ()) or getattr(obj, "entries", ()) or getattr(obj, "absent", ()):
            raise NotSummarised("the contents of a dictionary or set")
        elif getattr(obj, "open", True) is False:
            raise NotSummarised("the size of a dictionary or set")
    return tuple(found)


def _list_changes(obj: ListObj) -> list[Change]:
    if obj.items is not None:
        source = dict(obj.reads)
        same = set(source) == set(range(len(obj.items))) and all(source[i] is v for i, v in enumerate(obj.items))
        return [SetItems(obj.name, tuple(obj.items), not same or bool(obj.writes))]
    if obj.start or obj.count is not obj.length or any(isinstance(write.index, Expr) for write in obj.writes):
        raise NotSummarised("a list of unknown length is shortened, or written at an unknown place")
    if not (obj.writes or obj.head or obj.tail):
        return []
    writes = tuple((write.index, write.value) for write in obj.writes if not isinstance(write.index, Expr))
    return [SetEnds(obj.name, writes, tuple(obj.head), tuple(obj.tail))]
