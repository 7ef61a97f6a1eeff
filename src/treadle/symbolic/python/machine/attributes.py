"""Attribute access: instances known and unknown, classes, modules, built-in values; descriptors and slots.

A field of an input object that nobody has touched is made from the class's declared type when it is first read.
An input object that may belong to several classes is narrowed only when they answer differently.
"""

from __future__ import annotations

import enum
import functools
import types
from dataclasses import FrozenInstanceError
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.contracts.checks import GuardedMethod, is_guarded
from treadle.symbolic.python.machine import classes, effects
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.types.fields import field_names, sets_by_name
from treadle.symbolic.python.values.kinds import as_int, is_known, refusal
from treadle.symbolic.python.values.values import (
    BoundMethod,
    BuiltinMethod,
    DictView,
    FunctionValue,
    GeneratorValue,
    IteratorValue,
    PartialValue,
    ProgramValue,
    PyValue,
    RangeValue,
    SliceValue,
    SuperValue,
)


def get(vm: VM, obj: PyValue, name: str) -> Any:
    """obj.name"""
    obj = vm.force(obj)
    if isinstance(obj, InstanceObj):
        return _instance(vm, obj, name)
    if isinstance(obj, SuperValue):
        return _super(vm, obj, name)
    if isinstance(obj, type):
        return _class(vm, obj, name)
    if isinstance(obj, types.ModuleType):
        return _module(vm, obj, name)
    if isinstance(obj, BoundMethod):
        if name == "__self__":
            return obj.self
        return obj.function if name == "__func__" else get(vm, obj.function, name)
    if isinstance(obj, BuiltinMethod) and name in ("__self__", "__name__"):
        return obj.self if name == "__self__" else obj.name
    if isinstance(obj, FunctionValue):
        return _function(vm, obj, name)
    if isinstance(obj, PartialValue) and name in ("func", "args", "keywords"):
        return {"func": obj.function, "args": obj.args}.get(name) or vm.new_dict([[k, v] for k, v in obj.named.items()])
    if isinstance(obj, RangeValue) and name in ("start", "stop", "step"):
        return getattr(obj, name)
    if isinstance(obj, SliceValue):
        if name in ("start", "stop", "step"):
            return getattr(obj, name)
        return BuiltinMethod(obj, name) if hasattr(slice, name) else _builtin(vm, obj, slice, name)
    if name == "__class__":
        return classes.python_type(vm, obj)
    kind = classes.python_type(vm, obj)
    if isinstance(
        obj, Expr | ListObj | DictObj | RangeValue | DictView | tuple | GeneratorValue | IteratorValue | BuiltinMethod
    ):
        return _builtin(vm, obj, kind, name)
    if isinstance(obj, int | float | str | bytes | type(None)) and not isinstance(obj, enum.Enum):
        return _builtin(vm, obj, kind, name)
    if isinstance(obj, ProgramValue):
        raise CannotFollow(f"the attribute '{name}' of a {kind.__name__}")
    return _host(vm, obj, name)


def _builtin(vm: VM, obj: PyValue, kind: type, name: str) -> PyValue:
    if isinstance(obj, Expr) and obj.sort in (x.INT, x.BOOL):
        whole = {"real": obj, "numerator": obj, "imag": 0, "denominator": 1}
        if name in whole:
            return as_int(whole[name])
    if isinstance(obj, Expr) and obj.sort is x.REAL and name in ("real", "imag"):
        return obj if name == "real" else 0.0
    if isinstance(obj, int | float) and name in ("real", "imag", "numerator", "denominator") and hasattr(obj, name):
        return getattr(obj, name)
    if isinstance(obj, DictView):
        kind = type(getattr({}, obj.kind)())
    if hasattr(kind, name):
        if not callable(getattr(kind, name)):
            raise CannotFollow(f"the attribute '{name}' of a {kind.__name__}")
        return BuiltinMethod(obj, name)
    raise refusal(vm, getattr, obj, name)


def _function(vm: VM, obj: FunctionValue, name: str) -> PyValue:
    if name in ("__name__", "__qualname__"):
        return obj.name
    if name == "__doc__":
        return getattr(obj.host, "__doc__", None)
    if name == "__module__":
        return obj.globals.get("__name__")
    if name == "__dict__":
        return vm.new_dict([])
    if name == "__defaults__":
        return obj.defaults or None
    if name == "__wrapped__" and obj.host is None:
        raise vm.error(AttributeError, "'function' object has no attribute '__wrapped__'")
    if obj.host is not None:
        return vm.lift(getattr(obj.host, name))
    raise CannotFollow(f"the attribute '{name}' of a function")


