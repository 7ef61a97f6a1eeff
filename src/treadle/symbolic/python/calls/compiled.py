"""Calls of compiled code: built-in functions, methods of built-in values, unbound methods, __new__.

What they mean is in the table of built-ins (`values.table`), filled by the rooms that are imported here. What is not
there is called for real with known values. Functions whose meaning is a loop are written in Python in `models.py` and
followed.
"""

from __future__ import annotations

import ast
import collections
import io
import logging
import re
import sys
import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import functions, locks, models_math, numbers, walking
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine import attributes, classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import (
    list_methods,
    mappings,
    open_lists,
    patterns,
    sequences,
    str_methods,
    strings,
    table,
)
from treadle.symbolic.python.values.kinds import exemplar, is_known, is_string, refusal
from treadle.symbolic.python.values.values import BuiltinMethod, DictView, FunctionValue, PyValue, RangeValue

# The rooms whose built-ins are in the table.
ROOMS = (functions, numbers, walking, list_methods, mappings, sequences, str_methods, patterns)
# What these give can be said of any unknown; others may need a value that is known, or is where it is not aliasing.
_EXPRESSIBLE = (abs, bool, isinstance, len, max, min)


def _decided(vm: VM, args: list[PyValue], named: dict[str, PyValue]) -> tuple[list[PyValue], dict[str, PyValue]]:
    return [vm.heap.decided(a) for a in args], {name: vm.heap.decided(a) for name, a in named.items()}


def builtin(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> PyValue:
    """A call of compiled code."""
    if function not in _EXPRESSIBLE:
        args, named = _decided(vm, args, named)
    handler = table.builtin(function)
    if handler is not None:
        return meant(vm, function, handler, args, named)
    if isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType | types.ClassMethodDescriptorType):
        return _unbound_method(vm, function, args, named)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, logging.Logger):
        return None
    if isinstance(owner, locks.LOCKS):
        return locks.use(vm, owner, function.__name__, args, named)
    if isinstance(owner, re.Pattern):
        found = patterns.ask(vm, owner, function.__name__, args, named)
        if found is not patterns.NOT_MEANT:
            return found
    if _is_screen(owner) and function.__name__ in ("write", "writelines", "flush"):
        return _printed(vm, function, args, named)
    if isinstance(owner, type) and isinstance(function, types.BuiltinMethodType) and function.__name__ == "__new__":
        return _new(vm, owner, args, named)
    if not all(is_known(a) for a in (*args, *named.values())):
        followed = models_math.MODELS.get(function)
        if followed is not None:
            return vm.call_with(followed, args, named)
        python = source.python_version(getattr(function, "__module__", "") or "", getattr(function, "__name__", ""))
        if python is not None:
            return _followed(vm, *python, args, named)
    return vm.call_real(function, args, named)


