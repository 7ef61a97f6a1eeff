"""Ctrl-C while `treadle unit` works: it ends the path that is being run, and never what is done between two paths.

Python raises KeyboardInterrupt wherever it happens to be; between a path's end and its place in the books that would
lose the path. Here it is raised while a path runs, which can be run again, and only noted everywhere else.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class CtrlC:
    """Open while a search goes on; entered again inside of itself, it is the same."""

    def __init__(self) -> None:
        self.pressed = False
        self._running = False
        self._depth = 0
        self._before: object = None

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        if self._running:
            self._running = False
            raise KeyboardInterrupt

    def __enter__(self) -> CtrlC:
        if self._depth == 0 and threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if handler is signal.default_int_handler:  # somebody else's handler, or none at all, stays
                self._before = signal.signal(signal.SIGINT, self._heard)
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._before is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._before = None

    @contextlib.contextmanager
    def path(self) -> Iterator[None]:
        """A path is run: from here on until its end Ctrl-C is raised."""
        if self.pressed:
            raise KeyboardInterrupt
        self._running = True
        try:
            yield
        finally:
            self._running = False
