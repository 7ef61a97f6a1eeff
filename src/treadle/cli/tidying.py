"""Tearing down what explored tests used: not for ever.

A fixture of a wider scope may wait, at its end, for something that the executions have broken: its verdict is there, so
the command goes on without.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Seconds: longer than any fixture needs that ends at all.
PATIENCE = 20.0


class DoesNotEnd(BaseException):
    """Thrown into a tear-down that takes too long; no `except Exception` of the program takes it for its own."""


@contextmanager
def not_for_ever(seconds: float | None = None) -> Iterator[None]:
    """Raises `DoesNotEnd` in the main thread, also out of a wait in C, when the block takes longer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    struck = threading.Event()

    def interrupt(number: int, frame: Any) -> None:
        if struck.is_set():
            raise DoesNotEnd
        if callable(before):
            before(number, frame)

    def strike() -> None:
        struck.set()
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    timer = threading.Timer(PATIENCE if seconds is None else seconds, strike)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
