"""Of what kind a value is, known or unknown: number, string, plain Python value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import DictObj, FunctionObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import Generator, Iterator_, Range, View


def is_known(value: Any) -> bool:
    """A plain Python value that Python's own operators can take."""
    if isinstance(value, tuple):
        return all(is_known(v) for v in value)
    return not isinstance(value, Expr | Obj | UnknownRef | Iterator_ | Generator | Range | View) and (
        type(value).__module__ != "treadle.symbolic.python.values.values"
    )


def number_kind(value: Any) -> str | None:
    """'int', 'float' or None; truth values count as integers."""
    if isinstance(value, Expr):
        return {x.INT: "int", x.BOOL: "int", x.REAL: "float"}.get(value.sort)
    if type(value) in (int, bool):
        return "int"
    return "float" if type(value) is float else None


def as_int(value: Any) -> Value:
    if isinstance(value, Expr) and value.sort is x.BOOL:
        return x.bool_to_int(value)
    return int(value) if isinstance(value, bool) else value


def as_real(value: Any) -> Value:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise CannotFollow("arithmetic of an unknown number with inf or nan")
        return Fraction(value)
    if isinstance(value, Expr) and value.sort is x.REAL:
        return value
    return x.to_real(as_int(value))


def is_string(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Expr) and value.sort is x.STR)


def exemplar(vm: VM, value: Any) -> Any:
    """A plain value of the same type: Python's error messages name the type only."""
    value = vm.force(value)
    if isinstance(value, Expr):
        return {x.INT: 1, x.BOOL: True, x.REAL: 1.5, x.STR: "a"}[value.sort]
    if isinstance(value, ListObj):
        return []
    if isinstance(value, DictObj):
        return (frozenset() if value.frozen else set()) if value.keys_only else {}
    if isinstance(value, InstanceObj):
        bare = type(value.cls.__name__, (), {})
        bare.__module__, bare.__qualname__ = value.cls.__module__, value.cls.__qualname__
        return bare()
    if isinstance(value, FunctionObj):
        raise CannotFollow("a function that is an input, used as something else")
    if isinstance(value, tuple):
        return tuple(exemplar(vm, v) for v in value)
    if isinstance(value, Range):
        return range(1)
    if isinstance(value, Generator):
        return iter([]) and (i for i in [0])
    if isinstance(value, Iterator_):
        return iter([])
    if isinstance(value, View):
        return getattr({}, value.kind)()
    if type(value).__module__ == "treadle.symbolic.python.values.values":
        return exemplar
    return value


def _sort(value: Any) -> Any:
    try:
        return x.sort_of(value)
    except TypeError:
        return None


def is_python(function: Any) -> bool:
    return hasattr(function, "__code__")
