"""What strands run on: greenlets of one OS thread, or OS threads that hand on a baton.

Greenlets are thirty times as fast and the default. Where there is no greenlet that works (free-threaded builds), or
where `TREADLE_STRANDS=threads` asks for it, a carrier is an OS thread that runs only while it has the baton: the same
switches, so the same executions, trails and verdicts. The names are greenlet's: `greenlet`, `getcurrent`,
`GreenletExit`; only what Treadle uses of them is here.

Keeps: exactly one carrier of a family runs at a time; `switch` returns in the caller when somebody switches back.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import decimal
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from treadle.core.errors import UsageError

# CPython's own, also while a campaign has put models in their place
_new_lock = _thread.allocate_lock
_start = _thread.start_new_thread
_local = _thread._local
_gettrace = threading.gettrace
os_thread = _thread.get_ident


# How long a thread may take to notice that it is to end.
_LAST_SECONDS = 1.0


class CarrierExit(BaseException):
    """Ends a carrier that nobody needs any more."""


class Carrier:
    """An OS thread that has the baton or waits for it."""

    def __init__(self, run: Any = None, parent: Carrier | None = None) -> None:
        self.parent = parent
        self.gr_context: contextvars.Context | None = None
        self.dead = False
        self._run = run
        self._turn = _new_lock()
        self._turn.acquire()
        self._ident = 0  # of the OS thread, 0 before it is started
        self._value: Any = None
        self._error: BaseException | None = None
        self._abandoned = False
        self._errand: tuple[Callable[[], Any], Carrier] | None = None
        self._answer: Any = None

    @property
    def gr_frame(self) -> FrameType | None:
        """Where it stands, if it is not the one that asks."""
        return None if self is _current() else sys._current_frames().get(self._ident)

    def switch(self, value: Any = None) -> Any:
        """Hand the baton to this carrier; returns when it comes back."""
        return self._hand_over(value, None)

    def throw(self, error: type[BaseException] | BaseException = CarrierExit) -> Any:
        """Hand the baton over together with an exception, raised where this carrier stands."""
        return self._hand_over(None, error() if isinstance(error, type) else error)

    def _hand_over(self, value: Any, error: BaseException | None) -> Any:
        me = _current()
        if self.dead or (error is not None and self._run is not None and not self._ident):
            self.dead = True  # thrown into before it was started: it never runs
            return None
        if self is me:
            if error is not None:
                raise error
            return value
        if _BATON.holder is self:  # a signal called me back while it runs, or blocks
            return self._give_up(me, error)
        self._value, self._error = value, error
        _BATON.holder = self
        if self._run is not None and not self._ident:
            _start(self._live, ())
        else:
            self._turn.release()
        return me._wait()

    def ask(self, errand: Callable[[], Any]) -> Any:
        """Have the thread of this carrier, which waits, do something that only it can: read its own thread-locals."""
        self._errand = (errand, _current())
        self._turn.release()
        _current()._turn.acquire()
        return self._answer

    def _wait(self) -> Any:
        self._turn.acquire()
        while self._errand is not None:
            (errand, asking), self._errand = self._errand, None
            self._answer = errand()
            asking._turn.release()
            self._turn.acquire()
        _BATON.holder = self
        error, self._error = self._error, None
        if error is not None:
            raise error
        value, self._value = self._value, None
        return value

    def _give_up(self, me: Carrier, error: BaseException | None) -> None:
        """Ask a running thread to end, and leave it alone if it does not: it may wait in C for ever."""
        kind = type(error) if error is not None else CarrierExit
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._ident), ctypes.py_object(kind))
        if not me._turn.acquire(timeout=_LAST_SECONDS):
            self._abandoned = True
        self.dead = True
        _BATON.holder = me

    def _live(self) -> None:
        self._ident = os_thread()
        _HERE.carrier = self
        sys.settrace(_gettrace())  # as in a thread of the threading module: coverage measures there
        result: Any = None
        error: BaseException | None = None
        try:
            result = self._run()
        except CarrierExit:
            pass
        except BaseException as problem:
            error = problem
        self.dead = True
        if not self._abandoned:
            assert self.parent is not None
            self.parent._value, self.parent._error = result, error
            self.parent._turn.release()


class _Baton:
    """Who may run."""

    holder: Carrier | None = None


_BATON = _Baton()


def is_abandoned(carrier: Any) -> bool:
    """Is this a thread that was left alone because it did not end? It must touch nothing any more."""
    return getattr(carrier, "_abandoned", False)


def running_frame(frame: FrameType | None) -> FrameType | None:
    """Where the program stands, for a signal that the main thread handles in `frame`."""
    holder = _BATON.holder
    if holder is None or holder is _current():
        return frame
    return sys._current_frames().get(holder._ident, frame)


def finalises() -> bool:
    """Is the caller, at some distance, a finaliser?"""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


class _Here(_local):
    """The carrier of the OS thread that asks: one is made for a thread that is none."""

    def __init__(self) -> None:
        self.carrier = Carrier()
        self.carrier._ident = os_thread()


_HERE = _Here()


def _current() -> Carrier:
    return _HERE.carrier


def wanted() -> str:
    """Which kind of carrier this process uses: `greenlets` or `threads`."""
    asked = os.environ.get("TREADLE_STRANDS", "")
    if asked not in ("", "greenlets", "threads"):
        raise UsageError(f"TREADLE_STRANDS must be 'greenlets' or 'threads', not '{asked}'")
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if free_threaded and sys.version_info < (3, 13, 0, "final"):
        raise UsageError(
            "pre-releases of free-threaded Python 3.13 crash when they are asked what an object refers to; use 3.13.0"
        )
    return asked or ("threads" if free_threaded else "greenlets")


def main_context(outside: contextvars.Context | None = None) -> contextvars.Context:
    """What the main strand starts in: the context outside, that of the caller, and always with a decimal context in it,
    which some processes have made before (those that run pytest) and some have not. Contexts are named by what is in
    them. It is one of its own: what an execution sets there (`getcontext().prec = 5`) is not for the next one."""
    context = contextvars.copy_context() if outside is None else outside.copy()
    context.run(decimal.setcontext, context.run(decimal.getcontext).copy())
    return context


def _in_context(carrier: Any, run: Callable[[], Any]) -> Any:
    """Run a strand in the context that its carrier was given; a greenlet does that by itself."""
    context = carrier.gr_context if carrier.gr_context is not None else contextvars.Context()
    return context.run(run)


def _as_it_is(carrier: Any, run: Callable[[], Any]) -> Any:
    return run()


if TYPE_CHECKING or wanted() == "greenlets":
    from greenlet import GreenletExit, getcurrent, greenlet

    begin, in_thread_of = _as_it_is, _as_it_is
else:
    greenlet, getcurrent, GreenletExit = Carrier, _current, CarrierExit
    begin, in_thread_of = _in_context, Carrier.ask

__all__ = [
    "Carrier",
    "CarrierExit",
    "GreenletExit",
    "begin",
    "finalises",
    "getcurrent",
    "greenlet",
    "in_thread_of",
    "is_abandoned",
    "os_thread",
    "running_frame",
    "wanted",
]
