"""The cases of a summary as text, in the columns of the paper: arguments, result, heaps, exception, constraints."""

from __future__ import annotations

import types
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef, looked_up
from treadle.symbolic.summary.tree import SummaryCase


def describe(formals: dict[str, Any], vm: Any, kind: str, value: Any) -> SummaryCase:
    """The case of a finished path, in the columns of the paper."""
    told = _Telling()
    arguments = tuple(f"{name}={told.text(v)}" for name, v in formals.items())
    before = tuple(told.before(o) for o in vm.heap.inputs)
    result = told.text(value) if kind == "return" else ""
    exception = told.exception(value) if kind == "raise" else ""
    after = tuple(told.after(o) for o in vm.heap.inputs)
    made = tuple(told.made_objects())
    story = dict.fromkeys(show(part) if isinstance(part, Expr) else str(part) for part in vm.path.story)
    return SummaryCase(arguments, result, before, (*after, *made), exception, tuple(story))


class _Telling:
    """Objects by name in a table: inputs by where they came from, new ones numbered."""

    def __init__(self) -> None:
        self.new: dict[int, Obj] = {}

    def text(self, value: object) -> str:
        value = looked_up(value)
        if isinstance(value, Expr):
            return show(value)
        if isinstance(value, UnknownRef):
            return "_"  # never looked at
        if isinstance(value, Obj):
            if value.is_input:
                return value.name
            self.new.setdefault(id(value), value)
            return f"new{list(self.new).index(id(value)) + 1}"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))})"
        if isinstance(value, type | types.FunctionType):
            return value.__qualname__
        return repr(float(value)) if isinstance(value, Fraction) else repr(value)

    def exception(self, value: object) -> str:
        args = value.fields.get("args", ()) if isinstance(value, InstanceObj) else ()
        cls = value.cls if isinstance(value, InstanceObj) else type(value)
        return f"{cls.__name__}({', '.join(self.text(a) for a in args)})"

    def before(self, obj: Obj) -> str:
        if isinstance(obj, InstanceObj):
            known = {n: v for n, v in obj.initial.items() if v is not MISSING}
            return f"{obj.name} -> {obj.cls.__name__}({self._pairs(known)})"
        if isinstance(obj, ListObj):
            items = ", ".join(f"{show(i) if isinstance(i, Expr) else i}: {self.text(v)}" for i, v in obj.reads)
            return f"{obj.name} -> list({items})"
        return f"{obj.name} -> {type(obj).__name__.removesuffix('Obj').lower()}"

    def after(self, obj: Obj) -> str:
        if isinstance(obj, InstanceObj):
            return f"{obj.name or self.text(obj)} -> {obj.cls.__name__}({self._pairs(obj.fields)})"
        if isinstance(obj, ListObj) and obj.items is not None:
            return f"{obj.name or self.text(obj)} -> [{', '.join(map(self.text, obj.items))}]"
        if isinstance(obj, ListObj) and (obj.writes or obj.head or obj.tail):
            written = ", ".join(f"{show(i) if isinstance(i, Expr) else i}: {self.text(v)}" for i, v, _ in obj.writes)
            ends = [", ".join(map(self.text, part)) for part in (obj.head, obj.tail)]
            return f"{obj.name} -> [{ends[0]}] + list({written}) + [{ends[1]}]"
        if isinstance(obj, DictObj) and not obj.open:
            entries = (self.text(k) if obj.keys_only else f"{self.text(k)}: {self.text(v)}" for k, v in obj.entries)
            return f"{obj.name or self.text(obj)} -> {{{', '.join(entries)}}}"
        return self.before(obj)

    def made_objects(self) -> list[str]:
        done: list[str] = []
        while len(done) < len(self.new):
            done.append(self.after(list(self.new.values())[len(done)]))
        return done

    def _pairs(self, fields: dict[str, object]) -> str:
        return ", ".join(f"{name}={self.text(value)}" for name, value in fields.items() if name != "args")
