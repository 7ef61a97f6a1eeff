"""The frames that a strand sees when it walks its callers: its own, and none of Treadle's.

Hooks and models stand between a function and its caller, and at the bottom of every strand. Whoever asks for the n-th
caller (`sys._getframe`, and on it logging, inspect, traceback, namedtuple) gets the n-th of the program, whose `f_back`
is the next one of the program; tracebacks are written without Treadle's. Outside a strand, and for Treadle itself, all
is as usual.
"""

from __future__ import annotations

import functools
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from treadle.threads.detail import is_treadle
from treadle.threads.primitives.inside import here

_real_getframe = sys._getframe
_real_module_name: Any = getattr(sys, "_getframemodulename", None)  # since Python 3.12


class ProgramFrame:
    """A frame of the program whose callers are the program's; all else is that of the frame behind it."""

    __slots__ = ("__weakref__", "_frame")
    _frame: FrameType

    def __init__(self, frame: FrameType) -> None:
        object.__setattr__(self, "_frame", frame)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return FrameType

    @property
    def f_back(self) -> ProgramFrame | None:
        return _shown(_of_program(self._frame.f_back))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._frame, name, value)

    def __eq__(self, other: object) -> bool:
        return self._frame is (other._frame if type(other) is ProgramFrame else other)

    def __hash__(self) -> int:
        return hash(self._frame)

    def __repr__(self) -> str:
        return repr(self._frame)


# By the id of the frame behind it, so that a frame is itself whenever it is asked for.
_SHOWN: weakref.WeakValueDictionary[int, ProgramFrame] = weakref.WeakValueDictionary()


def _shown(frame: FrameType | None) -> ProgramFrame | None:
    if frame is None:
        return None
    shown = _SHOWN.get(id(frame))
    if shown is None:
        shown = _SHOWN[id(frame)] = ProgramFrame(frame)
    return shown


def _of_program(frame: FrameType | None) -> FrameType | None:
    """This frame or the next caller that is no frame of Treadle."""
    while frame is not None and is_treadle(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _caller(caller: FrameType, depth: int) -> FrameType:
    frame = _of_program(caller)
    for _ in range(depth):
        frame = None if frame is None else _of_program(frame.f_back)
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def getframe(depth: int = 0, /) -> Any:
    caller = _real_getframe(1)
    if is_treadle(caller.f_code.co_filename) or here() is None:
        return _real_getframe(depth + 1)
    return _shown(_caller(caller, depth))


def module_name(depth: int = 0) -> Any:
    caller = _real_getframe(1)
    if is_treadle(caller.f_code.co_filename) or here() is None:
        return _real_module_name(depth + 1)
    try:
        return _caller(caller, depth).f_globals.get("__name__")
    except ValueError:
        return None


def frames_of_treadle(caller: FrameType | None, level: int) -> int:
    """How many frames of Treadle stand between a function and its caller at this level: `warnings.warn` counts them."""
    hidden = 0
    while caller is not None and level > 0:
        if is_treadle(caller.f_code.co_filename):
            hidden += 1
        elif not _of_import(caller):
            level -= 1
        caller = caller.f_back
    return hidden


def _of_import(frame: FrameType) -> bool:
    """Frames that warnings pass over by themselves."""
    return "importlib" in frame.f_code.co_filename and "_bootstrap" in frame.f_code.co_filename


def _walking(original: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    @functools.wraps(original)
    def walk(trace: Any) -> Iterator[Any]:
        inside = here() is not None
        for entry in original(trace):
            if not inside or not is_treadle(entry[0].f_code.co_filename):
                yield entry

    return walk


_WALKS = ("walk_tb", "_walk_tb_with_full_positions")

PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (sys, {"_getframe": getframe} | ({"_getframemodulename": module_name} if _real_module_name else {})),
    (traceback, {name: _walking(getattr(traceback, name)) for name in _WALKS}),
]