def meant(vm: VM, function: PyValue, handler: table.Handler, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """What stands for the function; a call with the wrong arguments fails as that of the real function would."""
    if table.takes(handler, 1 + len(args), named):
        return handler(vm, *args, **named)
    raise _misused(vm, function, args, named)


def _misused(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> BaseException:
    try:
        return refusal(vm, function, *args, **{k: exemplar(vm, v) for k, v in named.items()})
    except CannotFollow:
        return CannotFollow(f"this use of '{getattr(function, '__name__', function)}'")


def _followed(
    vm: VM, code: Any, names: dict[str, Any], node: ast.FunctionDef, args: list[Any], named: dict[str, Any]
) -> PyValue:
    """The Python that a compiled function of the standard library replaces."""
    defaults = tuple(vm.lift(_constant(d)) for d in node.args.defaults)
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    by_name = {a.arg: vm.lift(_constant(d)) for a, d in pairs if d}
    return vm.run_function(FunctionValue(code, names, None, defaults, by_name), args, named)


def _is_screen(owner: PyValue) -> bool:
    return owner is not None and any(owner is s for s in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))


def _printed(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> PyValue:
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
    real = getattr(io.TextIOWrapper(io.BytesIO()), function.__name__)
    raise refusal(vm, real, *values, **dict.fromkeys(named))


def _constant(node: Any) -> PyValue:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise CannotFollow("a default value that is not a constant") from None


def _unbound_method(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> PyValue:
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
                return call_method(vm, first.payload, name, args[1:], named)
            if isinstance(owner, type) and not issubclass(first.cls, owner):
                raise refusal(vm, function, first)
        if isinstance(first, Expr | ListObj | DictObj | tuple | str | DictView | RangeValue):
            if not issubclass(classes.python_type(vm, first), owner):
                raise refusal(vm, function, first)
            return call_method(vm, first, name, args[1:], named)
        if isinstance(first, type) and name == "__subclasses__":
            raise CannotFollow("__subclasses__")
        args = [first, *args[1:]]
    return vm.call_real(function, args, named)


def _object_method(vm: VM, owner: type, name: str, obj: InstanceObj, args: list[Any], named: dict[str, Any]) -> PyValue:
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
        attributes.plain_set(vm, obj, functions.attribute_name(vm, args[0]), args[1])
        return None
    if name == "__getattribute__":
        return vm.attribute(obj, functions.attribute_name(vm, args[0]))
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


def _new(vm: VM, owner: type, args: list[PyValue], named: dict[str, PyValue]) -> Any:
    """object.__new__(cls), tuple.__new__(cls, values), ..."""
    cls = vm.force(args[0])
    if isinstance(cls, type):
        made = InstanceObj(vm.heap.number(), (cls,))
        if issubclass(cls, BaseException):
            made.fields["args"] = tuple(args[1:])
            return made
        content = table.builtin(owner)
        if owner is object or content is not None:
            made.payload = content(vm, *args[1:]) if content is not None and owner is not object else None
            return made
    return vm.call_real(owner.__new__, args, named)


# --- methods of built-in values --------------------------------------------------------------------------


def call_method(vm: VM, obj: PyValue, name: str, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """obj.name(*args) for a value of a built-in type."""
    obj = vm.heap.decided(vm.force(obj))
    args, named = _decided(vm, args, named)
    if isinstance(obj, BuiltinMethod):
        if name == "__call__":
            return call_method(vm, obj.self, obj.name, args, named)
        raise CannotFollow(f"the attribute '{name}' of a method")
    kind = classes.python_type(vm, obj)
    is_number = isinstance(obj, int | float)  # a known one: Python has its methods
    meaning = None if is_number else table.method_of(kind, name)
    meaning = meaning or table.method_of(object, name)
    if meaning is not None and meaning.accepts is not None:
        answer = _answered(vm, meaning, name, obj, args, named)
        if answer is not NotImplemented:
            return answer
    elif meaning is not None:
        if table.takes(meaning.run, 2 + len(args), named):
            return meaning.run(vm, obj, *args, **named)
        raise _misused(vm, getattr(exemplar(vm, obj), name), args, named)
    if kind is types.GeneratorType:
        raise CannotFollow(f"generator.{name}")
    own = [] if isinstance(obj, str) and name == "maketrans" else [obj]
    return vm.call_real(getattr(kind, name), [*own, *args], named, f"{kind.__name__}.{name}")


def _answered(
    vm: VM, meaning: table.MethodMeaning, name: str, s: PyValue, args: list[PyValue], named: dict[str, PyValue]
) -> PyValue:
    """What stands for a method of a string with something unknown in it or in the arguments, or NotImplemented."""
    accepts = meaning.accepts
    if accepts is None or (is_known(s) and all(is_known(vm.force(a)) for a in (*args, *named.values()))):
        return NotImplemented
    if not table.takes(accepts, len(args), named):
        error = _misused(vm, getattr("a", name), args, named)
        if isinstance(error, Raised) and error.value.cls is TypeError:
            raise error
        return NotImplemented
    if meaning.lazy:
        return meaning.run(vm, s, *args, **named)
    values, pairs = [_forced(vm, a) for a in args], {k: _forced(vm, v) for k, v in named.items()}
    return meaning.run(vm, s, *values, **pairs) if accepts(*values, **pairs) else NotImplemented


def _forced(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    return tuple(map(vm.force, value)) if isinstance(value, tuple) else value


def _deque_method(vm: VM, obj: InstanceObj, name: str, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    meaning = table.method_of(collections.deque, name) or table.method_of(list, name)
    if meaning is None:
        if table.method_of(object, name) is not None:
            return call_method(vm, obj.payload, name, args, named)
        raise CannotFollow(f"deque.{name}")
    result = meaning.run(vm, obj.payload, *args, **named)
    most = obj.fields.get("maxlen")
    if most is not None:
        values = open_lists.close(vm, obj.payload)
        if len(values) > most:
            values[:] = values[:most] if name in ("appendleft", "extendleft") else values[len(values) - most :]
    return result