def _module(vm: VM, obj: types.ModuleType, name: str) -> PyValue:
    if name in vars(obj):
        return vm.read_global(vars(obj), name)
    try:
        found = getattr(obj, name)
    except AttributeError as error:
        raise vm.host_error(error) from None
    return vm.lift(found)


def _host(vm: VM, obj: PyValue, name: str) -> PyValue:
    """An attribute of a real object that the path has no copy of."""
    effects.check_effect(vm, getattr(type(obj), name, None))
    try:
        found = getattr(obj, name)
    except Exception as error:
        raise vm.host_error(error) from None
    return vm.lift(found)


def _class(vm: VM, cls: type, name: str) -> PyValue:
    if name == "__name__" or name == "__qualname__":
        return getattr(cls, name)
    if name == "__dict__":
        raise CannotFollow("the __dict__ of a class")
    overlay = vm.assigned.get((id(cls), name), MISSING)
    if overlay is not MISSING:
        return overlay
    on_meta = classes.lookup(type(cls), name, MISSING)
    raw = classes.lookup(cls, name, MISSING)
    if raw is MISSING:
        for base in cls.__mro__:
            overlay = vm.assigned.get((id(base), name), MISSING)
            if overlay is not MISSING:
                return overlay
        if on_meta is not MISSING and isinstance(on_meta, types.FunctionType):
            return BoundMethod(on_meta, cls)
        try:
            return vm.lift(getattr(cls, name))
        except AttributeError as error:
            raise vm.host_error(error) from None
    if isinstance(raw, classmethod):
        return BoundMethod(raw.__func__, cls)
    if isinstance(raw, staticmethod):
        return raw.__func__
    if isinstance(raw, types.FunctionType):
        return raw
    try:
        value = getattr(cls, name)
    except AttributeError as error:
        raise vm.host_error(error) from None
    lifted = vm.lift(value)
    vm.read_globals.setdefault(id(value), (cls, name))
    return lifted


def bind(vm: VM, raw: PyValue, obj: PyValue, cls: type) -> PyValue:
    """A class attribute seen through an instance."""
    if isinstance(raw, types.FunctionType):
        return BoundMethod(raw, obj)
    if isinstance(raw, FunctionValue):
        return BoundMethod(raw, obj)
    if isinstance(raw, classmethod):
        return BoundMethod(raw.__func__, cls)
    if isinstance(raw, staticmethod):
        return vm.lift(raw.__func__)
    if isinstance(raw, property):
        if raw.fget is None:
            raise vm.error(AttributeError, "property has no getter")
        return vm.call(raw.fget, obj)
    if isinstance(raw, functools.partialmethod):
        raise CannotFollow("functools.partialmethod")
    if isinstance(raw, functools.cached_property):
        value = vm.call(raw.func, obj)
        if isinstance(obj, InstanceObj) and raw.attrname:
            vm.heap.write_field(obj, raw.attrname, value)
        return value
    if isinstance(raw, functools._lru_cache_wrapper):
        return BoundMethod(raw, obj)
    getter = getattr(type(raw), "__get__", None)
    if isinstance(getter, types.FunctionType):
        return vm.call(getter, vm.lift(raw), obj, cls)
    if isinstance(raw, types.WrapperDescriptorType | types.MethodDescriptorType | types.BuiltinFunctionType):
        return BoundMethod(raw, obj)
    return vm.lift(raw)


def _instance(vm: VM, obj: InstanceObj, name: str) -> Any:
    if name == "__class__":
        return classes.python_type(vm, obj)
    if name == "__dict__":
        return _instance_dict(vm, obj)
    classes.narrow(vm, obj, name)
    if vm.checks.pending:
        vm.looked_at(obj)
    custom = classes.special(vm, obj, "__getattribute__")
    if isinstance(custom, types.FunctionType):
        if is_guarded(obj.cls) and custom.__module__.startswith("deal."):
            found = _plain(vm, obj, name)
            guarded = isinstance(found, BoundMethod) and isinstance(found.self, InstanceObj)
            return BoundMethod(GuardedMethod(found.function), found.self) if guarded else found
        return vm.call(custom, obj, name)
    return _plain(vm, obj, name)


