"""Built-in functions and types on values that may be unknown: len, abs, sorted, int, dict, range, zip, ...

`FUNCTIONS` and `CLASSES` say what stands for which; `builtin_calls` looks here first.
"""

from __future__ import annotations

import abc
import collections
import functools
import math
import operator
import os
import sys
import types
import typing
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import FunctionObj, InstanceObj, Obj
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import models
from treadle.symbolic.python.calls.models import MODELS
from treadle.symbolic.python.calls.numbers import (
    _abs,
    _ceil,
    _chr,
    _divmod,
    _extreme,
    _float,
    _floor,
    _index,
    _int,
    _isqrt,
    _on_known,
    _ord,
    _pow,
    _round,
    _sum,
)
from treadle.symbolic.python.calls.walking import (
    _enumerate,
    _iter,
    _mapped,
    _next,
    _range,
    _reversed,
    _sorted,
    _zip,
    length,
)
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import mappings, strings
from treadle.symbolic.python.values.kinds import exemplar, is_known, is_python, is_string, number_kind
from treadle.symbolic.python.values.values import (
    Bound,
    BuiltinMethod,
    FunctionValue,
    Partial,
    Slice,
    Super,
)

_MISSING: Any = object()


def _isinstance(vm: VM, value: Any, kinds: Any) -> Any:
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
        return _is_subclass(vm, value.cls, flat)
    if is_known(value):
        try:
            return isinstance(value, flat)
        except TypeError as error:
            raise vm.host_error(error) from None
    return _is_subclass(vm, classes.python_type(vm, value), flat)


def _classes(vm: VM, kinds: Any) -> tuple[Any, ...]:
    kinds = vm.force(kinds)
    if isinstance(kinds, tuple):
        return tuple(c for k in kinds for c in _classes(vm, k))
    if isinstance(kinds, types.UnionType):
        return tuple(c for k in kinds.__args__ for c in _classes(vm, k))
    if typing.get_origin(kinds) is typing.Union:
        return tuple(c for k in typing.get_args(kinds) for c in _classes(vm, k))
    return (kinds,)


def _decides_itself(kind: Any) -> bool:
    """Whether a class has its own answer to isinstance, other than by inheritance."""
    if getattr(kind, "_is_runtime_protocol", False) and getattr(kind, "_is_protocol", False):
        return True
    return isinstance(getattr(type(kind), "__instancecheck__", None), types.FunctionType) and not (
        type(kind) is abc.ABCMeta or type(kind).__module__ == "typing"
    )


def _is_one(vm: VM, value: Any, kind: Any) -> bool:
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
        message = str(error).replace("issubclass()", "isinstance()")
        if "arg 2" in message:
            raise vm.mimic(lambda: isinstance(1, kinds)) from None
        raise vm.host_error(error) from None


def _issubclass(vm: VM, cls: Any, kinds: Any) -> Any:
    cls = vm.force(cls)
    if not isinstance(cls, type):
        raise vm.error(TypeError, "issubclass() arg 1 must be a class")
    return _is_subclass(vm, cls, _classes(vm, kinds))


def _bool(vm: VM, value: Any = False) -> Any:
    return vm.truth(value)


def _str(vm: VM, value: Any = "", *rest: Any) -> Any:
    if rest:
        return _on_known(vm, str, value, *rest)
    return strings.text_of(vm, value)


def _repr(vm: VM, value: Any) -> Any:
    return strings.repr_of(vm, value)


def _list(vm: VM, values: Any = ()) -> Any:
    return vm.new_list(list(vm.spread(values)))


def _tuple(vm: VM, values: Any = ()) -> Any:
    return tuple(vm.spread(values))


def _set(vm: VM, values: Any = ()) -> Any:
    return vm.new_set(vm.spread(values))


def _frozenset(vm: VM, values: Any = ()) -> Any:
    return vm.new_set(vm.spread(values), True)


def _dict(vm: VM, *args: Any, **named: Any) -> Any:
    made = vm.new_dict([])
    mappings._update(vm, made, *args, **named)
    return made


