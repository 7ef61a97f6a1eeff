"""Built-in functions and types on values that may be unknown: isinstance, getattr, hash, dict, deque, partial, ..."""

from __future__ import annotations

import abc
import collections
import enum
import functools
import logging
import operator
import os
import re
import sys
import types
import typing
import warnings
import weakref
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Truth
from treadle.symbolic.heap.objects import MISSING, DictObj, FunctionObj, InstanceObj, ListObj, Obj
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import models
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.types.heirs import is_plain_object
from treadle.symbolic.python.values import mappings, strings
from treadle.symbolic.python.values.kinds import exemplar, is_known, is_string, number_kind
from treadle.symbolic.python.values.table import BUILTINS, Handler, method, stands_for
from treadle.symbolic.python.values.values import (
    BoundMethod,
    BuiltinMethod,
    FunctionValue,
    PartialValue,
    PyValue,
    SliceValue,
    SuperValue,
)

# --- classes of values ---------------------------------------------------------------------------------------


@stands_for(isinstance)
def _isinstance(vm: VM, value: PyValue, kinds: PyValue) -> Any:
    value = vm.force(value)
    flat = _classes(vm, kinds)
    if any(map(_decides_itself, flat)) and not is_known(value):
        return any(_is_one(vm, value, kind) for kind in flat)
    if isinstance(value, InstanceObj):
        if len(value.classes) > 1:
            inside = tuple(c for c in value.classes if _is_subclass(vm, c, flat))
            outside = tuple(c for c in value.classes if c not in inside)
            if inside and outside:
                return vm.heap.split(value, (inside, outside)) == 0
        return _is_subclass(vm, classes.python_type(vm, value), flat)
    if is_known(value):
        try:
            return isinstance(value, flat)
        except TypeError as error:
            raise vm.host_error(error) from None
    return _is_subclass(vm, classes.python_type(vm, value), flat)


def _classes(vm: VM, kinds: PyValue) -> tuple[Any, ...]:
    kinds = vm.force(kinds)
    if typing.get_origin(kinds) in (typing.Union, types.UnionType):
        kinds = typing.get_args(kinds)
    return tuple(c for k in kinds for c in _classes(vm, k)) if isinstance(kinds, tuple) else (kinds,)


def _decides_itself(kind: PyValue) -> bool:
    """Whether a class has its own answer to isinstance, other than by inheritance."""
    if getattr(kind, "_is_runtime_protocol", False) and getattr(kind, "_is_protocol", False):
        return True
    return isinstance(getattr(type(kind), "__instancecheck__", None), types.FunctionType) and not (
        type(kind) is abc.ABCMeta or type(kind).__module__ == "typing"
    )


def _is_one(vm: VM, value: PyValue, kind: PyValue) -> bool:
    """isinstance(value, kind) where classes decide themselves."""
    if not _decides_itself(kind):
        return bool(_isinstance(vm, value, kind))
    cls = classes.python_type(vm, value)
    if cls is kind:
        return True
    if not getattr(kind, "_is_protocol", False):
        return vm.truth_of(vm.call(vm.attribute(kind, "__instancecheck__"), value))
    if kind in cls.__mro__:
        return True
    # Python 3.11 has no public way to ask which attributes a protocol wants
    names = getattr(kind, "__protocol_attrs__", None) or typing._get_protocol_attrs(kind)  # type: ignore[attr-defined]
    return all(_hasattr(vm, value, name) for name in sorted(names))


def _is_subclass(vm: VM, cls: type, kinds: tuple[Any, ...]) -> bool:
    try:
        return issubclass(cls, kinds)
    except TypeError as error:
        if "arg 2" in str(error):
            raise vm.mimic(lambda: isinstance(1, kinds)) from None
        raise vm.host_error(error) from None


@stands_for(issubclass)
def _issubclass(vm: VM, cls: PyValue, kinds: PyValue) -> PyValue:
    cls = vm.force(cls)
    if not isinstance(cls, type):
        raise vm.error(TypeError, "issubclass() arg 1 must be a class")
    return _is_subclass(vm, cls, _classes(vm, kinds))


# --- making values -------------------------------------------------------------------------------------------


@stands_for(bool)
def _bool(vm: VM, value: PyValue = False) -> PyValue:
    return vm.truth(value)


@stands_for(str)
@method(object, "__str__")
def _str(vm: VM, value: PyValue = "", *rest: PyValue) -> PyValue:
    return vm.call_real(str, [value, *rest], {}) if rest else strings.text_of(vm, value)


@stands_for(repr)
@method(object, "__repr__")
def _repr(vm: VM, value: PyValue) -> PyValue:
    return strings.repr_of(vm, value)


@stands_for(list)
def _list(vm: VM, values: PyValue = ()) -> ListObj:
    return vm.new_list(list(vm.spread(values)))


@stands_for(tuple)
def _tuple(vm: VM, values: PyValue = ()) -> PyValue:
    return tuple(vm.spread(values))


@stands_for(set)
def _set(vm: VM, values: PyValue = ()) -> DictObj:
    return vm.new_set(vm.spread(values))


