"""Semaphore and BoundedSemaphore: CPython's own classes with one scheduling point per acquire and release.

Any strand that finds the counter above zero may take it, whoever came first: CPython promises no order either.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from treadle.core.operation import ACQUIRE, RELEASE, TRY
from treadle.threads.primitives.inside import here, name_made_outside, put_back
from treadle.threads.primitives.locks import InnerLock
from treadle.threads.strands import Strand, SyncObject

Real: Any = threading.Semaphore
RealBounded: Any = threading.BoundedSemaphore
_real_init = Real.__init__
_real_acquire = Real.acquire
_real_release = Real.release
_real_bounded_release = RealBounded.release


class SemaphoreGuard(InnerLock):
    """In the place of `_cond`. The counter is the semaphore's own `_value`; its life must not depend on the guard."""

    __slots__ = ("semaphore",)
    label = "Semaphore"
    semaphore: weakref.ref[Any]

    @property
    def counter(self) -> int:
        semaphore = self.semaphore()
        return 0 if semaphore is None else int(semaphore._value)

    def ready(self, kind: int, strand: Strand) -> bool:
        return not self._locked and self.counter > 0

    def guards(self) -> int:
        return 0 if self._locked or self.counter <= 0 else 1 << ACQUIRE

    def describe(self) -> str:
        return f"counter at {self.counter}"

    def enter(self, strand: Strand) -> None:
        while self._locked:
            strand.pause((ACQUIRE, self.treadle_name, None), _Open(self), None)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        strand = here()
        if strand is None:
            return super().acquire(blocking, timeout)
        self.enter(strand)  # `with self._cond:` of a subclass takes the lock inside, not the counter
        self._locked = True
        self.owner = strand
        return True

    __enter__ = acquire


class _Open(SyncObject):
    """Ready when the lock inside a semaphore is free."""

    __slots__ = ("inner",)

    def __init__(self, inner: SemaphoreGuard) -> None:
        self.inner = inner
        self.treadle_name = inner.treadle_name

    def ready(self, kind: int, strand: Strand) -> bool:
        return not self.inner._locked

    def guards(self) -> int:
        return self.inner.guards()

    def describe(self) -> str:
        return InnerLock.describe(self.inner)


def init(self: Any, value: int = 1) -> None:
    strand = here()
    if strand is None:
        _real_init(self, value)
        return
    if value < 0:
        raise ValueError("semaphore initial value must be >= 0")
    self._value = value
    self._cond = guard = SemaphoreGuard()
    guard.semaphore = weakref.ref(self)
    guard.treadle_name = strand.fresh("Semaphore")


def bring_in(self: Any, strand: Strand) -> SemaphoreGuard:
    put_back(self, "_cond", "_value")
    guard: SemaphoreGuard
    self._cond = guard = SemaphoreGuard()
    guard.semaphore = weakref.ref(self)
    guard.treadle_name = name_made_outside(self, strand, "Semaphore")
    return guard


def acquire(self: Any, blocking: bool = True, timeout: float | None = None) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_acquire(self, blocking, timeout))
    if not blocking and timeout is not None:
        raise ValueError("can't specify timeout for non-blocking acquire")
    guard = self._cond
    if type(guard) is not SemaphoreGuard:
        guard = bring_in(self, strand)
    if not blocking or (timeout is not None and timeout <= 0):
        strand.point(TRY, guard)
        if guard._locked:
            guard.enter(strand)
        if self._value <= 0:
            strand.failed()
            return False
    elif not strand.point(ACQUIRE, guard, timeout):
        return False
    self._value -= 1
    return True


def _release(self: Any, n: int, most: int | None) -> None:
    strand = here()
    assert strand is not None
    if n < 1:
        raise ValueError("n must be one or more")
    guard = self._cond
    if type(guard) is not SemaphoreGuard:
        guard = bring_in(self, strand)
    strand.point(RELEASE, guard)
    if guard._locked:
        guard.enter(strand)
    if most is not None and self._value + n > most:
        raise ValueError("Semaphore released too many times")
    self._value += n
    guard.wake()


def release(self: Any, n: int = 1) -> None:
    if here() is None:
        _real_release(self, n)
    else:
        _release(self, n, None)


def bounded_release(self: Any, n: int = 1) -> None:
    if here() is None:
        _real_bounded_release(self, n)
    else:
        _release(self, n, self._initial_value)


PATCHES = [
    (Real, {"__init__": init, "acquire": acquire, "__enter__": acquire, "release": release}),
    (RealBounded, {"release": bounded_release}),
]