def _defaultdict(vm: VM, factory: Any = None, *args: Any, **named: Any) -> Any:
    made = InstanceObj(vm.heap.number(), (collections.defaultdict,))
    made.payload = _dict(vm, *args, **named)
    made.fields["default_factory"] = factory
    return made


def _deque(vm: VM, values: Any = (), maxlen: Any = None) -> Any:
    most = vm.force(maxlen)
    if isinstance(most, Expr):
        most = vm.path.pick([most], "a deque of unknown maximal length")[0]
    if most is not None and (number_kind(most) != "int" or most < 0):
        raise vm.mimic(lambda: collections.deque(maxlen=most))
    made = InstanceObj(vm.heap.number(), (collections.deque,))
    kept = vm.spread(values)
    made.payload = vm.new_list(kept[len(kept) - most :] if most is not None and len(kept) > most else kept)
    made.fields["maxlen"] = most
    return made


def _getattr(vm: VM, obj: Any, name: Any, default: Any = _MISSING) -> Any:
    name = vm.force(name)
    if isinstance(name, Expr):
        raise CannotFollow("an attribute with an unknown name")
    if not isinstance(name, str):
        raise CannotFollow("an attribute whose name is not a string")
    try:
        return vm.attribute(obj, name)
    except Raised as raised:
        if default is not _MISSING and issubclass(raised.value.cls, AttributeError):
            return default
        raise


def _hasattr(vm: VM, obj: Any, name: Any) -> Any:
    return _getattr(vm, obj, name, _MISSING_ATTRIBUTE) is not _MISSING_ATTRIBUTE


_MISSING_ATTRIBUTE = object()


def _setattr(vm: VM, obj: Any, name: Any, value: Any) -> Any:
    if isinstance(vm.force(name), Expr):
        raise CannotFollow("an attribute with an unknown name")
    vm.set_attribute(obj, vm.force(name), value)


def _callable(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, InstanceObj):
        return classes.special(vm, value, "__call__") is not None
    return isinstance(value, FunctionValue | FunctionObj | Bound | BuiltinMethod | Partial) or (
        not isinstance(value, Expr | Obj | tuple) and callable(value)
    )


def _hash(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    mappings.check_key(vm, value)
    if isinstance(value, InstanceObj) and is_python(classes.special(vm, value, "__hash__")):
        return vm.call(vm.attribute(value, "__hash__"))
    if vm.hashing:
        return 0
    if _hash_varies(value):
        raise CannotFollow("the hash of a value, which changes from run to run")
    return _on_known(vm, hash, value)


def _hash_varies(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_hash_varies, value))
    return isinstance(value, Obj | str | bytes) or (isinstance(value, Expr) and value.sort is x.STR)


def _id(vm: VM, value: Any) -> Any:
    raise CannotFollow("id(), which changes from run to run")


def _print(vm: VM, *args: Any, **named: Any) -> None:
    """Output is not part of a test; __str__ methods still run, as they can raise."""
    for value in args:
        value = vm.force(value)
        if isinstance(value, InstanceObj) and is_python(classes.special(vm, value, "__str__")):
            _str(vm, value)


def _exit(vm: VM, *args: Any) -> Any:
    if len(args) > 1:
        raise vm.mimic(lambda: sys.exit(1, 2))  # type: ignore[call-arg]  # the mistake is the point
    raise Raised(vm.call(SystemExit, *args))


def _super(vm: VM, cls: Any, obj: Any = None) -> Any:
    return Super(cls, obj)


def _slice(vm: VM, *args: Any) -> Any:
    if len(args) == 1:
        return Slice(None, args[0], None)
    return Slice(args[0], args[1], args[2] if len(args) > 2 else None)


def _partial(vm: VM, function: Any, *args: Any, **named: Any) -> Any:
    return Partial(function, args, named)


def _vars(vm: VM, obj: Any) -> Any:
    return vm.attribute(obj, "__dict__")


def _wraps(vm: VM, wrapped: Any, *args: Any, **named: Any) -> Any:
    return _identity


def _identity(function: Any) -> Any:
    return function


def _nothing(vm: VM, *args: Any, **named: Any) -> None:
    return None


