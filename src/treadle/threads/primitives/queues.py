"""queue.Queue, LifoQueue, PriorityQueue and SimpleQueue: one scheduling point per put, get, task_done and join.

The methods are put into CPython's own Queue class. The guard of a queue stands in the place of `mutex`, so that code
which takes the mutex itself (`with q.mutex: q.queue.clear()`) shuts everybody else out, as it does in CPython; the
three conditions of a queue are made when somebody asks for them. Where a subclass brings its own `_put` and `_get`, or
items compare themselves, that code runs with the guard closed.

SimpleQueue is C in CPython and is replaced.

A put into a queue without a limit and a get from it commute: the one works at its tail, the other at its head, and a
get comes after the put of what it takes. That holds while the queue is only put into, taken from and looked at; where
it is joined, or its lock, its conditions or its items are used by the program itself, every operation is on all of it.
"""

from __future__ import annotations

import _queue
import queue
import sys
import threading
from collections import deque
from typing import Any

from treadle.core.operation import ACQUIRE, GET, HEAD, LOOK, MOST_CAUSES, PUT, SIGNAL, TAIL, TRY, WAIT, with_cause
from treadle.threads.names import publish
from treadle.threads.primitives.inside import ADOPTED, at_end, here, name_made_outside, put_back
from treadle.threads.primitives.locks import InnerLock, StandsFor, would_block
from treadle.threads.strands import STATE, Strand, SyncObject

Real: Any = queue.Queue
RealSimpleQueue: Any = _queue.SimpleQueue
_real_init = Real.__init__
_real_put = Real.put
_real_get = Real.get
_real_task_done = Real.task_done
_real_join = Real.join
_real_qsize = Real.qsize
_real_empty = Real.empty
_real_full = Real.full
_real_shutdown = getattr(Real, "shutdown", None)
_Empty, _Full = queue.Empty, queue.Full
_ShutDown: Any = getattr(queue, "ShutDown", None)
_NEGATIVE = "'timeout' must be a non-negative number"

# How items go in and out: by code of the program (or comparing items), at the ends of a deque, at the end of a list.
_BY_METHODS, _FIFO, _LIFO = 0, 1, 2
CONDITIONS = ("not_empty", "not_full", "all_tasks_done")


class Puts:
    """The events that put what is in a queue, in the order of its items: the causes of the gets to come."""

    __slots__ = ("events",)

    def __init__(self, items: int = 0) -> None:
        self.events: deque[int] = deque([-1] * items)  # what was there before the execution has no cause

    def added(self, strand: Strand) -> None:
        """The operation just performed put an item."""
        self.events.append(-1 if STATE.coasting else strand.execution.step - 1)

    def taken(self, strand: Strand, name: str, left: int) -> None:
        """The operation just performed took the first item, and so many are left."""
        run = strand.execution
        event = self.events.popleft() if self.events else -1
        if STATE.coasting or not run.tells_ends_apart(name):
            return
        if len(self.events) != left or event >= MOST_CAUSES:
            run.as_a_whole(name)  # somebody else changes the items, or the execution is longer than causes can tell
        elif event >= 0:
            run.guards[run.step - 1] = with_cause(run.guards[run.step - 1], event)


