"""A machine for Python in the tests of its rooms, and unknown values for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.symbolic.explore import Exploration, explore
from treadle.symbolic.expr import terms as x
from treadle.symbolic.heap.objects import LazyHeap
from treadle.symbolic.path import SymbolicPath
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.symbolic.python.types.fields import field_type
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.solve.solver import Solver

DOMAIN = (-10, 10)
N = x.var("n", x.INT)
M = x.var("m", x.INT)
S = x.var("s", x.STR)
R = x.var("r", x.REAL)
P = x.var("p", x.BOOL)


def machine(path: SymbolicPath | None = None, **options: Any) -> PythonMachine:
    path = path or SymbolicPath(Solver(DOMAIN))
    vm = PythonMachine(path, LazyHeap(path, subclasses=known_subclasses), 2, **options)
    vm.field_type = field_type
    return vm


def every(run: Callable[[PythonMachine], Any]) -> list[Any]:
    """What a program gives on each of its paths."""
    return [ran.result for ran in explore(lambda path: run(machine(path)), Solver(DOMAIN), Exploration())]
