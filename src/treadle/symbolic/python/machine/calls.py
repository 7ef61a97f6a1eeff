"""Calling: Python functions are followed, classes are instantiated, compiled code is modelled or really called."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
from collections.abc import Sequence
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, FunctionObj, InstanceObj, ListObj, Obj
from treadle.symbolic.ir.machine import Environment, Frame
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import compiled, generated, models_patterns
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.contracts import conditions, contracts
from treadle.symbolic.python.contracts.checks import GuardedMethod
from treadle.symbolic.python.machine import binding, classes, effects
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.values import table
from treadle.symbolic.python.values.kinds import exemplar, is_known
from treadle.symbolic.python.values.values import (
    BoundMethod,
    BuiltinMethod,
    FunctionValue,
    GeneratorValue,
    PartialValue,
    PyValue,
)


def call(vm: VM, function: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> Any:
    """function(*args, **named)"""
    function = vm.force(function)
    if vm.stubs is not None:
        answer = vm.stubs.answer(vm, function, args, named)
        if answer is not NOT_ANSWERED:
            return answer
    if vm.world is not None:
        answer = vm.world.answer(vm, function, args, named)
        if answer is not NOT_ANSWERED:
            return answer
    if isinstance(function, FunctionValue):
        return vm.run_function(function, args, named)
    if isinstance(function, FunctionObj):
        return unknown_function(vm, function, args, named)
    if isinstance(function, BoundMethod):
        return call(vm, function.function, [function.self, *args], named)
    if isinstance(function, BuiltinMethod):
        return compiled.call_method(vm, function.self, function.name, args, named)
    if isinstance(function, PartialValue):
        return call(vm, function.function, [*function.args, *args], {**function.named, **named})
    if isinstance(function, types.FunctionType):
        return _host_function(vm, function, args, named)
    if isinstance(function, type):
        return instantiate(vm, function, args, named)
    if isinstance(function, InstanceObj) and classes.special(vm, function, "__call__") is not None:
        return call(vm, vm.attribute(function, "__call__"), args, named)
    if isinstance(function, GuardedMethod):
        return contracts.call_guarded(vm, function, args, named)
    if isinstance(function, staticmethod | classmethod):
        return call(vm, function.__func__, args, named)
    if isinstance(function, functools._lru_cache_wrapper):
        return _cached(vm, function, args, named)
    if isinstance(function, functools.partial):
        return call(vm, function.func, [*map(vm.lift, function.args), *args], {**function.keywords, **named})
    if not callable(function) or isinstance(function, Expr | ListObj | DictObj | tuple):
        raise vm.mimic(exemplar(vm, function))
    return compiled.builtin(vm, function, args, named)


def _cached(vm: VM, function: Any, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """What a cache gives is computed anew: the same, unless it is an object that is given again."""
    result = call(vm, function.__wrapped__, args, named)
    if isinstance(result, Obj):
        if id(function) in vm.gave_objects:
            raise CannotFollow("a cache that may give the same object again")
        vm.gave_objects.add(id(function))
    return result


def unknown_function(vm: VM, function: FunctionObj, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """A call of a function that is an input: it may return anything of its type."""
    if named:
        raise CannotFollow("keyword arguments for a function that is an input")
    name = f"{function.name}()" if not function.calls else f"{function.name}()#{len(function.calls) + 1}"
    result = vm.heap.value_of_type(function.returns, name)
    function.calls.append((tuple(args), result))
    return result


def _host_function(vm: VM, function: types.FunctionType, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    if conditions.layer(function):
        return contracts.called(vm, function, args, named)
    meaning = table.builtin(function)
    if meaning is not None:
        return meaning(vm, *args, **named)
    effects.check_effect(vm, function)
    if _better_called(function, args, named):
        return vm.call_real(function, args, named)
    try:
        value = binding.function_value(vm, function)
    except source.NoSource:
        made = generated.call(vm, function, args, named)
        if made is not generated.UNHANDLED:
            return made
        return vm.call_real(function, args, named)
    return vm.run_function(value, args, named)


def _better_called(function: types.FunctionType, args: list[PyValue], named: dict[str, PyValue]) -> bool:
    """A function of the standard library on plain known values: there is nothing to find out inside."""
    library = (function.__module__ or "").partition(".")[0]
    if library not in sys.stdlib_module_names or inspect.isgeneratorfunction(function) or function.__closure__:
        return False
    if not effects.ASKING.isdisjoint(function.__code__.co_names):
        return False
    plain = (int, float, str, bytes, type(None), tuple)
    return all(isinstance(a, plain) and is_known(a) for a in (*args, *named.values())) and bool(args)


def run(vm: VM, function: FunctionValue, args: Sequence[PyValue], named: dict[str, PyValue]) -> PyValue:
    """Run a function's IR; a generator function gives a generator."""
    env = Environment(function.outer)
    args = [vm.heap.settled(a) for a in args]
    binding.bind(vm, function, args, named, env)
    if vm.frames and function.code.file == vm.frames[0].code.file:
        vm.path.calls.add((getattr(function.host, "__qualname__", function.name), len(vm.path.choices)))
    if vm.summaries is not None and function.code.file != models_patterns.__file__:
        result = vm.summaries.call(vm, function, env)
        if result is not NOT_ANSWERED:
            return result
    frame = Frame(function.code, env, function)
    if function.code.is_generator:
        return GeneratorValue(frame)
    return vm.run(frame)


