"""A summary as JSON: its tree as a table of nodes, its values and the types of its inputs.

Classes and functions are written by name and must be found under it again. What has no such form raises `Unstorable`;
the summary is then made anew in each run. Anything unexpected in a file is a ValueError.
"""

from __future__ import annotations

import enum
import importlib
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr.json import Reader, Writer
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.path import CodePlace
from treadle.symbolic.python.values.values import Bound, Range, Slice
from treadle.symbolic.summary.tree import (
    Decide,
    Force,
    IsNone,
    ReadField,
    ReadItem,
    Same,
    SetEnds,
    SetItems,
    Settled,
    Split,
    Summary,
    SummaryCase,
    SummaryLeaf,
    SummaryNode,
    WroteField,
)


class Unstorable(Exception):
    """Something that only this process knows."""


# --- names -----------------------------------------------------------------------------------------------


def path_of(value: Any) -> str:
    """module:qualname of a class or function, if that finds it again."""
    path = f"{value.__module__}:{value.__qualname__}"
    try:
        found = found_at(path)
    except ValueError:
        raise Unstorable(path) from None
    if found is not value:
        raise Unstorable(path)
    return path


def found_at(path: str) -> Any:
    module, _, qualname = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in qualname.split("."):
            found = vars(found)[name] if isinstance(found, type) and name in vars(found) else getattr(found, name)
    except Exception as error:
        raise ValueError(f"no '{path}': {error}") from None
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


# --- types of inputs -------------------------------------------------------------------------------------


def write_type(kind: t.Type) -> Any:
    if isinstance(kind, t.Scalar):
        return kind.kind
    if isinstance(kind, t.NoneType):
        return None
    if isinstance(kind, t.Instance):
        return ["instance", path_of(kind.cls)]
    if isinstance(kind, t.ListOf):
        return ["list", write_type(kind.element)]
    if isinstance(kind, t.DictOf):
        return ["dict", write_type(kind.key), write_type(kind.value)]
    if isinstance(kind, t.SetOf):
        return ["set", write_type(kind.element), kind.frozen]
    if isinstance(kind, t.TupleOf) and kind.rest is None:
        return ["tuple", *map(write_type, kind.elements)]
    if isinstance(kind, t.FunctionOf):
        return ["function", write_type(kind.returns)]
    if isinstance(kind, t.Union):
        return ["union", *map(write_type, kind.options)]
    raise Unstorable(str(kind))


def read_type(written: Any) -> t.Type:
    if written is None:
        return t.NONE
    if isinstance(written, str):
        return t.Scalar(written)
    name, *parts = written
    if name == "instance":
        return t.Instance(found_at(parts[0]))
    if name == "set":
        return t.SetOf(read_type(parts[0]), bool(parts[1]))
    kinds = [read_type(p) for p in parts]
    made: dict[str, Callable[[], t.Type]] = {
        "list": lambda: t.ListOf(kinds[0]),
        "dict": lambda: t.DictOf(kinds[0], kinds[1]),
        "tuple": lambda: t.TupleOf(tuple(kinds)),
        "function": lambda: t.FunctionOf(kinds[0]),
        "union": lambda: t.Union(tuple(kinds)),
    }
    return made[name]()


# --- writing ---------------------------------------------------------------------------------------------


