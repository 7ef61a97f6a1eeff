"""Real functions as values of the machine, and arguments bound to parameters with Python's own TypeErrors."""

from __future__ import annotations

import types
from collections.abc import Sequence

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import FunctionValue, PyValue


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


def bind(vm: VM, function: FunctionValue, args: Sequence[PyValue], named: dict[str, PyValue], env: Environment) -> None:
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
            raise vm.error(TypeError, too_many_arguments(name, positional, len(args)))
        env[rest.name] = tuple(args[len(positional) :])
    elif rest is not None:
        env[rest.name] = ()
    with_default = positional[len(positional) - len(function.defaults) :]
    defaults = {p.name: value for p, value in zip(with_default, function.defaults, strict=False)}
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
        raise vm.error(TypeError, absent_arguments(name, absent, "positional"))
    for parameter in parameters:
        if parameter.kind == "keyword":
            if parameter.name in remaining:
                env[parameter.name] = remaining.pop(parameter.name)
            elif parameter.name in function.named_defaults:
                env[parameter.name] = function.named_defaults[parameter.name]
            else:
                absent.append(parameter.name)
    if absent:
        raise vm.error(TypeError, absent_arguments(name, absent, "keyword-only"))
    keywords = next((p for p in parameters if p.kind == "named"), None)
    if keywords is not None:
        env[keywords.name] = vm.new_dict([[k, v] for k, v in remaining.items()])
    elif remaining:
        unexpected = next(iter(remaining))
        raise vm.error(TypeError, f"{name}() got an unexpected keyword argument '{unexpected}'")


def too_many_arguments(name: str, positional: list[ir.IrParameter], given: int) -> str:
    required = sum(not p.has_default for p in positional)
    most = len(positional)
    takes = f"from {required} to {most}" if required != most else str(most)
    plural = "s" if most != 1 or required != most else ""
    was = "was" if given == 1 else "were"
    return f"{name}() takes {takes} positional argument{plural} but {given} {was} given"


def absent_arguments(name: str, absent: list[str], kind: str) -> str:
    quoted = [f"'{a}'" for a in absent]
    if len(quoted) > 2:
        listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
    else:
        listed = " and ".join(quoted)
    return f"{name}() missing {len(absent)} required {kind} argument{'s' * (len(absent) > 1)}: {listed}"
