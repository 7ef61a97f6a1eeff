"""Notices code that really blocks, outside Treadle's control, and names its line.

A timer signal looks every second whether the execution has moved. When it has not for the whole patience, the code that
is running (or waiting in C) gets a `ReallyBlocked` at the line where it stands. Works in the main thread of platforms
that have SIGALRM, and only if nobody else uses that signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from treadle.threads.detail import stack_of

# Virtual time makes every sleep instant, so half a minute without an operation is not a slow program.
PATIENCE = 30.0


class ReallyBlocked(BaseException):
    """Code under test waits for something that the scheduler does not control, or computes for very long."""

    def __init__(self, seconds: float, stack: tuple[tuple[str, int, str], ...]) -> None:
        self.stack = stack
        file, line, function = stack[0] if stack else ("?", 0, "?")
        super().__init__(
            f"no operation for {seconds:g} s: {file}:{line} in {function} blocks outside Treadle's control or computes "
            "without a shared access; if it waits on a library's own lock or I/O, instrument that library "
            "(--instrument) or replace it in the test"
        )


@contextmanager
def watching(progress: Callable[[], object], patience: float = PATIENCE) -> Iterator[None]:
    """Raise ReallyBlocked in code that lets `progress` stand still for so many seconds."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, None):
        yield
        return
    ticks = max(2, round(patience))
    interval = patience / ticks
    seen: object = None
    still = 0

    def look(signum: int, frame: FrameType | None) -> None:
        nonlocal seen, still
        now = progress()
        if now is None or now != seen:
            seen, still = now, 0
            return
        still += 1
        if still >= ticks:
            still = 0
            raise ReallyBlocked(patience, stack_of(frame))

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, interval, interval)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
