"""Mailboxes over plain queues: threads that read a `queue.Queue`, tasks that read an `asyncio.Queue`.

Decides what `treadle.actors.mailbox(queue, owner)` does inside an execution at message granularity: what is put into
the queue is a message to the actor `owner`, and getting one is a receive. Outside such an execution it does nothing, so
it may stay in the program.

The tasks of an event loop share one strand, the loop's; each of them sends and receives in its own name. The loop gives
up control where it would sleep, in `select`: then a message is delivered, or virtual time moves on.
"""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import queue as queues
import selectors
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from treadle.core.errors import UsageError
from treadle.core.operation import GET, SIGNAL, WAIT
from treadle.messages.execution import Mailbox, MessageExecution, MessageStrand
from treadle.messages.journal import Actor, Handling, Message
from treadle.messages.receive import stable_hash
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand, SyncObject

Q = TypeVar("Q")


def mailbox(queue: Q, owner: Any) -> Q:
    """Say that this queue is the mailbox of `owner`, a name or the object that reads it. Returns the queue."""
    strand = here()
    if not isinstance(strand, MessageStrand):
        return queue
    if getattr(queue, "qsize", lambda: 1)():
        raise UsageError(f"the mailbox of {_name(owner)} must be named before anything is put into it")
    run = strand.execution
    instance = None if isinstance(owner, str) else owner
    box: _Queue | _AsyncQueue
    if isinstance(queue, asyncio.Queue):
        box = _AsyncQueue(run.journal.create(_name(owner), strand.handling, instance))
    elif isinstance(queue, queues.Queue):
        box = _Queue(run.journal.create(_name(owner), strand.handling, instance))
    else:
        raise UsageError(f"a mailbox is a queue.Queue or an asyncio.Queue, not {type(queue).__name__}")
    assert box.actor is not None
    box.treadle_name = box.actor.label
    box.take_place_of(queue)
    return queue


def _name(owner: Any) -> str:
    if isinstance(owner, str):
        return owner
    name = getattr(owner, "__name__", None) or getattr(owner, "name", None)
    return str(name) if isinstance(name, str) else type(owner).__name__


class _AllDone(SyncObject):
    """What `queue.join()` waits for."""

    __slots__ = ("unfinished",)
    label = "tasks"

    def __init__(self) -> None:
        self.unfinished = 0

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.unfinished <= 0

    def guards(self) -> int:
        return 1 << WAIT if self.unfinished <= 0 else 0


class _Queue(Mailbox):
    """The mailbox of a thread. Several threads may read it."""

    __slots__ = ("all_done", "readers")

    def __init__(self, actor: Any) -> None:
        super().__init__(actor)
        self.readers: list[Strand] = []
        self.all_done = _AllDone()

    def take_place_of(self, queue: Any) -> None:
        """The queue keeps its identity: only what is done with it changes."""
        for name in ("put", "put_nowait", "get", "get_nowait", "empty", "full", "qsize", "task_done", "join"):
            vars(queue)[name] = getattr(self, name)

    def _waits_for_a_message(self) -> bool:
        return not self.delivered and any(reader.guard is self for reader in self.readers)

    def put(self, item: Any, *_: Any, **__: Any) -> None:
        self.all_done.unfinished += 1
        super().put(item)

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        run = strand.execution
        run.end_handling(strand)
        if not block and self.empty():
            raise queues.Empty
        if strand not in self.readers:
            self.readers.append(strand)
        self.reader = strand
        if not strand.point(GET, self, timeout if block else None):
            raise queues.Empty
        message = self.delivered.popleft()
        run.begin_handling(strand, message)
        return message.body

    def get_nowait(self) -> Any:
        return self.get(False)

    def full(self) -> bool:
        return False

    def task_done(self) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand)
        strand.point(SIGNAL, self.all_done)
        self.all_done.unfinished -= 1

    def join(self) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand)
        strand.point(WAIT, self.all_done)


