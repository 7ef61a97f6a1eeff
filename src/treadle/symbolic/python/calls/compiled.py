"""Calls of compiled code: built-in functions, methods of built-in values, unbound methods, __new__.

What is not here is called for real with known values. Functions whose meaning is a loop are written in Python in
`models.py` and followed.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import io
import logging
import sys
import types
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj, Obj
from treadle.symbolic.ir.machine import Exhausted, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import models_math
from treadle.symbolic.python.calls.functions import (
    CLASSES,
    FUNCTIONS,
    _repr,
    _str,
)
from treadle.symbolic.python.calls.models import MODELS
from treadle.symbolic.python.calls.walking import _next, length
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine import attributes, classes
from treadle.symbolic.python.machine.iteration import resume
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, open_lists, sequences, strings
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_known, is_string
from treadle.symbolic.python.values.values import (
    BuiltinMethod,
    FunctionValue,
    Generator,
    Iterator_,
    Range,
    Slice,
    View,
)

_MISSING: Any = object()


# What these give can be said of any unknown; others may need a value that is known, or is where it is not aliasing.
_EXPRESSIBLE = (abs, bool, isinstance, len, max, min)


def _decided(vm: VM, args: list[Any], named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return [vm.heap.decided(a) for a in args], {name: vm.heap.decided(a) for name, a in named.items()}


def builtin(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """A call of compiled code."""
    if function not in _EXPRESSIBLE:
        args, named = _decided(vm, args, named)
    handler = _lookup(FUNCTIONS, function)
    if handler is not None:
        return _guarded(vm, function, handler, args, named)
    followed = _lookup(MODELS, function)
    if followed is not None:
        return vm.call_with(followed, args, named)
    if isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType | types.ClassMethodDescriptorType):
        return _unbound_method(vm, function, args, named)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, logging.Logger):
        return None
    if _is_screen(owner) and function.__name__ in ("write", "writelines", "flush"):
        return _printed(vm, function, args, named)
    if isinstance(owner, type) and isinstance(function, types.BuiltinMethodType):
        if function.__name__ == "__new__":
            return _new(vm, owner, args, named)
        if owner is dict and function.__name__ == "fromkeys":
            value = args[1] if len(args) > 1 else None
            made = vm.new_dict([])
            for key in vm.spread(args[0]):
                mappings.store(vm, made, key, value)
            return made
    if not all(is_known(a) for a in (*args, *named.values())):
        followed = _lookup(models_math.MODELS, function)
        if followed is not None:
            return vm.call_with(followed, args, named)
        python = source.python_version(getattr(function, "__module__", "") or "", getattr(function, "__name__", ""))
        if python is not None:
            code, names, node = python
            defaults = tuple(vm.lift(_constant(d)) for d in node.args.defaults)
            kw = {
                a.arg: vm.lift(_constant(d))
                for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if d
            }
            return vm.run_function(FunctionValue(code, names, None, defaults, kw), args, named)
    return vm.call_real(function, args, named)


def _is_screen(owner: Any) -> bool:
    return owner is not None and any(owner is s for s in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))


def _printed(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """Output is not part of a test, and must not get between what the command prints itself."""
    values = [vm.force(a) for a in args]
    if function.__name__ == "flush" and not args:
        return None
    if function.__name__ == "write" and len(args) == 1 and not named and is_string(values[0]):
        return x.length(values[0])
    if function.__name__ == "writelines" and len(args) == 1 and not named:
        for part in vm.spread(values[0]):
            _printed(vm, sys.stdout.write, [part], {})
        return None
    shown = [exemplar(vm, a) for a in values]
    raise vm.mimic(lambda: getattr(io.TextIOWrapper(io.BytesIO()), function.__name__)(*shown, **dict.fromkeys(named)))


def _constant(node: Any) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise CannotFollow("a default value that is not a constant") from None


def _lookup(table: dict[Any, Any], function: Any) -> Any:
    try:
        return table.get(function)
    except TypeError:
        return None


def _guarded(vm: VM, function: Any, handler: Callable[..., Any], args: list[Any], named: dict[str, Any]) -> Any:
    """A handler called with the wrong number of arguments fails as the real function would."""
    try:
        inspect.signature(handler).bind(vm, *args, **named)
    except TypeError:
        shown = [exemplar(vm, a) for a in args]
        shown_named = {k: exemplar(vm, v) for k, v in named.items()}
        try:
            function(*shown, **shown_named)
        except Exception as error:
            raise vm.host_error(error) from None
        raise CannotFollow(f"this use of '{getattr(function, '__name__', function)}'") from None
    return handler(vm, *args, **named)


def _unbound_method(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """list.append(xs, 1), object.__setattr__(o, 'x', 1), dict.__init__(...)"""
    name, owner = function.__name__, function.__objclass__
    if args:
        first = vm.force(args[0])
        if isinstance(first, InstanceObj):
            if owner is object or issubclass(owner, BaseException):
                return _object_method(vm, owner, name, first, args[1:], named)
            if isinstance(first.payload, ListObj) and issubclass(owner, collections.deque):
                return _deque_method(vm, first, name, args[1:], named)
            if first.payload is not None:
                return method(vm, first.payload, name, args[1:], named)
            if isinstance(owner, type) and not issubclass(first.cls, owner):
                shown = exemplar(vm, first)
                raise vm.mimic(lambda: function(shown))
        if isinstance(first, Expr | ListObj | DictObj | tuple | str | View | Range):
            if not issubclass(classes.python_type(vm, first), owner):
                shown = exemplar(vm, first)
                raise vm.mimic(lambda: function(shown))
            return method(vm, first, name, args[1:], named)
        if isinstance(first, type) and name == "__subclasses__":
            raise CannotFollow("__subclasses__")
        args = [first, *args[1:]]
    return vm.call_real(function, args, named)


def _object_method(vm: VM, owner: type, name: str, obj: InstanceObj, args: list[Any], named: dict[str, Any]) -> Any:
    wanted = {"__setattr__": 2, "__getattribute__": 1, "__eq__": 1, "__ne__": 1, "__str__": 0}.get(name)
    if wanted is not None and (len(args) != wanted or named):
        raise vm.mimic(lambda: getattr(object, name)(object(), *map(str, args), **dict.fromkeys(named)))
    if name == "__init__":
        if issubclass(owner, BaseException):
            obj.fields["args"] = tuple(args)
        elif args or named:
            plain: Any = object.__init__
            own = type(obj.cls.__name__, (), {"__init__": lambda self: plain(self, 1)})
            raise vm.mimic(own)
        return None
    if name == "__setattr__":
        attributes.plain_set(vm, obj, args[0], args[1])
        return None
    if name == "__getattribute__":
        return vm.attribute(obj, args[0])
    if name == "__eq__":
        return True if obj is vm.force(args[0]) else NotImplemented
    if name == "__ne__":
        same = vm.call(vm.attribute(obj, "__eq__"), args[0])
        return same if same is NotImplemented else x.not_(vm.truth(same))
    if name == "__str__":
        return strings.exception_text(vm, obj) if issubclass(obj.cls, BaseException) else strings.repr_of(vm, obj)
    if name == "with_traceback":
        return obj
    if name == "__init_subclass__":
        return None
    if name == "__hash__":
        raise CannotFollow("the hash of an object")
    raise CannotFollow(f"object.{name} on an object of the program")


def _new(vm: VM, owner: type, args: list[Any], named: dict[str, Any]) -> Any:
    """object.__new__(cls), tuple.__new__(cls, values), ..."""
    cls = vm.force(args[0])
    if isinstance(cls, type) and issubclass(cls, BaseException):
        made = InstanceObj(vm.heap.number(), (cls,))
        made.fields["args"] = tuple(args[1:])
        return made
    if isinstance(cls, type):
        bare = InstanceObj(vm.heap.number(), (cls,))
        if owner is object:
            return bare
        if owner in CLASSES:
            bare.payload = CLASSES[owner](vm, *args[1:])
            return bare
    return vm.call_real(owner.__new__, args, named)


# --- methods of built-in values --------------------------------------------------------------------------


def _initialised(vm: VM, obj: Any, args: list[Any], named: dict[str, Any]) -> None:
    """list.__init__(self, values), dict.__init__(self, ...), set.__init__(self, values) from a subclass."""
    if not isinstance(obj, ListObj | DictObj):
        return
    kind = _container_type(obj)
    if len(args) > 1 or (named and kind is not dict):
        shown = [exemplar(vm, a) for a in args]
        raise vm.mimic(lambda: kind(*shown, **dict.fromkeys(named)))
    if isinstance(obj, ListObj):
        list_methods.replace(vm, obj, vm.new_list(vm.spread(args[0]) if args else []))
        return
    if kind is set:
        mappings.SET_METHODS["clear"](vm, obj)
    mappings.DICT_METHODS["update"](vm, obj, *args, **named)


def _container_type(obj: ListObj | DictObj) -> Any:
    if isinstance(obj, ListObj):
        return list
    return (frozenset if obj.frozen else set) if obj.keys_only else dict


def method(vm: VM, obj: Any, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """obj.name(*args) for a value of a built-in type."""
    obj = vm.heap.decided(vm.force(obj))
    args, named = _decided(vm, args, named)
    if isinstance(obj, BuiltinMethod):
        if name == "__call__":
            return method(vm, obj.self, obj.name, args, named)
        raise CannotFollow(f"the attribute '{name}' of a method")
    if name == "__init__":
        return _initialised(vm, obj, args, named)
    special = _SPECIAL_METHODS.get(name)
    if special is not None:
        return special(vm, obj, *args)
    if is_string(obj):
        return strings.method(vm, obj, name, args, named)
    tables: tuple[tuple[bool, dict[str, Any], type], ...] = (
        (isinstance(obj, ListObj), list_methods.LIST_METHODS, list),
        (isinstance(obj, tuple), list_methods.TUPLE_METHODS, tuple),
        (isinstance(obj, DictObj) and not obj.keys_only, mappings.DICT_METHODS, dict),
        (isinstance(obj, DictObj) and obj.keys_only, mappings.SET_METHODS, set),
    )
    for fits, table, kind in tables:
        if fits and name in table:
            return _guarded(
                vm,
                functools.partial(getattr(kind, name), kind()),
                functools.partial(_flip(table[name]), obj),
                args,
                named,
            )
    if isinstance(obj, Generator):
        return _generator_method(vm, obj, name, args)
    if isinstance(obj, Iterator_) and name == "__next__":
        return _next(vm, obj)
    if isinstance(obj, Expr):
        return _number_method(vm, obj, name, args, named)
    if isinstance(obj, Slice):
        return vm.call_real(getattr(slice, name), [obj, *args], named, f"slice.{name}")
    if isinstance(obj, Range) and name == "index":
        raise CannotFollow("range.index")
    if isinstance(obj, View) and name == "isdisjoint":
        return method(vm, vm.new_set(mappings.view_items(vm, obj)), name, args, named)
    shown = exemplar(vm, obj) if isinstance(obj, Obj | tuple) else obj
    return vm.call_real(getattr(type(shown), name), [obj, *args], named, f"{type(shown).__name__}.{name}")


def _flip(handler: Callable[..., Any]) -> Callable[..., Any]:
    """handler(vm, obj, ...) as a function of (obj, vm, ...)."""

    @functools.wraps(handler)
    def flipped(obj: Any, vm: Any, *args: Any, **named: Any) -> Any:
        return handler(vm, obj, *args, **named)

    parameters = list(inspect.signature(handler).parameters.values())
    flipped.__signature__ = inspect.Signature([parameters[1], parameters[0], *parameters[2:]])  # type: ignore[attr-defined]
    return flipped


def _deque_method(vm: VM, obj: InstanceObj, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    if name not in list_methods.DEQUE_METHODS:
        if name in _SPECIAL_METHODS:
            return method(vm, obj.payload, name, args, named)
        raise CannotFollow(f"deque.{name}")
    result = list_methods.DEQUE_METHODS[name](vm, obj.payload, *args, **named)
    most = obj.fields.get("maxlen")
    if most is not None:
        values = open_lists.close(vm, obj.payload)
        if len(values) > most:
            values[:] = values[:most] if name in ("appendleft", "extendleft") else values[len(values) - most :]
    return result


def _generator_method(vm: VM, obj: Generator, name: str, args: list[Any]) -> Any:
    if name == "__next__":
        return _next(vm, obj)
    if name == "send":
        if obj.started and obj.frame.sent:
            obj.frame.env[obj.frame.sent] = args[0]
        return _exhausted_as_stop(vm, obj, None)
    if name == "throw":
        error = vm.exception(args[1] if len(args) > 1 and args[1] is not None else args[0], None)
        return _exhausted_as_stop(vm, obj, error)
    if name == "close":
        if obj.started and not obj.finished:
            try:
                resume(vm, obj, vm.error(GeneratorExit).value)
            except Exhausted:
                pass
            except Raised as raised:
                if not issubclass(raised.value.cls, GeneratorExit | StopIteration):
                    raise
        obj.finished = True
        return None
    raise CannotFollow(f"generator.{name}")


def _exhausted_as_stop(vm: VM, obj: Generator, error: Any) -> Any:
    try:
        return resume(vm, obj, error)
    except Exhausted:
        args = () if obj.returned is None else (obj.returned,)
        raised = vm.error(StopIteration, *args)
        raised.value.fields["value"] = obj.returned
        raise raised from None


def _number_method(vm: VM, obj: Expr, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    if name == "bit_length" and obj.sort is x.INT:
        return vm.call_real(int.bit_length, [obj], {}, "int.bit_length")
    if name in ("conjugate", "__index__", "__int__", "__pos__") and obj.sort is not x.REAL:
        return as_int(obj)
    if name == "is_integer":
        if obj.sort is not x.REAL:
            return True
        return x.eq(x.to_real(x.floor(obj)), obj)
    if name == "as_integer_ratio" and obj.sort is not x.REAL:
        return (as_int(obj), 1)
    kind = {x.INT: int, x.BOOL: bool, x.REAL: float}[obj.sort]
    return vm.call_real(getattr(kind, name), [obj, *args], named, f"{kind.__name__}.{name}")


def _contains_method(vm: VM, obj: Any, item: Any) -> Any:
    return vm.contains(item, obj)


def _item_method(vm: VM, obj: Any, index: Any) -> Any:
    return vm.item(obj, index)


def _set_item_method(vm: VM, obj: Any, index: Any, value: Any) -> Any:
    sequences.set_item(vm, obj, index, value)


def _del_item_method(vm: VM, obj: Any, index: Any) -> Any:
    sequences.delete_item(vm, obj, index)


def _iter_method(vm: VM, obj: Any) -> Any:
    return vm.iterate(obj)


def _operator_method(op: str) -> Callable[..., Any]:
    def apply(vm: VM, obj: Any, other: Any) -> Any:
        return vm.operator(op, [obj, other])

    return apply


_SPECIAL_METHODS: dict[str, Callable[..., Any]] = {
    "__contains__": _contains_method,
    "__getitem__": _item_method,
    "__setitem__": _set_item_method,
    "__delitem__": _del_item_method,
    "__iter__": _iter_method,
    "__len__": lambda vm, obj: length(vm, obj),
    "__str__": lambda vm, obj: _str(vm, obj),
    "__repr__": lambda vm, obj: _repr(vm, obj),
    "__eq__": _operator_method("=="),
    "__ne__": _operator_method("!="),
    "__lt__": _operator_method("<"),
    "__le__": _operator_method("<="),
    "__gt__": _operator_method(">"),
    "__ge__": _operator_method(">="),
    "__add__": _operator_method("+"),
    "__sub__": _operator_method("-"),
    "__mul__": _operator_method("*"),
    "__iadd__": _operator_method("+="),
    "__mod__": _operator_method("%"),
    "__floordiv__": _operator_method("//"),
    "__truediv__": _operator_method("/"),
}
