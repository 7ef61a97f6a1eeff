"""Lock and RLock: what `threading.Lock` and `threading.RLock` make inside an execution.

CPython's own are written in C and would stop the one OS thread that every strand shares, so they are replaced. Outside
an execution `Lock()` gives CPython's own lock; a modelled lock that outlives its execution still works there, with
nobody to wait for: waiting for it is an error that says so.

Invariant: `_locked` is the truth; `owner` is the strand that took the lock, or None when that is not known.
"""

from __future__ import annotations

import _thread
import sys
import threading
from typing import Any
from weakref import ref

from treadle.core.operation import ACQUIRE, LOOK, RELEASE, TRY
from treadle.threads.carriers import in_thread_of
from treadle.threads.primitives.inside import ADOPTED, here, name_made_outside
from treadle.threads.strands import STATE, Strand, SyncObject
from treadle.threads.switching import ALL, ENTERED
from treadle.threads.unwinding import StrandEnd

RealLock = _thread.LockType
make_lock = _thread.allocate_lock
RealRLock: Any = _thread.RLock

_NOT_NEGATIVE = (
    "timeout value must be a non-negative number" if sys.version_info >= (3, 13) else "timeout value must be positive"
)
_IF_FREE = 1 << ACQUIRE


class StandsFor(type):
    """A model of a C type: `isinstance` with it is true for CPython's own objects as well."""

    real: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance) or isinstance(instance, cls.real)


def check_timeout(blocking: bool, timeout: float) -> None:
    """The complaints of CPython about the arguments of acquire()."""
    if not blocking:
        raise ValueError("can't specify a timeout for a non-blocking call")
    if timeout < 0:
        raise ValueError(_NOT_NEGATIVE)
    if timeout > _thread.TIMEOUT_MAX:
        raise OverflowError("timeout value is too large")


def would_block(what: object) -> RuntimeError:
    return RuntimeError(
        f"{what!r} was made inside an execution that is over: no thread is left that could end this wait"
    )


def entered(lock: SyncObject, anew: bool = True) -> bool:
    """`with lock` took it, anew or once more: only some versions look at their eval breaker now. But who had to wait
    for it took it without the GIL, and waits for that in turn."""
    strand = STATE.strand
    if strand is not None:
        constants = strand.execution.constants
        who = (lock.treadle_name, strand.treadle_name)
        waits = constants.contended.get(who, 0) if anew and constants is not None else 0
        strand.checks |= ENTERED
        strand.if_waited |= waits & ALL
    return True


def left() -> None:
    """`with lock` has called `__exit__`: a look follows."""
    strand = STATE.strand
    if strand is not None:
        strand.checks = ALL


class Lock(SyncObject, metaclass=StandsFor):
    """A lock that is not reentrant, and that any strand may release."""

    __slots__ = ("__weakref__", "_locked", "owner")
    label = "Lock"
    in_c = True
    real = RealLock
    _locked: bool
    owner: Strand | None

    def __new__(cls) -> Any:
        strand = here()
        if strand is None:
            return make_lock()
        self = SyncObject.__new__(cls)
        self._locked = False
        self.owner = None
        self.treadle_name = strand.fresh("Lock")
        strand.execution.locks.append(ref(self))
        return self

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        strand = STATE.strand
        if timeout != -1:
            check_timeout(blocking, timeout)
            blocking = timeout > 0
        if strand is None:
            if self._locked:
                if blocking:
                    raise would_block(self)
                return False
            self._locked = True
            return True
        if not blocking:
            strand.point(TRY, self)
            if self._locked:
                strand.failed()
                return False
        elif timeout == -1:
            strand.point(ACQUIRE, self)
        elif not strand.point(ACQUIRE, self, timeout):
            return False
        self._locked = True
        self.owner = strand
        return True

    def release(self) -> None:
        strand = STATE.strand
        if strand is not None:
            strand.point(RELEASE, self)
        if not self._locked:
            raise RuntimeError("release unlocked lock")
        self._locked = False
        self.owner = None
        if strand is not None and strand.held:
            strand.callback()

    def locked(self) -> bool:
        strand = STATE.strand
        if strand is not None:
            strand.point(LOOK, self)
        return self._locked

    def __enter__(self) -> bool:
        self.acquire()
        return entered(self)

    def __exit__(self, *exc: object) -> None:
        self.release()
        left()

    # the old names, still there in CPython
    acquire_lock = acquire
    release_lock = release
    locked_lock = locked

    def _at_fork_reinit(self) -> None:
        self._locked = False
        self.owner = None

    def __repr__(self) -> str:
        state = "locked" if self._locked else "unlocked"
        return f"<{state} _thread.lock object at {id(self):#x}>"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """`isinstance(lock, type(threading.Lock()))` was written with CPython's own lock in mind."""
        return RealLock

    # ------------------------------------------------------------------ for the scheduler

    def ready(self, kind: int, strand: Strand) -> bool:
        return not self._locked

    def guards(self) -> int:
        return 0 if self._locked else _IF_FREE

    def describe(self) -> str:
        if not self._locked:
            return "free"
        return f"held by {self.owner.name}" if self.owner is not None else "held by nobody known"

    # ------------------------------------------------------------------ for Condition

    def owned_by(self, strand: Strand) -> bool:
        """CPython cannot tell who took a plain lock: it takes any locked one for the caller's own."""
        if self.owner is strand:
            return True
        strand.point(LOOK, self)
        return self._locked

    def let_go(self, strand: Strand) -> int:
        """Free the lock whatever its depth, as part of the operation that has just been announced."""
        self._locked = False
        self.owner = None
        return 1

    def take_back(self, strand: Strand, depth: int) -> None:
        """Own the lock again, as deep as before."""
        self._locked = True
        self.owner = strand


