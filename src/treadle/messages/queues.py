"""Mailboxes over plain queues: threads that read a `queue.Queue`, tasks that read an `asyncio.Queue`.

Decides what `treadle.actors.mailbox(queue, owner)` does inside an execution at message granularity: what is put into
the queue is a message to the actor `owner`, and getting one is a receive. Outside such an execution it does nothing, so
it may stay in the program. Where a program names neither mailboxes nor an actor library, each queue that its own code
makes is a mailbox, called after the variable that it is bound to (`controlled(own)`).

A queue of limited size keeps its limit: who puts into a full one waits until somebody has received from it.

The tasks of an event loop share one strand, the loop's; each of them sends and receives in its own name. The loop gives
up control where it would sleep, in `select`: then a message is delivered, or virtual time moves on.
"""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import linecache
import queue as queues
import re
import selectors
import sys
from collections.abc import Callable, Iterator
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
    if getattr(queue, "qsize", lambda: 0)():
        raise UsageError(f"the mailbox of {_name(owner)} must be named before anything is put into it")
    run = strand.execution
    instance = None if isinstance(owner, str) else owner
    box: _Queue | AsyncMailbox
    if isinstance(queue, asyncio.Queue):
        box = AsyncMailbox(run.journal.create(_name(owner), strand.handling, instance), queue.maxsize)
    elif isinstance(queue, queues.Queue):
        box = _Queue(run.journal.create(_name(owner), strand.handling, instance), queue.maxsize)
    else:
        raise UsageError(f"a mailbox is a queue.Queue or an asyncio.Queue, not {type(queue).__name__}")
    assert box.actor is not None
    box.treadle_name = box.actor.label
    # the queue keeps its identity: only what is done with it changes
    for name in ("put", "put_nowait", "get", "get_nowait", "empty", "full", "qsize", "task_done", "join"):
        vars(queue)[name] = getattr(box, name)
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


class _Space(SyncObject):
    """Room in a queue of limited size; 0 is no limit."""

    __slots__ = ("most", "used")
    label = "space"

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0

    def is_full(self) -> bool:
        return 0 < self.most <= self.used

    def ready(self, kind: int, strand: Strand) -> bool:
        return not self.is_full()

    def guards(self) -> int:
        return 0 if self.is_full() else 1 << WAIT


class _Queue(Mailbox):
    """The mailbox of a thread. Several threads may read it."""

    __slots__ = ("all_done", "readers", "space")

    def __init__(self, actor: Any, most: int = 0) -> None:
        super().__init__(actor)
        self.readers: list[Strand] = []
        self.all_done = _AllDone()
        self.space = _Space(most)

    def _waits_for_a_message(self) -> bool:
        return not self.delivered and any(reader.guard is self for reader in self.readers)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        while self.space.is_full():
            strand = here()
            assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
            if not block or not strand.point(WAIT, self.space, timeout):
                raise queues.Full
        self.all_done.unfinished += 1
        self.space.used += 1
        super().put(item)

    def put_nowait(self, item: Any) -> None:
        self.put(item, False)

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
        if self.space.most > 0:
            strand.point(SIGNAL, self.space)
        self.space.used -= 1
        return message.body

    def get_nowait(self) -> Any:
        return self.get(False)

    def full(self) -> bool:
        return self.space.is_full()

    def task_done(self) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand)
        strand.point(SIGNAL, self.all_done)
        self.all_done.unfinished -= 1

    def join(self) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand)
        strand.point(WAIT, self.all_done)


