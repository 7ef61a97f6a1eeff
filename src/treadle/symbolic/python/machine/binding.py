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
    for parameter, value in zip(positional, args, strict=False):
        env[parameter.name] = value
    by_name = {p.name for p in parameters if p.kind in ("plain", "keyword")}
    keywords = next((p for p in parameters if p.kind == "named"), None)
    remaining: dict[str, PyValue] = {}
    for given, value in named.items():
        if given not in by_name:
            remaining[given] = value
        elif given in env:
            raise vm.error(TypeError, f"{name}() got multiple values for argument '{given}'")
        else:
            env[given] = value
        if remaining and keywords is None:
            only = [p.name for p in positional if p.kind == "positional" and p.name in named]
            raise vm.error(TypeError, unexpected_argument(name, given, only))
    if keywords is not None:
        env[keywords.name] = vm.new_dict([[k, v] for k, v in remaining.items()])
    rest = next((p for p in parameters if p.kind == "rest"), None)
    if rest is not None:
        env[rest.name] = tuple(args[len(positional) :])
    elif len(args) > len(positional):
        also = sum(p.kind == "keyword" and p.name in env for p in parameters)
        raise vm.error(TypeError, too_many_arguments(name, positional, len(args), also))
    with_default = positional[len(positional) - len(function.defaults) :]
    defaults = {p.name: value for p, value in zip(with_default, function.defaults, strict=False)}
    for kind, wanted, known in (
        ("positional", positional, defaults),
        ("keyword-only", [p for p in parameters if p.kind == "keyword"], function.named_defaults),
    ):
        missing = [p.name for p in wanted if p.name not in env]
        env |= {one: known[one] for one in missing if one in known}
        absent = [one for one in missing if one not in known]
        if absent:
            raise vm.error(TypeError, absent_arguments(name, absent, kind))


def unexpected_argument(name: str, given: str, only_positional: list[str]) -> str:
    if only_positional:
        listed = ", ".join(only_positional)
        return f"{name}() got some positional-only arguments passed as keyword arguments: '{listed}'"
    return f"{name}() got an unexpected keyword argument '{given}'"


def too_many_arguments(name: str, positional: list[ir.IrParameter], given: int, also: int = 0) -> str:
    """`also` counts the arguments that can only be given by name."""
    required = sum(not p.has_default for p in positional)
    most = len(positional)
    takes = f"from {required} to {most}" if required != most else str(most)
    plural = "s" if most != 1 or required != most else ""
    was = "was" if given == 1 and not also else "were"
    kinds = ""
    if also:
        kinds = f" positional argument{'s' * (given != 1)} (and {also} keyword-only argument{'s' * (also != 1)})"
    return f"{name}() takes {takes} positional argument{plural} but {given}{kinds} {was} given"


def absent_arguments(name: str, absent: list[str], kind: str) -> str:
    quoted = [f"'{a}'" for a in absent]
    if len(quoted) > 2:
        listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
    else:
        listed = " and ".join(quoted)
    return f"{name}() missing {len(absent)} required {kind} argument{'s' * (len(absent) > 1)}: {listed}"
