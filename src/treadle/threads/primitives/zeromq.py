"""Sockets of ZeroMQ between threads: who waits for a message lets the others run.

Keeps, as `outside` does: nothing blocks. Messages travel in threads of the library, in real time: so do sleeps once a
socket was used, because programs sleep until a subscription has arrived.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

from treadle.core.operation import GET
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import act, guard_of
from treadle.threads.real_waits import WORKING
from treadle.threads.strands import AFTER_EXECUTION, Strand
from treadle.threads.virtual_time import LATE


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """As it stands now: zmq is not imported for this."""
    zmq = sys.modules.get("zmq")
    context, poller, socket = (getattr(zmq, name, None) for name in ("Context", "Poller", "Socket"))
    if context is None or poller is None or socket is None:  # it is being imported
        return []
    waits = {
        "recv": _waiting(zmq, socket.recv, "recv", "POLLIN", "RCVTIMEO"),
        "send": _waiting(zmq, socket.send, "send", "POLLOUT", "SNDTIMEO"),
    }
    makes, polls = {"socket": _making(context.socket)}, {"poll": _polling(zmq, poller.poll)}
    return [(context, makes), (poller, polls), (socket, waits)]


# Sockets of this execution. One that it left open would keep its context from ending, for ever, whenever the garbage
# collector comes to it.
_MADE: list[weakref.ref[Any]] = []


def _close_all() -> None:
    for made in _MADE:
        socket = made()
        if socket is not None:
            socket.close(linger=0)
    _MADE.clear()


AFTER_EXECUTION.append(_close_all)


def _works() -> bool:
    return True


def _note(strand: Strand) -> None:
    if _works not in WORKING:
        WORKING.append(_works)
    strand.execution.assumed.add("messages of zmq (real)")


def _making(real: Any) -> Any:
    def socket(self: Any, *args: Any, **kwargs: Any) -> Any:
        strand = here()
        made = real(self, *args, **kwargs)
        if strand is not None:
            _note(strand)
            _MADE.append(weakref.ref(made))
        return made

    return socket


def _look(zmq: Any, ask: Callable[[], Any]) -> Callable[[], Any]:
    """A question that the library may refuse to answer, of a socket that somebody has closed: then whoever waits for it
    goes on, and is told so."""

    def look() -> Any:
        try:
            return ask()
        except zmq.ZMQError:
            return True

    return look


def _polling(zmq: Any, real: Any) -> Any:
    def poll(self: Any, timeout: Any = None) -> Any:
        """Milliseconds; None and what is below zero is for ever."""
        strand = here()
        if strand is None:
            return real(self, timeout)
        _note(strand)
        if timeout is not None and 0 <= timeout < 1:
            act(strand)
            strand.execution.clock.now += LATE
        else:
            seconds = None if timeout is None or timeout < 0 else timeout / 1000
            strand.point(GET, guard_of(_look(zmq, lambda: real(self, 0)), "zmq.Poller.poll"), seconds)
        return real(self, 0)

    return poll


def _waiting(zmq: Any, real: Any, name: str, ready: str, time_limit: str) -> Any:
    event, limit = getattr(zmq, ready), getattr(zmq, time_limit)

    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        strand = here()
        if strand is None or self.closed:
            return real(self, *args, **kwargs)
        _note(strand)
        behind = args[1:] if name == "send" else args
        flags = kwargs.get("flags", behind[0] if behind else 0)
        if flags & zmq.DONTWAIT:
            act(strand)
            return real(self, *args, **kwargs)
        most = self.getsockopt(limit)
        guard = guard_of(_look(zmq, lambda: self.getsockopt(zmq.EVENTS) & event), f"zmq.Socket.{name}")
        if strand.point(GET, guard, None if most < 0 else most / 1000):
            return real(self, *args, **kwargs)
        raise zmq.Again

    return wait