class RLock(SyncObject, metaclass=StandsFor):
    """A lock that its owner may take again. Only the outermost acquire and release are scheduling points: what the
    owner does in between changes nothing for anybody else."""

    __slots__ = ("__weakref__", "_count", "owner")
    label = "RLock"
    in_c = True
    real = RealRLock
    _count: int
    owner: Strand | None

    def __new__(cls) -> Any:
        strand = here()
        return RealRLock() if strand is None else cls.named(strand, strand.fresh("RLock"))

    @classmethod
    def named(cls, strand: Strand, name: str) -> RLock:
        """A lock of this execution."""
        self = SyncObject.__new__(cls)
        self._count = 0
        self.owner = None
        self.treadle_name = name
        strand.execution.locks.append(ref(self))
        return self

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        strand = STATE.strand
        if timeout != -1:
            check_timeout(blocking, timeout)
            blocking = timeout > 0
        if self._count and self.owner is strand:
            self._count += 1
            return True
        if strand is None:
            if self._count:
                if blocking:
                    raise would_block(self)
                return False
        elif not blocking:
            strand.point(TRY, self)
            if self._count:
                strand.failed()
                return False
        elif timeout == -1:
            strand.point(ACQUIRE, self)
        elif not strand.point(ACQUIRE, self, timeout):
            return False
        self._count = 1
        self.owner = strand
        return True

    def release(self) -> None:
        strand = STATE.strand
        if not self._count or self.owner is not strand:
            raise RuntimeError("cannot release un-acquired lock")
        if self._count > 1:
            self._count -= 1
            return
        if strand is not None:
            strand.point(RELEASE, self)
        self._count = 0
        self.owner = None
        if strand is not None and strand.held:
            strand.callback()

    def __enter__(self) -> bool:
        self.acquire()
        return entered(self, self._count == 1)

    def __exit__(self, *exc: object) -> None:
        self.release()
        left()

    if sys.version_info >= (3, 14):

        def locked(self) -> bool:
            strand = STATE.strand
            if strand is not None:
                strand.point(LOOK, self)
            return self._count > 0

    def _is_owned(self) -> bool:
        return self._count > 0 and self.owner is STATE.strand

    def _recursion_count(self) -> int:
        return self._count if self.owner is STATE.strand else 0

    def _release_save(self) -> tuple[int, Strand | None]:
        if not self._count:
            raise RuntimeError("cannot release un-acquired lock")
        strand = STATE.strand
        if strand is not None:
            strand.point(RELEASE, self)
        saved = (self._count, self.owner)
        self._count = 0
        self.owner = None
        return saved

    def _acquire_restore(self, saved: tuple[int, Strand | None]) -> None:
        strand = STATE.strand
        if strand is not None:
            strand.point(ACQUIRE, self)
        elif self._count:
            raise would_block(self)
        self._count, self.owner = saved

    def _at_fork_reinit(self) -> None:
        self._count = 0
        self.owner = None

    def __repr__(self) -> str:
        state = "locked" if self._count else "unlocked"
        owner = self.owner.ident if self.owner is not None else 0
        return f"<{state} _thread.RLock object owner={owner} count={self._count} at {id(self):#x}>"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return RealRLock

    # ------------------------------------------------------------------ for the scheduler

    def ready(self, kind: int, strand: Strand) -> bool:
        return not self._count

    def guards(self) -> int:
        return 0 if self._count else _IF_FREE

    def describe(self) -> str:
        if not self._count:
            return "free"
        return f"held by {self.owner.name}" if self.owner is not None else "held by nobody known"

    # ------------------------------------------------------------------ for Condition

    def owned_by(self, strand: Strand) -> bool:
        return self._count > 0 and self.owner is strand

    def let_go(self, strand: Strand) -> int:
        depth = self._count
        self._count = 0
        self.owner = None
        return depth

    def take_back(self, strand: Strand, depth: int) -> None:
        self._count = depth
        self.owner = strand


