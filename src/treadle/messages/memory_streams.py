"""Mailboxes over anyio's memory object streams: sending on one is a message to whoever receives from its other end.

Decides, for streams that the program's own code makes inside an execution at message granularity: one stream is one
mailbox, whatever its clones; senders wait while the buffer is full, and where there is no buffer, until the item
was received; receiving ends with the last sending end, when nothing is on its way.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.streams.memory as memory

from treadle.messages.execution import MessageStrand
from treadle.messages.queues import AsyncMailbox, made_here, wait_in, wake_one
from treadle.threads.primitives.inside import here

_Send: Any = memory.MemoryObjectSendStream
_Receive: Any = memory.MemoryObjectReceiveStream
_real: dict[str, Any] = {
    **{name: vars(_Send)[name] for name in ("send", "send_nowait")},
    **{name: vars(_Receive)[name] for name in ("receive", "receive_nowait")},
    "close": vars(_Send)["close"],
}


class _Stream(AsyncMailbox):
    """What the two ends of a stream share."""

    __slots__ = ("handed_over", "rendezvous", "state")

    def __init__(self, actor: Any, state: Any) -> None:
        size = state.max_buffer_size
        super().__init__(actor, 0 if size == math.inf else max(1, int(size)))
        self.rendezvous = size == 0
        self.state = state
        self.handed_over: list[asyncio.Future[None]] = []

    async def send(self, item: Any) -> None:
        await asyncio.sleep(0)  # as anyio does: sending is a checkpoint
        while self.space.is_full():
            self._check_receivers()
            await wait_in(self.putters)
        self._check_receivers()
        self.put_nowait(item)
        if self.rendezvous:
            await wait_in(self.handed_over)

    def send_nowait(self, item: Any) -> None:
        self._check_receivers()
        if self.space.is_full() or (self.rendezvous and not self._waits_for_a_message()):
            raise anyio.WouldBlock
        self.put_nowait(item)

    def _check_receivers(self) -> None:
        if not self.state.open_receive_channels:
            raise anyio.BrokenResourceError

    async def receive(self) -> Any:
        await asyncio.sleep(0)
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        self.reader = strand
        while not self.delivered:
            if self.is_over():
                raise anyio.EndOfStream
            await wait_in(self.waiters)
        return self._receive(strand)

    def receive_nowait(self) -> Any:
        if not self.delivered and self.is_over():
            raise anyio.EndOfStream
        try:
            return self.get_nowait()
        except asyncio.QueueEmpty:
            raise anyio.WouldBlock from None

    def is_over(self) -> bool:
        return not self.state.open_send_channels and self.empty()

    def _receive(self, strand: MessageStrand) -> Any:
        item = super()._receive(strand)
        wake_one(self.handed_over)
        if self.is_over():
            self.wake_all()
        return item

    def wake_all(self) -> None:
        """The last sending end was closed: whoever waits for more learns that there is none."""
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)


def _box(stream: Any) -> _Stream | None:
    return getattr(stream._state, "treadle_box", None) if isinstance(here(), MessageStrand) else None


async def _send(self: Any, item: Any) -> None:
    box = None if self._closed else _box(self)
    await (_real["send"](self, item) if box is None else box.send(item))


def _send_nowait(self: Any, item: Any) -> None:
    box = None if self._closed else _box(self)
    _real["send_nowait"](self, item) if box is None else box.send_nowait(item)


async def _receive(self: Any) -> Any:
    box = None if self._closed else _box(self)
    return await (_real["receive"](self) if box is None else box.receive())


def _receive_nowait(self: Any) -> Any:
    box = None if self._closed else _box(self)
    return _real["receive_nowait"](self) if box is None else box.receive_nowait()


def _close(self: Any) -> None:
    _real["close"](self)
    box = _box(self)
    if box is not None and box.is_over():
        box.wake_all()


def _making(original: Callable[..., Any], own: Callable[[str, str], bool]) -> Callable[..., Any]:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        ends = original(cls, *args, **kwargs)
        name = made_here(own)
        strand = here()
        if name and isinstance(strand, MessageStrand):
            actor = strand.execution.journal.create(name, strand.handling)
            box = ends[0]._state.treadle_box = _Stream(actor, ends[0]._state)
            box.treadle_name = actor.label
        return ends

    return __new__


@contextmanager
def unasked(own: Callable[[str, str], bool]) -> Iterator[None]:
    """Inside the `with` block each stream that the program's own code makes in an execution is a mailbox."""
    maker: Any = anyio.create_memory_object_stream
    original = maker.__new__
    ends: Any
    for ends, methods in (
        (_Send, {"send": _send, "send_nowait": _send_nowait, "close": _close}),
        (_Receive, {"receive": _receive, "receive_nowait": _receive_nowait}),
    ):
        for name, method in methods.items():
            setattr(ends, name, method)
    maker.__new__ = _making(original, own)
    try:
        yield
    finally:
        maker.__new__ = original
        for name, method in _real.items():
            setattr(_Receive if name.startswith("receive") else _Send, name, method)
