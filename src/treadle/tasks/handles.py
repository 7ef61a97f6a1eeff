"""What a loop has to do: callbacks and timers. With any_order, cancelling one is an access to what its step reads; by
another thread it is an operation on the loop."""

from __future__ import annotations

import asyncio.events as events
import asyncio.format_helpers as format_helpers
import contextvars
import sys
from collections.abc import Callable
from typing import Any

from treadle.core.operation import WRITE
from treadle.threads.primitives.inside import here

_AnyHandle: Any = events.Handle
_TimerHandle: Any = events.TimerHandle


class LoopHandle(_AnyHandle):  # type: ignore[misc]
    """With any_order, cancelling it is an access to what the step reads that would run it."""

    __slots__ = ("treadle_name",)
    treadle_name: str

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...], loop: Any, context: Any) -> None:
        """As asyncio does it, in fewer calls: there is one for every step of a task."""
        this: Any = self  # its slots are those of a type that is not known
        this._context = contextvars.copy_context() if context is None else context
        this._loop = loop
        this._callback = callback
        this._args = args
        this._cancelled = False
        this._repr = None
        # of who called the loop
        this._source_traceback = format_helpers.extract_stack(sys._getframe(2)) if loop._debug else None

    def cancel(self) -> None:
        _access_to(self)
        super().cancel()


def _access_to(handle: Any) -> None:
    strand, run = here(), handle._loop.execution
    if strand is not None and not run.only_steps:
        handle._loop.cancelling_one()
    if strand is not None and run.any_order and not run.only_steps and not run.ending:
        strand.access(WRITE, handle.treadle_name, None)


class LoopTimer(_TimerHandle):  # type: ignore[misc]
    """Knows the event during which it was set, as the how-manieth, for how long, and whether by `call_at`."""

    __slots__ = ("cause", "delay", "explicit", "number", "treadle_name")
    treadle_name: str

    def cancel(self) -> None:
        _access_to(self)
        super().cancel()

    cause: int
    number: int
    delay: float
    explicit: bool


class MadeLate:
    """An attribute that is made when it is first asked for. Not a cached_property, which is a step of the program."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.name = make, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        made = instance.__dict__[self.name] = self.make()
        return made