class AsyncMailbox(Mailbox):
    """The mailbox of tasks. A message is delivered when a task waits for one; the loop then wakes it."""

    __slots__ = ("all_done", "asked", "finished", "putters", "space", "waiters")

    def __init__(self, actor: Any, most: int = 0) -> None:
        super().__init__(actor)
        self.waiters: list[asyncio.Future[None]] = []  # of the tasks that wait for a message
        self.asked = False  # does a task take what is there, without waiting?
        self.putters: list[asyncio.Future[None]] = []  # of those that wait for room
        self.space = _Space(most)
        self.all_done = 0
        self.finished: list[asyncio.Future[None]] = []

    def _waits_for_a_message(self) -> bool:
        return not self.delivered and (self.asked or any(not waiter.done() for waiter in self.waiters))

    def arrived(self, run: MessageExecution) -> None:
        """A courier has delivered: the task that waits goes on."""
        waiter = next((waiter for waiter in self.waiters if not waiter.done()), None)
        if waiter is not None:
            loop = waiter.get_loop()
            loop.call_soon(_wake, waiter)
            idle = getattr(loop, "_selector", None)
            if isinstance(idle, _Selector):
                run.signal_step(idle.idle)

    def put_nowait(self, item: Any) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        if self.space.is_full():
            raise asyncio.QueueFull
        self.all_done += 1
        self.space.used += 1
        with _in_the_name_of_the_task(strand):
            strand.execution.send(strand, self, item)

    async def put(self, item: Any) -> None:  # type: ignore[override]
        while self.space.is_full():
            await wait_in(self.putters)
        self.put_nowait(item)

    async def get(self) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        self.reader = strand
        while not self.delivered:
            await wait_in(self.waiters)
        return self._receive(strand)

    def get_nowait(self) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        if not self.delivered and self.undelivered:
            self.asked = True  # it was put, so it is there: only which one comes first is open
            strand.point(GET, self)
            self.asked = False
        if not self.delivered:
            raise asyncio.QueueEmpty
        return self._receive(strand)

    def _receive(self, strand: MessageStrand) -> Any:
        message: Message = self.delivered.popleft()
        with _in_the_name_of_the_task(strand):
            strand.execution.begin_handling(strand, message)
        self.space.used -= 1
        wake_one(self.putters)
        return message.body

    def full(self) -> bool:
        return self.space.is_full()

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


async def wait_in(line: list[asyncio.Future[None]]) -> None:
    """Wait in a line until somebody wakes this task."""
    waiter = asyncio.get_running_loop().create_future()
    line.append(waiter)
    try:
        await waiter
    except asyncio.CancelledError:
        if waiter.done() and not waiter.cancelled():
            wake_one(line)  # what it was woken for is for another one
        raise
    finally:
        line.remove(waiter)


def wake_one(line: list[asyncio.Future[None]]) -> None:
    for waiter in line:
        if not waiter.done():
            waiter.set_result(None)
            return


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


# ---------------------------------------------------------------------- tasks and their loop


class _Task:
    """What a strand keeps of a thread, for one task of an event loop."""

    def __init__(self, strand: MessageStrand, task: asyncio.Task[Any]) -> None:
        name = task.get_name()
        if name.startswith("Task-"):
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


def made_here(own: Callable[[str, str], bool]) -> str:
    """Does the program's own code make a queue now, in an execution? The variable it is bound to, or nothing."""
    frame = sys._getframe(2)
    if not isinstance(here(), MessageStrand) or not own(str(frame.f_globals.get("__name__")), frame.f_code.co_filename):
        return ""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    bound = re.match(r"\s*(?:\w+\.)*(\w+)\s*(?:[:,][^=]*)?=[^=]", line)
    return bound[1] if bound is not None else "Queue"


@contextmanager
def unasked(own: Callable[[str, str], bool]) -> Iterator[None]:
    """Inside the `with` block each queue that the program's own code makes in an execution is a mailbox."""
    before = {kind: kind.__init__ for kind in (queues.Queue, asyncio.Queue)}

    def naming(kind: Any, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            name = made_here(own) if type(self) is kind else ""
            if name:
                mailbox(self, name)

        return __init__

    for kind, original in before.items():
        kind.__init__ = naming(kind, original)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for kind, original in before.items():
            kind.__init__ = original  # type: ignore[method-assign]


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