@stands_for(frozenset)
def _frozenset(vm: VM, values: PyValue = ()) -> DictObj:
    return vm.new_set(vm.spread(values), True)


@stands_for(dict)
def _dict(vm: VM, /, *args: PyValue, **named: Any) -> DictObj:
    made = vm.new_dict([])
    mappings.update(vm, made, *args, **named)
    return made


@stands_for(collections.OrderedDict)
def _ordered_dict(vm: VM, /, *args: PyValue, **named: Any) -> DictObj:
    made = _dict(vm, *args, **named)
    made.ordered = True
    return made


@stands_for(dict.fromkeys)
def _dict_fromkeys(vm: VM, keys: PyValue, value: PyValue = None) -> DictObj:
    made = vm.new_dict([])
    for key in vm.spread(keys):
        mappings.store(vm, made, key, value)
    return made


@stands_for(object)
def _object(vm: VM) -> InstanceObj:
    return _instance(vm, object)


def _instance(vm: VM, cls: type, **fields: Any) -> InstanceObj:
    made = InstanceObj(vm.heap.number(), (cls,))
    made.fields.update(fields)
    return made


@stands_for(collections.defaultdict)
def _defaultdict(vm: VM, factory: PyValue = None, /, *args: PyValue, **named: Any) -> InstanceObj:
    made = _instance(vm, collections.defaultdict, default_factory=factory)
    made.payload = _dict(vm, *args, **named)
    return made


@stands_for(collections.deque)
def _deque(vm: VM, values: PyValue = (), maxlen: PyValue = None) -> InstanceObj:
    most = vm.force(maxlen)
    if isinstance(most, Expr):
        most = vm.path.pick([most], "a deque of unknown maximal length")[0]
    if most is not None and (number_kind(most) != "int" or most < 0):
        raise vm.mimic(lambda: collections.deque(maxlen=most))
    made = _instance(vm, collections.deque, maxlen=most)
    items = vm.spread(values)
    made.payload = vm.new_list(items[len(items) - most :] if most is not None and len(items) > most else items)
    return made


@stands_for(super)
def _super(vm: VM, cls: Any, obj: Any = None) -> SuperValue:
    return SuperValue(cls, obj)


@stands_for(slice)
def _slice(vm: VM, start: PyValue, stop: PyValue = MISSING, step: PyValue = None) -> SliceValue:
    return SliceValue(None, start, None) if stop is MISSING else SliceValue(start, stop, step)


@stands_for(functools.partial)
def _partial(vm: VM, function: PyValue, /, *args: PyValue, **named: Any) -> PartialValue:
    return PartialValue(function, args, named)


@stands_for(operator.itemgetter)
def _itemgetter(vm: VM, *items: PyValue) -> PyValue:
    if not items:
        raise vm.mimic(lambda: operator.itemgetter())  # type: ignore[call-overload]
    return vm.call(models.itemgetter_1 if len(items) == 1 else models.itemgetter_n, *items)


@stands_for(weakref.ref)
def _weak(vm: VM, *args: PyValue, **named: Any) -> PyValue:
    raise CannotFollow("a weak reference")


# --- attributes ----------------------------------------------------------------------------------------------


def attribute_name(vm: VM, name: PyValue) -> str:
    name = vm.force(name)
    if isinstance(name, Expr):
        raise CannotFollow("an attribute with an unknown name")
    if not isinstance(name, str):
        raise CannotFollow("an attribute whose name is not a string")
    return name


@stands_for(getattr)
def _getattr(vm: VM, obj: PyValue, name: PyValue, default: PyValue = MISSING) -> PyValue:
    name = attribute_name(vm, name)
    try:
        return vm.attribute(obj, name)
    except Raised as raised:
        if default is not MISSING and issubclass(raised.value.cls, AttributeError):
            return default
        raise


@stands_for(hasattr)
def _hasattr(vm: VM, obj: PyValue, name: PyValue) -> bool:
    nothing = object()
    return _getattr(vm, obj, name, nothing) is not nothing


@stands_for(setattr)
def _setattr(vm: VM, obj: PyValue, name: PyValue, value: PyValue) -> None:
    vm.set_attribute(obj, attribute_name(vm, name), value)


@stands_for(vars)
def _vars(vm: VM, obj: PyValue) -> PyValue:
    return vm.attribute(obj, "__dict__")


@stands_for(callable)
def _callable(vm: VM, value: PyValue) -> bool:
    value = vm.force(value)
    if isinstance(value, InstanceObj):
        return classes.special(vm, value, "__call__") is not None
    if isinstance(value, FunctionValue | FunctionObj | BoundMethod | BuiltinMethod | PartialValue):
        return True
    return not isinstance(value, Expr | Obj | tuple) and callable(value)


