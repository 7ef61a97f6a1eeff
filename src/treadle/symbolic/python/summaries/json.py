"""A summary as JSON: its tree as a table of nodes, its values and the types of its inputs.

`_RECORDS` and `_VALUES` say how each thing is written and read, in one line for both directions. Classes and functions
are written by name and must be found under it again. What has no such form raises `Unstorable`; the summary is then
made anew in each run. A name that is no longer there is a ValueError.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import types
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr.json import ExpressionReader, ExpressionWriter
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.path import CodePlace
from treadle.symbolic.python.values.values import BoundMethod, RangeValue, SliceValue
from treadle.symbolic.summary import tree
from treadle.symbolic.summary.tree import Summary, SummaryNode


class Unstorable(Exception):
    """Something that only this process knows."""


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
        found: object = importlib.import_module(module)
        for name in qualname.split("."):
            found = vars(found)[name] if isinstance(found, type) and name in vars(found) else getattr(found, name)
    except Exception as error:
        raise ValueError(f"no '{path}': {error}") from None
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


# --- what is written, and how ------------------------------------------------------------------------------

# Class -> which methods of the writer and the reader, by name, take its fields, in the order of its constructor.
_RECORDS: dict[type, tuple[str, ...]] = {
    tree.Decide: ("value", "plain", "place"),
    tree.ReadField: ("made", "plain", "plain"),
    tree.ReadItem: ("made", "plain", "plain"),
    tree.IsNone: ("plain", "plain"),
    tree.Force: ("plain", "plain", "several_made"),
    tree.Same: ("value", "value", "value", "plain"),
    tree.WroteField: ("plain", "plain", "value"),
    tree.Settled: ("value", "plain"),
    tree.Split: ("plain", "groups"),
    tree.SetItems: ("plain", "values", "plain"),
    tree.SetEnds: ("plain", "values", "values", "values"),
    tree.SummaryCase: ("texts", "plain", "texts", "texts", "plain", "texts"),
    tree.SummaryLeaf: (
        *("plain", "value", "records", "values", "lines", "lines", "texts", "plain", "plain", "place", "plain"),
        "record",
    ),
    BoundMethod: ("value", "value"),
    RangeValue: ("value", "value", "plain"),
    SliceValue: ("value", "value", "value"),
    t.Scalar: ("plain",),
    t.NoneType: (),
    t.Instance: ("name",),
    t.ListOf: ("record",),
    t.DictOf: ("record", "record", "plain", "plain", "entries"),
    t.SetOf: ("record", "plain"),
    t.TupleOf: ("records", "record", "value"),
    t.FunctionOf: ("record",),
    t.Union: ("records",),
}
_BY_NAME = {cls.__name__: cls for cls in _RECORDS}

# Kind of a value -> its classes, how it is written and how it is read; numbers, strings and expressions are themselves.
_VALUES: dict[str, tuple[Any, Callable[[SummaryWriter, Any], Any], Callable[[SummaryReader, Any], Any]]] = {
    "member": (
        enum.Enum,
        lambda writer, member: [path_of(type(member)), member.name],
        lambda reader, written: found_at(written[0])[written[1]],
    ),
    "float": (float, lambda writer, number: repr(number), lambda reader, written: float(written)),
    "tuple": (tuple, lambda writer, values: writer.values(values), lambda reader, written: reader.values(written)),
    "ref": (UnknownRef, lambda writer, ref: ref.name, lambda reader, name: UnknownRef(name, ())),
    "class": (type, lambda writer, cls: path_of(cls), lambda reader, path: found_at(path)),
    "function": (types.FunctionType, lambda writer, function: path_of(function), lambda reader, path: found_at(path)),
    "module": (
        types.ModuleType,
        lambda writer, module: module.__name__,
        lambda reader, name: importlib.import_module(name),
    ),
    "record": (
        BoundMethod | RangeValue | SliceValue,
        lambda writer, made: writer.record(made),
        lambda reader, made: reader.record(made),
    ),
    "error": (BaseException, lambda writer, error: writer.error(error), lambda reader, made: reader.error(*made)),
    "object": (Obj, lambda writer, obj: writer.object(obj), lambda reader, number: reader.object(number)),
}


# --- writing -----------------------------------------------------------------------------------------------


class SummaryWriter:
    """One summary. `line` writes a (file, line) so that it survives edits elsewhere."""

    def __init__(self, line: Callable[[str, int], list[Any]]) -> None:
        self.line = line
        self.exprs = ExpressionWriter()
        self.objects: list[object] = []
        self._known: dict[int, int] = {}

    def summary(self, summary: Summary) -> dict[str, Any]:
        formals = {name: self.made(value) for name, value in summary.formals.items()}
        nodes: list[object] = []
        # children before parents, so that a node can name them
        numbers: dict[int, int] = {}
        for node in _children_first(summary.root):
            numbers[id(node)] = len(nodes)
            children = [[outcome, numbers[id(child)]] for outcome, child in node.children.items()]
            nodes.append({"leaf": self.record(node.leaf), "event": self.record(node.event), "children": children})
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

    def record(self, record: Any) -> Any:
        if record is None:
            return None
        kinds = _RECORDS.get(type(record))
        if kinds is None:
            raise Unstorable(str(record))
        values = [getattr(record, f.name) for f in dataclasses.fields(record)]
        return [type(record).__name__, *(getattr(self, k)(v) for k, v in zip(kinds, values, strict=True))]

    def records(self, records: Iterable[object]) -> list[Any]:
        return [self.record(r) for r in records]

    def plain(self, value: object) -> object:
        return value

    def entries(self, entries: Iterable[tuple[str, t.Type, bool]]) -> list[Any]:
        return [[key, self.record(kind), may_be_missing] for key, kind, may_be_missing in entries]

    def texts(self, values: Iterable[str]) -> list[str]:
        return list(values)

    def name(self, cls: type) -> str:
        return path_of(cls)

    def groups(self, groups: Iterable[Iterable[type]]) -> list[list[str]]:
        return [[path_of(c) for c in group] for group in groups]

    def place(self, place: CodePlace) -> object:
        return self.line(place.file, place.line) if place.file else None

    def lines(self, lines: Iterable[tuple[str, int]]) -> list[object]:
        return [self.line(*line) for line in sorted(lines)]

    def made(self, value: object) -> Any:
        """An unknown input, with what is needed to make it again."""
        if isinstance(value, UnknownRef):
            return {"ref": value.name, "options": self.records(value.options)}
        if isinstance(value, tuple):
            return {"tuple": self.several_made(value)}
        if isinstance(value, InstanceObj) and value.is_input:
            return {"instance": value.name, "classes": [path_of(c) for c in value.classes]}
        if isinstance(value, ListObj) and value.is_input:
            return {"list": value.name, "element": self.record(value.element), "length": self.value(value.length)}
        if isinstance(value, DictObj) and value.is_input:
            kinds = self.records([value.key, value.value])
            return {"dict": value.name, "kinds": kinds, "is": [value.keys_only, value.frozen, value.ordered]}
        return {"value": self.value(value)}

    def several_made(self, values: Iterable[object]) -> list[Any]:
        return [self.made(v) for v in values]

    def value(self, value: object) -> Any:
        if value is None:
            return None
        if isinstance(value, bool | int | str | Expr | Fraction) and not isinstance(value, enum.Enum):
            return self.exprs.value(value)
        if isinstance(value, Obj) and value.is_input:
            return {"input": value.name}
        for kind, (classes, write, _) in _VALUES.items():
            if isinstance(value, classes):
                return {kind: write(self, value)}
        raise Unstorable(type(value).__name__)

    def values(self, values: Iterable[object]) -> list[Any]:
        return [self.value(v) for v in values]

    def error(self, error: BaseException) -> Any:
        if vars(error) or type(error).__module__ != "builtins":
            raise Unstorable(type(error).__name__)
        return [path_of(type(error)), self.values(error.args)]

    def object(self, value: Obj) -> int:
        if id(value) in self._known:
            return self._known[id(value)]
        number = self._known[id(value)] = len(self.objects)
        written: dict[str, object] = {"number": value.number}
        self.objects.append(written)
        if isinstance(value, ListObj):
            written["list"] = self.values(value.items or ())
        elif isinstance(value, DictObj):
            written["dict"] = [self.values(entry) for entry in value.entries]
            written["is"] = [value.keys_only, value.frozen, value.ordered]
        elif isinstance(value, InstanceObj):
            written["class"] = path_of(value.cls)
            written["fields"] = {name: self.value(v) for name, v in value.fields.items()}
            written["initial"] = list(value.initial)
            written["payload"] = self.value(value.payload)
        else:
            raise Unstorable(type(value).__name__)
        return number


def _children_first(root: SummaryNode) -> list[SummaryNode]:
    found: list[SummaryNode] = []
    todo = [root]
    while todo:
        node = todo.pop()
        found.append(node)
        todo.extend(node.children.values())
    return found[::-1]


# --- reading -----------------------------------------------------------------------------------------------


class SummaryReader:
    def __init__(self, written: dict[str, Any], line: Callable[..., tuple[str, int]]) -> None:
        self.written = written
        self.line = line
        self.exprs = ExpressionReader(written["expressions"])
        self._objects: list[Obj | None] = [None] * len(written["objects"])

    def summary(self) -> Summary:
        written = self.written
        formals = {name: self.made(value) for name, value in written["formals"].items()}
        # parents come last, but what they make is named by what follows them
        nodes = [SummaryNode(event=self.record(one["event"])) for one in written["nodes"][::-1]][::-1]
        for node, one in zip(nodes, written["nodes"], strict=True):
            node.leaf = self.record(one["leaf"])
            node.children = {_outcome(outcome): nodes[child] for outcome, child in one["children"]}
        codes = frozenset((*self.line(*code[:-1]), code[-1]) for code in written["codes"])
        return Summary(
            written["name"], formals, nodes[-1], codes, written["steps"], written["whole"], written["globals"]
        )

    def record(self, written: Any) -> Any:
        if written is None:
            return None
        cls = _BY_NAME[written[0]]
        return cls(*(getattr(self, kind)(value) for kind, value in zip(_RECORDS[cls], written[1:], strict=True)))

    def records(self, written: list[object]) -> tuple[Any, ...]:
        return tuple(self.record(r) for r in written)

    def plain(self, written: object) -> object:
        return written

    def texts(self, written: list[str]) -> tuple[str, ...]:
        return tuple(written)

    def name(self, path: str) -> Any:
        return found_at(path)

    def groups(self, written: list[list[str]]) -> tuple[tuple[type, ...], ...]:
        return tuple(tuple(found_at(c) for c in group) for group in written)

    def place(self, written: Any) -> CodePlace:
        return CodePlace(*self.line(*written), "") if written is not None else CodePlace("", 0, "")

    def lines(self, written: list[Any]) -> frozenset[tuple[str, int]]:
        return frozenset(self.line(*line) for line in written)

    def made(self, written: dict[str, Any]) -> Any:
        if "ref" in written:
            return UnknownRef(written["ref"], self.records(written["options"]))
        if "tuple" in written:
            return tuple(self.several_made(written["tuple"]))
        if "value" in written:
            return self.value(written["value"])
        made: Obj
        if "instance" in written:
            made = InstanceObj(0, tuple(found_at(c) for c in written["classes"]), written["instance"], True)
        elif "list" in written:
            made = ListObj(0, None, written["list"], True)
            made.element = self.record(written["element"])
            made.length = made.count = self.value(written["length"])
        else:
            made = DictObj(0, [], written["dict"], True)
            made.open, (made.keys_only, made.frozen, made.ordered) = True, written["is"]
            made.key, made.value = self.records(written["kinds"])
        return made

    def entries(self, written: list[Any]) -> tuple[tuple[str, t.Type, bool], ...]:
        return tuple((key, self.record(kind), may_be_missing) for key, kind, may_be_missing in written)

    def several_made(self, written: list[Any]) -> list[Any]:
        return [self.made(m) for m in written]

    def value(self, written: object) -> Any:
        if written is None:
            return None
        if not isinstance(written, dict) or "e" in written or "q" in written:
            return self.exprs.value(written)
        [(kind, inner)] = written.items()
        if kind == "input":
            return InstanceObj(0, (object,), inner, True)  # of an input only the name matters here
        return _VALUES[kind][2](self, inner)

    def values(self, written: list[object]) -> tuple[Any, ...]:
        return tuple(self.value(v) for v in written)

    def error(self, cls: str, args: list[object]) -> Any:
        return found_at(cls)(*self.values(args))

    def object(self, number: int) -> Obj:
        found = self._objects[number]
        if found is not None:
            return found
        written = self.written["objects"][number]
        named = written["number"]
        if "list" in written:
            made = self._objects[number] = ListObj(named, [])
            made.items = list(self.values(written["list"]))
            return made
        if "dict" in written:
            mapping = self._objects[number] = DictObj(named, [])
            mapping.keys_only, mapping.frozen, mapping.ordered = written["is"]
            mapping.entries = [list(self.values(entry)) for entry in written["dict"]]
            return mapping
        instance = self._objects[number] = InstanceObj(named, (found_at(written["class"]),))
        instance.fields = {name: self.value(v) for name, v in written["fields"].items()}
        instance.initial = dict.fromkeys(written["initial"], MISSING)
        instance.payload = self.value(written["payload"])
        return instance


def _outcome(written: object) -> Any:
    return tuple(written) if isinstance(written, list) else written
