"""Where in the source an operation stands, and what it read or wrote: recorded only for the execution that is shown."""

from __future__ import annotations

import os
import reprlib
import sys
import threading
from types import FrameType

from treadle.model.operation import location, word
from treadle.model.result import Step, Waiting
from treadle.runtime.instrument.swap import REWRITTEN
from treadle.runtime.strands import Strand

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_EXAMPLES = os.path.join(_OWN, "examples") + os.sep
_THREADING = os.path.abspath(threading.__file__)

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 40


def short(value: object) -> str:
    """A value in a few characters; an object's own __repr__ is not run, it might be code under test."""
    if type(value).__repr__ is object.__repr__ or type(value).__module__ in REWRITTEN:
        return f"<{type(value).__name__}>"
    try:
        return _repr.repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def describe(strand: Strand) -> Step:
    """The operation a strand is performing now, with the source lines it stands on."""
    kind, _, _ = strand.pending
    stack = stack_of(sys._getframe(2))
    file, line, function = stack[0] if stack else ("", 0, "")
    return Step(strand.treadle_name, word(kind), location(strand.pending), file, line, function, "", stack)


def stack_of(frame: FrameType | None) -> tuple[tuple[str, int, str], ...]:
    """The frames of the program under test, innermost first."""
    found = []
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not (name.startswith(_OWN) and not name.startswith(_EXAMPLES)) and name != _THREADING:
            found.append((name, frame.f_lineno, code.co_qualname))
        frame = frame.f_back
    return tuple(found)


def waiting(strand: Strand, live: list[Strand]) -> Waiting:
    """A strand that cannot go on: what it wants, who has it, and what it holds itself."""
    guard = strand.guard
    owner = guard if isinstance(guard, Strand) else getattr(guard, "owner", None)
    holds = {
        other.guard.treadle_name
        for other in live
        if other is not strand and other.guard is not None and other.guard.owner is strand
    }
    return Waiting(
        strand.treadle_name,
        word(strand.pending[0]),
        location(strand.pending),
        owner.treadle_name if owner is not None else "",
        sorted(holds),
        strand.step.stack if strand.step is not None else (),
        guard.describe() if guard is not None else "",
    )
