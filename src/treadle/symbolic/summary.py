"""The summary of a function: the tree of everything it can find out about its inputs, and what it does about it.

A function is run by itself on the most general inputs, path by path, on a path and a heap that keep a record. The
records of all paths form a tree: an inner node is one event (a field is read, a reference turns out to be None, a
condition is decided), its children are the possible outcomes, and a leaf says how the function ends: result or
exception, and what has changed in the heap. One way from the root to a leaf is a case of the paper's method summary
(seed 002, section 2.4): the events are the input heap and the path condition, the leaf is the output heap and the
exception flag.

The tree is kept instead of the list of cases so that composing it with a caller's state asks the same questions in
the same order as running the function there. The invariant: composition leaves on the caller's path exactly the
trail, the conditions and the notes that running the function would have left. So the test cases are the same, in
the same order, and a path that was begun with a summary can be continued without (`Restart`).

What is here knows no programming language; `frontends.python.summaries` records and composes Python functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import Expr, Value
from treadle.symbolic.heap import InstanceObj, LazyHeap, ListObj, Obj, Ref
from treadle.symbolic.path import FALSE, ONLY_FALSE, ONLY_TRUE, TRUE, Path, PathEnd, Place

# --- events ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Decide:
    """A condition on the inputs; `certain`: the inputs so far leave only one side."""

    condition: Expr
    certain: bool
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class ReadField:
    """A field of an input object is read for the first time: `made` is the unknown that stands for its value."""

    made: Any
    obj: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ReadItem:
    """An element of an input list, at a known index, is read for the first time."""

    made: Any
    obj: str
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class IsNone:
    """Whether a reference is None; `counted`: it was a choice, not a certainty."""

    ref: str
    counted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Force:
    """What a reference refers to: outcomes "none", ("is", object) and ("new", position in `made`)."""

    ref: str
    counted: bool
    made: list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Which class an input object has."""

    obj: str
    groups: tuple[tuple[type, ...], ...]


Event = Decide | ReadField | ReadItem | IsNone | Force | Split

# --- leaves ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class SetField:
    obj: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class SetItems:
    """The whole contents of a list whose length was decided; not `changed`: only its length has become known."""

    obj: str
    items: tuple[Any, ...]
    changed: bool


@dataclass(frozen=True, slots=True, eq=False)
class SetEnds:
    """A list of unknown length: single elements replaced, others put before and after."""

    obj: str
    writes: tuple[tuple[int, Any], ...]
    head: tuple[Any, ...]
    tail: tuple[Any, ...]


Change = SetField | SetItems | SetEnds


def held_by(change: Change) -> list[Any]:
    """The values that a change puts into the heap."""
    if isinstance(change, SetField):
        return [change.value]
    if isinstance(change, SetItems):
        return list(change.items)
    return [*(v for _, v in change.writes), *change.head, *change.tail]


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the paper's tables, as text."""

    arguments: tuple[str, ...]
    result: str
    heap_in: tuple[str, ...]
    heap_out: tuple[str, ...]
    exception: str  # "" is the paper's flag ok
    constraints: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Leaf:
    """How a path of the function ends.

    `kind`: 'return', 'raise', 'cut' (the loop bound was reached) or 'plain': something that must be seen in the
    caller's state, so the function has to be run there.
    """

    kind: str
    value: Any = None
    changes: tuple[Change, ...] = ()
    lines: frozenset[tuple[str, int]] = frozenset()
    # functions entered, by file and line
    followed: frozenset[tuple[str, int]] = frozenset()
    # cases of stubs that were believed
    stubs: tuple[str, ...] = ()
    steps: int = 0
    depth: int = 0
    place: Place = field(default_factory=lambda: Place("", 0, ""))
    why: str = ""
    case: Case | None = None


@dataclass(slots=True, eq=False)
class Node:
    event: Event | None = None
    children: dict[Any, Node] = field(default_factory=dict)
    leaf: Leaf | None = None


@dataclass(slots=True, eq=False)
class Summary:
    """The tree, and the inputs it was made from: parameter -> formal value."""

    name: str
    formals: dict[str, Any]
    root: Node
    # (file, line, name) of every function that some path runs
    codes: frozenset[tuple[str, int, str]] = frozenset()
    # most work a call does, in steps of the machine: what composition can save
    steps: int = 0
    # paths that were left when the limit was reached are not in the tree
    whole: bool = True
    # global names that were read -> what they held
    globals_read: dict[str, str] = field(default_factory=dict)

    def leaves(self) -> list[Leaf]:
        found: list[Leaf] = []
        todo = [self.root]
        while todo:
            node = todo.pop()
            if node.leaf is not None:
                found.append(node.leaf)
            todo.extend(reversed(node.children.values()))
        return found

    @property
    def cases(self) -> list[Case]:
        return [leaf.case for leaf in self.leaves() if leaf.case is not None]


def insert(root: Node, events: Sequence[tuple[Event, Any]], leaf: Leaf) -> None:
    """Add one path to the tree; paths share the events before the first outcome in which they differ."""
    node = root
    for event, outcome in events:
        if node.event is None:
            node.event = event
        if isinstance(event, Force) and isinstance(outcome, tuple) and outcome[0] == "new":
            assert isinstance(node.event, Force)
            outcome = ("new", _position(node.event.made, event.made[0]))
        node = node.children.setdefault(outcome, Node())
    node.leaf = leaf