@stands_for(hash)
def _hash(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    mappings.check_key(vm, value)
    own = own_method(vm, value, "__hash__", in_python=True)
    if own is not None:
        return vm.call(own)
    if vm.hashing:
        return 0
    if _hash_varies(value):
        raise CannotFollow("the hash of a value, which changes from run to run")
    return vm.call_real(hash, [value], {})


def _hash_varies(value: PyValue) -> bool:
    if isinstance(value, tuple):
        return any(map(_hash_varies, value))
    return isinstance(value, Obj | str | bytes) or (isinstance(value, Expr) and value.sort is x.STR)


@stands_for(id)
def _id(vm: VM, value: PyValue) -> PyValue:
    raise CannotFollow("id(), which changes from run to run")


@stands_for(os.fspath)
def _fspath(vm: VM, path: PyValue) -> PyValue:
    path = vm.force(path)
    if is_string(path):
        return path
    own = own_method(vm, path, "__fspath__")
    if own is not None:
        return vm.call(own)
    return vm.call_real(os.fspath, [exemplar(vm, path) if isinstance(path, Expr) else path], {})


# --- what a test does not see --------------------------------------------------------------------------------


@stands_for(print)
def _print(vm: VM, *args: PyValue, **named: Any) -> None:
    """Output is not part of a test; __str__ methods still run, as they can raise."""
    for value in map(vm.force, args):
        if own_method(vm, value, "__str__", in_python=True) is not None:
            strings.text_of(vm, value)


@stands_for(sys.exit)
def _exit(vm: VM, status: PyValue = MISSING) -> PyValue:
    raise Raised(vm.call(SystemExit, *(() if status is MISSING else (status,))))


_LOGGERS: tuple[Any, ...] = (logging, logging.Logger, logging.LoggerAdapter)
_LOGGED = ("debug", "info", "warning", "error", "log", "critical", "exception")


@stands_for(warnings.warn, *(getattr(owner, name) for owner in _LOGGERS for name in _LOGGED))
def _nothing(vm: VM, *args: PyValue, **named: Any) -> None:
    return None


# --- operators as functions, and as methods of built-in values -----------------------------------------------

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "concat": "+"}
_COMPARING = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "is_": "is"}
_OPERATORS = _ARITHMETIC | _COMPARING | {"iadd": "+=", "and_": "&", "or_": "|", "xor": "^"}
_AS_METHODS = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "iadd", "mod", "floordiv", "truediv")


def _register_operator(name: str, op: str) -> None:
    @stands_for(getattr(operator, name))
    def apply(vm: VM, a: PyValue, b: PyValue) -> PyValue:
        return vm.operator(op, [a, b])

    if name in _AS_METHODS:
        method(object, f"__{name}__")(apply)


for _name, _op in _OPERATORS.items():
    _register_operator(_name, _op)


@stands_for(operator.not_)
def _not(vm: VM, value: PyValue) -> Truth:
    return x.not_(vm.truth(value))


@stands_for(operator.neg)
def _negated(vm: VM, value: PyValue) -> PyValue:
    return vm.operator("neg", [value])


@stands_for(operator.contains)
@method(object, "__contains__")
def _contains(vm: VM, container: PyValue, item: PyValue) -> PyValue:
    return vm.contains(item, container)


@stands_for(operator.getitem)
@method(object, "__getitem__")
def _item(vm: VM, obj: PyValue, index: PyValue) -> PyValue:
    return vm.item(obj, index)


# --- Python that is better replaced than followed --------------------------------------------------------------


@stands_for(functools.wraps)
def _wraps(vm: VM, wrapped: PyValue, *args: PyValue, **named: Any) -> PyValue:
    return _identity


def _identity(function: PyValue) -> PyValue:
    return function


@stands_for(functools.update_wrapper)
def _update_wrapper(vm: VM, wrapper: PyValue, wrapped: PyValue, *args: PyValue, **named: Any) -> PyValue:
    return wrapper


@stands_for(typing.cast)
def _cast(vm: VM, kind: PyValue, value: PyValue) -> PyValue:
    return value


@stands_for(models.is_atomic)
def _is_atomic(vm: VM, kind: Any) -> bool:
    return kind in _ATOMIC or issubclass(kind, enum.Enum | types.FunctionType | type | re.Pattern)


@stands_for(models.blank)
def _blank(vm: VM, kind: Any) -> PyValue:
    bases = kind.__mro__[:-1] if kind is not None and is_plain_object(kind) else ()
    own = [name for name in _COPYING if getattr(kind, name, None) is not getattr(object, name, None)]
    parts = [part for base in bases for part in vars(base).values()]
    descriptors = any(isinstance(getattr(type(part), "__set__", None), types.FunctionType) for part in parts)
    if not bases or own or descriptors or any("__slots__" in vars(base) for base in bases):
        raise CannotFollow("a copy of an object that is more than its fields")
    return InstanceObj(vm.heap.number(), (kind,))


# their objects are their own copies
_ATOMIC = frozenset({type(None), int, float, bool, complex, str, bytes, range, type(...), type(NotImplemented)})
# by which a class has a say in how it is copied
_COPYING = (
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__new__"),
    *("__getnewargs__", "__getnewargs_ex__", "__getattribute__"),
)


# --- what is written in Python to be followed ------------------------------------------------------------------


def _followed(python: PyValue) -> Handler:
    return lambda vm, /, *args, **named: vm.call_with(python, list(args), named)


for _original, _python in models.MODELS.items():
    BUILTINS.setdefault(_original, _followed(_python))
