"""How long a campaign over a class may go on, and where its time went.

Parts are measured in seconds of work: those in which the machine does something else do not count, so that what is
found does not depend on how busy it is. Only the budget is by the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# After the first fault the campaign goes on for as long again, but at least this long: others are often near.
_AFTER_FAULT = 10.0


class WorkClock:
    """Begins with the campaign. `work` is where the seconds of each part are added up, `alarm` the file by which one of
    several processes tells the others that it has found a fault."""

    def __init__(self, budget: float, work: dict[str, float], alarm: Path | None) -> None:
        self._work = work
        self._alarm = alarm
        self._began = time.perf_counter()
        self._deadline = self._began + budget
        self._work_began = time.process_time()
        self._enough = math.inf  # when it stops, some work after the first fault

    def time_left(self) -> bool:
        if self._alarm is not None and self._enough == math.inf and self._alarm.exists():
            self._go_on_as_long_again()
        return time.perf_counter() < self._deadline and time.process_time() < self._enough

    def fault_found(self) -> None:
        """The first fault: not all of the budget is for others."""
        if self._alarm is not None:
            self._alarm.touch()
        self._go_on_as_long_again()

    def _go_on_as_long_again(self) -> None:
        now = time.process_time()
        self._enough = now + max(_AFTER_FAULT, now - self._work_began)

    def stop(self) -> None:
        self._deadline = 0.0

    def may_go_on_for(self, seconds: float) -> Callable[[], bool]:
        """May a part of the campaign go on? For so many seconds of work, within the budget."""
        until = time.process_time() + seconds
        return lambda: time.process_time() < until and self.time_left()

    def may_go_on_beyond(self, seconds: float) -> Callable[[], bool]:
        """The same, but so many seconds also when the budget is over."""
        until, latest = time.process_time() + seconds, max(self._deadline, time.perf_counter() + seconds)
        return lambda: time.process_time() < until and time.perf_counter() < latest

    @contextmanager
    def at_work_on(self, part: str) -> Iterator[None]:
        """Count the work on a part of the campaign."""
        began = time.process_time()
        try:
            yield
        finally:
            self._work[part] = round(self._work.get(part, 0.0) + time.process_time() - began, 3)

    @property
    def left(self) -> float:
        """Seconds of the budget."""
        return self._deadline - time.perf_counter()

    @property
    def passed(self) -> float:
        """Seconds by the clock."""
        return time.perf_counter() - self._began

    @property
    def worked(self) -> float:
        """Seconds of work."""
        return time.process_time() - self._work_began

    @property
    def part_done(self) -> float:
        """How much of what there will be is over, from 0 to 1."""
        by_work = self.worked / (self._enough - self._work_began)
        return max(by_work, self.passed / max(self._deadline - self._began, 1e-9))