def _position(made: list[Any], value: Any) -> int:
    """Where an equal input is among those made so far on other paths; it is added if there is none."""
    for position, other in enumerate(made):
        if same_shape(other, value):
            return position
    made.append(value)
    return len(made) - 1


def same_shape(a: Any, b: Any) -> bool:
    """Whether two inputs made for one reference are of one kind."""
    if isinstance(a, InstanceObj) and isinstance(b, InstanceObj):
        return a.name == b.name and a.cls is b.cls
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same_shape(p, q) for p, q in zip(a, b, strict=True))
    return type(a) is type(b) and (not isinstance(a, Expr) or a is b)


# --- recording -------------------------------------------------------------------------------------------


class Opaque(PathEnd):
    """The function does something that a summary cannot hold; what follows is not looked at."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(slots=True)
class RecordingPath(Path):
    events: list[tuple[Event, Any]] = field(default_factory=list)
    # inside a decision of the heap, which is recorded as a whole
    inside: int = 0

    def decide(self, condition: Value, free: Expr | None = None) -> bool:
        if not isinstance(condition, Expr):
            return bool(condition)
        side = Path.decide(self, condition)
        certain = self.trail[-1] in (ONLY_TRUE, ONLY_FALSE)
        assert certain or self.trail[-1] in (TRUE, FALSE)
        self.events.append((Decide(condition, certain, self.place), side))
        return side

    def certain(self, condition: Value, side: bool) -> None:
        Path.certain(self, condition, side)
        if isinstance(condition, Expr):
            self.events.append((Decide(condition, True, self.place), side))

    def choose(self, options: int) -> int:
        if options > 1 and not self.inside:
            raise Opaque("a choice that is not recorded")
        return Path.choose(self, options)

    def assume(self, condition: Value) -> None:
        if isinstance(condition, Expr) and not self.inside:
            raise Opaque("an assumption about elements")
        Path.assume(self, condition)

    def pick(self, values: Sequence[Expr], what: str, count: int = 3) -> list[Any]:
        raise Opaque(what)

    def rewind(self) -> None:
        Path.rewind(self)
        self.events, self.inside = [], 0


_ITEM = re.compile(r"\[(\d+)\]")


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
        made = self.declare(kind, name)
        self.path.events.append((self._read(made, name), None))
        return made

    def _read(self, made: Any, name: str) -> Event:
        """The event that made this unknown, told from its name: that of an input, then `.field` or `[index]`."""
        for obj in self.inputs:
            rest = name.removeprefix(obj.name)
            if rest == name:
                continue
            item = _ITEM.fullmatch(rest)
            if item is not None and isinstance(obj, ListObj):
                return ReadItem(made, obj.name, int(item[1]))
            if rest.startswith(".") and rest[1:].isidentifier() and isinstance(obj, InstanceObj):
                return ReadField(made, obj.name, rest[1:])
        raise Opaque(f"an input that is not a field or an element: {name}")

    def is_none(self, ref: Ref) -> bool:
        if ref.resolved or self.path.inside:
            return LazyHeap.is_none(self, ref)
        before = self.path.decisions
        self.path.inside += 1
        answer = LazyHeap.is_none(self, ref)
        self.path.inside -= 1
        self.path.events.append((IsNone(ref.name, self.path.decisions > before), answer))
        return answer

    def force(self, ref: Ref) -> Any:
        if ref.resolved or self.path.inside:
            return LazyHeap.force(self, ref)
        if any(isinstance(o, t.OneOf | t.Samples) or _any_length(o) for o in ref.options):
            raise Opaque(f"'{ref.name}' is one of several known values")
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


def _any_length(kind: t.Type) -> bool:
    return isinstance(kind, t.TupleOf) and kind.rest is not None


def changes_of(heap: LazyHeap, missing: Any) -> tuple[Change, ...]:
    """What a finished path has done to the objects it was given; `missing` marks a field written before it was read."""
    found: list[Change] = []
    for obj in heap.inputs:
        if isinstance(obj, InstanceObj):
            if any(old is not missing and name not in obj.fields for name, old in obj.initial.items()):
                raise Opaque("a field is deleted")
            for name, value in obj.fields.items():
                if obj.initial.get(name, missing) is not value:
                    found.append(SetField(obj.name, name, value))
        elif isinstance(obj, ListObj):
            found += _list_changes(obj)
        elif getattr(obj, "source", ()) or getattr(obj, "entries", ()) or getattr(obj, "absent", ()):
            raise Opaque("the contents of a dictionary or set")
        elif getattr(obj, "open", True) is False:
            raise Opaque("the size of a dictionary or set")
    return tuple(found)


def _list_changes(obj: ListObj) -> list[Change]:
    if obj.items is not None:
        source = dict(obj.reads)
        same = set(source) == set(range(len(obj.items))) and all(source[i] is v for i, v in enumerate(obj.items))
        return [SetItems(obj.name, tuple(obj.items), not same or bool(obj.writes))]
    if obj.start or obj.count is not obj.length or any(isinstance(i, Expr) for i, _ in obj.writes):
        raise Opaque("a list of unknown length is shortened, or written at an unknown place")
    if not (obj.writes or obj.head or obj.tail):
        return []
    return [SetEnds(obj.name, tuple(obj.writes), tuple(obj.head), tuple(obj.tail))]