# --- classes ---------------------------------------------------------------------------------------------

_HOLDERS = (int, float, str, tuple, list, dict, set, frozenset)


def instantiate(vm: VM, cls: type, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """cls(*args, **named)"""
    if cls is type and len(args) == 1:
        return classes.python_type(vm, args[0])
    meaning = table.builtin(cls)
    if meaning is not None:
        return compiled.meant(vm, cls, meaning, args, named)
    meta_call = classes.lookup(type(cls), "__call__")
    if isinstance(cls, enum.EnumType):
        return _enum(vm, cls, args, named)
    if isinstance(meta_call, types.FunctionType) and meta_call.__module__ != "enum":
        return call(vm, meta_call, [cls, *args], named)
    if issubclass(cls, BaseException):
        return _exception(vm, cls, args, named)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(vm, cls, args, named)
    if inspect.isabstract(cls):
        raise vm.mimic(lambda: cls())
    new = classes.lookup(cls, "__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    if isinstance(new, types.FunctionType):
        made = call(vm, new, [cls, *args], named)
        if not (isinstance(made, InstanceObj) and issubclass(made.cls, cls)):
            return made
    else:
        made = bare(vm, cls, args, named)
        if made is None:
            return vm.call_real(cls, args, named)
    init = classes.lookup(made.cls, "__init__")  # __new__ may have made an object of a subclass
    if isinstance(init, types.FunctionType | FunctionValue):
        result = call(vm, init, [made, *args], named)
        if result is not None:
            kind = type(exemplar(vm, result)).__name__
            raise vm.error(TypeError, f"__init__() should return None, not '{kind}'")
    elif made.payload is None and (args or named) and not isinstance(new, types.FunctionType):
        raise vm.error(TypeError, f"{cls.__name__}() takes no arguments")
    return made


def bare(vm: VM, cls: type, args: list[PyValue], named: dict[str, PyValue] | None = None) -> InstanceObj | None:
    """A new object without fields; None for classes whose state is compiled code's."""
    holder = next((b for b in cls.__mro__ if b in _HOLDERS), None)
    made = InstanceObj(vm.heap.number(), (cls,))
    if holder is not None:
        own_init = isinstance(classes.lookup(cls, "__init__"), types.FunctionType)
        if not own_init and holder is dict:
            made.payload = table.BUILTINS[dict](vm, *args, **(named or {}))
            return made
        given = [] if own_init and holder in (list, dict, set) else args[:1]
        made.payload = table.BUILTINS[holder](vm, *given)
        return made
    try:
        object.__new__(cls)
    except TypeError:
        return None
    return made


def _enum(vm: VM, cls: enum.EnumType, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    value = vm.force(args[0]) if len(args) == 1 and not named else None
    if isinstance(value, Expr):
        members: list[Any] = list(cls)
        for member in members:
            if vm.decide(vm.equal(value, member.value)):
                return member
        made = None
        if any("_missing_" in vars(base) for base in cls.__mro__ if base.__module__ != "enum"):
            made = vm.force(vm.call(vm.attribute(cls, "_missing_"), value))
        if isinstance(made, cls):
            return made
        if made is not None and not isinstance(made, Expr | InstanceObj | ListObj | DictObj | tuple):
            where = f"error in {cls.__name__}._missing_: returned {made!r}"
            raise vm.error(TypeError, f"{where} instead of None or a valid member")
        if value.sort is x.INT and made is None:
            raise vm.error(ValueError, x.concat(x.int_to_str(value), f" is not a valid {cls.__qualname__}"))
    return vm.call_real(cls, args, named)


def _exception(vm: VM, cls: type, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    made = InstanceObj(vm.heap.number(), (cls,))
    made.fields["args"] = tuple(args)
    init = classes.lookup(cls, "__init__")
    if isinstance(init, types.FunctionType):
        call(vm, init, [made, *args], named)
    elif issubclass(cls, StopIteration):
        made.fields["value"] = args[0] if args else None
    elif issubclass(cls, SystemExit):
        made.fields["code"] = args[0] if len(args) == 1 else tuple(args) or None
    elif issubclass(cls, OSError | UnicodeError | SyntaxError | ImportError):
        return vm.exception(vm.call_real(cls, args, named), None)
    elif named:
        raise vm.error(TypeError, f"{cls.__name__}() takes no keyword arguments")
    return made


def _named_tuple(vm: VM, cls: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    new = cls.__dict__.get("__new__")
    if isinstance(new, types.FunctionType | staticmethod) and not _generated(new):
        return call(vm, new, [cls, *args], named)
    return generated.named_tuple(vm, cls, args, named)


def _generated(function: Any) -> bool:
    inner = function.__func__ if isinstance(function, staticmethod) else function
    return bool(inner.__code__.co_filename.startswith("<"))