class _AsyncQueue(Mailbox):
    """The mailbox of a task. A message is delivered when the task waits for one; the loop then wakes it."""

    __slots__ = ("all_done", "finished", "waiter")

    def __init__(self, actor: Any) -> None:
        super().__init__(actor)
        self.waiter: asyncio.Future[None] | None = None
        self.all_done = 0
        self.finished: list[asyncio.Future[None]] = []

    def take_place_of(self, queue: Any) -> None:
        for name in ("put", "put_nowait", "get", "get_nowait", "empty", "full", "qsize", "task_done", "join"):
            vars(queue)[name] = getattr(self, name)

    def _waits_for_a_message(self) -> bool:
        return self.waiter is not None and not self.waiter.done() and not self.delivered

    def arrived(self, run: MessageExecution) -> None:
        """A courier has delivered: the task that waits goes on."""
        waiter = self.waiter
        if waiter is not None and not waiter.done():
            loop = waiter.get_loop()
            loop.call_soon(_wake, waiter)
            idle = getattr(loop, "_selector", None)
            if isinstance(idle, _Selector):
                run.signal_step(idle.idle)

    def put_nowait(self, item: Any) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        self.all_done += 1
        with _in_the_name_of_the_task(strand):
            strand.execution.send(strand, self, item)

    async def put(self, item: Any) -> None:  # type: ignore[override]
        self.put_nowait(item)

    async def get(self) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        self.reader = strand
        while not self.delivered:
            self.waiter = asyncio.get_running_loop().create_future()
            await self.waiter
        return self._receive(strand)

    def get_nowait(self) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        if not self.delivered:
            raise asyncio.QueueEmpty
        return self._receive(strand)

    def _receive(self, strand: MessageStrand) -> Any:
        message: Message = self.delivered.popleft()
        with _in_the_name_of_the_task(strand):
            strand.execution.begin_handling(strand, message)
        return message.body

    def full(self) -> bool:
        return False

    def task_done(self) -> None:
        self.all_done -= 1
        if self.all_done <= 0:
            for future in self.finished:
                if not future.done():
                    future.set_result(None)
            self.finished.clear()

    async def join(self) -> None:
        if self.all_done > 0:
            future = asyncio.get_running_loop().create_future()
            self.finished.append(future)
            await future


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


# ---------------------------------------------------------------------- tasks and their loop


class _Task:
    """What a strand keeps of a thread, for one task of an event loop."""

    def __init__(self, strand: MessageStrand, task: asyncio.Task[Any]) -> None:
        name = getattr(task.get_coro(), "__qualname__", "task").rpartition(".")[2]
        self.name = strand.fresh(name)
        actor = Actor(stable_hash("task", self.name), "task", self.name, outside=True)
        self.handling = Handling(
            actor, stable_hash("task", self.name), credit=strand.handling.credit or strand.handling
        )
        self.known = self.puts = 0
        strand.execution.knowers.append(self)


@contextmanager
def _in_the_name_of_the_task(strand: MessageStrand) -> Iterator[None]:
    """While a task sends or receives, the strand of its loop acts for it."""
    task: Any = asyncio.current_task()
    if task is None:
        yield
        return
    state: _Task | None = getattr(task, "_treadle", None)
    if state is None:
        state = task._treadle = _Task(strand, task)
    before = strand.handling, strand.known, strand.puts, strand.voice
    strand.handling, strand.known, strand.puts, strand.voice = state.handling, state.known, state.puts, state.name
    try:
        yield
    finally:
        state.handling, state.known, state.puts = strand.handling, strand.known, strand.puts
        strand.handling, strand.known, strand.puts, strand.voice = before


class _Idle(SyncObject):
    """A loop that has nothing to do until a callback is due."""

    __slots__ = ("loop",)
    label = "loop"

    def __init__(self, loop: Any) -> None:
        self.loop = loop

    def ready(self, kind: int, strand: Strand) -> bool:
        return bool(self.loop._ready)

    def guards(self) -> int:
        return 1 << WAIT if self.loop._ready else 0


class _Selector(selectors.SelectSelector):
    """The selector of a controlled loop: instead of sleeping it lets others go on."""

    idle: _Idle

    def select(self, timeout: float | None = None) -> list[Any]:
        strand = here()
        if isinstance(strand, MessageStrand) and (timeout is None or timeout > 0):
            strand.point(WAIT, self.idle, timeout)
        return []


@contextmanager
def controlled() -> Iterator[None]:
    """Event loops that are made inside the `with` block, in an execution, give up control where they would sleep."""
    place: Any = asyncio.selector_events.BaseSelectorEventLoop
    original = place.__init__

    def __init__(self: Any, selector: Any = None) -> None:
        if selector is None and isinstance(here(), MessageStrand):
            selector = _Selector()
            selector.idle = _Idle(self)
        original(self, selector)

    place.__init__ = __init__
    try:
        yield
    finally:
        place.__init__ = original
