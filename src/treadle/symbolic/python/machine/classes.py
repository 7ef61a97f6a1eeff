"""The class of a value, known or unknown, and the raw attributes of classes.

An input object that may belong to several classes is narrowed only when they answer differently.
"""

from __future__ import annotations

import re
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, FunctionObj, InstanceObj, ListObj
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls.models_patterns import PatternMatch
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import kinds
from treadle.symbolic.python.values.values import ProgramValue, PyValue


def lookup(cls: type, name: str, missing: PyValue = None) -> Any:
    """The raw class attribute, along the MRO; None if there is none (or it is switched off with None)."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return missing


def special(vm: VM, obj: InstanceObj, name: str) -> Any:
    """The raw attribute of the class of an object that may be an instance of several."""
    narrow(vm, obj, name)
    return lookup(obj.cls, name)


def narrow(vm: VM, obj: InstanceObj, name: str) -> None:
    """Decide among an input's possible classes as far as they differ in this attribute."""
    if len(obj.classes) == 1:
        return
    groups: list[tuple[PyValue, PyValue, list[type]]] = []
    for cls in obj.classes:
        found, kind = lookup(cls, name, MISSING), vm.field_type(cls, name)
        for attribute, field, members in groups:
            if attribute is found and field == kind:
                members.append(cls)
                break
        else:
            groups.append((found, kind, [cls]))
    if len(groups) > 1:
        vm.heap.split(obj, [tuple(members) for _, _, members in groups])


_SORT_TYPES: dict[x.Sort, type] = {x.INT: int, x.BOOL: bool, x.REAL: float, x.STR: str}


def python_type(vm: VM, value: PyValue) -> type:
    """type(value)"""
    value = vm.force(value)
    if isinstance(value, Expr):
        return _SORT_TYPES[value.sort]
    if isinstance(value, ListObj | DictObj):
        kind: type = kinds.builtin_type(value)
        return kind
    if isinstance(value, InstanceObj):
        if len(value.classes) > 1:
            vm.heap.split(value, [(c,) for c in value.classes])
        return re.Match if value.cls is PatternMatch else value.cls
    if isinstance(value, FunctionObj):
        raise CannotFollow("the type of a function that is an input")
    return type(value.shown() if isinstance(value, ProgramValue) else value)


def own_method(vm: VM, value: PyValue, name: str, *, in_python: bool = False) -> PyValue:
    """The special method of an object of the program, bound; None if its class has none.

    `in_python`: none that is written in Python.
    """
    found = special(vm, value, name) if isinstance(value, InstanceObj) else None
    return None if found is None or (in_python and not kinds.is_python(found)) else vm.attribute(value, name)
