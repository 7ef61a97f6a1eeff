"""Termination criteria beside the loop bound (`--terminate`): the depth of the tree, or a function of the user's.

`depth-N` ends a path that would decide more than N conditions. `module:function` names a Python function that is given
the path so far, at every line, and says whether it ends here. What ends so is cut, and the suite says it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from treadle.core.errors import UsageError
from treadle.symbolic.ir.machine import IrMachine

_EXAMPLE = "write depth-12, or module:function for a function of your own that is given the path"


@dataclass(frozen=True, slots=True)
class PathSoFar:
    """What a criterion is given: a path up to the line that is about to run."""

    _machine: IrMachine

    @property
    def depth(self) -> int:
        """How many conditions on unknown values were decided."""
        return self._machine.path.decisions

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """(file, line) in the order in which they were passed; the last one is about to run."""
        return tuple(self._machine.line_trace)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that are running, the outermost first."""
        return tuple(frame.code.name for frame in self._machine.frames)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What was decided, as text: "n > 0"."""
        return tuple(map(str, self._machine.path.story))


Criterion = Callable[[IrMachine], bool]


def criterion(text: str) -> Criterion | None:
    """The criterion that a text names; None without one. Raises UsageError for what is none."""
    if not text:
        return None
    depth = re.fullmatch(r"depth-(\d+)", text)
    if depth is not None:
        most = int(depth[1])
        return lambda machine: machine.path.decisions > most
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise UsageError(f"--terminate {text}: not a criterion; {_EXAMPLE}")
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise UsageError(f"--terminate {text}: {type(error).__name__}: {error}; {_EXAMPLE}") from None
    if not callable(function):
        raise UsageError(f"--terminate {text}: this is no function; {_EXAMPLE}")

    def ends(machine: IrMachine) -> bool:
        try:
            return bool(function(PathSoFar(machine)))
        except Exception as error:
            raise UsageError(f"--terminate {text}: the function fails: {type(error).__name__}: {error}") from error

    return ends