class InnerLock(Lock):
    """Stands where CPython keeps the lock or condition inside an Event, a Semaphore, a Queue or a Future.

    The operations of such an object are announced on its guard. A subclass of the program's own that takes the inner
    lock itself (`with queue.mutex:`, `with self._cond:`) takes the guard, and shuts the operations out meanwhile:
    `ready` of every guard is false while it is locked, and an operation that does not wait calls `enter`.
    """

    __slots__ = ("_condition",)
    in_c = False
    _condition: Any

    def __new__(cls) -> Any:
        self = SyncObject.__new__(cls)
        self._locked = False
        self.owner = None
        self._condition = None
        return self

    def enter(self, strand: Strand) -> None:
        """Wait until nobody is inside."""
        while self._locked:
            strand.point(ACQUIRE, self)

    def leave(self, strand: Strand, since: int) -> None:
        """Open the guard that was closed while code of the program ran; a release when that code met a point."""
        if strand.execution.step != since:
            try:
                strand.point(RELEASE, self)
            except StrandEnd:
                self.let_go(strand)
                raise
        self.let_go(strand)

    # what the code of CPython and of subclasses calls on an inner condition

    def _inner(self) -> Any:
        if self._condition is None:
            self._condition = threading.Condition(self)  # type: ignore[arg-type]
        return self._condition

    def wait(self, timeout: float | None = None) -> bool:
        if STATE.strand is None:
            if timeout is None:
                raise would_block(self)
            return False
        return bool(self._inner().wait(timeout))

    def wait_for(self, predicate: Any, timeout: float | None = None) -> Any:
        return self._inner().wait_for(predicate, timeout)

    def notify(self, n: int = 1) -> None:
        if self._condition is not None:
            self._condition.notify(n)

    def notify_all(self) -> None:
        if self._condition is not None:
            self._condition.notify_all()

    def wake(self) -> None:
        """Wake those who wait on the inner condition themselves; part of an operation that was announced."""
        if self._condition is not None:
            self._condition._waiters.clear()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self)


MODELLED = (Lock, RLock)


def adopt_lock(lock: Any, strand: Strand) -> Any:
    """The model of a lock of CPython's own, one for the whole execution; any other object as it is."""
    kind = type(lock)
    if kind is not RealLock and kind is not RealRLock:
        return lock
    known = ADOPTED.get(id(lock))
    if known is not None:
        return known[1]
    model: Any
    held = repr(lock).startswith("<locked")
    if kind is RealLock:
        model = SyncObject.__new__(Lock)
        model._locked = held
        model.owner = None
    else:
        model = SyncObject.__new__(RLock)
        count = in_thread_of(strand.execution.pool.hub, lock._recursion_count)
        model._count = (count or 1) if held else 0
        # what was taken before the execution was taken by the code that now is its main strand
        owned = in_thread_of(strand.execution.pool.hub, lock._is_owned)
        model.owner = strand.execution.strands[0] if owned else None
    model.treadle_name = name_made_outside(lock, strand, model.label)
    ADOPTED[id(lock)] = (lock, model)
    strand.execution.locks.append(ref(model))
    return model
