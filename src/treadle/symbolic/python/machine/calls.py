"""Calling: Python functions are followed, classes are instantiated, compiled code is modelled or really called."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, FunctionObj, InstanceObj, ListObj
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment, Frame
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import stubs
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.summaries.composer import NOT_COMPOSED
from treadle.symbolic.python.values.values import (
    Bound,
    BuiltinMethod,
    FunctionValue,
    Generator,
    Iterator_,
    Partial,
    Super,
)

if TYPE_CHECKING:
    from treadle.symbolic.python.machine.vm import VM


def call(vm: VM, function: Any, args: list[Any], named: dict[str, Any]) -> Any:
    """function(*args, **named)"""
    from treadle.symbolic.python.calls import compiled as builtin_calls
    from treadle.symbolic.python.contracts import contracts
    from treadle.symbolic.python.machine import attributes, operators

    function = vm.force(function)
    if vm.stubs:
        found = vm.stubs.find(vm, function)
        if found is not None:
            stub, receiver = found
            return stubs.answer(vm, stub, [*receiver, *args], named)
    if isinstance(function, FunctionValue):
        return run(vm, function, args, named)
    if isinstance(function, FunctionObj):
        return _unknown_function(vm, function, args, named)
    if isinstance(function, Bound):
        return call(vm, function.function, [function.self, *args], named)
    if isinstance(function, BuiltinMethod):
        return builtin_calls.method(vm, function.self, function.name, args, named)
    if isinstance(function, Partial):
        return call(vm, function.function, [*function.args, *args], {**function.named, **named})
    if isinstance(function, types.FunctionType):
        return _host_function(vm, function, args, named)
    if isinstance(function, type):
        return instantiate(vm, function, args, named)
    if isinstance(function, InstanceObj) and attributes.special(vm, function, "__call__") is not None:
        return call(vm, attributes.get(vm, function, "__call__"), args, named)
    if isinstance(function, contracts.Guarded):
        return contracts.call_guarded(vm, function, args, named)
    if isinstance(function, staticmethod | classmethod):
        return call(vm, function.__func__, args, named)
    if isinstance(function, functools._lru_cache_wrapper):
        return call(vm, function.__wrapped__, args, named)
    if isinstance(function, functools.partial):
        return call(vm, function.func, [*map(vm.lift, function.args), *args], {**function.keywords, **named})
    if not callable(function) or isinstance(function, Expr | ListObj | DictObj | tuple):
        shown = operators.exemplar(vm, function)
        raise vm.mimic(lambda: shown())
    return builtin_calls.builtin(vm, function, args, named)


def _unknown_function(vm: VM, function: FunctionObj, args: list[Any], named: dict[str, Any]) -> Any:
    """A call of a function that is an input: it may return anything of its type."""
    if named:
        raise CannotFollow("keyword arguments for a function that is an input")
    name = f"{function.name}()" if not function.calls else f"{function.name}()#{len(function.calls) + 1}"
    result = vm.heap.value_of_type(function.returns, name)
    function.calls.append((tuple(args), result))
    return result


def enclosing(vm: VM, function: types.FunctionType) -> Environment | None:
    """The variables that a real function has of the functions around it."""
    if not function.__closure__:
        return None
    outer = Environment()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
        try:
            outer[name] = vm.lift(cell.cell_contents)
        except ValueError:
            pass  # not yet assigned
    return outer


def function_value(vm: VM, function: types.FunctionType) -> FunctionValue:
    """A real function with its IR; `NoSource` when there is none."""
    code = source.code_of(function.__code__)
    outer = enclosing(vm, function)
    defaults = tuple(vm.lift(d) for d in function.__defaults__ or ())
    named = {k: vm.lift(v) for k, v in (function.__kwdefaults__ or {}).items()}
    owner = source.defining_class(function)
    return FunctionValue(code, function.__globals__, outer, defaults, named, owner, function)


def _host_function(vm: VM, function: types.FunctionType, args: list[Any], named: dict[str, Any]) -> Any:
    from treadle.symbolic.python.calls import compiled as builtin_calls
    from treadle.symbolic.python.compile import generated
    from treadle.symbolic.python.contracts import conditions, contracts
    from treadle.symbolic.python.machine import concrete

    if conditions.layer(function):
        return contracts.called(vm, function, args, named)
    model = builtin_calls.model(function)
    if model is not None:
        return model(vm, *args, **named)
    concrete.check_effect(vm, function)
    if _better_called(function, args, named):
        return concrete.call_real(vm, function, args, named)
    try:
        value = function_value(vm, function)
    except source.NoSource:
        made = generated.call(vm, function, args, named)
        if made is not generated.UNHANDLED:
            return made
        return concrete.call_real(vm, function, args, named)
    return run(vm, value, args, named)


def _better_called(function: types.FunctionType, args: list[Any], named: dict[str, Any]) -> bool:
    """A function of the standard library on plain known values: there is nothing to find out inside."""
    from treadle.symbolic.python.machine import operators

    library = (function.__module__ or "").partition(".")[0]
    if library not in sys.stdlib_module_names or inspect.isgeneratorfunction(function) or function.__closure__:
        return False
    plain = (int, float, str, bytes, type(None), tuple)
    return all(isinstance(a, plain) and operators.is_known(a) for a in (*args, *named.values())) and bool(args)


def run(vm: VM, function: FunctionValue, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Run a function's IR; a generator function gives a generator."""
    env = Environment(function.outer)
    args = [vm.heap.settled(a) for a in args]
    bind(vm, function, args, named, env)
    if vm.frames and function.code.file == vm.frames[0].code.file:
        vm.path.calls.add((getattr(function.host, "__qualname__", function.name), len(vm.path.trail)))
    if vm.summaries is not None:
        result = vm.summaries.call(vm, function, env)
        if result is not NOT_COMPOSED:
            return result
    frame = Frame(function.code, env, function)
    if function.code.is_generator:
        return Generator(frame)
    return vm.run(frame)


