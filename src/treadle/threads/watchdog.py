"""Notices code that really blocks, outside Treadle's control, and names its line; and ends executions at a deadline.

A timer signal looks every second whether the execution has moved. When it has not for the whole patience, the code that
is running (or waiting in C) gets a `ReallyBlocked` at the line where it stands. When the deadline of the search is
over, the execution is asked to end at its next point; code that comes to none soon gets an `OutOfTime` where it stands;
a call in C that lets no signal through ends with the process (`core.stuck`).
Works in the main thread of platforms that have SIGALRM, and only if nobody else uses that signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic  # the real one: models replace names in modules of the program only
from types import FrameType
from typing import Protocol

from treadle.core.packages import is_library
from treadle.core.stuck import end_after, never_mind
from treadle.threads.carriers import running_frame
from treadle.threads.detail import stack_of
from treadle.threads.strands import STATE

# Virtual time makes every sleep instant, so half a minute without an operation is not a slow program.
PATIENCE = 30.0


class ReallyBlocked(BaseException):
    """Code under test waits for something that the scheduler does not control, or computes for very long."""

    def __init__(self, seconds: float, stack: tuple[tuple[str, int, str], ...]) -> None:
        self.stack = stack
        self.where = next((frame for frame in stack if not is_library(frame[0])), ("?", 0, "?"))
        file, line, function = self.where
        below = "" if not stack or stack[0][0] == file else f" (in {stack[0][0]}:{stack[0][1]})"
        super().__init__(
            f"no operation for {seconds:g} s: {file}:{line} in {function} blocks outside Treadle's control{below} or "
            "computes without a shared access; if it waits on a library's own lock or I/O, instrument that library "
            "(--instrument) or replace it in the test"
        )


class OutOfTime(BaseException):
    """The deadline of the search is over, and code under test comes to no point where its execution could end."""


class Watched(Protocol):
    """What is watched: an execution that is running."""

    step: int
    unrecorded: int  # operations that are no steps

    def expire(self) -> None:
        """End at the next point."""

    def wake(self) -> None:
        """Have points again."""

    def does_not_move(self) -> None:
        """Know who is running: it does not move, and is about to be thrown out."""


# Seconds for which strands may go on unseen without one of them waiting.
_COASTS_FOR = 3.0
# Seconds after its deadline for which an execution may go on to its next point.
_GRACE = 2.0
# And after which nobody believes any more that it will.
_STUCK = 4.0


class Watch:
    """What the timer looks at: the execution that is running, and until when it may."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.deadline: float | None = None  # of the search, by the real clock
        # Did Ctrl-C come in this execution? A KeyboardInterrupt that the program raises itself is its own affair.
        self.interrupted = False
        self.raised: ReallyBlocked | None = None  # in the execution that is running: the program may swallow it
        self.run: Watched | None = None  # the execution that is running
        self.number = 0  # of executions begun
        self.seen: tuple[int, int] | None = None
        self.moved = monotonic()
        self.looks = False  # is there a timer?
        self._known: float | None = None  # the deadline that was last told

    def begin(self, run: Watched) -> None:
        self.number += 1
        if self.deadline != self._known:
            self._tell_deadline(monotonic())
        self.run = run
        self.raised = None
        self.interrupted = False

    def end(self) -> None:
        self.run = None

    def _tell_deadline(self, now: float) -> None:
        """Somebody ends the process when that is long over and nothing looks here any more."""
        self._known = self.deadline
        if self.deadline is None or not self.looks:
            never_mind()
        else:
            end_after(max(self.deadline - now, 0.0) + _STUCK)

    def look(self, frame: FrameType | None) -> None:
        """Once a second, in the middle of whatever is running."""
        run, now = self.run, monotonic()
        self._tell_deadline(now)
        if run is None:
            self.moved = now
            return
        if self.deadline is not None and now >= self.deadline:
            run.expire()
            if now >= self.deadline + _GRACE:
                raise OutOfTime
        moves = run.step + run.unrecorded
        if (self.number, moves) != self.seen:
            self.seen, self.moved = (self.number, moves), now
            return
        if STATE.coasting and now - self.moved >= _COASTS_FOR:
            run.wake()
        if now - self.moved >= self.patience:
            self.moved = now
            run.does_not_move()
            self.raised = ReallyBlocked(self.patience, stack_of(running_frame(frame)))
            raise self.raised


@contextmanager
def noticing_ctrl_c(watch: Watch) -> Iterator[None]:
    """Let the watch know that a KeyboardInterrupt comes from a person."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        watch.interrupted = True
        before(number, frame)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, before)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let the watch look at what is running, once a second or as often as its patience asks for."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, None):
        yield
        return
    interval = min(1.0, watch.patience / 2)
    signal.signal(signal.SIGALRM, lambda _, frame: watch.look(frame))
    signal.setitimer(signal.ITIMER_REAL, interval, interval)
    watch.looks = True
    try:
        yield
    finally:
        watch.looks = False
        never_mind()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