def _itemgetter(vm: VM, *items: Any) -> Any:
    if not items:
        raise vm.mimic(lambda: operator.itemgetter())  # type: ignore[call-overload]
    maker = models.itemgetter_1 if len(items) == 1 else models.itemgetter_n
    return vm.call_with(maker, list(items), {})


def _operator(op: str) -> Callable[..., Any]:
    def apply(vm: VM, a: Any, b: Any) -> Any:
        return vm.operator(op, [a, b])

    return apply


def _not(vm: VM, value: Any) -> Value:
    return x.not_(vm.truth(value))


_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "concat": "+",
    "iadd": "+=",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is_": "is",
    "and_": "&",
    "or_": "|",
    "xor": "^",
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    len: length,
    abs: _abs,
    min: _extreme("<", "min"),
    max: _extreme(">", "max"),
    sum: _sum,
    sorted: _sorted,
    isinstance: _isinstance,
    issubclass: _issubclass,
    next: _next,
    iter: _iter,
    round: _round,
    repr: _repr,
    divmod: _divmod,
    pow: _pow,
    ord: _ord,
    chr: _chr,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    callable: _callable,
    hash: _hash,
    id: _id,
    print: _print,
    vars: _vars,
    sys.exit: _exit,
    math.floor: _floor,
    math.ceil: _ceil,
    math.isqrt: _isqrt,
    operator.index: _index,
    operator.not_: _not,
    warnings.warn: _nothing,
    os.fspath: lambda vm, path: _fspath(vm, path),
    **{getattr(operator, name): _operator(op) for name, op in _OPERATORS.items()},
    operator.contains: lambda vm, a, b: _contains(vm, a, b),
    operator.getitem: lambda vm, a, b: _item(vm, a, b),
    operator.neg: lambda vm, a: _negated(vm, a),
}


def _fspath(vm: VM, path: Any) -> Any:
    path = vm.force(path)
    if is_string(path):
        return path
    if isinstance(path, InstanceObj) and classes.special(vm, path, "__fspath__") is not None:
        return vm.call(vm.attribute(path, "__fspath__"))
    return _on_known(vm, os.fspath, exemplar(vm, path) if isinstance(path, Expr) else path)


def _contains(vm: VM, container: Any, item: Any) -> Any:
    return vm.contains(item, container)


def _item(vm: VM, obj: Any, index: Any) -> Any:
    return vm.item(obj, index)


def _negated(vm: VM, value: Any) -> Any:
    return vm.operator("neg", [value])


def _weak(vm: VM, *args: Any, **named: Any) -> Any:
    raise CannotFollow("a weak reference")


CLASSES: dict[type, Callable[..., Any]] = {
    weakref.ref: _weak,
    int: _int,
    float: _float,
    bool: _bool,
    str: _str,
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    map: _mapped,
    reversed: _reversed,
    slice: _slice,
    super: _super,
    functools.partial: _partial,
    operator.itemgetter: _itemgetter,
    object: lambda vm: InstanceObj(vm.heap.number(), (object,)),
    collections.OrderedDict: _dict,
    collections.defaultdict: lambda vm, *args, **named: _defaultdict(vm, *args, **named),
    collections.deque: lambda vm, *args, **named: _deque(vm, *args, **named),
}


def _from_models(original: Any) -> Callable[..., Any]:
    def call_model(vm: VM, *args: Any, **named: Any) -> Any:
        return vm.call_with(MODELS[original], list(args), named)

    return call_model


for _class in MODELS:
    if isinstance(_class, type) and _class not in CLASSES:
        CLASSES[_class] = _from_models(_class)


# Python functions that are better replaced than followed.
_REPLACED: dict[Any, Callable[..., Any]] = {
    functools.wraps: _wraps,
    functools.update_wrapper: lambda vm, wrapper, wrapped, *a, **k: wrapper,
    warnings.warn: _nothing,
}


def model(function: types.FunctionType) -> Callable[..., Any] | None:
    if function.__module__ == "logging" and function.__name__ in (
        "debug",
        "info",
        "warning",
        "error",
        "log",
        "critical",
        "exception",
    ):
        return _nothing
    if function.__module__ == "typing" and function.__name__ == "cast":
        return lambda vm, kind, value: value
    return _REPLACED.get(function)
