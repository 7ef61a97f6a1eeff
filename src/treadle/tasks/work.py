"""What a loop waits for: work that others give it, and real sockets that it watches.

A loop that watches real sockets waits for the outside, as a thread in `select` does: what another strand sends wakes
it, and giving it work is an act on the outside (asyncio writes a byte to a pipe of the loop).
"""

from __future__ import annotations

import selectors
from typing import TYPE_CHECKING, Any

from treadle.core.operation import EVERY_KIND, WAIT
from treadle.threads.primitives.outside import are_ours, polled
from treadle.threads.strands import Strand, SyncObject

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop

_Registered: Any = selectors._BaseSelectorImpl  # all of a selector but the waiting
_WAYS = ((selectors.EVENT_READ, "r"), (selectors.EVENT_WRITE, "w"))


class WatchedSockets(_Registered):  # type: ignore[misc]
    """The selector of a loop, which never waits: its loop does."""

    def select(self, timeout: float | None = None) -> list[Any]:
        found = []
        for key in self.get_map().values():
            events = sum(which for which, way in _WAYS if key.events & which and polled(key.fd, way))
            if events:
                found.append((key, events))
        return found


class Queue(SyncObject):
    """What a loop has to do. Waiting for it ends when another thread has woken the loop."""

    __slots__ = ("loop", "woken")
    label = "loop"

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.woken = False

    def ready(self, kind: int, strand: Strand) -> bool:
        return kind != WAIT or self.has_work()

    def guards(self) -> int:
        return EVERY_KIND if self.has_work() else EVERY_KIND & ~(1 << WAIT)

    def has_work(self) -> bool:
        loop = self.loop
        return self.woken or loop.is_due() or (loop.looks_once and bool(loop._ready or loop._stopping))

    def describe(self) -> str:
        return "; ".join(self.waiting_tasks()) or "nothing is scheduled"

    def waiting_tasks(self) -> list[str]:
        return self.loop.waiting_tasks()


class QueueAndSockets(Queue):
    """The same, of a loop that watches real sockets."""

    __slots__ = ()
    of_several = True
    outside = True

    def has_work(self) -> bool:
        return super().has_work() or bool(self.loop.arrived())

    def guards(self) -> int:
        return EVERY_KIND

    def of_this_process(self) -> bool:
        return are_ours(self.loop._selector.get_map() or ())
