"""What is really waited for: sockets, pipes and other processes; several of them at once in `selecting`.

A strand that waits for one of them lets the others run, and goes on when a look at the real thing says that it would
not block. When nobody else can go on, the execution waits really (`threads.real_waits`). All that strands do to the
outside is one location: what one of them sends is what another receives, through the kernel, where nobody sees it.

Keeps: no model here calls what could block before it has seen that it does not.
"""

from __future__ import annotations

import functools
import os
import select as select_module
import signal
import socket as socket_module
import stat
import subprocess
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on this platform
    fcntl = None  # type: ignore[assignment]

from treadle.core.operation import GET, LOOK, PUT, READ, SIGNAL, Operation
from treadle.threads import files
from treadle.threads.primitives.inside import at_end, count_made, here
from treadle.threads.real_waits import WORKING, has_not_ended, threads_beside
from treadle.threads.strands import Strand, SyncObject

_Socket: Any = socket_module.socket
_real_socket: Any = socket_module.socket.__base__  # the one in C
_real_make = _Socket.__init__
_real_accept = _Socket.accept
_real_close = _Socket.close
_real_select: Any = select_module.select
_real_read = os.read
_real_unlink = os.unlink
_real_start = subprocess.Popen.__init__
_real_wait = subprocess.Popen.wait
_real_communicate = subprocess.Popen.communicate
_real_flock: Any = getattr(fcntl, "flock", None)
_real_setitimer: Any = getattr(signal, "setitimer", None)
_real_alarm: Any = getattr(signal, "alarm", None)
_real_poll: Any = getattr(select_module, "poll", None)

# The one location of all that strands do outside.
THE_OUTSIDE = "the outside"
# Seconds of a wait that says no end.
_LONG = 1e6
_HERE = ("127.", "::1", "localhost", "0.0.0.0", "::")  # who listens at all addresses waits for this process, too
# Ports for those who ask for any: below the ones that the system gives, so many for each turn of an execution.
_FIRST_PORT, _A_TURN = 20_480, 64
_PORTS: dict[int, int] = {}  # the port that a turn got the first time
# addresses of the sockets that strands of this execution listen at or are connected from
_OURS: set[Any] = set()
# asked before a strand connects to an address: servers that have no socket until then
BEFORE_CONNECTING: list[Callable[[Strand, Any], None]] = []
# what strands of this execution opened, and how it is closed
_MADE: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = []


class Outside(SyncObject):
    """Something real that a strand waits for: ready when a look at it says so."""

    __slots__ = ("descriptors", "look", "what")
    label = "outside"
    outside = True
    of_several = True  # whether it could have gone on earlier, nobody knows
    look: Callable[[], Any]
    what: str
    descriptors: tuple[int, ...]  # empty: something that is certainly not of this process

    def ready(self, kind: int, strand: Strand) -> bool:
        try:
            return bool(self.look())
        except (OSError, ValueError):  # closed by another strand: who waits goes on, and is told so where it waits
            return True

    def describe(self) -> str:
        return self.what

    def of_this_process(self) -> bool:
        """Can only strands of this execution make it ready? Then there is no use in waiting for it really."""
        return bool(self.descriptors) and are_ours(self.descriptors)


def descriptor_of(thing: Any) -> int:
    return thing if isinstance(thing, int) else int(thing.fileno())


def are_ours(descriptors: Iterable[int]) -> bool:
    return not _others() and all(map(_is_ours, descriptors))


def guard_of(look: Callable[[], Any], what: str, descriptors: Iterable[int] = ()) -> Outside:
    guard = Outside()
    guard.look, guard.what, guard.descriptors = look, what, tuple(descriptors)
    guard.treadle_name = THE_OUTSIDE
    return guard


def act(strand: Strand) -> None:
    """Something is sent, closed or begun: others may receive it."""
    strand.point(SIGNAL, guard_of(bool, "the outside"))


def look(strand: Strand) -> None:
    """It is asked what others have sent, closed or begun."""
    strand.point(LOOK, guard_of(bool, "the outside"))


def _others() -> bool:
    """Is there another process of ours, or a thread that is not a strand, which may do something meanwhile?"""
    if threads_beside():
        return True
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except (AttributeError, OSError):
        return True
    return ended is None or _is_a_child_alive()


def _is_a_child_alive() -> bool:
    """One that has ended and was not asked how does nothing any more. Where nobody can say, one may be alive."""
    try:
        lists = [Path("/proc/self/task", thread, "children") for thread in os.listdir("/proc/self/task")]
        children = [child for one in lists for child in one.read_text().split()]
        states = [Path("/proc", child, "stat").read_text().rpartition(")")[2].split()[0] for child in children]
    except (OSError, IndexError):
        return True
    return any(state != "Z" for state in states)


def _is_ours(descriptor: int) -> bool:
    """A pipe, or a socket whose other end is one of this execution's: nobody else can write to it."""
    if descriptor < 0:
        return True
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode):
            return True
        if not stat.S_ISSOCK(mode):
            return False
        same = _real_socket(fileno=os.dup(descriptor))
    except OSError:
        return False
    try:
        peer = _address(same.getpeername())
        return peer in _OURS or (same.family == getattr(socket_module, "AF_UNIX", None) and not peer)
    except OSError:  # listening, or not connected
        own = same.getsockname()
        return not isinstance(own, tuple) or str(own[0]).startswith(_HERE)
    finally:
        same.close()


