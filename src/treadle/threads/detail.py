"""Where in the source an operation stands, and what it read or wrote: recorded only for the execution that is shown."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import os
import pathlib
import re
import sys
import threading
import types
from collections import OrderedDict, defaultdict, deque
from functools import cache
from itertools import islice
from types import FrameType, TracebackType
from typing import Any, cast

from treadle.core.operation import location, verb
from treadle.core.result import Step, Waiting
from treadle.threads.strands import Strand, SyncObject

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_COMPILED = "src/treadle/"  # how compiled modules name their source in a traceback
_EXAMPLES = os.path.join(_OWN, "examples") + os.sep
_THREADING = os.path.abspath(threading.__file__)
_ASYNCIO = os.path.join(os.path.dirname(_THREADING), "asyncio") + os.sep

# Comprehensions that are functions of their own before Python 3.12, and part of the function around them since.
_INLINED = re.compile(r"\.<locals>\.<(list|set|dict)comp>$")


# A value is shown in so many characters, so many items of a container, so many containers inside each other.
_MOST_CHARACTERS = 40
_MOST_ITEMS = 6
_DEEPEST = 3

# types whose __repr__ shows nothing but themselves, and is not the program's
_AS_THEY_ARE = {
    *(int, float, complex, bool, type(None), str, bytes, type(Ellipsis), type(NotImplemented), range, re.Pattern),
    *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, decimal.Decimal, fractions.Fraction),
    *(type(pathlib.Path()), type(pathlib.PurePath()), types.BuiltinFunctionType),
}
_BRACKETS: dict[Any, tuple[str, str]] = {
    dict: ("{", "}"),
    OrderedDict: ("OrderedDict({", "})"),
    defaultdict: ("defaultdict({", "})"),
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
}


def short(value: object, depth: int = 0) -> str:
    """A value in a few characters. Nothing of the program runs for it: no __repr__, __hash__, __eq__ or __iter__."""
    kind = type(value)
    if type(kind) is type and kind in _AS_THEY_ARE:
        return _cut(_number(value) if kind is int else repr(value))
    if type(kind) is type and kind in _BRACKETS:
        return _container(value, kind, depth)
    if issubclass(kind, SyncObject):
        return getattr(value, "treadle_name", "") or f"<{kind.label}>"
    if issubclass(kind, type):
        return f"<class {type.__getattribute__(cast(type, value), '__name__')}>"
    if issubclass(kind, enum.Enum):
        return f"{kind.__name__}.{object.__getattribute__(value, '_name_')}"
    if kind is types.FunctionType or kind is types.MethodType:
        return f"<function {cast(types.FunctionType, value).__qualname__}>"
    return f"<{type.__getattribute__(kind, '__name__')}>"


def _number(value: Any) -> str:
    """An int; Python refuses to write very long ones."""
    return repr(value) if value.bit_length() < 1000 else f"<int of {value.bit_length()} bits>"


def _container(value: Any, kind: type, depth: int) -> str:
    """A container of exactly a built-in type, by its own iterator."""
    opening, closing = _BRACKETS[kind]
    pairs = issubclass(kind, dict)
    if not value:
        return "set()" if kind is set else repr(value) if kind is frozenset else opening + closing
    if depth >= _DEEPEST:
        return f"{opening}...{closing}"
    items: Any = value.items() if pairs else value
    shown = []
    for item in islice(items, _MOST_ITEMS):
        texts = [short(part, depth + 1) for part in item] if pairs else [short(item, depth + 1)]
        shown.append(": ".join(texts))
    if kind in (set, frozenset):
        shown.sort()
    if len(value) > _MOST_ITEMS:
        shown.append("...")
    return opening + ", ".join(shown) + ("," if kind is tuple and len(shown) == 1 else "") + closing


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = (_MOST_CHARACTERS - 3) // 2
    return f"{text[: _MOST_CHARACTERS - 3 - half]}...{text[-half:]}"


def describe(strand: Strand) -> Step:
    """The operation a strand is performing now, with the source lines it stands on."""
    stack = stack_of(sys._getframe(1))
    file, line, function = stack[0] if stack else ("", 0, "")
    op = strand.pending
    what = location(op)
    return Step(strand.treadle_name, verb(op), what, file, line, function, "", stack, op, strand.checks)


def undescribed(strand: Strand) -> Step:
    """The operation that a strand waits to perform, when nobody looked where it stands."""
    op = strand.pending
    return Step(strand.treadle_name, verb(op), location(op), "", 0, "", "", (), op, strand.checks)


def stack_of(frame: FrameType | None) -> tuple[tuple[str, int, str], ...]:
    """The frames of the program under test, innermost first."""
    found: list[tuple[str, int, str]] = []
    inlined = False  # the frame below is part of this one, as a later Python has it
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not is_own(name):
            function = _INLINED.sub("", code.co_qualname)
            if not inlined:
                found.append((name, frame.f_lineno, function))
            inlined = function != code.co_qualname
        frame = frame.f_back
    return tuple(found)


def place_of(frame: FrameType | None) -> tuple[str, int]:
    """File and line of the innermost frame of the program under test."""
    frame = program_frame(frame)
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the program under test."""
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def hide_own_frames(error: BaseException) -> None:
    """Take the frames of Treadle out of a traceback: what is left is the program's own way to the error."""
    kept: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not is_own(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    rest: TracebackType | None = None
    for one in reversed(kept):
        rest = TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    if rest is not None:
        error.__traceback__ = rest


@cache
def is_own(file: str) -> bool:
    """Is this code of Treadle, or of the library that it stands on: nothing that a person looks for?"""
    return is_treadle(file) or file == _THREADING or file.startswith(_ASYNCIO)


def is_treadle(file: str) -> bool:
    return file.startswith((_OWN, _COMPILED)) and not file.startswith(_EXAMPLES)


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
        strand.pending,
        owner.treadle_name if owner is not None else "",
        sorted(holds),
        strand.step.stack if strand.step is not None else (),
        guard.describe() if guard is not None else "",
        tuple(guard.waiting_tasks()) if guard is not None else (),
    )