class SummaryWriter:
    """One summary. `line` writes a (file, line) so that it survives edits elsewhere."""

    def __init__(self, line: Callable[[str, int], Any]) -> None:
        self.line = line
        self.exprs = Writer()
        self.objects: list[Any] = []
        self._known: dict[int, int] = {}

    def summary(self, summary: Summary) -> dict[str, Any]:
        formals = {name: self.made(value) for name, value in summary.formals.items()}
        nodes: list[Any] = []
        # children before parents, so that a node can name them
        numbers: dict[int, int] = {}
        for node in _children_first(summary.root):
            numbers[id(node)] = len(nodes)
            nodes.append(self._node(node, numbers))
        return {
            "name": summary.name,
            "formals": formals,
            "steps": summary.steps,
            "whole": summary.whole,
            "globals": summary.globals_read,
            "codes": [[*self.line(file, line), name] for file, line, name in sorted(summary.codes)],
            "nodes": nodes,
            "objects": self.objects,
            "expressions": self.exprs.nodes,
        }

    def _node(self, node: SummaryNode, numbers: dict[int, int]) -> Any:
        if node.leaf is not None:
            return {"leaf": self._leaf(node.leaf)}
        children = [[outcome, numbers[id(child)]] for outcome, child in node.children.items()]
        return {"event": self._event(node.event), "children": children}

    def _place(self, place: CodePlace) -> Any:
        return self.line(place.file, place.line) if place.file else None

    def _event(self, event: Any) -> Any:
        if isinstance(event, Decide):
            return ["decide", self.value(event.condition), event.certain, self._place(event.place)]
        if isinstance(event, ReadField):
            return ["field", self.made(event.made), event.obj, event.name]
        if isinstance(event, ReadItem):
            return ["item", self.made(event.made), event.obj, event.index]
        if isinstance(event, IsNone):
            return ["none", event.ref, event.counted]
        if isinstance(event, Force):
            return ["force", event.ref, event.counted, [self.made(m) for m in event.made]]
        if isinstance(event, Same):
            return ["same", self.value(event.made), self.value(event.left), self.value(event.right), event.looks]
        if isinstance(event, WroteField):
            return ["write", event.obj, event.name, self.value(event.value)]
        if isinstance(event, Settled):
            return ["settled", self.value(event.value), event.wholly]
        assert isinstance(event, Split)
        return ["split", event.obj, [[path_of(c) for c in group] for group in event.groups]]

    def _leaf(self, leaf: SummaryLeaf) -> Any:
        case = leaf.case
        return {
            "kind": leaf.kind,
            "value": self.value(leaf.value),
            "changes": [self._change(c) for c in leaf.changes],
            "made": [self.value(own) for own in leaf.made],
            "lines": [self.line(*line) for line in sorted(leaf.lines)],
            "followed": [self.line(*line) for line in sorted(leaf.followed)],
            "stubs": list(leaf.stubs),
            "steps": leaf.steps,
            "depth": leaf.depth,
            "place": self._place(leaf.place),
            "why": leaf.why,
            "case": None
            if case is None
            else [case.arguments, case.result, case.heap_in, case.heap_out, case.exception, case.constraints],
        }

    def _change(self, change: Any) -> Any:
        if isinstance(change, SetItems):
            return ["items", change.obj, [self.value(v) for v in change.items], change.changed]
        assert isinstance(change, SetEnds)
        writes = [[index, self.value(v)] for index, v in change.writes]
        return ["ends", change.obj, writes, [self.value(v) for v in change.head], [self.value(v) for v in change.tail]]

    def made(self, value: Any) -> Any:
        """An unknown input, with what is needed to make it again."""
        if isinstance(value, UnknownRef):
            return {"ref": value.name, "options": [write_type(o) for o in value.options]}
        if isinstance(value, tuple):
            return {"tuple": [self.made(v) for v in value]}
        if isinstance(value, InstanceObj) and value.is_input:
            return {"instance": value.name, "classes": [path_of(c) for c in value.classes]}
        if isinstance(value, ListObj) and value.is_input:
            assert value.element is not None
            return {"list": value.name, "element": write_type(value.element), "length": self.value(value.length)}
        if isinstance(value, DictObj) and value.is_input:
            kinds = [write_type(k) if k is not None else None for k in (value.key, value.value)]
            return {"dict": value.name, "kinds": kinds, "set": value.keys_only, "frozen": value.frozen}
        return {"value": self.value(value)}

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | str | Expr | Fraction):
            if isinstance(value, enum.Enum):
                return {"member": [path_of(type(value)), value.name]}
            return None if value is None else self.exprs.value(value)
        if isinstance(value, float):
            return {"float": repr(value)}
        if isinstance(value, tuple):
            return {"tuple": [self.value(v) for v in value]}
        if isinstance(value, UnknownRef):
            return {"ref": value.name}
        if isinstance(value, Obj):
            return {"input": value.name} if value.is_input else {"object": self._object(value)}
        if isinstance(value, type):
            return {"class": path_of(value)}
        if isinstance(value, types.FunctionType):
            return {"function": path_of(value)}
        if isinstance(value, enum.Enum):
            return {"member": [path_of(type(value)), value.name]}
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        if isinstance(value, Bound):
            return {"bound": [self.value(value.function), self.value(value.self)]}
        if isinstance(value, Range):
            return {"range": [self.value(value.start), self.value(value.stop), value.step]}
        if isinstance(value, Slice):
            return {"slice": [self.value(v) for v in (value.start, value.stop, value.step)]}
        raise Unstorable(type(value).__name__)

    def _object(self, value: Obj) -> int:
        if id(value) in self._known:
            return self._known[id(value)]
        number = self._known[id(value)] = len(self.objects)
        written: dict[str, Any] = {"number": value.number}
        self.objects.append(written)
        if isinstance(value, ListObj):
            written["list"] = [self.value(v) for v in value.items or ()]
        elif isinstance(value, DictObj):
            written["dict"] = [[self.value(k), self.value(v)] for k, v in value.entries]
            written["set"], written["frozen"] = value.keys_only, value.frozen
        elif isinstance(value, InstanceObj):
            written["class"] = path_of(value.cls)
            written["fields"] = {name: self.value(v) for name, v in value.fields.items()}
            written["initial"] = list(value.initial)
            written["payload"] = self._payload(value.payload)
        else:
            raise Unstorable(type(value).__name__)
        return number

    def _payload(self, payload: Any) -> Any:
        if not isinstance(payload, BaseException):
            return self.value(payload)
        if vars(payload) or type(payload).__module__ != "builtins":
            raise Unstorable(type(payload).__name__)
        return {"error": [path_of(type(payload)), [self.value(a) for a in payload.args]]}


