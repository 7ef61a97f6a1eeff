"""What a function is summarised for: the kinds of its arguments, as general as they can be."""

from __future__ import annotations

import enum
import inspect
import sys
import types
from dataclasses import dataclass
from typing import Any, Protocol

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import InstanceObj, ListObj, UnknownRef, looked_up
from treadle.symbolic.python.calls.stubs import Stubs
from treadle.symbolic.python.machine.vm import CallAnswerer
from treadle.symbolic.python.types import hints, infer
from treadle.symbolic.python.types.heirs import is_plain_object, known_subclasses
from treadle.symbolic.python.values.values import FunctionValue, PyValue


class SummaryOptions(CallAnswerer, Protocol):
    """Who records summaries: what its paths depend on."""

    k: int
    allow_effects: bool
    stubs: Stubs | None


_SORTS = {x.INT: t.INT, x.BOOL: t.BOOL, x.REAL: t.FLOAT, x.STR: t.STR}


@dataclass(slots=True)
class ConstantArgument:
    """A parameter whose value is part of the signature: a class, a function, a flag."""

    value: Any


Signature = tuple[tuple[str, t.Type | ConstantArgument], ...]


def is_recordable(function: FunctionValue) -> bool:
    """A function of a module, with nothing around it: it can be run by itself."""
    host, outer = function.host, function.outer
    return (
        host is not None and host.__module__ in sys.modules and not (outer is not None and set(outer) - {"__class__"})
    )


def declared_types(function: FunctionValue) -> dict[str, t.Type]:
    """Types of parameters from hints and use, every reference nullable: the most general inputs."""
    found: dict[str, t.Type] = {}
    resolved = hints.resolved_hints(function.host)
    for parameter in inspect.signature(function.host).parameters:
        kind = hints.from_hint(resolved[parameter]) if parameter in resolved else None
        if kind is None:
            kind = infer.infer_parameter(function.host, parameter)
        if kind is not None:
            found[parameter] = hints.parameter_type(kind, True)
    return found


def kind_of(value: PyValue, declared: t.Type | None) -> t.Type | ConstantArgument | None:
    """The formal parameter for an actual argument; None when there is none."""
    value = looked_up(value)
    if isinstance(value, Expr):
        return _SORTS.get(value.sort)
    if type(value) is int:
        return t.INT
    options = t.options(declared) if declared is not None else ()
    if isinstance(value, UnknownRef):
        fits = set(value.options) <= set(options)
        return declared if fits and declared is not None else t.union(*value.options, t.NONE)
    if value is None:
        return declared if t.NONE in options else ConstantArgument(None)
    if isinstance(value, InstanceObj):
        return _instance_kind(value, declared, options)
    if isinstance(value, ListObj):
        if any(isinstance(o, t.ListOf) for o in options):
            return declared
        return t.nullable(t.ListOf(value.element)) if value.element is not None else None
    if isinstance(value, tuple):
        return _tuple_kind(value)
    if isinstance(value, type | types.FunctionType | types.ModuleType | enum.Enum | bool | str | float):
        return ConstantArgument(value)
    return None


def _instance_kind(value: InstanceObj, declared: t.Type | None, options: tuple[t.Type, ...]) -> t.Type | None:
    if value.payload is not None or not is_plain_object(value.cls):
        return None
    if any(isinstance(o, t.Instance) and set(value.classes) <= set(known_subclasses(o.cls)) for o in options):
        return declared
    common = next((c for c in value.cls.__mro__ if set(value.classes) <= set(known_subclasses(c))), None)
    return t.nullable(t.Instance(common)) if common is not None and common is not object else None


def _tuple_kind(value: tuple[PyValue, ...]) -> t.Type | None:
    found: list[t.Type] = []
    for element in value:
        kind = kind_of(element, None)
        if kind is None or isinstance(kind, ConstantArgument):
            return None
        found.append(kind)
    return t.TupleOf(tuple(found))


def same_signature(a: Signature, b: Signature) -> bool:
    for (_, left), (_, right) in zip(a, b, strict=True):
        if isinstance(left, ConstantArgument) and isinstance(right, ConstantArgument):
            same = left.value is right.value or (type(left.value) is type(right.value) and left.value == right.value)
        else:
            same = left == right
        if not same:
            return False
    return True