def _address(address: Any) -> Any:
    return address[:2] if isinstance(address, tuple) else address


def _note(sock: Any) -> None:
    """Remember an address of ours, until the execution is over."""
    if not _OURS:
        at_end(_OURS.clear)
    try:
        _OURS.add(_address(sock.getsockname()))
    except OSError:
        pass


def is_bound_here(path: Any) -> bool:
    """Is there a Unix socket of this execution at a path?"""
    return path in _OURS


def _readable(descriptor: int) -> bool:
    """Would a read not block? Also when it fails at once."""
    return polled(descriptor, "r")


def _writable(descriptor: int) -> bool:
    return polled(descriptor, "w")


def polled(descriptor: int, way: str) -> bool:
    """Would reading ("r") or writing ("w") not block?"""
    if descriptor < 0:
        return True
    if _real_poll is None:
        try:
            readable, writable, _ = _real_select([descriptor] * (way == "r"), [descriptor] * (way == "w"), [], 0)
        except (OSError, ValueError):
            return True
        return bool(readable or writable)
    poll = _real_poll()
    poll.register(descriptor, select_module.POLLIN if way == "r" else select_module.POLLOUT)
    return bool(poll.poll(0))


# ---------------------------------------------------------------------- sockets


def await_socket(strand: Strand, sock: Any, way: str, what: str) -> None:
    """Wait until a socket can be read or written, as long as its timeout says; a non-blocking one does not wait."""
    timeout, descriptor = sock.gettimeout(), sock.fileno()
    if timeout == 0 or descriptor < 0:
        act(strand)
        return
    look = _readable if way == "r" else _writable
    guard = guard_of(lambda: look(descriptor), f"{what} of a socket", (descriptor,))
    if not strand.point(GET if way == "r" else PUT, guard, timeout):
        raise TimeoutError("timed out")


def _socket_method(name: str, way: str) -> Any:
    """A method of a socket that waits until the socket can be read or written."""
    real = getattr(_real_socket, name)

    def method(self: Any, *args: Any) -> Any:
        strand = here()
        if strand is not None:
            await_socket(strand, self, way, name)
        return real(self, *args)

    method.__name__ = name
    return method


def make(self: Any, *args: Any, **kwargs: Any) -> None:
    """`socket.__init__`. What an execution leaves open is closed behind it: descriptors are numbers that end up in
    names, and whoever is at the other end waits for the end of the stream. What is sent arrives at once: no small piece
    waits in the kernel for an answer to the one before."""
    _real_make(self, *args, **kwargs)
    if here() is not None:
        close_behind(weakref.ref(self), _Socket._real_close)
        if self.type == socket_module.SOCK_STREAM and self.family in (socket_module.AF_INET, socket_module.AF_INET6):
            self.setsockopt(socket_module.IPPROTO_TCP, socket_module.TCP_NODELAY, 1)


def close_behind(made: Callable[[], Any], close: Callable[[Any], Any]) -> None:
    if not _MADE:
        at_end(_close_all)
    _MADE.append((made, close))


def keep_open() -> None:
    """What is made in this execution outlives it."""
    close_behind(lambda: None, _real_close)  # which is undone after what follows
    at_end(_MADE.clear)


def _close_all() -> None:
    while _MADE:
        made, close = _MADE.pop()
        left = made()
        if left is not None and left.fileno() >= 0:
            close(left)


def bind(self: Any, address: Any) -> None:
    """Whoever asks for any free port gets the same one in every execution, also in a replay: it ends up in names."""
    strand = here()
    named = isinstance(address, tuple)
    if strand is not None and named and (self.type == socket_module.SOCK_STREAM or address[1:2] == (0,)):
        # Connections of the execution before still linger.
        _real_socket.setsockopt(self, socket_module.SOL_SOCKET, socket_module.SO_REUSEADDR, 1)
    if strand is None or not named or address[1:2] != (0,):
        _real_socket.bind(self, address)
        if strand is not None and not named:
            _note(self)
            at_end(functools.partial(_take_away, address))
        return
    turn = count_made(strand, "port")
    candidates = range(_FIRST_PORT + _A_TURN * turn, _FIRST_PORT + _A_TURN * (turn + 1))
    for port in ([_PORTS[turn]] if turn in _PORTS else []) + list(candidates):
        try:
            _real_socket.bind(self, (address[0], port, *address[2:]))
        except (OSError, OverflowError):  # another process has it
            continue
        _PORTS[turn] = port
        return
    _real_socket.bind(self, address)


def _take_away(path: Any) -> None:
    """An execution that did not come to its end leaves its Unix sockets behind."""
    try:
        if stat.S_ISSOCK(os.stat(path).st_mode):
            _real_unlink(path)
    except (OSError, ValueError):  # taken away, or without a name in the file system
        pass