def _children_first(root: SummaryNode) -> list[SummaryNode]:
    found: list[SummaryNode] = []
    todo = [root]
    while todo:
        node = todo.pop()
        found.append(node)
        todo.extend(node.children.values())
    return found[::-1]


# --- reading ---------------------------------------------------------------------------------------------


class SummaryReader:
    def __init__(self, written: dict[str, Any], line: Callable[..., tuple[str, int]]) -> None:
        self.written = written
        self.line = line
        self.exprs = Reader(written["expressions"])
        self._objects: list[Obj | None] = [None] * len(written["objects"])

    def summary(self) -> Summary:
        written = self.written
        formals = {name: self.made(value) for name, value in written["formals"].items()}
        nodes: list[SummaryNode] = []
        # parents come last, but what they make is named by what follows them
        for one in written["nodes"][::-1]:
            nodes.append(SummaryNode() if "leaf" in one else SummaryNode(event=self._event(*one["event"])))
        nodes.reverse()
        for node, one in zip(nodes, written["nodes"], strict=True):
            if "leaf" in one:
                node.leaf = self._leaf(one["leaf"])
            else:
                node.children = {_outcome(outcome): nodes[child] for outcome, child in one["children"]}
        codes = frozenset((*self.line(*code[:-1]), code[-1]) for code in written["codes"])
        return Summary(
            written["name"], formals, nodes[-1], codes, written["steps"], written["whole"], written["globals"]
        )

    def _place(self, written: Any) -> CodePlace:
        return CodePlace(*self.line(*written), "") if written is not None else CodePlace("", 0, "")

    def _event(self, name: str, *rest: Any) -> Any:
        if name == "decide":
            condition = self.value(rest[0])
            if not isinstance(condition, Expr):
                raise ValueError("a condition that is no condition")
            return Decide(condition, rest[1], self._place(rest[2]))
        if name == "field":
            return ReadField(self.made(rest[0]), rest[1], rest[2])
        if name == "item":
            return ReadItem(self.made(rest[0]), rest[1], rest[2])
        if name == "none":
            return IsNone(rest[0], rest[1])
        if name == "force":
            return Force(rest[0], rest[1], [self.made(m) for m in rest[2]])
        if name == "same":
            made, left, right = (self.value(v) for v in rest[:3])
            return Same(made, left, right, rest[3])
        if name == "write":
            return WroteField(rest[0], rest[1], self.value(rest[2]))
        if name == "settled":
            return Settled(self.value(rest[0]), rest[1])
        if name == "split":
            return Split(rest[0], tuple(tuple(found_at(c) for c in group) for group in rest[1]))
        raise ValueError(f"no event '{name}'")

    def _leaf(self, written: dict[str, Any]) -> SummaryLeaf:
        case = written["case"]
        return SummaryLeaf(
            written["kind"],
            self.value(written["value"]),
            tuple(self._change(*c) for c in written["changes"]),
            tuple(self.value(own) for own in written["made"]),
            frozenset(self.line(*line) for line in written["lines"]),
            frozenset(self.line(*line) for line in written["followed"]),
            tuple(written["stubs"]),
            written["steps"],
            written["depth"],
            self._place(written["place"]),
            written["why"],
            None if case is None else _case(*case),
        )

    def _change(self, name: str, obj: str, *rest: Any) -> Any:
        if name == "items":
            return SetItems(obj, tuple(self.value(v) for v in rest[0]), rest[1])
        writes = tuple((index, self.value(v)) for index, v in rest[0])
        return SetEnds(obj, writes, tuple(map(self.value, rest[1])), tuple(map(self.value, rest[2])))

    def made(self, written: dict[str, Any]) -> Any:
        if "ref" in written:
            return UnknownRef(written["ref"], tuple(read_type(o) for o in written["options"]))
        if "tuple" in written:
            return tuple(self.made(v) for v in written["tuple"])
        if "value" in written:
            return self.value(written["value"])
        made: Obj
        if "instance" in written:
            made = InstanceObj(0, tuple(found_at(c) for c in written["classes"]), written["instance"], True)
        elif "list" in written:
            made = ListObj(0, None, written["list"], True)
            made.element = read_type(written["element"])
            made.length = made.count = self.value(written["length"])
        else:
            made = DictObj(0, [], written["dict"], True)
            made.open, made.keys_only, made.frozen = True, written["set"], written["frozen"]
            made.key, made.value = (read_type(k) for k in written["kinds"])
        return made

    def value(self, written: Any) -> Any:
        if written is None:
            return None
        if not isinstance(written, dict) or "e" in written or "q" in written:
            return self.exprs.value(written)
        [(kind, inner)] = written.items()
        if kind == "float":
            return float(inner)
        if kind == "tuple":
            return tuple(self.value(v) for v in inner)
        if kind == "ref":
            return UnknownRef(inner, ())
        if kind == "input":
            return InstanceObj(0, (object,), inner, True)  # of an input only the name matters here
        if kind == "object":
            return self._object(inner)
        if kind in ("class", "function"):
            return found_at(inner)
        if kind == "member":
            return found_at(inner[0])[inner[1]]
        if kind == "error":
            return found_at(inner[0])(*(self.value(a) for a in inner[1]))
        if kind == "module":
            return importlib.import_module(inner)
        if kind == "bound":
            return Bound(self.value(inner[0]), self.value(inner[1]))
        if kind == "range":
            return Range(self.value(inner[0]), self.value(inner[1]), inner[2])
        if kind == "slice":
            return Slice(*(self.value(v) for v in inner))
        raise ValueError(f"no value '{kind}'")

    def _object(self, number: int) -> Obj:
        found = self._objects[number]
        if found is not None:
            return found
        written = self.written["objects"][number]
        named = written["number"]
        if "list" in written:
            made = self._objects[number] = ListObj(named, [])
            made.items = [self.value(v) for v in written["list"]]
            return made
        if "dict" in written:
            mapping = self._objects[number] = DictObj(named, [])
            mapping.keys_only, mapping.frozen = written["set"], written["frozen"]
            mapping.entries = [[self.value(k), self.value(v)] for k, v in written["dict"]]
            return mapping
        instance = self._objects[number] = InstanceObj(named, (found_at(written["class"]),))
        instance.fields = {name: self.value(v) for name, v in written["fields"].items()}
        instance.initial = dict.fromkeys(written["initial"], MISSING)
        instance.payload = self.value(written["payload"])
        return instance


def _case(
    arguments: list[str], result: str, before: list[str], after: list[str], exception: str, constraints: list[str]
) -> SummaryCase:
    return SummaryCase(tuple(arguments), result, tuple(before), tuple(after), exception, tuple(constraints))


def _outcome(written: Any) -> Any:
    return tuple(written) if isinstance(written, list) else written
