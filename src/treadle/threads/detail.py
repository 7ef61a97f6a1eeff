"""Where in the source an operation stands, and what it read or wrote: recorded only for the execution that is shown."""

from __future__ import annotations

import os
import re
import reprlib
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

from treadle.core.operation import location, word
from treadle.core.result import Step, Waiting
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.strands import STATE, Strand, SyncObject

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_COMPILED = "src/treadle/"  # how compiled modules name their source in a traceback
_EXAMPLES = os.path.join(_OWN, "examples") + os.sep
_THREADING = os.path.abspath(threading.__file__)

# Comprehensions that are functions of their own before Python 3.12, and part of the function around them since.
_INLINED = re.compile(r"\.<locals>\.<(list|set|dict)comp>$")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class _Short(reprlib.Repr):
    """Values in a few characters. An object's own __repr__ is not run: it might be code under test."""

    def repr_instance(self, x: Any, level: int) -> str:
        kind: Any = type(x)
        if isinstance(x, SyncObject):
            return getattr(x, "treadle_name", "") or f"<{x.label}>"
        if kind.__repr__ is object.__repr__ or any(_under_control(cls.__module__) for cls in kind.__mro__):
            return f"<{kind.__name__}>"
        strand, STATE.strand = STATE.strand, None  # it may show others that are code under test: no points now
        try:
            text = _ADDRESS.sub("", repr(x))
        except Exception:
            return f"<{kind.__name__}>"
        finally:
            STATE.strand = strand
        return text if len(text) <= self.maxother else text[: self.maxother - 3] + "..."


def _under_control(module: str) -> bool:
    """Code under test, or what a model stands for: its __repr__ would be seen as part of the program."""
    return module in REWRITTEN or module.partition(".")[0] in ("threading", "queue", "concurrent")


_repr = _Short()
_repr.maxstring = _repr.maxother = 40


def short(value: object) -> str:
    """A value in a few characters."""
    return _repr.repr(value)


def describe(strand: Strand) -> Step:
    """The operation a strand is performing now, with the source lines it stands on."""
    kind, _, _ = strand.pending
    stack = stack_of(sys._getframe(1))
    file, line, function = stack[0] if stack else ("", 0, "")
    return Step(strand.treadle_name, word(kind), location(strand.pending), file, line, function, "", stack)


def stack_of(frame: FrameType | None) -> tuple[tuple[str, int, str], ...]:
    """The frames of the program under test, innermost first."""
    found: list[tuple[str, int, str]] = []
    inlined = False  # the frame below is part of this one, as a later Python has it
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not _is_own(name):
            function = _INLINED.sub("", code.co_qualname)
            if not inlined:
                found.append((name, frame.f_lineno, function))
            inlined = function != code.co_qualname
        frame = frame.f_back
    return tuple(found)


def hide_own_frames(error: BaseException) -> None:
    """Take the frames of Treadle out of a traceback: what is left is the program's own way to the error."""
    kept: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not _is_own(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for one in reversed(kept):
        rest = TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    if rest is not None:
        error.__traceback__ = rest


def _is_own(file: str) -> bool:
    return (file.startswith((_OWN, _COMPILED)) and not file.startswith(_EXAMPLES)) or file == _THREADING


def waiting(strand: Strand, live: list[Strand]) -> Waiting:
    """A strand that cannot go on: what it wants, who has it, and what it holds itself."""
    guard = strand.guard
    owner = guard if isinstance(guard, Strand) else getattr(guard, "owner", None)
    holds = {
        other.guard.treadle_name
        for other in live
        if other is not strand and other.guard is not None and getattr(other.guard, "owner", None) is strand
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
