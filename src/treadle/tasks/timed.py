"""What a loop does later: its timers, in virtual time.

Timers that are due come behind all that is scheduled, in the order of (deadline, creation); those that `call_at` set
for one deadline in an order that the search chooses. With timeouts="any" one may strike before its time. A timer that
was cancelled is passed over when its time comes.
"""

from __future__ import annotations

import asyncio.selector_events as selector_events
import heapq
import itertools
from collections.abc import Callable
from typing import Any

from treadle.tasks.environment import in_some_order, is_timeout, strike
from treadle.tasks.handles import LoopTimer

_Base: Any = selector_events.BaseSelectorEventLoop  # most of what is used of it is private, and not in its type


class Timed(_Base):  # type: ignore[misc]
    """An event loop whose clock is that of its execution."""

    execution: Any
    timers: list[tuple[float, int, Any]]
    numbers: itertools.count[int]

    def _begin_timers(self) -> None:
        self.timers = []
        self.numbers = itertools.count()

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        if when is None:
            raise TypeError("when cannot be None")
        if not self.execution.any_order or not self._is_own_thread():
            self._scheduling()
        self._check_closed()
        if self._debug:
            self._check_thread()
            self._check_callback(callback, "call_at")
        self._in_order()
        timer = LoopTimer(when, callback, args, self, context)
        timer.cause = self.execution.step - 1
        timer.treadle_name = self._name_of_handle()
        timer.number = next(self.numbers)
        timer.delay = when - self.execution.clock.now
        timer.explicit = not is_timeout(callback)
        if timer.delay > 0:
            self.execution.note_timer()
        heapq.heappush(self.timers, (when, timer.number, timer))
        timer._scheduled = True
        return timer

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        if delay is None:
            raise TypeError("delay must not be None")
        timer = self.call_at(self.time() + delay, callback, *args, context=context)
        timer.explicit = False
        return timer

    def _timer_handle_cancelled(self, handle: Any) -> None:
        """A cancelled timer is passed over when its time comes."""

    # ------------------------------------------------------------------ when their time has come

    def _take_timers(self) -> None:
        self._take_due_timers()
        if self.execution.any_timeout and self.timers and self._ready:
            strike(self)

    def is_due(self) -> bool:
        """Has the time of the first timer come? Others may have moved the clock there."""
        return bool(self.timers) and self.timers[0][0] <= self.execution.clock.now

    def _are_tied(self) -> bool:
        """Is there something to choose among the timers that are due?"""
        now = self.execution.clock.now
        explicit = [timer._when for when, _, timer in self.timers if when <= now and timer.explicit]
        return len(set(explicit)) < len(explicit)

    def _take_due_timers(self) -> None:
        now = self.execution.clock.now
        timers = self.timers
        due: list[Any] = []
        while timers and (timers[0][0] <= now or timers[0][2]._cancelled):
            timer = heapq.heappop(timers)[2]
            if not timer._cancelled:
                due.append(timer)
        for timer in in_some_order(due) if len(due) > 1 else due:
            self._append(timer)

    def _append(self, timer: Any) -> None:
        timer._scheduled = False
        self._ready.append(timer)
        if self.execution.any_order:
            self.causes.append((next(self.execution.scheduled), timer.cause))

    def fire(self, timer: Any) -> None:
        """A timer goes off now, whatever the time."""
        self.timers.remove((timer._when, timer.number, timer))
        heapq.heapify(self.timers)
        clock = self.execution.clock
        clock.now = max(clock.now, timer._when)
        self._append(timer)
