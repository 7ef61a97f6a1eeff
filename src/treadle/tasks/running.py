"""Which event loop runs in which strand, and which one a strand has set as its own.

asyncio keeps both per OS thread, and all strands are one OS thread. Inside an execution that controls asyncio they are
kept per strand; everywhere else the functions here do what asyncio's own do.
"""

from __future__ import annotations

import asyncio
import asyncio.events as events
from typing import Any

from treadle.threads.carriers import getcurrent
from treadle.threads.primitives.inside import here
from treadle.threads.strands import AFTER_EXECUTION, STATE, Strand

_real_get_running_loop: Any = events._get_running_loop
_real_set_running_loop: Any = events._set_running_loop
_real_get_event_loop: Any = events.get_event_loop
_real_set_event_loop: Any = events.set_event_loop

RUNNING: dict[Strand, Any] = {}
SET: dict[Strand, Any] = {}


def _forget() -> None:
    RUNNING.clear()
    SET.clear()


AFTER_EXECUTION.append(_forget)


def thread_of(strand: Strand) -> Strand:
    """The strand that stands for the thread: a task of a loop belongs to the strand that runs the loop."""
    return strand.of_thread or strand


def running_or_none() -> Any:
    """`asyncio._get_running_loop`"""
    strand = STATE.strand
    if strand is None or strand.greenlet is not getcurrent():
        return _real_get_running_loop()
    return RUNNING.get(strand.of_thread or strand)


def set_running(loop: Any) -> None:
    """`asyncio._set_running_loop`"""
    strand = here()
    if strand is None:
        _real_set_running_loop(loop)
    elif loop is None:
        RUNNING.pop(thread_of(strand), None)
    else:
        RUNNING[thread_of(strand)] = loop


def get_running_loop() -> Any:
    loop = running_or_none()
    if loop is None:
        raise RuntimeError("no running event loop")
    return loop


def get_event_loop(stacklevel: int = 3) -> Any:
    strand = here()
    if strand is None:
        return _real_get_event_loop()
    thread = thread_of(strand)
    loop = RUNNING.get(thread) or SET.get(thread)
    if loop is None:
        if thread in SET or thread.index != 0:
            raise RuntimeError(f"There is no current event loop in thread {thread.treadle_name!r}.")
        loop = asyncio.new_event_loop()
        set_event_loop(loop)
    return loop


def set_event_loop(loop: Any) -> None:
    strand = here()
    if strand is None:
        _real_set_event_loop(loop)
        return
    if loop is not None and not isinstance(loop, asyncio.AbstractEventLoop):
        raise TypeError(f"loop must be an instance of AbstractEventLoop or None, not '{type(loop).__name__}'")
    SET[thread_of(strand)] = loop