class QueueGuard(InnerLock):
    """In the place of `mutex`. The items are the queue's own."""

    __slots__ = ("in_work", "items", "maxsize", "order", "puts", "queue", "shut")
    label = "Queue"
    in_work: int  # items that were taken and are not told to be done
    puts: Puts
    items: Any
    maxsize: int
    order: int
    queue: Any  # the queue, where its size is a method of the program, or a strand joins it
    shut: bool

    def end(self, strand: Strand, end: str) -> str | None:
        """The end of the queue that an operation is on; None for all of it."""
        apart = self.order == _FIFO and self.maxsize <= 0 and self.queue is None
        return end if apart and strand.execution.tells_ends_apart(self.treadle_name) else None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        strand = STATE.strand
        if strand is not None:
            strand.execution.as_a_whole(self.treadle_name)
        return InnerLock.acquire(self, blocking, timeout)

    __enter__ = acquire

    def size(self) -> int:
        if self.queue is None or type(self.queue)._qsize in _OWN_SIZES:
            return len(self.items)
        strand = STATE.strand
        STATE.strand = None  # the program's own _qsize, asked by the scheduler: no scheduling points inside
        try:
            return int(self.queue._qsize())
        finally:
            STATE.strand = strand

    def ready(self, kind: int, strand: Strand) -> bool:
        if self._locked:
            return False
        if kind == GET:
            return self.shut or self.size() > 0
        if kind == PUT:
            return self.shut or self.maxsize <= 0 or self.size() < self.maxsize
        if kind == WAIT:
            return not self.queue.unfinished_tasks
        return True

    def guards(self) -> int:
        if self._locked:
            return 0
        size = self.size()
        mask = 1 << ACQUIRE
        if size or self.shut:
            mask |= 1 << GET
        if size < self.maxsize or self.maxsize <= 0 or self.shut:
            mask |= 1 << PUT
        if self.queue is not None and not self.queue.unfinished_tasks:
            mask |= 1 << WAIT
        return mask

    def describe(self) -> str:
        if self._locked:
            return InnerLock.describe(self)
        size = self.size()
        if not size:
            return "empty"
        return f"full with {size} items" if 0 < self.maxsize <= size else f"{size} items"


_OWN_SIZES = {Real._qsize, queue.LifoQueue._qsize, queue.PriorityQueue._qsize}
_ORDERS: dict[type, int] = {Real: _FIFO, queue.LifoQueue: _LIFO}


def _order(kind: Any) -> int:
    """How items go into queues of this class."""
    if kind._put is Real._put and kind._get is Real._get and kind._init is Real._init:
        return _FIFO
    lifo: Any = queue.LifoQueue
    if kind._put is lifo._put and kind._get is lifo._get and kind._init is lifo._init:
        return _LIFO
    return _BY_METHODS


def _equip(self: Any) -> QueueGuard:
    kind = type(self)
    order = _ORDERS.get(kind)
    if order is None:
        order = _ORDERS[kind] = _order(kind)
    guard: QueueGuard
    self.mutex = guard = QueueGuard()
    guard.items, guard.queue = (), None
    guard.maxsize = self.maxsize
    guard.order = order
    guard.shut = False
    guard.puts, guard.in_work = Puts(), 0
    return guard


def _show_items(guard: QueueGuard, queue: Any) -> None:
    """The queue has its items, and a size."""
    guard.items = getattr(queue, "queue", ())
    guard.queue = None if type(queue)._qsize in _OWN_SIZES else queue


def init(self: Any, maxsize: int = 0) -> None:
    strand = here()
    if strand is None:
        _real_init(self, maxsize)
        return
    self.maxsize = maxsize
    self.unfinished_tasks = 0
    self.is_shutdown = False
    guard = _equip(self)
    guard.treadle_name = strand.fresh("Queue")
    self._init(maxsize)  # of a subclass it is the program's, whose accesses to the queue are seen
    _show_items(guard, self)


def bring_in(self: Any, strand: Strand) -> QueueGuard:
    """A queue that was made outside: a guard for this execution, and its contents back at the end."""
    put_back(self, "mutex", *CONDITIONS, "unfinished_tasks", "is_shutdown", "queue", "maxsize")
    items = getattr(self, "queue", None)
    if isinstance(items, (deque, list)):
        before = list(items)

        def undo() -> None:
            items.clear()
            items.extend(before)

        at_end(undo)
    for name in CONDITIONS:
        vars(self).pop(name, None)
    guard = _equip(self)
    _show_items(guard, self)
    guard.shut = getattr(self, "is_shutdown", False)
    guard.puts, guard.in_work = Puts(len(guard.items)), self.unfinished_tasks - len(guard.items)
    guard.treadle_name = name_made_outside(self, strand, "Queue")
    return guard


