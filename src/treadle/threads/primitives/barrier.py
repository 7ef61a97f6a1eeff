"""Barrier: CPython's own class; arriving, waiting for the others, abort and reset are one operation each.

The last to arrive runs the action and opens the barrier. While the action runs nobody else gets in, as in CPython,
where it runs under the barrier's lock. The state is the barrier's own: 0 filling, 1 draining, -1 resetting, -2 broken.
"""

from __future__ import annotations

import threading
from typing import Any

from treadle.core.operation import LOOK, PUT, SIGNAL, WAIT
from treadle.threads.primitives.inside import here, name_made_outside, put_back
from treadle.threads.primitives.locks import InnerLock
from treadle.threads.strands import STATE, Strand
from treadle.threads.unwinding import StrandEnd

Real: Any = threading.Barrier
_real_init = Real.__init__
_real_wait = Real.wait
_real_abort = Real.abort
_real_reset = Real.reset
_FILLING, _DRAINING, _RESETTING, _BROKEN = 0, 1, -1, -2


class BarrierGuard(InnerLock):
    """In the place of `_cond`. PUT is arriving (not while the last round drains), WAIT is for the barrier to open."""

    __slots__ = ("barrier",)
    label = "Barrier"
    barrier: Any

    def ready(self, kind: int, strand: Strand) -> bool:
        if self._locked:
            return False
        state: int = self.barrier._state
        if kind == PUT:
            return state in (_FILLING, _BROKEN)
        return kind != WAIT or state != _FILLING

    def guards(self) -> int:
        return (self.ready(PUT, None) << PUT) | (self.ready(WAIT, None) << WAIT)  # type: ignore[arg-type]

    def describe(self) -> str:
        barrier = self.barrier
        if self._locked:
            return InnerLock.describe(self)
        if barrier._state == _BROKEN:
            return "broken"
        return f"{barrier._count} of {barrier._parties} have come"


def init(self: Any, parties: int, action: Any = None, timeout: float | None = None) -> None:
    strand = here()
    if strand is None:
        _real_init(self, parties, action, timeout)
        return
    _real_init(self, parties, action, timeout)
    _equip(self).treadle_name = strand.fresh("Barrier")


def _equip(self: Any) -> BarrierGuard:
    guard: BarrierGuard
    self._cond = guard = BarrierGuard()
    guard.barrier = self
    return guard


def _guard(self: Any, strand: Strand) -> BarrierGuard:
    guard = self._cond
    if type(guard) is BarrierGuard:
        return guard
    put_back(self, "_cond", "_state", "_count")
    guard = _equip(self)
    guard.treadle_name = name_made_outside(self, strand, "Barrier")
    return guard


def wait(self: Any, timeout: float | None = None) -> int:
    strand = here()
    if strand is None:
        return int(_real_wait(self, timeout))
    if timeout is None:
        timeout = self._timeout
    guard = _guard(self, strand)
    strand.point(PUT, guard)
    if self._state < 0:
        raise threading.BrokenBarrierError
    index = int(self._count)
    self._count += 1
    try:
        if index + 1 == self._parties:
            _open(self, guard, strand)
        else:
            _wait_for_others(self, guard, strand, timeout)
        return index
    finally:
        self._count -= 1
        if self._count == 0 and self._state in (_RESETTING, _DRAINING):
            self._state = _FILLING
        guard.wake()


def _open(self: Any, guard: BarrierGuard, strand: Strand) -> None:
    if self._action:
        guard.take_back(strand, 1)
        since = strand.execution.step
        try:
            STATE.seen.function(self._action)()
        except StrandEnd:
            guard.let_go(strand)
            raise
        except BaseException:
            guard.leave(strand, since)
            self._state = _BROKEN
            raise
        guard.leave(strand, since)
    self._state = _DRAINING


def _wait_for_others(self: Any, guard: BarrierGuard, strand: Strand, timeout: float | None) -> None:
    if not strand.point(WAIT, guard, timeout):
        strand.point(SIGNAL, guard)
        if guard._locked:
            guard.enter(strand)
        if self._state == _FILLING:
            self._state = _BROKEN
            raise threading.BrokenBarrierError
    if self._state < 0:
        raise threading.BrokenBarrierError


def abort(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_abort(self)
        return
    guard = _guard(self, strand)
    strand.point(SIGNAL, guard)
    if guard._locked:
        guard.enter(strand)
    self._state = _BROKEN


def reset(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_reset(self)
        return
    guard = _guard(self, strand)
    strand.point(SIGNAL, guard)
    if guard._locked:
        guard.enter(strand)
    if self._count == 0:
        self._state = _FILLING
    elif self._state != _DRAINING:
        self._state = _RESETTING


def n_waiting(self: Any) -> int:
    strand = here()
    if strand is not None:
        strand.point(LOOK, _guard(self, strand))
    return int(self._count) if self._state == _FILLING else 0


def broken(self: Any) -> bool:
    strand = here()
    if strand is not None:
        strand.point(LOOK, _guard(self, strand))
    return bool(self._state == _BROKEN)


PATCHES = [
    (
        Real,
        {
            "__init__": init,
            "wait": wait,
            "abort": abort,
            "reset": reset,
            "n_waiting": property(n_waiting, doc=Real.n_waiting.__doc__),
            "broken": property(broken, doc=Real.broken.__doc__),
        },
    )
]
