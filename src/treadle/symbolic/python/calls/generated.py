"""Functions without source that Python's own tools write: the methods of dataclasses, the __new__ of named tuples."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.heap.objects import InstanceObj
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine import attributes, binding, classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import strings
from treadle.symbolic.python.values.values import PyValue

# not a method that is known here (NotImplemented is an answer that a method may give)
UNHANDLED: Any = object()


def call(vm: VM, function: types.FunctionType, args: list[Any], named: dict[str, Any]) -> Any:
    """The meaning of a generated method, or UNHANDLED."""
    if function.__name__ == "__new__" and args and hasattr(args[0], "_fields") and issubclass(args[0], tuple):
        return named_tuple(vm, args[0], args[1:], named)
    if not args or not isinstance(args[0], InstanceObj):
        return UNHANDLED
    obj = args[0]
    owner = _owner(obj.cls, function)
    if owner is None or not dataclasses.is_dataclass(owner):
        return UNHANDLED
    name = function.__name__
    if name == "__init__":
        return _init(vm, owner, obj, args[1:], named)
    if name == "__eq__":
        return _equal(vm, owner, obj, args[1])
    if name in ("__lt__", "__le__", "__gt__", "__ge__"):
        return _order(vm, owner, name, obj, args[1])
    if name == "__repr__":
        return strings.dataclass_repr(vm, obj)
    if name == "__hash__":
        raise CannotFollow("the hash of an object")
    return UNHANDLED


def _owner(cls: type, function: Any) -> PyValue:
    for base in cls.__mro__:
        found = vars(base).get(function.__name__)
        if found is function or getattr(found, "__wrapped__", None) is function:
            return base
    return None


def _init(vm: VM, cls: Any, obj: InstanceObj, args: list[Any], named: dict[str, Any]) -> None:
    fields = [f for f in cls.__dataclass_fields__.values() if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
    params = [f for f in fields if f.init]
    positional = [f for f in params if not f.kw_only]
    shown = f"{cls.__qualname__}.__init__"
    if len(args) > len(positional) or any(k not in {f.name for f in params} for k in named):
        raise vm.mimic(lambda: cls(*range(len(args)), **dict.fromkeys(named)))
    values = dict(zip([f.name for f in positional], args, strict=False))
    if any(k in values for k in named):
        duplicate = next(k for k in named if k in values)
        raise vm.error(TypeError, f"{shown}() got multiple values for argument '{duplicate}'")
    values.update(named)
    absent = [
        f.name
        for f in params
        if f.name not in values and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if absent:
        raise vm.error(TypeError, binding.absent_arguments(shown, absent, "positional"))
    extra: list[PyValue] = []
    for f in fields:
        if f.name in values:
            value = values[f.name]
        elif f.default_factory is not dataclasses.MISSING:
            value = vm.call(f.default_factory)
        elif f.default is not dataclasses.MISSING:
            value = vm.lift(f.default)
        else:
            continue
        if f._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            extra.append(value)
        else:
            attributes.plain_set(vm, obj, f.name, value)
    if classes.lookup(cls, "__post_init__") is not None:
        vm.call(vm.attribute(obj, "__post_init__"), *extra)


def _compared(vm: VM, cls: Any, obj: InstanceObj) -> tuple[PyValue, ...]:
    return tuple(vm.attribute(obj, f.name) for f in dataclasses.fields(cls) if f.compare)


def _equal(vm: VM, cls: PyValue, obj: InstanceObj, other: PyValue) -> PyValue:
    other = vm.force(other)
    if not isinstance(other, InstanceObj):
        return NotImplemented
    if classes.python_type(vm, obj) is not classes.python_type(vm, other):
        return NotImplemented
    left, right = _compared(vm, cls, obj), _compared(vm, cls, other)
    return x.and_(*(vm.equal(a, b) for a, b in zip(left, right, strict=True)))


def _order(vm: VM, cls: PyValue, name: str, obj: InstanceObj, other: PyValue) -> PyValue:
    other = vm.force(other)
    if not isinstance(other, InstanceObj) or other.cls is not obj.cls:
        return NotImplemented
    op = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}[name]
    return vm.compare(op, _compared(vm, cls, obj), _compared(vm, cls, other))


def named_tuple(vm: VM, cls: Any, args: list[Any], named: dict[str, Any]) -> PyValue:
    """What the __new__ does that collections.namedtuple writes."""
    fields = list(cls._fields)
    values = dict(zip(fields, args, strict=False))
    if len(args) > len(fields) or any(k in values or k not in fields for k in named):
        raise vm.mimic(lambda: cls(*range(len(args)), **dict.fromkeys(named)))
    values.update(named)
    for name, default in getattr(cls, "_field_defaults", {}).items():
        values.setdefault(name, vm.lift(default))
    if len(values) != len(fields):
        raise vm.mimic(lambda: cls(*range(len(args)), **dict.fromkeys(named)))
    made = InstanceObj(vm.heap.number(), (cls,))
    made.payload = tuple(values[name] for name in fields)
    return made
