"""Condition: `threading.Condition` with its waiting under control.

wait() is three operations, each with its point: release the lock (and join the queue of waiters), wait to be
notified, take the lock again. notify() wakes in the order of arrival and needs the lock, as in CPython. A waiter
whose time ran out leaves the queue only when it has the lock again, as in CPython: a notify in between is spent on it.

The methods are put into CPython's own class, so subclasses and conditions that exist already are covered.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from treadle.core.operation import ACQUIRE, RELEASE, SIGNAL, TRY, WAIT
from treadle.threads.primitives.inside import here, name_made_outside, put_back
from treadle.threads.primitives.locks import MODELLED, RLock, adopt_lock, would_block
from treadle.threads.strands import STATE, Strand, SyncObject
from treadle.threads.switching import ALL

Real: Any = threading.Condition
_real_init = Real.__init__
_real_enter = Real.__enter__
_real_wait = Real.wait
_real_wait_for = Real.wait_for
_real_notify = Real.notify


class ConditionQueue(SyncObject):
    """The queue of strands that wait for one condition. A strand goes on when notify has taken it out."""

    __slots__ = ("waiters",)
    label = "Condition"

    def __init__(self, waiters: deque[Any]) -> None:
        self.waiters = waiters

    def ready(self, kind: int, strand: Strand) -> bool:
        return strand not in self.waiters

    def guards(self) -> int:
        return 0  # nobody can go on before the notify that wakes it

    def describe(self) -> str:
        waiting = len(self.waiters)
        return f"{waiting} waiting, not notified" if waiting else "nobody waiting"


def init(self: Any, lock: Any = None) -> None:
    strand = here()
    if strand is None:
        _real_init(self, lock)
        return
    _real_init(self, RLock() if lock is None else adopt_lock(lock, strand))
    self._treadle = waiting = ConditionQueue(self._waiters)
    waiting.treadle_name = strand.fresh("Condition")


def bring_in(self: Any, strand: Strand) -> ConditionQueue:
    """A condition that was made outside: its lock becomes a modelled one for this execution."""
    put_back(
        self, "_lock", "acquire", "release", "_release_save", "_acquire_restore", "_is_owned", "_waiters", "_treadle"
    )
    _real_init(self, adopt_lock(self._lock, strand))
    self._treadle = waiting = ConditionQueue(self._waiters)
    waiting.treadle_name = name_made_outside(self, strand, "Condition")
    return waiting


def _waiting(self: Any, strand: Strand) -> ConditionQueue:
    waiting: ConditionQueue | None = vars(self).get("_treadle")
    return waiting if waiting is not None else bring_in(self, strand)


def enter(self: Any) -> Any:
    strand = here()
    if strand is None:
        return _real_enter(self)
    _waiting(self, strand)
    strand.checks = ALL  # this is Python code in CPython, and calls `__enter__` of its lock
    taken = self._lock.__enter__()
    strand.checks = ALL
    return taken


def exit_(self: Any, *exc: Any) -> Any:
    return self._lock.__exit__(*exc)


def wait(self: Any, timeout: float | None = None) -> bool:
    strand = here()
    if strand is None:
        if timeout is None and "_treadle" in vars(self):
            raise would_block(self)
        return bool(_real_wait(self, timeout))
    waiting = _waiting(self, strand)
    lock = self._lock
    known = issubclass(type(lock), MODELLED)
    if not (lock.owned_by(strand) if known else self._is_owned()):
        raise RuntimeError("cannot wait on un-acquired lock")
    waiters = self._waiters
    if known:
        strand.point(RELEASE, lock)
        depth = lock.let_go(strand)
        waiters.append(strand)
    else:  # a lock of the program's own
        waiters.append(strand)
        depth = self._release_save()
    try:
        if timeout is None:
            notified = strand.point(WAIT, waiting)
        elif timeout > 0:
            notified = strand.point(WAIT, waiting, timeout)
        else:
            strand.point(TRY, waiting)
            notified = strand not in waiters
            if not notified:
                strand.failed()
        if known:
            strand.point(ACQUIRE, lock)
    except BaseException:
        # the execution is over: leave as CPython would, with the lock, so that the `with` around this call can end
        if known:
            lock.take_back(strand, depth)
        raise
    if known:
        lock.take_back(strand, depth)
    else:
        self._acquire_restore(depth)
    if not notified:
        try:
            waiters.remove(strand)
        except ValueError:
            pass
    return notified


def notify(self: Any, n: int = 1) -> None:
    strand = here()
    if strand is None:
        _real_notify(self, n)
        return
    waiting = _waiting(self, strand)
    lock = self._lock
    known = issubclass(type(lock), MODELLED)
    if not (lock.owned_by(strand) if known else self._is_owned()):
        raise RuntimeError("cannot notify on un-acquired lock")
    strand.point(SIGNAL, waiting)
    waiters = self._waiters
    while waiters and n > 0:
        waiters.popleft()
        n -= 1


def wait_for(self: Any, predicate: Any, timeout: float | None = None) -> Any:
    """CPython's own loop; what it asks, perhaps a function in C, is asked as rewritten code would ask it."""
    return _real_wait_for(self, STATE.seen.function(predicate), timeout)


_METHODS = {"__init__": init, "__enter__": enter, "__exit__": exit_, "wait": wait, "wait_for": wait_for}
PATCHES = [(Real, {**_METHODS, "notify": notify})]
