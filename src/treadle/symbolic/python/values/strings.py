"""Strings, known and unknown: indexing and slices, str() and repr() of any value, and strings as numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr import text
from treadle.symbolic.expr.terms import Expr, Integer, Text
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import BoundReached, Limit
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import mappings, open_lists
from treadle.symbolic.python.values.indexing import position
from treadle.symbolic.python.values.kinds import as_int, is_int, is_known, is_python
from treadle.symbolic.python.values.values import PyValue, SliceValue


def get_item(vm: VM, s: Text, index: Integer) -> PyValue:
    return x.at(s, position(vm, index, x.length(s), "string index out of range"))


def bound(vm: VM, place: Any, size: Integer, default: Integer) -> Integer:
    """A slice bound brought into 0..size, as expressions: a slice never branches."""
    place = vm.force(place)
    if place is None:
        return default
    place = as_int(place)
    from_start = x.ite(x.lt(place, 0), x.add(place, size), place)
    if not isinstance(place, Expr):
        from_start = x.add(place, size) if place < 0 else place
    not_below = x.ite(x.lt(from_start, 0), 0, from_start)
    return x.ite(x.gt(not_below, size), size, not_below)


def slice_of(vm: VM, s: Any, index: SliceValue) -> Text | Any:
    step = vm.force(index.step)
    if is_known(s) and all(is_known(vm.force(p)) for p in (index.start, index.stop, step)):
        try:
            return s[slice(index.start, index.stop, step)]
        except Exception as error:
            raise vm.host_error(error) from None
    if step not in (None, 1):
        if step == -1 and index.start is None and index.stop is None:
            return x.concat(*reversed(characters(vm, s)))
        return vm.call_real(str.__getitem__, [s, index], {}, "a slice with a step")
    size = x.length(s)
    start, stop = bound(vm, index.start, size, 0), bound(vm, index.stop, size, size)
    count = x.sub(stop, start)
    return x.substr(s, start, x.ite(x.lt(count, 0), 0, count))


def characters(vm: VM, s: Text) -> list[Text]:
    """One expression per character; an unknown length is decided, bounded like a loop."""
    if isinstance(s, str):
        return list(s)
    size = x.length(s)
    if not isinstance(size, Expr):
        return [x.at(s, i) for i in range(size)]
    for n in range(vm.k + 2):
        if vm.decide(x.eq(size, n)):
            return [x.at(s, i) for i in range(n)]
    raise BoundReached(Limit.LOOP, vm.path.place)


# --- text of a value -------------------------------------------------------------------------------------

_EXCEPTION_TEXT = (BaseException.__str__, OSError.__str__)


def text_of(vm: VM, value: PyValue) -> Text | Any:
    """str(value)"""
    value = vm.force(value)
    if isinstance(value, Expr):
        if value.sort is x.STR:
            return value
        if value.sort is x.INT:
            return x.int_to_str(value)
        if value.sort is x.BOOL:
            return "True" if vm.decide(value) else "False"
    if isinstance(value, InstanceObj):
        method = classes.special(vm, value, "__str__")
        if issubclass(value.cls, BaseException) and method in _EXCEPTION_TEXT:
            return exception_text(vm, value)
        if _is_written(method):
            return vm.call(vm.attribute(value, "__str__"))
        if method is object.__str__:
            return repr_of(vm, value)
        if method is str.__str__ and value.payload is not None:
            return value.payload
    return vm.call_real(str, [value], {})


def _is_written(function: Any) -> bool:
    """In Python, and by a person: not generated."""
    return is_python(function) and not function.__code__.co_filename.startswith("<")


def exception_text(vm: VM, error: InstanceObj) -> Text | Any:
    args = error.fields.get("args", ())
    if not args:
        return ""
    if len(args) == 1:
        return repr_of(vm, args[0]) if issubclass(error.cls, KeyError) else text_of(vm, args[0])
    return repr_of(vm, tuple(args))


def repr_of(vm: VM, value: PyValue) -> Text | Any:
    """repr(value)"""
    value = vm.force(value)
    if isinstance(value, Expr) and value.sort in (x.INT, x.BOOL):
        return text_of(vm, value)
    if isinstance(value, Expr) and value.sort is x.STR:
        return text.repr_(value)
    if isinstance(value, ListObj):
        return _listed("[", [repr_of(vm, v) for v in open_lists.items(vm, value)], "]")
    if isinstance(value, tuple) and not is_known(value):
        return _listed("(", [repr_of(vm, v) for v in value], ",)" if len(value) == 1 else ")")
    if isinstance(value, DictObj) and not value.keys_only and not value.ordered:
        pairs = mappings.entries(vm, value)
        return _listed("{", [x.concat(repr_of(vm, k), ": ", repr_of(vm, v)) for k, v in pairs], "}")
    if isinstance(value, InstanceObj):
        method = classes.special(vm, value, "__repr__")
        if _is_written(method) and not method.__qualname__.endswith("__create_fn__.<locals>.__repr__"):
            return vm.call(vm.attribute(value, "__repr__"))
        if hasattr(value.cls, "__dataclass_params__") and (is_python(method) or value.cls.__dataclass_params__.repr):
            return dataclass_repr(vm, value)
        if method is object.__repr__:
            # no address, but as different as they are
            known = vm.heap.settle(value)
            cls = classes.python_type(vm, known)
            return f"<{cls.__module__}.{cls.__qualname__} object at 0x{known.number + 1:012x}>"
        if method in (list.__repr__, dict.__repr__, tuple.__repr__) and value.payload is not None:
            return repr_of(vm, value.payload)
    return vm.call_real(repr, [value], {})


def separated(parts: Sequence[Text], separator: Text) -> list[Text]:
    return [piece for part in parts for piece in (separator, part)][1:]


def _listed(opening: str, parts: Sequence[Text], closing: str) -> Text:
    return x.concat(opening, *separated(parts, ", "), closing)


def dataclass_repr(vm: VM, value: InstanceObj) -> Text:
    fields = [f.name for f in value.cls.__dataclass_fields__.values() if f.repr]  # type: ignore[attr-defined]
    parts = [x.concat(name, "=", repr_of(vm, vm.attribute(value, name))) for name in fields]
    return _listed(f"{value.cls.__qualname__}(", parts, ")")


# --- the formatting operator -------------------------------------------------------------------------------


def percent(vm: VM, template: PyValue, values: PyValue) -> PyValue:
    """template % values"""
    if isinstance(template, str):
        pieces = re.split(r"(%[sdr%])", template)
        given = list(values) if isinstance(values, tuple) else [values]
        wanted = [p for p in pieces if p in _CONVERSIONS]
        simple = template.count("%") == sum(p.count("%") for p in pieces if p in _CONVERSIONS or p == "%%")
        if simple and len(wanted) == len(given) and not isinstance(vm.force(values), DictObj):
            source = iter(given)
            out = [_CONVERSIONS[p](vm, next(source)) if p in _CONVERSIONS else p.replace("%%", "%") for p in pieces]
            return x.concat(*out)
    return vm.call_real(operator.mod, [template, values], {}, "the formatting operator")


def _plain_decimal(value: Any) -> str:
    return "%d" % value  # noqa: UP031 (the operator itself is meant)


def _decimal(vm: VM, value: PyValue) -> Text | Any:
    value = vm.force(value)
    if isinstance(value, Expr) and is_int(value):
        return x.int_to_str(as_int(value))
    return vm.call_real(_plain_decimal, [value], {}, "%d")


_CONVERSIONS = {"%s": text_of, "%d": _decimal, "%r": repr_of}


# --- strings as numbers ------------------------------------------------------------------------------------


def to_int(vm: VM, s: Expr) -> PyValue:
    """int(s) of an unknown string: a number, or a ValueError."""
    if vm.decide(text.is_int(s)):
        return text.int_of(s)
    raise vm.error(ValueError, x.concat("invalid literal for int() with base 10: ", text.repr_(s)))


def to_float(vm: VM, s: Expr) -> PyValue:
    """float(s) of an unknown string: a number, or a ValueError; inf and nan are not explored."""
    if vm.decide(text.is_finite(s)):
        return text.float_of(s)
    vm.path.assume(x.not_(text.is_endless(s)))
    raise vm.error(ValueError, x.concat("could not convert string to float: ", text.repr_(s)))