def _plain(vm: VM, obj: InstanceObj, name: str) -> Any:
    """object.__getattribute__"""
    raw = classes.lookup(obj.cls, name, MISSING)
    if isinstance(raw, property) or (raw is not MISSING and _is_data_descriptor(raw)):
        return bind(vm, raw, obj, obj.cls)
    if name in obj.fields:
        return vm.heap.settled(obj.fields[name])
    if isinstance(obj.payload, tuple) and name in getattr(obj.cls, "_fields", ()):
        return obj.payload[obj.cls._fields.index(name)]  # type: ignore[attr-defined]
    found = _field(vm, obj, name, raw)
    if found is not MISSING:
        return found
    overlay = _assigned(vm, obj.cls, name)
    if overlay is not MISSING:
        binds = isinstance(overlay, FunctionValue | types.FunctionType | classmethod | staticmethod | property)
        return bind(vm, overlay, obj, obj.cls) if binds else overlay
    if name in ("__context__", "__suppress_context__") and issubclass(obj.cls, BaseException):
        raise CannotFollow("what was being handled when an exception was raised")
    if raw is not MISSING and not isinstance(raw, types.MemberDescriptorType | types.GetSetDescriptorType):
        return bind(vm, raw, obj, obj.cls)
    if isinstance(raw, types.GetSetDescriptorType) and issubclass(obj.cls, BaseException):
        return None
    if isinstance(obj.payload, BaseException) and hasattr(obj.payload, name):
        return vm.lift(getattr(obj.payload, name))
    fallback = classes.special(vm, obj, "__getattr__")
    if fallback is not None:
        return vm.call(fallback, obj, name)
    if obj.payload is not None and not isinstance(obj.payload, BaseException):
        return get(vm, obj.payload, name)
    raise missing(vm, obj, name)


def missing(vm: VM, obj: InstanceObj, name: str) -> Any:
    if obj.is_input and sets_by_name(obj.cls):
        raise CannotFollow(f"the field '{name}': {obj.cls.__name__} sets fields by computed names")
    return vm.error(AttributeError, f"'{obj.cls.__name__}' object has no attribute '{name}'")


def _assigned(vm: VM, cls: type, name: str) -> PyValue:
    for base in cls.__mro__:
        found = vm.assigned.get((id(base), name), MISSING)
        if found is not MISSING:
            return found
    return MISSING


def _is_data_descriptor(raw: PyValue) -> bool:
    if isinstance(raw, types.MemberDescriptorType | types.GetSetDescriptorType | functools.cached_property):
        return False
    return isinstance(getattr(type(raw), "__set__", None), types.FunctionType)


def _field(vm: VM, obj: InstanceObj, name: str, raw: PyValue) -> PyValue:
    """A field not yet in the path's copy: of an input (made now), or of a real object (copied now)."""
    if obj.host is not None and name not in obj.initial:
        stored = _stored(obj.host, name)
        if stored is not MISSING:
            value = obj.fields[name] = obj.initial[name] = vm.lift(stored)
            return value
    if obj.is_input and name not in obj.initial:
        is_method = isinstance(raw, types.FunctionType | classmethod | staticmethod)
        kind = vm.field_type(obj.cls, name) if not is_method else None
        if kind is not None:
            return vm.heap.first_read(obj, name, kind)
        if vm.heap.written_elsewhere(obj, name):
            return obj.fields[name]
    return MISSING


def _stored(host: PyValue, name: str) -> PyValue:
    values = getattr(host, "__dict__", None)
    if isinstance(values, dict) and name in values:
        return values[name]
    raw = classes.lookup(type(host), name, MISSING)
    if isinstance(raw, types.MemberDescriptorType):
        try:
            return raw.__get__(host)
        except AttributeError:
            return MISSING
    return MISSING


def _instance_dict(vm: VM, obj: InstanceObj) -> PyValue:
    """A copy of the fields; writing to it is not seen by the object, so only reads are supported."""
    obj = vm.heap.settle(obj)
    load_all(vm, obj)
    made = vm.new_dict([[k, v] for k, v in obj.fields.items()])
    made.frozen = True
    return made


def load_all(vm: VM, obj: InstanceObj) -> None:
    """Make every declared field of an input object known to the path."""
    if obj.is_input:
        for name in field_names(obj.cls):
            if name not in obj.fields and name not in obj.initial:
                _instance(vm, obj, name)
    elif obj.host is not None:
        for name in getattr(obj.host, "__dict__", {}):
            if name not in obj.fields:
                _instance(vm, obj, name)