def accept(self: Any) -> Any:
    strand = here()
    if strand is not None:
        await_socket(strand, self, "r", "accept")
    made = _real_accept(self)
    if strand is not None:
        _note(made[0])
    return made


def sendall(self: Any, data: Any, flags: int = 0) -> None:
    strand = here()
    if strand is None or self.gettimeout() == 0:
        _real_socket.sendall(self, data, flags)
        return
    left = memoryview(data).cast("B")
    while True:
        await_socket(strand, self, "w", "sendall")
        before = self.gettimeout()
        _real_socket.setblocking(self, False)  # a kernel buffer takes what it has room for
        try:
            left = left[_real_socket.send(self, left, flags) :]
        except BlockingIOError:
            continue
        finally:
            _real_socket.settimeout(self, before)
        if not left:
            return


def _connecting(name: str) -> Any:
    real = getattr(_real_socket, name)

    def method(self: Any, address: Any) -> Any:
        strand = here()
        if strand is None:
            return real(self, address)
        act(strand)
        for ask in BEFORE_CONNECTING:
            ask(strand, address)
        try:
            return real(self, address)
        finally:  # one that does not block has begun
            _note(self)

    return method


def close(self: Any) -> None:
    strand = here()
    if strand is not None and not self._closed and not strand.execution.ending:
        act(strand)
    _real_close(self)


def shutdown(self: Any, how: int) -> None:
    strand = here()
    if strand is not None:
        act(strand)
    _real_socket.shutdown(self, how)


# ---------------------------------------------------------------------- alarms


def setitimer(which: int, seconds: float, interval: float = 0.0) -> Any:
    """A signal that comes in real time, while the sleeps of the program take none: see Execution.alarm."""
    _note_alarm(seconds)
    return _real_setitimer(which, seconds, interval)


def alarm(seconds: int) -> int:
    _note_alarm(seconds)
    return int(_real_alarm(seconds))


def _note_alarm(seconds: float) -> None:
    strand = here()
    if strand is not None:
        strand.execution.alarm = strand.execution.clock.now + seconds if seconds else None


# ---------------------------------------------------------------------- pipes, other processes


def read(descriptor: int, length: int, /) -> bytes:
    strand = here()
    if strand is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
        operations: list[Operation] = []
        files.include(strand, operations, READ, descriptor, looks=False)
        if operations:
            strand.access(*operations[0])
    elif strand is not None and os.get_blocking(descriptor):
        strand.point(GET, guard_of(lambda: _readable(descriptor), "os.read", (descriptor,)))
    return _real_read(descriptor, length)


def start(self: Any, *args: Any, **kwargs: Any) -> None:
    _real_start(self, *args, **kwargs)
    if here() is not None:
        WORKING.append(functools.partial(has_not_ended, self))


def wait(self: Any, timeout: float | None = None) -> Any:
    """`Popen.wait`: another process works in real time, and its time-out is real."""
    strand = here()
    if strand is None or self.returncode is not None:
        return _real_wait(self, timeout)
    if not strand.point(GET, guard_of(lambda: not has_not_ended(self), "the end of another process"), timeout):
        assert timeout is not None
        raise subprocess.TimeoutExpired(self.args, timeout)
    return _real_wait(self, timeout)


def communicate(self: Any, input: Any = None, timeout: float | None = None) -> Any:
    """Without a timeout it would read in C, where nobody else can run."""
    inside = here() is not None and timeout is None
    return _real_communicate(self, input, _LONG if inside else timeout)


# ---------------------------------------------------------------------- locks on files


def flock(file: Any, operation: int, /) -> None:
    strand = here()
    if strand is not None:
        if operation & (fcntl.LOCK_NB | fcntl.LOCK_UN):
            act(strand)
        else:
            descriptor = descriptor_of(file)
            look = functools.partial(_could_lock, descriptor, operation)
            strand.point(GET, guard_of(look, "fcntl.flock", (descriptor,)))
    _real_flock(file, operation)


def _could_lock(descriptor: int, operation: int) -> bool:
    """Would this file be locked at once? Asked through another opening of it, which has locks of its own."""
    try:
        with open(f"/proc/self/fd/{descriptor}", "rb") as again:
            _real_flock(again, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


_READING = ("recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "recvmsg_into")
_WRITING = ("send", "sendto", "sendmsg")

PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (
        _Socket,
        {
            **{name: _socket_method(name, "r") for name in _READING if hasattr(_real_socket, name)},
            **{name: _socket_method(name, "w") for name in _WRITING if hasattr(_real_socket, name)},
            "__init__": make,
            "bind": bind,
            "accept": accept,
            "sendall": sendall,
            "connect": _connecting("connect"),
            "connect_ex": _connecting("connect_ex"),
            "close": close,
            "shutdown": shutdown,
        },
    ),
    *([(fcntl, {"flock": flock})] if _real_flock is not None else []),
    (os, {"read": read}),
    *([(signal, {"setitimer": setitimer, "alarm": alarm})] if _real_alarm is not None else []),
    (subprocess.Popen, {"__init__": start, "wait": wait, "communicate": communicate}),
]
