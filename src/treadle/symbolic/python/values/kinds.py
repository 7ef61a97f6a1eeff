"""Of what kind a value is, known or unknown: number, string, plain Python value; and how Python refuses it."""

from __future__ import annotations

import collections
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeGuard

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Real, Text, Truth
from treadle.symbolic.heap.objects import DictObj, FunctionObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import ProgramValue, PyValue

_NUMBER_KINDS: dict[Any, str] = {x.INT: "int", x.BOOL: "int", x.REAL: "float"}
_NUMBER_KINDS |= {int: "int", bool: "int", float: "float"}
_EXEMPLARS: dict[x.Sort, Any] = {x.INT: 1, x.BOOL: True, x.REAL: 1.5, x.STR: "a"}


def is_known(value: PyValue) -> bool:
    """A plain Python value that Python's own operators can take."""
    if isinstance(value, tuple):
        return all(is_known(v) for v in value)
    return not isinstance(value, Expr | Obj | UnknownRef | ProgramValue)


def number_kind(value: PyValue) -> str | None:
    """'int', 'float' or None; truth values count as integers."""
    return _NUMBER_KINDS.get(value.sort if isinstance(value, Expr) else type(value))


def is_int(value: PyValue) -> TypeGuard[Integer]:
    return number_kind(value) == "int"


def as_int(value: Any) -> Integer:
    """A value of number_kind "int" as one of sort INT."""
    if isinstance(value, Expr) and value.sort is x.BOOL:
        return x.bool_to_int(value)
    whole: Integer = int(value) if isinstance(value, bool) else value
    return whole


def as_real(value: PyValue) -> Real:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise CannotFollow("arithmetic of an unknown number with inf or nan")
        return Fraction(value)
    if isinstance(value, Expr) and value.sort is x.REAL:
        return value
    return x.to_real(as_int(value))


def is_string(value: PyValue) -> TypeGuard[Text]:
    return isinstance(value, str) or (isinstance(value, Expr) and value.sort is x.STR)


def is_truth_value(value: PyValue) -> TypeGuard[Truth]:
    return isinstance(value, bool) or (isinstance(value, Expr) and value.sort is x.BOOL)


def sort_of(value: PyValue) -> x.Sort | None:
    try:
        return x.sort_of(value)
    except TypeError:
        return None


def is_python(function: PyValue) -> bool:
    return hasattr(function, "__code__")


def exemplar(vm: VM, value: PyValue) -> Any:
    """A plain value of the same type: Python's error messages name the type only."""
    value = vm.force(value)
    if isinstance(value, Expr):
        return _EXEMPLARS[value.sort]
    if isinstance(value, ListObj):
        return []
    if isinstance(value, DictObj):
        return builtin_type(value)()
    if isinstance(value, InstanceObj):
        bare = type(value.cls.__name__, (), {})
        bare.__module__, bare.__qualname__ = value.cls.__module__, value.cls.__qualname__
        return bare()
    if isinstance(value, FunctionObj):
        raise CannotFollow("a function that is an input, used as something else")
    if isinstance(value, tuple):
        return tuple(exemplar(vm, v) for v in value)
    return value.shown() if isinstance(value, ProgramValue) else value


def builtin_type(value: ListObj | DictObj) -> Any:
    """list, dict, OrderedDict, set or frozenset"""
    if isinstance(value, ListObj):
        return list
    if value.keys_only:
        return frozenset if value.frozen else set
    return collections.OrderedDict if value.ordered else dict


def refusal(vm: VM, function: Callable[..., PyValue], *values: PyValue, **named: Any) -> Raised:
    """The exception that Python itself raises when the function is called with values of these types."""
    shown = [exemplar(vm, v) for v in values]
    return vm.mimic(lambda: function(*shown, **named))
