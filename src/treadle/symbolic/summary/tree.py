"""The summary of a function: the tree of everything it can find out about its inputs, and what it does about it.

A function is run by itself on the most general inputs, path by path, on a path and a heap that keep a record. The
records of all paths form a tree: an inner node is one event (a field is read, a reference turns out to be None, a
condition is decided), its children are the possible outcomes, and a leaf says how the function ends: result or
exception, and what has changed in the heap. One way from the root to a leaf is a case of the paper's method summary
(seed 002, section 2.4): the events are the input heap and the path condition, the leaf is the output heap and the
exception flag.

The tree is kept instead of the list of cases so that composing it with a caller's state asks the same questions in
the same order as running the function there. What the function does to objects that it was given is an event as well,
in its place among the questions: which of them are the same one is known to the caller's heap alone, however that
decides or postpones it, so every read, write and comparison is made there. Only the work between them, on numbers and
strings and on objects of its own, is folded into expressions. The invariant: composition leaves on the caller's path
and in its heap exactly the trail, the conditions and the notes that running the function would have left. So the test
cases are the same, in the same order, and a path that was begun with a summary can be continued without (`Restart`).

What is here knows no programming language; `symbolic.summary.recording` makes the tree,
`symbolic.python.summaries` records and composes Python functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import InstanceObj, Obj
from treadle.symbolic.path import CodePlace

# --- events ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Decide:
    """A condition on the inputs; `certain`: the inputs so far leave only one side."""

    condition: Expr
    certain: bool
    place: CodePlace


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


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """Whether two references are one object: `made` is the unknown that stands for the answer."""

    made: Expr
    left: Any
    right: Any
    # as in `Heap.same`
    looks: bool


@dataclass(frozen=True, slots=True, eq=False)
class WroteField:
    """A field of an input object is written. An object that the function made is there by number, without contents."""

    obj: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """A value is taken from where it was put before: what was found out since then may have changed how it reads.

    `wholly`: questions of aliasing in it are decided here.
    """

    value: Any
    wholly: bool = False


Event = Decide | ReadField | ReadItem | IsNone | Force | Split | Same | WroteField | Settled

# --- leaves ----------------------------------------------------------------------------------------------


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


Change = SetItems | SetEnds


def held_by(change: Change) -> list[Any]:
    """The values that a change puts into the heap."""
    if isinstance(change, SetItems):
        return list(change.items)
    return [*(v for _, v in change.writes), *change.head, *change.tail]


@dataclass(frozen=True, slots=True)
class SummaryCase:
    """One row of the paper's tables, as text."""

    arguments: tuple[str, ...]
    result: str
    heap_in: tuple[str, ...]
    heap_out: tuple[str, ...]
    exception: str  # "" is the paper's flag ok
    constraints: tuple[str, ...]


@dataclass(slots=True, eq=False)
class SummaryLeaf:
    """How a path of the function ends.

    `kind`: 'return', 'raise', 'cut' (the loop bound was reached) or 'plain': something that must be seen in the
    caller's state, so the function has to be run there.
    """

    kind: str
    value: Any = None
    # what became of the lists that were given
    changes: tuple[Change, ...] = ()
    # objects that the function made and put into inputs, as they are in the end
    made: tuple[Obj, ...] = ()
    lines: frozenset[tuple[str, int]] = frozenset()
    # functions entered, by file and line
    followed: frozenset[tuple[str, int]] = frozenset()
    # cases of stubs that were believed
    stubs: tuple[str, ...] = ()
    steps: int = 0
    depth: int = 0
    place: CodePlace = field(default_factory=lambda: CodePlace("", 0, ""))
    why: str = ""
    case: SummaryCase | None = None


@dataclass(slots=True, eq=False)
class SummaryNode:
    event: Event | None = None
    children: dict[Any, SummaryNode] = field(default_factory=dict)
    leaf: SummaryLeaf | None = None


@dataclass(slots=True, eq=False)
class Summary:
    """The tree, and the inputs it was made from: parameter -> formal value."""

    name: str
    formals: dict[str, Any]
    root: SummaryNode
    # (file, line, name) of every function that some path runs
    codes: frozenset[tuple[str, int, str]] = frozenset()
    # most work a call does, in steps of the machine: what composition can save
    steps: int = 0
    # paths that were left when the limit was reached are not in the tree
    whole: bool = True
    # global names that were read -> what they held
    globals_read: dict[str, str] = field(default_factory=dict)

    def leaves(self) -> list[SummaryLeaf]:
        found: list[SummaryLeaf] = []
        todo = [self.root]
        while todo:
            node = todo.pop()
            if node.leaf is not None:
                found.append(node.leaf)
            todo.extend(reversed(node.children.values()))
        return found

    @property
    def cases(self) -> list[SummaryCase]:
        return [leaf.case for leaf in self.leaves() if leaf.case is not None]


def insert(root: SummaryNode, events: Sequence[tuple[Event, Any]], leaf: SummaryLeaf) -> None:
    """Add one path to the tree; paths share the events before the first outcome in which they differ."""
    node = root
    for event, outcome in events:
        if node.event is None:
            node.event = event
        if isinstance(event, Force) and isinstance(outcome, tuple) and outcome[0] == "new":
            assert isinstance(node.event, Force)
            outcome = ("new", _position(node.event.made, event.made[0]))
        node = node.children.setdefault(outcome, SummaryNode())
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