def _super(vm: VM, obj: SuperValue, name: str) -> PyValue:
    start = vm.force(obj.obj)
    cls = start if isinstance(start, type) else classes.python_type(vm, start)
    mro = cls.__mro__
    if start is None:  # Python's own binds to nothing then
        raise vm.error(AttributeError, f"'super' object has no attribute '{name}'")
    if obj.after not in mro:
        raise vm.error(TypeError, "super(type, obj): obj must be an instance or subtype of type")
    for base in mro[mro.index(obj.after) + 1 :]:
        if name in base.__dict__:
            raw = base.__dict__[name]
            if isinstance(start, type):
                if isinstance(raw, classmethod):
                    return BoundMethod(raw.__func__, start)
                return raw.__func__ if isinstance(raw, staticmethod) else raw
            return bind(vm, raw, start, cls)
    raise vm.error(AttributeError, f"'super' object has no attribute '{name}'")


# --- writing ---------------------------------------------------------------------------------------------


def set_(vm: VM, obj: PyValue, name: str, value: PyValue) -> None:
    """obj.name = value"""
    obj = vm.force(obj)
    if isinstance(obj, InstanceObj):
        if vm.checks.pending:
            vm.looked_at(obj)
        custom = classes.special(vm, obj, "__setattr__")
        if isinstance(custom, types.FunctionType):
            if _is_generated(custom):
                _frozen(vm, obj, name, "assign to")
            if is_guarded(obj.cls) and custom.__module__.startswith("deal."):
                plain_set(vm, obj, name, value)
                vm.field_assigned(obj)
                return
            vm.call(custom, obj, name, value)
            return
        plain_set(vm, obj, name, value)
        return
    if isinstance(obj, type):
        if obj.__module__ == "builtins" or isinstance(obj, enum.EnumType):
            raise vm.mimic(lambda: setattr(obj, name, value))
        vm.assigned[(id(obj), name)] = value
        if (obj, name) not in vm.touched:
            vm.touched.append((obj, name))
        return
    if isinstance(obj, types.ModuleType):
        vm.assigned[(id(vars(obj)), name)] = value
        vm.touched.append((vars(obj), name))
        return
    if isinstance(obj, FunctionValue | BoundMethod | PartialValue):
        raise CannotFollow("setting an attribute of a function")
    if is_known(obj) and not isinstance(obj, int | float | str | bytes | tuple | type(None)):
        raise CannotFollow(f"setting an attribute of a {type(obj).__name__} object")
    raise refusal(vm, setattr, obj, name, None)


def plain_set(vm: VM, obj: InstanceObj, name: str, value: PyValue) -> None:
    """object.__setattr__"""
    classes.narrow(vm, obj, name)
    raw = classes.lookup(obj.cls, name, MISSING)
    if isinstance(raw, property):
        if raw.fset is None:
            message = f"property '{name}' of '{obj.cls.__name__}' object has no setter"
            raise vm.error(AttributeError, message)
        vm.call(raw.fset, obj, value)
        return
    if raw is not MISSING and _is_data_descriptor(raw):
        vm.call(getattr(type(raw), "__set__", None), vm.lift(raw), obj, value)
        return
    if _only_slots(obj.cls) and not isinstance(raw, types.MemberDescriptorType):
        if raw is not MISSING:
            raise vm.error(AttributeError, f"'{obj.cls.__name__}' object attribute '{name}' is read-only")
        # the words differ between versions of Python
        bare = type(obj.cls.__name__, (), {"__slots__": ()})()
        raise vm.mimic(lambda: setattr(bare, name, None))
    if obj.host is not None:
        vm.changed_hosts.add(id(obj.host))
    vm.heap.write_field(obj, name, value)


def _only_slots(cls: type) -> bool:
    return not issubclass(cls, BaseException) and not getattr(cls, "__dictoffset__", 0)


def _is_generated(function: types.FunctionType) -> bool:
    return function.__code__.co_filename.startswith("<")


def _frozen(vm: VM, obj: InstanceObj, name: str, what: str) -> None:
    raise vm.error(FrozenInstanceError, f"cannot {what} field {name!r}")


def delete(vm: VM, obj: PyValue, name: str) -> None:
    obj = vm.force(obj)
    if isinstance(obj, InstanceObj):
        custom = classes.special(vm, obj, "__delattr__")
        if isinstance(custom, types.FunctionType):
            if _is_generated(custom):
                _frozen(vm, obj, name, "delete")
            vm.call(custom, obj, name)
            return
        obj = vm.heap.settle(obj)
        get(vm, obj, name)
        if name in obj.fields:
            vm.heap.delete_field(obj, name)
            return
        raise missing(vm, obj, name)
    if obj is None or isinstance(obj, Expr | ListObj | DictObj | int | str | tuple):
        raise refusal(vm, delattr, obj, name)
    raise CannotFollow("deleting an attribute of something that is not an object")
