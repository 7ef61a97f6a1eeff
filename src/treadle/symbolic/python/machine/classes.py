"""The class of a value, known or unknown, and the raw attributes of classes.

An input object that may belong to several classes is narrowed only when they answer differently.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, FunctionObj, InstanceObj, ListObj
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import (
    Bound,
    BuiltinMethod,
    FunctionValue,
    Generator,
    Iterator_,
    Partial,
    Range,
    Slice,
    Super,
    View,
)


def lookup(cls: type, name: str) -> Any:
    """The raw class attribute, along the MRO; None if there is none (or it is switched off with None)."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def special(vm: VM, obj: InstanceObj, name: str) -> Any:
    """The raw attribute of the class of an object that may be an instance of several."""
    narrow(vm, obj, name)
    return lookup(obj.cls, name)


def raw(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def narrow(vm: VM, obj: InstanceObj, name: str) -> None:
    """Decide among an input's possible classes as far as they differ in this attribute."""
    if len(obj.classes) == 1:
        return
    groups: list[tuple[Any, Any, list[type]]] = []
    for cls in obj.classes:
        found, kind = raw(cls, name), vm.field_type(cls, name)
        for attribute, field, members in groups:
            if attribute is found and field == kind:
                members.append(cls)
                break
        else:
            groups.append((found, kind, [cls]))
    if len(groups) > 1:
        vm.heap.split(obj, [tuple(members) for _, _, members in groups])


def python_type(vm: VM, value: Any) -> type:
    """type(value)"""
    value = vm.force(value)
    if isinstance(value, Expr):
        return {x.INT: int, x.BOOL: bool, x.REAL: float, x.STR: str}[value.sort]
    if isinstance(value, ListObj):
        return list
    if isinstance(value, DictObj):
        return (frozenset if value.frozen else set) if value.keys_only else dict
    if isinstance(value, InstanceObj):
        if len(value.classes) > 1:
            vm.heap.split(value, [(c,) for c in value.classes])
        return value.cls
    if isinstance(value, FunctionObj):
        raise CannotFollow("the type of a function that is an input")
    if isinstance(value, Range):
        return range
    if isinstance(value, Slice):
        return slice
    if isinstance(value, View):
        return type(getattr({}, value.kind)())
    if isinstance(value, Super):
        return super
    if isinstance(value, FunctionValue):
        return types.FunctionType
    if isinstance(value, Bound):
        return types.MethodType
    if isinstance(value, BuiltinMethod):
        return types.BuiltinMethodType
    if isinstance(value, Generator):
        return types.GeneratorType
    if isinstance(value, Iterator_):
        return type(iter([]))
    if isinstance(value, Partial):
        return functools.partial
    return type(value)
