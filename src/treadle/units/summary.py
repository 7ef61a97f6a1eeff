"""The method summary of a target, as the paper tabulates it: its cases on the most general inputs."""

from __future__ import annotations

import inspect
import sys

from treadle.core.errors import UsageError
from treadle.symbolic import types as t
from treadle.symbolic.python.calls.stubs import Stubs
from treadle.symbolic.python.machine import binding
from treadle.symbolic.python.summaries.composer import Summaries
from treadle.symbolic.python.summaries.recording import RecordingVM
from treadle.symbolic.python.summaries.signatures import ConstantArgument, Signature
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.solve.solver import Solver
from treadle.symbolic.summary.recording import RecordingHeap, RecordingPath
from treadle.symbolic.summary.tree import Summary
from treadle.units.explore import HOST_RECURSION, parameter_types
from treadle.units.options import UnitOptions
from treadle.units.target import UnitTarget


def summary_of(target: UnitTarget, options: UnitOptions) -> Summary:
    """The summary of one function; the functions that it calls are summarised first and composed."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), HOST_RECURSION))
    summaries = Summaries(options.k, allow_effects=options.allow_effects, stubs=Stubs(options.stubs))
    path = RecordingPath(Solver(options.domain))
    vm = RecordingVM(path, RecordingHeap(path, subclasses=known_subclasses), summaries, set())
    found = summaries.record(binding.function_value(vm, target.function), _signature(target, options), table=True)
    if found is None:
        raise UsageError(f"{target.text}: no summary could be made")
    return found


def _signature(target: UnitTarget, options: UnitOptions) -> Signature:
    types = parameter_types(target, options)
    found: list[tuple[str, t.Type | ConstantArgument]] = []
    parameters = list(inspect.signature(target.function).parameters.values())
    if target.receiver in ("self", "new"):
        found.append((parameters[0].name, t.Instance(target.cls or object)))
    elif target.receiver == "cls":
        found.append((parameters[0].name, ConstantArgument(target.cls)))
    for parameter in parameters[1 if target.receiver else 0 :]:
        kind: t.Type | ConstantArgument = types.get(parameter.name, ConstantArgument(parameter.default))
        if parameter.kind is parameter.VAR_POSITIONAL:
            kind = ConstantArgument(())
        elif parameter.kind is parameter.VAR_KEYWORD:
            raise UsageError(f"{target.text}: a summary holds named parameters; this function takes **{parameter.name}")
        found.append((parameter.name, kind))
    return tuple(found)
