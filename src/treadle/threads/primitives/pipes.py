"""Files over pipes: what `open` gives for a named pipe, and for a descriptor of os.pipe or of another process.

CPython's wait in C, where no other strand can run. Here opening a named pipe waits for its other end, and reading and
writing wait for the pipe, at a point. While other processes are at work they are really waited for, without a point:
how much they write at a time is not a matter of schedules. Once they all wait, it is the turn of another strand.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import select
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on this platform
    fcntl = None  # type: ignore[assignment]

from treadle.core.operation import GET, PUT
from treadle.threads.files import is_pipe
from treadle.threads.hooks.files import call_instead
from treadle.threads.primitives.buffers import taking_turns
from treadle.threads.primitives.inside import at_end, here
from treadle.threads.primitives.outside import act, are_ours, close_behind, guard_of, polled
from treadle.threads.real_waits import PATIENCE
from treadle.threads.strands import Strand

_real_open = open
_real_open_descriptor = os.open
_real_mkfifo: Any = getattr(os, "mkfifo", None)
_real_sleep, _real_monotonic = time.sleep, time.monotonic

# A write of so many bytes does not wait where a pipe can be written at all.
_PIECE: int = getattr(select, "PIPE_BUF", 512)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_NO_MATTER = -1  # in the place of a descriptor: only strands can open the other end
# Other processes wait, too, when none was found at work in so many looks, so many seconds apart.
_LOOKS, _LOOK_EVERY = 5, 0.002


class _PipeFile(io.FileIO):
    """One end of a pipe."""

    def readinto(self, buffer: Any, /) -> Any:
        _await_data(self)
        return super().readinto(buffer)

    def read(self, size: int | None = -1, /) -> Any:
        if size is None or size < 0:
            return self.readall()
        _await_data(self)
        return super().read(size)

    def readall(self) -> bytes:
        return b"".join(iter(functools.partial(self.read, io.DEFAULT_BUFFER_SIZE), b""))

    def write(self, data: Any, /) -> Any:
        strand, descriptor = here(), self.fileno()
        if strand is None or not os.get_blocking(descriptor):
            return super().write(data)
        strand.point(PUT, guard_of(lambda: polled(descriptor, "w"), "a pipe", (descriptor,)))
        return super().write(memoryview(data).cast("B")[:_PIECE])

    def close(self) -> None:
        strand = here()
        if strand is not None and not self.closed and not strand.execution.ending:
            act(strand)
        super().close()


def _await_data(file: io.FileIO) -> None:
    strand, descriptor = here(), file.fileno()
    if strand is None or not os.get_blocking(descriptor):
        return
    if are_ours([descriptor]) or not _comes_by_itself(strand, descriptor):
        strand.point(GET, guard_of(lambda: polled(descriptor, "r"), "a pipe", (descriptor,)))


def _comes_by_itself(strand: Strand, descriptor: int) -> bool:
    """Wait really for what other processes write, as long as one of them is at work."""
    strand.execution.assumed.add("a pipe (real)")
    idle, until = 0, _real_monotonic() + PATIENCE
    while not polled(descriptor, "r"):
        idle = 0 if "R" in _states() else idle + 1
        if idle == _LOOKS or _real_monotonic() > until or strand.execution.limit < 0:
            return False
        _real_sleep(_LOOK_EVERY)
    return True


def _states() -> str:
    """One letter for each process that this one started, or one of those: R, S, Z; D, for the disk, is at work as R."""
    states = ""
    found = list(_children("self"))
    for process in found:
        found += _children(process)
        try:
            states += Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # over, meanwhile
            continue
    return states.replace("D", "R")


def _children(process: str) -> Iterator[str]:
    for thread in Path("/proc", process, "task").glob("*/children"):
        try:
            yield from thread.read_text().split()
        except OSError:
            continue


# ---------------------------------------------------------------------- opening


def open_(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    """`open`, in an execution also of a pipe."""
    strand = here()
    if strand is None or opener is not None or "+" in str(mode) or not is_pipe(file):
        return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    _real_open(os.devnull, mode.replace("x", "w"), buffering, encoding, errors, newline).close()  # raises what it must
    raw = _PipeFile(file, mode.replace("b", "").replace("t", ""), closefd, functools.partial(_open_end, strand))
    close_behind(functools.partial(_left_open, weakref.ref(raw)), io.FileIO.close)  # or a process waits for its end
    if buffering == 0:
        return raw
    size = io.DEFAULT_BUFFER_SIZE if buffering in (-1, 1) else buffering
    buffer = taking_turns(io.BufferedReader if raw.readable() else io.BufferedWriter)(raw, size)
    if "b" in mode:
        return buffer
    text: Any = io.TextIOWrapper(buffer, io.text_encoding(encoding), errors, newline, buffering == 1)
    text.mode = mode
    return text


def _left_open(made: Callable[[], io.FileIO | None]) -> io.FileIO | None:
    file = made()
    return None if file is None or file.closed else file


def open_descriptor(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    """`os.open`."""
    strand = here()
    if strand is None or dir_fd is not None or not is_pipe(path):
        return _real_open_descriptor(path, flags, mode, dir_fd=dir_fd)
    return _open_end(strand, path, flags)


def _open_end(strand: Strand, path: Any, flags: int) -> int:
    """Open one end of a named pipe when the other one is open, or being opened. Who reads is there from now on: a
    writer can come, and this one then goes on."""
    ways = flags & (os.O_WRONLY | os.O_RDWR)
    if flags & _NONBLOCK or ways == os.O_RDWR:
        return _real_open_descriptor(path, flags)
    if ways == os.O_WRONLY:
        strand.point(GET, guard_of(lambda: _is_open(path, os.O_RDONLY), "a reader of a named pipe", (_NO_MATTER,)))
        return _blocking(_real_open_descriptor(path, flags | _NONBLOCK))
    act(strand)
    descriptor = _real_open_descriptor(path, flags | _NONBLOCK)
    try:
        has_writer: Callable[[], bool] = lambda: polled(descriptor, "r") or _is_open(path, os.O_WRONLY)  # noqa: E731
        strand.point(GET, guard_of(has_writer, "a writer of a named pipe", (descriptor,)))
    except BaseException:
        os.close(descriptor)
        raise
    return _blocking(descriptor)


def _blocking(descriptor: int) -> int:
    os.set_blocking(descriptor, True)
    return descriptor


def _is_open(path: Any, ways: int) -> bool:
    """Has this process an end of a named pipe that is open this way?"""
    pipe = os.stat(path)
    for descriptor in map(int, os.listdir("/dev/fd")):
        try:
            if os.path.samestat(os.fstat(descriptor), pipe):
                open_for = fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR)
                if open_for in (ways, os.O_RDWR):
                    return True
        except OSError:  # the one that listed them
            continue
    return False


def mkfifo(path: Any, mode: int = 0o666, *, dir_fd: int | None = None) -> None:
    """`os.mkfifo`. From now on, until the end of the execution, code that is not rewritten may open one, too."""
    _real_mkfifo(path, mode, dir_fd=dir_fd)
    before: Any = builtins.open
    if here() is not None and before is _real_open:
        builtins.open = open_
        at_end(functools.partial(setattr, builtins, "open", before))


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """Where `open` is exchanged during a campaign: not in `builtins`, from where classes take it for an attribute."""
    return [(io, {"open": open_}), (os, {"open": open_descriptor, "mkfifo": mkfifo})] if _MODELLED else []


_MODELLED = _real_mkfifo is not None and fcntl is not None
if _MODELLED:
    for _real, _model in ((open, open_), (os.open, open_descriptor), (os.mkfifo, mkfifo)):
        call_instead(_real, _model)