def bind(vm: VM, function: FunctionValue, args: Sequence[Any], named: dict[str, Any], env: Environment) -> None:
    """Arguments to parameters, as Python does it, with its TypeErrors."""
    parameters = function.code.parameters
    positional = [p for p in parameters if p.kind in ("plain", "positional")]
    name = getattr(function.host, "__qualname__", function.name)
    remaining = dict(named)
    for parameter, value in zip(positional, args, strict=False):
        if parameter.name in remaining and parameter.kind == "plain":
            raise vm.error(TypeError, f"{name}() got multiple values for argument '{parameter.name}'")
        env[parameter.name] = value
    rest = next((p for p in parameters if p.kind == "rest"), None)
    if len(args) > len(positional):
        if rest is None:
            raise vm.error(TypeError, _too_many(name, positional, len(args)))
        env[rest.name] = tuple(args[len(positional) :])
    elif rest is not None:
        env[rest.name] = ()
    defaults = (
        dict(
            zip(
                [p.name for p in positional[len(positional) - len(function.defaults) :]],
                function.defaults,
                strict=False,
            )
        )
        if function.defaults
        else {}
    )
    absent: list[str] = []
    for parameter in positional:
        if parameter.name in env:
            continue
        if parameter.name in remaining and parameter.kind == "plain":
            env[parameter.name] = remaining.pop(parameter.name)
        elif parameter.name in defaults:
            env[parameter.name] = defaults[parameter.name]
        else:
            absent.append(parameter.name)
    if absent:
        raise vm.error(TypeError, _absent(name, absent, "positional"))
    for parameter in parameters:
        if parameter.kind == "keyword":
            if parameter.name in remaining:
                env[parameter.name] = remaining.pop(parameter.name)
            elif parameter.name in function.named_defaults:
                env[parameter.name] = function.named_defaults[parameter.name]
            else:
                absent.append(parameter.name)
    if absent:
        raise vm.error(TypeError, _absent(name, absent, "keyword-only"))
    keywords = next((p for p in parameters if p.kind == "named"), None)
    if keywords is not None:
        env[keywords.name] = vm.new_dict([[k, v] for k, v in remaining.items()])
    elif remaining:
        unexpected = next(iter(remaining))
        raise vm.error(TypeError, f"{name}() got an unexpected keyword argument '{unexpected}'")


def _too_many(name: str, positional: list[ir.IrParameter], given: int) -> str:
    required = sum(not p.has_default for p in positional)
    most = len(positional)
    takes = f"from {required} to {most}" if required != most else str(most)
    plural = "s" if most != 1 or required != most else ""
    was = "was" if given == 1 else "were"
    return f"{name}() takes {takes} positional argument{plural} but {given} {was} given"


def _absent(name: str, absent: list[str], kind: str) -> str:
    quoted = [f"'{a}'" for a in absent]
    if len(quoted) > 2:
        listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
    else:
        listed = " and ".join(quoted)
    return f"{name}() missing {len(absent)} required {kind} argument{'s' * (len(absent) > 1)}: {listed}"


# --- classes ---------------------------------------------------------------------------------------------

_HOLDERS = (int, float, str, tuple, list, dict, set, frozenset)


