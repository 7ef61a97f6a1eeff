"""Event: `threading.Event` with one scheduling point per operation.

A strand at wait() goes on while the flag is set. A pulse (set, then clear at once) therefore wakes it only if it is
chosen in between, which stands for having waited in time; not being chosen stands for coming too late. When virtual
time has passed since it came, though, it was waiting for certain, and set() wakes it for good.
"""

from __future__ import annotations

import threading
from typing import Any

from treadle.core.operation import ACQUIRE, LOOK, SIGNAL, WAIT
from treadle.threads.primitives.inside import here, name_made_outside, put_back
from treadle.threads.primitives.locks import InnerLock
from treadle.threads.strands import Strand

Real: Any = threading.Event
_real_init = Real.__init__
_real_set = Real.set
_real_clear = Real.clear
_real_wait = Real.wait


class EventGuard(InnerLock):
    """In the place of `_cond`. `flag` is the event's own; `waiting` maps a strand to when it came."""

    __slots__ = ("flag", "waiting")
    label = "Event"
    flag: bool
    waiting: dict[Strand, float] | None

    def ready(self, kind: int, strand: Strand) -> bool:
        if self._locked:
            return False
        if kind != WAIT:
            return True
        return self.flag or (self.waiting is not None and strand not in self.waiting)

    def guards(self) -> int:
        if self._locked:
            return 0
        return 1 << ACQUIRE | (1 << WAIT if self.flag else 0)

    def describe(self) -> str:
        return "set" if self.flag else "not set"


def make_guard(flag: bool) -> EventGuard:
    guard: EventGuard = EventGuard()
    guard.flag = flag
    guard.waiting = None
    return guard


def init(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_init(self)
        return
    self._cond = guard = make_guard(False)
    self._flag = False
    guard.treadle_name = strand.fresh("Event")


def bring_in(self: Any, strand: Strand) -> EventGuard:
    put_back(self, "_cond", "_flag")
    self._cond = guard = make_guard(self._flag)
    guard.treadle_name = name_made_outside(self, strand, "Event")
    return guard


def is_set(self: Any) -> bool:
    strand = here()
    if strand is not None:
        guard = self._cond
        if type(guard) is not EventGuard:
            guard = bring_in(self, strand)
        strand.point(LOOK, guard)
    return bool(self._flag)


def _becomes(self: Any, flag: bool) -> Strand | None:
    """The flag is set or cleared; the strand that did so."""
    strand = here()
    if strand is None:
        (_real_set if flag else _real_clear)(self)
        if type(self._cond) is EventGuard:
            self._cond.flag = flag
        return None
    guard = self._cond
    if type(guard) is not EventGuard:
        guard = bring_in(self, strand)
    strand.point(SIGNAL, guard)
    if guard._locked:
        guard.enter(strand)
    self._flag = guard.flag = flag
    return strand


def set_(self: Any) -> None:
    strand = _becomes(self, True)
    if strand is None:
        return
    guard = self._cond
    if guard.waiting and not strand.execution.any_timeout:
        now = strand.execution.clock.now
        guard.waiting = {waiter: came for waiter, came in guard.waiting.items() if came >= now}
    guard.wake()


def clear(self: Any) -> None:
    _becomes(self, False)


def wait(self: Any, timeout: float | None = None) -> bool:
    strand = here()
    if strand is None:
        return bool(_real_wait(self, timeout))
    guard = self._cond
    if type(guard) is not EventGuard:
        guard = bring_in(self, strand)
    if timeout is not None and timeout <= 0:
        strand.point(LOOK, guard)
        return bool(guard.flag)
    if guard.waiting is None:
        guard.waiting = {}
    guard.waiting[strand] = strand.execution.clock.now
    happened = strand.point(WAIT, guard, timeout)
    guard.waiting.pop(strand, None)
    return happened


PATCHES = [(Real, {"__init__": init, "is_set": is_set, "set": set_, "clear": clear, "wait": wait})]