class InnerCondition:
    """`not_empty` and its sisters, made when first asked for. An instance's own attribute goes before this one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        strand = here()
        if strand is not None:
            strand.execution.as_a_whole(instance.mutex.treadle_name)
        condition = threading.Condition(instance.mutex)
        vars(instance)[self.name] = condition
        return condition


def _wake(self: Any, name: str) -> None:
    """Notify those who wait on a condition of the queue themselves."""
    condition = vars(self).get(name)
    if condition is not None:
        condition._waiters.clear()


def put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
    strand = here()
    if strand is None:
        _real_put(self, item, block, timeout)
        return
    guard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    publish(strand, item)
    items = guard.items = getattr(self, "queue", ())
    maxsize = guard.maxsize = self.maxsize
    if maxsize <= 0:
        if guard.order:
            strand.point(SIGNAL, guard, None, guard.end(strand, TAIL))
            if guard._locked:
                guard.enter(strand)
        else:
            strand.point(PUT, guard)  # others may be inside for several steps: wait outside
    elif not block or timeout == 0:
        strand.point(TRY, guard)
        if guard._locked:
            guard.enter(strand)
        if guard.size() >= maxsize and not guard.shut:
            strand.failed()
            raise _Full
    elif timeout is None:
        strand.point(PUT, guard)
    elif timeout < 0:
        raise ValueError(_NEGATIVE)
    elif not strand.point(PUT, guard, timeout):
        raise _Full
    if guard.shut:
        raise _ShutDown
    if guard.order:
        items.append(item)
        guard.puts.added(strand)
    else:
        since = strand.execution.step
        guard._locked = True
        guard.owner = strand
        try:
            self._put(item)
        finally:
            guard.leave(strand, since)
    self.unfinished_tasks += 1
    _wake(self, "not_empty")


def get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
    strand = here()
    if strand is None:
        return _real_get(self, block, timeout)
    guard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    if not block or timeout == 0:
        strand.point(TRY, guard)
        if guard._locked:
            guard.enter(strand)
        if not guard.size():
            strand.failed()
            raise _ShutDown if guard.shut else _Empty
    elif timeout is None:
        strand.point(GET, guard, None, guard.end(strand, HEAD))
    elif timeout < 0:
        raise ValueError(_NEGATIVE)
    elif not strand.point(GET, guard, timeout, guard.end(strand, HEAD)):
        raise _Empty
    if guard.shut and not guard.size():
        raise _ShutDown
    order = guard.order
    guard.in_work += 1
    if order == _FIFO:
        item = guard.items.popleft()
        guard.puts.taken(strand, guard.treadle_name, len(guard.items))
    elif order == _LIFO:
        item = guard.items.pop()
    else:
        since = strand.execution.step
        guard._locked = True
        guard.owner = strand
        try:
            item = self._get()
        finally:
            guard.leave(strand, since)
    _wake(self, "not_full")
    return item


def task_done(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_task_done(self)
        return
    guard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    strand.point(SIGNAL, guard, None, guard.end(strand, HEAD))
    if guard._locked:
        guard.enter(strand)
    if guard.in_work <= 0:  # whether there is something to be done depends on who puts, not on who takes
        strand.execution.as_a_whole(guard.treadle_name)
    guard.in_work -= 1
    unfinished = self.unfinished_tasks - 1
    if unfinished < 0:
        raise ValueError("task_done() called too many times")
    self.unfinished_tasks = unfinished
    if not unfinished:
        _wake(self, "all_tasks_done")


def join(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_join(self)
        return
    guard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    guard.queue = self
    strand.execution.as_a_whole(guard.treadle_name)
    strand.point(WAIT, guard)


def _look(self: Any) -> QueueGuard | None:
    strand = here()
    if strand is None:
        return None
    guard: QueueGuard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    strand.point(LOOK, guard)
    if guard._locked:
        guard.enter(strand)
    guard.items = getattr(self, "queue", ())
    return guard


def qsize(self: Any) -> int:
    guard = _look(self)
    return int(_real_qsize(self)) if guard is None else guard.size()


def empty(self: Any) -> bool:
    guard = _look(self)
    return bool(_real_empty(self)) if guard is None else not guard.size()


def full(self: Any) -> bool:
    guard = _look(self)
    return bool(_real_full(self)) if guard is None else 0 < self.maxsize <= guard.size()


def shutdown(self: Any, immediate: bool = False) -> None:
    strand = here()
    if strand is None:
        assert _real_shutdown is not None
        _real_shutdown(self, immediate)
        return
    guard = self.mutex
    if type(guard) is not QueueGuard:
        guard = bring_in(self, strand)
    strand.point(SIGNAL, guard)
    if guard._locked:
        guard.enter(strand)
    self.is_shutdown = guard.shut = True
    if immediate:
        while self._qsize():
            self._get()
            if self.unfinished_tasks > 0:
                self.unfinished_tasks -= 1
        _wake(self, "all_tasks_done")
    _wake(self, "not_empty")
    _wake(self, "not_full")


# ---------------------------------------------------------------------- SimpleQueue


class SimpleQueue(SyncObject, metaclass=StandsFor):
    """What `queue.SimpleQueue` makes inside an execution: an unbounded queue without tasks to count."""

    __slots__ = ("__weakref__", "_items", "_puts")
    label = "SimpleQueue"
    in_c = True
    real = RealSimpleQueue
    _items: deque[Any]
    _puts: Puts

    def __new__(cls) -> Any:
        strand = here()
        if strand is None and cls is SimpleQueue:
            return RealSimpleQueue()
        self = SyncObject.__new__(cls)
        self._items = deque()
        self._puts = Puts()
        if strand is not None:
            self.treadle_name = strand.fresh("SimpleQueue")
        return self

    def _end(self, strand: Strand, end: str) -> str | None:
        return end if strand.execution.tells_ends_apart(self.treadle_name) else None

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        strand = STATE.strand
        if strand is not None:
            publish(strand, item)
            strand.point(SIGNAL, self, None, self._end(strand, TAIL))
            self._puts.added(strand)
        self._items.append(item)

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        strand = STATE.strand
        if block and timeout is not None and timeout < 0:
            raise ValueError(_NEGATIVE)
        if strand is None:
            if not self._items:
                if block and timeout is None:
                    raise would_block(self)
                raise _Empty
        elif not block or timeout == 0:
            strand.point(TRY, self)
            if not self._items:
                strand.failed()
                raise _Empty
        elif not strand.point(GET, self, timeout, self._end(strand, HEAD)):
            raise _Empty
        item = self._items.popleft()
        if strand is not None:
            self._puts.taken(strand, self.treadle_name, len(self._items))
        return item

    def get_nowait(self) -> Any:
        return self.get(False)

    def empty(self) -> bool:
        return self.qsize() == 0

    def qsize(self) -> int:
        strand = STATE.strand
        if strand is not None:
            strand.point(LOOK, self)
        return len(self._items)

    def __class_getitem__(cls, item: Any) -> Any:
        return RealSimpleQueue[item]

    def ready(self, kind: int, strand: Strand) -> bool:
        return bool(self._items)

    def guards(self) -> int:
        return 1 << GET if self._items else 0

    def describe(self) -> str:
        return f"{len(self._items)} items" if self._items else "empty"


def adopt_simple_queue(real: Any, strand: Strand) -> Any:
    """The model of a SimpleQueue of CPython's own, with what is in it now; the real one keeps its contents."""
    known = ADOPTED.get(id(real))
    if known is not None:
        return known[1]
    model = SyncObject.__new__(SimpleQueue)
    model._items = deque()
    while not real.empty():
        model._items.append(real.get_nowait())
    for item in model._items:
        real.put(item)
    model._puts = Puts(len(model._items))
    model.treadle_name = name_made_outside(real, strand, "SimpleQueue")
    ADOPTED[id(real)] = (real, model)
    return model


_METHODS: dict[str, Any] = {
    "__init__": init,
    "put": put,
    "get": get,
    "task_done": task_done,
    "join": join,
    "qsize": qsize,
    "empty": empty,
    "full": full,
    **{name: InnerCondition(name) for name in CONDITIONS},
}
if sys.version_info >= (3, 13):
    _METHODS["shutdown"] = shutdown

PATCHES = [(Real, _METHODS)]
