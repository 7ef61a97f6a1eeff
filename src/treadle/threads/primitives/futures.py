"""concurrent.futures.Future, wait() and as_completed(): one scheduling point per operation.

The operations of all futures are announced on one object, `Future`, each with its own future as key, so that different
futures do not conflict; wait() and as_completed(), which look at several at once, are announced on the whole of it: as
WAIT when they need all of them, as GET when one of several will do.
Once a future is done it stays so: whoever waits goes on when it is chosen, with what is done by then.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures as package
from concurrent.futures import _base
from typing import Any

from treadle.core.operation import ACQUIRE, GET, LOOK, MULTI, SIGNAL, TRY, WAIT
from treadle.threads.names import publish
from treadle.threads.primitives.inside import here, name_made_outside, put_back
from treadle.threads.primitives.locks import InnerLock
from treadle.threads.strands import STATE, Strand, SyncObject
from treadle.threads.unwinding import StrandEnd

Real: Any = _base.Future
_real_init = Real.__init__
_real_repr = Real.__repr__
_real_cancel = Real.cancel
_real_cancelled = Real.cancelled
_real_running = Real.running
_real_done = Real.done
_real_add_done_callback = Real.add_done_callback
_real_result = Real.result
_real_exception = Real.exception
_real_set_running = Real.set_running_or_notify_cancel
_real_set_result = Real.set_result
_real_set_exception = Real.set_exception
_real_wait = _base.wait
_real_as_completed = _base.as_completed
_real_result_or_cancel = _base._result_or_cancel  # type: ignore[attr-defined]

PENDING, RUNNING, FINISHED = "PENDING", "RUNNING", "FINISHED"
CANCELLED, NOTIFIED = "CANCELLED", "CANCELLED_AND_NOTIFIED"
_DONE = frozenset({CANCELLED, NOTIFIED, FINISHED})
_REPORTED = frozenset({NOTIFIED, FINISHED})  # done for wait() and as_completed(): a worker has seen a cancellation
_NAME = "Future"


class _Falsy(Exception):
    def __bool__(self) -> bool:
        return False


def _falsy_is_raised() -> bool:
    """Does result() raise an exception that is false? Before 3.13.4 it returned None."""
    future = Real()
    future.set_exception(_Falsy())
    try:
        future.result()
    except _Falsy:
        return True
    return False


_FALSY_RAISED = _falsy_is_raised()


class FutureGuard(InnerLock):
    """In the place of `_condition`, whose lock its owner may take again: subclasses of the program's own do. `waiters`
    are those of wait() and as_completed() that include this future."""

    __slots__ = ("again", "future", "key", "made_here", "waiters")
    label = "Future"
    future: Any
    made_here: bool  # in this execution, and not brought in from outside
    key: str
    waiters: list[Waiter]
    again: int  # how often its owner has taken it beyond the first time

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self.shuts_out(here()):
            return super().acquire(blocking, timeout)
        self.again += 1
        return True

    def release(self) -> None:
        if self.again:
            self.again -= 1
        else:
            super().release()

    def let_go(self, strand: Strand) -> int:
        depth, self.again = self.again, 0
        return depth + super().let_go(strand)

    def take_back(self, strand: Strand, depth: int) -> None:
        super().take_back(strand, depth)
        self.again = depth - 1

    def shuts_out(self, strand: Strand | None) -> bool:
        return self.owner is None or self.owner is not strand

    def ready(self, kind: int, strand: Strand) -> bool:
        free = not self._locked or not self.shuts_out(strand)
        return free and (kind == ACQUIRE or self.future._state in _DONE)

    def guards(self) -> int:
        mask = 1 << WAIT if self.future._state in _DONE else 0
        if not self._locked:
            mask |= 1 << ACQUIRE
        if not self.waiters:
            return mask | 1 << GET  # whoever waits for one of several may come yet, and be content with another one
        for waiter in self.waiters:
            if waiter.satisfied() or len(waiter.pending) > 1:
                return mask | 1 << GET
        return mask

    def describe(self) -> str:
        return str(self.future._state).lower().replace("_", " ")


def _equip(self: Any) -> FutureGuard:
    guard: FutureGuard
    self._condition = guard = FutureGuard()
    guard.future = self
    guard.waiters = []
    guard.made_here = False
    guard.again = 0
    return guard


def _named(guard: FutureGuard, name: str) -> FutureGuard:
    guard.treadle_name = name
    guard.key = name.removeprefix("Future#")
    return guard


def init(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_init(self)
        return
    self._state = PENDING
    self._result = None
    self._exception = None
    self._waiters = []
    self._done_callbacks = []
    _named(_equip(self), strand.fresh("Future")).made_here = True


def guard_of(self: Any, strand: Strand) -> FutureGuard:
    guard = self._condition
    if type(guard) is FutureGuard:
        return guard
    put_back(self, "_condition", "_state", "_result", "_exception", "_waiters", "_done_callbacks")
    self._waiters = []
    self._done_callbacks = list(self._done_callbacks)
    return _named(_equip(self), name_made_outside(self, strand, "Future"))


def _operate(self: Any, strand: Strand, kind: int, begun: bool = False) -> FutureGuard:
    """The point before an operation on one future that does not wait, and that has to do with whether it was begun."""
    guard = guard_of(self, strand)
    whole = (kind, _NAME, guard.key)
    strand.pending = (MULTI, None, (whole, (kind, _NAME, _begun(guard)))) if begun else whole
    _arrive(strand, guard)
    return guard


def _begun(guard: FutureGuard) -> str:
    """Whether a worker has begun with it: only `cancel` and `running` ask for that, and others commute with it."""
    return f"{guard.key} begun"


def _arrive(strand: Strand, guard: FutureGuard) -> None:
    strand.touched = guard
    strand.execution.advance(strand)
    strand.touched = None
    if guard._locked and guard.shuts_out(strand):
        guard.enter(strand)


def _wait_until_done(self: Any, strand: Strand, timeout: float | None) -> None:
    """The point before taking the result. Raises TimeoutError and CancelledError."""
    guard = guard_of(self, strand)
    if timeout is not None and timeout <= 0:
        _operate(self, strand, LOOK)
    else:
        execution = strand.execution
        deadline = None if timeout is None else execution.clock.now + timeout
        kind = LOOK if execution.any_timeout and timeout is not None else WAIT
        strand.pause((kind, _NAME, guard.key), guard, deadline)
    if self._state in (CANCELLED, NOTIFIED):
        raise package.CancelledError
    if self._state != FINISHED:
        raise TimeoutError


def result(self: Any, timeout: float | None = None) -> Any:
    strand = here()
    if strand is None:
        return _real_result(self, timeout)
    try:
        _wait_until_done(self, strand, timeout)
        if self._exception is not None and (_FALSY_RAISED or self._exception):
            raise self._exception
        return self._result
    finally:
        del self  # the exception's traceback would keep this future alive


def exception(self: Any, timeout: float | None = None) -> Any:
    strand = here()
    if strand is None:
        return _real_exception(self, timeout)
    _wait_until_done(self, strand, timeout)
    return self._exception


def cancel(self: Any) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_cancel(self))
    guard = _operate(self, strand, SIGNAL, begun=True)
    if self._state in (RUNNING, FINISHED):
        return False
    if self._state == PENDING:
        self._state = CANCELLED
        guard.wake()
        _call_back(self)
    return True


def cancelled(self: Any) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_cancelled(self))
    _operate(self, strand, LOOK)
    return self._state in (CANCELLED, NOTIFIED)


def running(self: Any) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_running(self))
    _operate(self, strand, LOOK, begun=True)
    return bool(self._state == RUNNING)


def done(self: Any) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_done(self))
    _operate(self, strand, LOOK)
    return self._state in _DONE


def log(level: str, *message: Any) -> None:
    """What CPython logs, where the program has set up a logger to see it; not again and again to the terminal."""
    if _base.LOGGER.hasHandlers():
        getattr(_base.LOGGER, level)(*message, exc_info=True)


def _call(callback: Callable[[Any], object], future: Any) -> None:
    try:
        STATE.seen.function(callback)(future)
    except StrandEnd:
        raise
    except Exception:
        log("error", "exception calling callback for %r", future)


def _call_back(self: Any) -> None:
    for callback in self._done_callbacks:
        _call(callback, self)


def add_done_callback(self: Any, fn: Callable[[Any], object]) -> None:
    strand = here()
    if strand is None:
        _real_add_done_callback(self, fn)
        return
    _operate(self, strand, SIGNAL)
    if self._state in _DONE:
        _call(fn, self)
    else:
        self._done_callbacks.append(fn)


def set_running_or_notify_cancel(self: Any) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_set_running(self))
    guard = guard_of(self, strand)
    strand.pending = (SIGNAL, _NAME, _begun(guard))
    _arrive(strand, guard)
    if self._state == CANCELLED:
        self._state = NOTIFIED
        _tell_waiters(self)
        return False
    if self._state == PENDING:
        self._state = RUNNING
        return True
    raise RuntimeError("Future in unexpected state")


def _finish(self: Any, strand: Strand, value: Any, error: BaseException | None) -> None:
    publish(strand, value)
    guard = _operate(self, strand, SIGNAL)
    if self._state in _DONE:
        raise package.InvalidStateError(f"{self._state}: {self!r}")
    self._result = value
    self._exception = error
    self._state = FINISHED
    _tell_waiters(self)
    guard.wake()
    _call_back(self)


def set_result(self: Any, result: Any) -> None:
    strand = here()
    if strand is None:
        _real_set_result(self, result)
    else:
        _finish(self, strand, result, None)


def set_exception(self: Any, exception: BaseException | None) -> None:
    strand = here()
    if strand is None:
        _real_set_exception(self, exception)
    else:
        _finish(self, strand, None, exception)


def repr_(self: Any) -> str:
    if type(self._condition) is not FutureGuard:
        return str(_real_repr(self))
    words = {CANCELLED: "cancelled", NOTIFIED: "cancelled"}
    text = f"<{type(self).__name__} at {id(self):#x} state={words.get(self._state, self._state.lower())}"
    if self._state == FINISHED:
        what, value = ("raised", self._exception) if self._exception else ("returned", self._result)
        text += f" {what} {type(value).__name__}"
    return text + ">"


def hash_(self: Any) -> int:
    """The sets that wait() returns are looped over: in the same order in every execution, so not by address."""
    guard = self._condition
    if type(guard) is FutureGuard and guard.made_here:
        return zlib.crc32(guard.treadle_name.encode())
    return object.__hash__(self)


# ---------------------------------------------------------------------- several futures at once


class Waiter(SyncObject):
    """Somebody who waits for several futures. `enough` says when it may go on."""

    __slots__ = ("enough", "finished", "pending")
    label = "Future"
    of_several = True

    def __init__(self, fs: Iterable[Any], strand: Strand, enough: Callable[[Waiter], bool]) -> None:
        self.treadle_name = _NAME
        self.enough = enough
        self.pending = set(fs)
        self.finished: list[Any] = []  # in the order in which they finished; those done already by name
        guards = [guard_of(future, strand) for future in self.pending]
        for guard in sorted(guards, key=lambda guard: guard.treadle_name):
            guard.waiters.append(self)
            if guard.future._state in _REPORTED:
                self.saw(guard.future)

    def saw(self, future: Any) -> None:
        self.finished.append(future)
        self.pending.discard(future)

    def leave(self, futures: Iterable[Any]) -> None:
        for future in futures:
            guard = future._condition
            if type(guard) is FutureGuard and self in guard.waiters:
                guard.waiters.remove(self)

    def satisfied(self) -> bool:
        return self.enough(self)

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.enough(self)

    def guards(self) -> int:
        return (1 << GET | 1 << WAIT) if self.enough(self) else 0

    def describe(self) -> str:
        return f"{len(self.pending)} not done"


def _tell_waiters(future: Any) -> None:
    for waiter in future._condition.waiters:
        waiter.saw(future)


def _wait_for(waiter: Waiter, strand: Strand, deadline: float | None) -> bool:
    execution = strand.execution
    if deadline is not None and deadline <= execution.clock.now:
        strand.pending = (LOOK, _NAME, None)
        strand.touched = waiter
        execution.advance(strand)
        strand.touched = None
        return waiter.satisfied()
    needs_all = waiter.enough is _none_pending
    if execution.any_timeout and deadline is not None:
        kind = LOOK if needs_all else TRY
    else:
        kind = WAIT if needs_all else GET
    return strand.pause((kind, _NAME, None), waiter, deadline)


def _any_finished(waiter: Waiter) -> bool:
    return bool(waiter.finished)


def _none_pending(waiter: Waiter) -> bool:
    return not waiter.pending


def _failure_or_none_pending(waiter: Waiter) -> bool:
    return not waiter.pending or any(f._state == FINISHED and f._exception for f in waiter.finished)


_ENOUGH = {
    package.FIRST_COMPLETED: _any_finished,
    package.FIRST_EXCEPTION: _failure_or_none_pending,
    package.ALL_COMPLETED: _none_pending,
}


def wait(fs: Iterable[Any], timeout: float | None = None, return_when: str = package.ALL_COMPLETED) -> Any:
    strand = here()
    if strand is None:
        return _real_wait(fs, timeout, return_when)
    everything = set(STATE.seen.taken(fs))
    enough = _ENOUGH.get(return_when)
    if enough is None:
        raise ValueError(f"Invalid return condition: {return_when!r}")
    if not everything:
        return _base.DoneAndNotDoneFutures(set(), set())
    waiter = Waiter(everything, strand, enough)
    try:
        _wait_for(waiter, strand, None if timeout is None else strand.execution.clock.now + timeout)
    finally:
        waiter.leave(everything)
    finished = set(waiter.finished)
    return _base.DoneAndNotDoneFutures(finished, everything - finished)


def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    strand = here()
    if strand is None:
        return iter(_real_as_completed(fs, timeout))
    return _as_completed(fs, timeout)


def _as_completed(fs: Iterable[Any], timeout: float | None) -> Iterator[Any]:
    strand = here()
    if strand is None:
        yield from _real_as_completed(fs, timeout)
        return
    deadline = None if timeout is None else strand.execution.clock.now + timeout
    left = set(STATE.seen.taken(fs))
    total = len(left)
    waiter = Waiter(left, strand, _any_finished)
    try:
        while left:
            strand = here() or strand
            if not _wait_for(waiter, strand, deadline):
                raise TimeoutError(f"{len(left)} (of {total}) futures unfinished")
            batch = waiter.finished[::-1]
            waiter.finished.clear()
            left.difference_update(batch)
            waiter.leave(batch)
            while batch:
                yield batch.pop()
    finally:
        waiter.leave(left)


def result_or_cancel(fut: Any, timeout: float | None = None) -> Any:
    """For Executor.map: cancelling a future whose result was just taken does nothing, and needs no point."""
    if here() is None:
        return _real_result_or_cancel(fut, timeout)
    try:
        return fut.result(timeout)
    finally:
        if fut._state not in _DONE:
            fut.cancel()
        del fut


PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (
        Real,
        {
            "__init__": init,
            "__repr__": repr_,
            "__hash__": hash_,
            "cancel": cancel,
            "cancelled": cancelled,
            "running": running,
            "done": done,
            "add_done_callback": add_done_callback,
            "result": result,
            "exception": exception,
            "set_running_or_notify_cancel": set_running_or_notify_cancel,
            "set_result": set_result,
            "set_exception": set_exception,
        },
    ),
    (_base, {"wait": wait, "as_completed": as_completed, "_result_or_cancel": result_or_cancel}),
    (package, {"wait": wait, "as_completed": as_completed}),
]
