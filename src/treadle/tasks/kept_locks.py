"""Locks and semaphores of asyncio that nobody can take any more because a task was cancelled.

At the end of an execution no task is left that could release one. A lock that is still held then, after the search has
cancelled something, is given back by nobody. asyncio's locks do not know who has them, and one may be kept on purpose:
this is a warning.

The state of a lock is its dictionary, which is kept here without the lock: programs keep locks by weak references.
"""

from __future__ import annotations

import asyncio.locks as locks
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from treadle.threads.detail import place_of
from treadle.threads.primitives.inside import here


class MadeLock(NamedTuple):
    """A lock or semaphore of this execution: its state, and where it was made."""

    kind: str
    state: dict[str, Any]
    free: int  # how often it could be taken
    place: tuple[str, int]

    @property
    def is_held(self) -> bool:
        return bool(self.state.get("_locked")) or self.state.get("_value", 0) < self.free


def _noting(real: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        real(self, *args, **kwargs)
        strand = here()
        if strand is not None and getattr(strand.execution, "cancel", "never") != "never":
            state = vars(self)
            made = MadeLock(type(self).__name__, state, state.get("_value", 0), place_of(sys._getframe(1)))
            strand.execution.made_locks.append(made)  # type: ignore[attr-defined]

    return __init__


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """What notes the locks that a program makes."""
    return [(kind, {"__init__": _noting(vars(kind)["__init__"])}) for kind in (locks.Lock, locks.Semaphore)]