def instantiate(vm: VM, cls: type, args: list[Any], named: dict[str, Any]) -> Any:
    """cls(*args, **named)"""
    from treadle.symbolic.python.calls import compiled as builtin_calls
    from treadle.symbolic.python.machine import attributes, concrete, operators

    if cls is type and len(args) == 1:
        return attributes.python_type(vm, args[0])
    model = builtin_calls.CLASSES.get(cls)
    if model is not None:
        return builtin_calls._guarded(vm, cls, model, args, named)
    meta_call = attributes.lookup(type(cls), "__call__")
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
    new = attributes.lookup(cls, "__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    if isinstance(new, types.FunctionType):
        made = call(vm, new, [cls, *args], named)
        if not (isinstance(made, InstanceObj) and issubclass(made.cls, cls)):
            return made
    else:
        made = bare(vm, cls, args, named)
        if made is None:
            return concrete.call_real(vm, cls, args, named)
    init = attributes.lookup(made.cls, "__init__")  # __new__ may have made an object of a subclass
    if isinstance(init, types.FunctionType | FunctionValue):
        result = call(vm, init, [made, *args], named)
        if result is not None:
            kind = type(operators.exemplar(vm, result)).__name__
            raise vm.error(TypeError, f"__init__() should return None, not '{kind}'")
    elif made.payload is None and (args or named) and not isinstance(new, types.FunctionType):
        raise vm.error(TypeError, f"{cls.__name__}() takes no arguments")
    return made


def bare(vm: VM, cls: type, args: list[Any], named: dict[str, Any] | None = None) -> InstanceObj | None:
    """A new object without fields; None for classes whose state is compiled code's."""
    from treadle.symbolic.python.calls import compiled as builtin_calls
    from treadle.symbolic.python.machine import attributes

    holder = next((b for b in cls.__mro__ if b in _HOLDERS), None)
    made = InstanceObj(vm.heap.number(), (cls,))
    if holder is not None:
        own_init = isinstance(attributes.lookup(cls, "__init__"), types.FunctionType)
        if not own_init and holder is dict:
            made.payload = builtin_calls.CLASSES[dict](vm, *args, **(named or {}))
            return made
        given = [] if own_init and holder in (list, dict, set) else args[:1]
        made.payload = builtin_calls.CLASSES[holder](vm, *given)
        return made
    try:
        object.__new__(cls)
    except TypeError:
        return None
    return made


def _enum(vm: VM, cls: enum.EnumType, args: list[Any], named: dict[str, Any]) -> Any:
    from treadle.symbolic.python.machine import attributes, concrete

    value = vm.force(args[0]) if len(args) == 1 and not named else None
    if isinstance(value, Expr):
        members: list[Any] = list(cls)
        for member in members:
            if vm.decide(vm.equal(value, member.value)):
                return member
        made = None
        if any("_missing_" in vars(base) for base in cls.__mro__ if base.__module__ != "enum"):
            made = vm.force(vm.call(attributes.get(vm, cls, "_missing_"), value))
        if isinstance(made, cls):
            return made
        if made is not None and not isinstance(made, Expr | InstanceObj | ListObj | DictObj | tuple):
            where = f"error in {cls.__name__}._missing_: returned {made!r}"
            raise vm.error(TypeError, f"{where} instead of None or a valid member")
        if value.sort is x.INT and made is None:
            raise vm.error(ValueError, x.concat(x.int_to_str(value), f" is not a valid {cls.__qualname__}"))
    return concrete.call_real(vm, cls, args, named)


def _exception(vm: VM, cls: type, args: list[Any], named: dict[str, Any]) -> Any:
    from treadle.symbolic.python.machine import attributes

    made = InstanceObj(vm.heap.number(), (cls,))
    made.fields["args"] = tuple(args)
    init = attributes.lookup(cls, "__init__")
    if isinstance(init, types.FunctionType):
        call(vm, init, [made, *args], named)
    elif issubclass(cls, StopIteration):
        made.fields["value"] = args[0] if args else None
    elif issubclass(cls, SystemExit):
        made.fields["code"] = args[0] if len(args) == 1 else tuple(args) or None
    elif issubclass(cls, OSError | UnicodeError | SyntaxError | ImportError):
        from treadle.symbolic.python.machine import concrete

        return vm.exception(concrete.call_real(vm, cls, args, named), None)
    elif named:
        raise vm.error(TypeError, f"{cls.__name__}() takes no keyword arguments")
    return made


def _named_tuple(vm: VM, cls: Any, args: list[Any], named: dict[str, Any]) -> Any:
    new = cls.__dict__.get("__new__")
    if isinstance(new, types.FunctionType | staticmethod) and not _generated(new):
        return call(vm, new, [cls, *args], named)
    return named_tuple(vm, cls, args, named)


def named_tuple(vm: VM, cls: Any, args: list[Any], named: dict[str, Any]) -> Any:
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


def _generated(function: Any) -> bool:
    inner = function.__func__ if isinstance(function, staticmethod) else function
    return bool(inner.__code__.co_filename.startswith("<"))


__all__ = ["CannotFollow", "Iterator_", "Super", "bind", "call", "instantiate", "run"]
