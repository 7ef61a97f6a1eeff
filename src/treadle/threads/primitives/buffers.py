"""Buffered files over sockets, pipes and raw files of the program: CPython's have a lock each, held by a thread that
reads, also while it waits or runs the methods of the raw file.

It is a lock of OS threads, and strands share one: who came second would be told of a call inside another. So the files
that `socket.makefile` and `open` (`pipes`) make in an execution, and those over a raw file that is written in Python,
let one strand in at a time, and the others wait.
"""

from __future__ import annotations

import functools
import io
import socket
from typing import Any

from treadle.core.operation import ACQUIRE, WRITE
from treadle.threads.hooks.calls import STAND_INS
from treadle.threads.hooks.points import touch
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand, SyncObject

_Socket: Any = socket.socket
_real_makefile = _Socket.makefile


class TurnInside(SyncObject):
    """Whose turn it is to be inside a file, or another object in C that has a lock of its own."""

    __slots__ = ("inside",)
    label = "lock of a file"
    of_several = True  # it is let go where the call ends, which is no point
    inside: Strand | None

    def __init__(self) -> None:
        super().__init__()
        self.inside = None

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.inside is None

    def guards(self) -> int:
        return 0 if self.inside is not None else 1 << ACQUIRE

    def describe(self) -> str:
        return "free" if self.inside is None else f"held by {self.inside.name}"


def _alone(kind: Any, name: str) -> Any:
    real = getattr(kind, name)

    def method(self: Any, *args: Any) -> Any:
        strand, turn = here(), self._treadle_turn
        if strand is None or turn.inside is strand or strand.execution.ending:
            return real(self, *args)
        touch(strand, WRITE, self, None)
        if turn.inside is not None:
            strand.point(ACQUIRE, turn)
        turn.inside = strand
        try:
            return real(self, *args)
        finally:
            turn.inside = None

    method.__name__ = name
    return method


def _with_turns(kind: Any, names: tuple[str, ...]) -> Any:
    def make(self: Any, raw: Any, buffer_size: int = io.DEFAULT_BUFFER_SIZE) -> None:
        self._treadle_turn = TurnInside()
        kind.__init__(self, raw, buffer_size)

    methods = {name: _alone(kind, name) for name in (*names, "close", "detach")}
    return type(kind.__name__, (kind,), {"__module__": kind.__module__, "__init__": make, **methods})


_READING = ("read", "read1", "readinto", "readinto1", "readline", "readlines", "peek", "seek", "__next__")
_WRITING = ("write", "writelines", "flush", "truncate")
_KINDS: dict[Any, Any] = {
    io.BufferedReader: _with_turns(io.BufferedReader, _READING),
    io.BufferedWriter: _with_turns(io.BufferedWriter, (*_WRITING, "seek")),
    io.BufferedRandom: _with_turns(io.BufferedRandom, (*_READING, *_WRITING)),
}
_RAW_IN_C = (io.FileIO, io.BytesIO)


def taking_turns(kind: Any) -> Any:
    """The kind of buffered file that lets one strand in at a time."""
    return _KINDS[kind]


def _over_raw(treadle_kind: Any, /, *args: Any, **options: Any) -> Any:
    """`io.BufferedReader(raw)`: the methods of a raw file in Python are points, at which others may come."""
    raw = args[0] if args else options.get("raw")
    in_python = here() is not None and type(raw) not in _RAW_IN_C
    return (_KINDS[treadle_kind] if in_python else treadle_kind)(*args, **options)


STAND_INS.update({kind: functools.partial(_over_raw, kind) for kind in _KINDS})


def makefile(self: Any, mode: str = "r", buffering: int | None = None, **options: Any) -> Any:
    made = _real_makefile(self, mode, buffering, **options)
    kind = _KINDS.get(type(made)) if here() is not None else None
    if kind is None:
        return made
    size = io.DEFAULT_BUFFER_SIZE if buffering is None or buffering < 0 else buffering
    return kind(made.detach(), size)


PATCHES: list[tuple[Any, dict[str, Any]]] = [(_Socket, {"makefile": makefile})]
