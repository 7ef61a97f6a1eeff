"""The event loop of an execution: asyncio's own, over virtual time and with a selector that never waits.

Decides what other threads can see of a loop, and what it waits for:

- handles run in the order in which they were scheduled, as asyncio promises; timers that are due come behind them
  (see `timed`);
- with nothing to do the loop waits until a thread wakes it (`call_soon_threadsafe`), or its first timer is due and
  nothing else in the execution can go on. `call_soon` by another thread puts a handle in without waking it: so does
  CPython, and the bug that comes of it is found;
- as soon as a second thread touches the loop, each scheduling and each look at what is scheduled is an operation.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events as base_events
import asyncio.constants as constants
import asyncio.coroutines as coroutines
import asyncio.selector_events as selector_events
import functools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from treadle.core.operation import GET, LOOK, SIGNAL, SLEEP, STEP, TRY, WAIT, WRITE, Operation
from treadle.tasks.chosen_steps import announce, run_any
from treadle.tasks.environment import cancel_one, strike
from treadle.tasks.futures import Future, give_hash
from treadle.tasks.handles import LoopHandle, MadeLate
from treadle.tasks.network import LOCAL
from treadle.tasks.outside import OUTSIDE, refused
from treadle.tasks.running import set_running, thread_of
from treadle.tasks.steps import (
    TaskStrand,
    Turn,
    describe_task,
    task_name,
    task_of,
)
from treadle.tasks.timed import Timed
from treadle.tasks.work import Queue, QueueAndSockets, WatchedSockets
from treadle.threads.hooks.points import perform
from treadle.threads.names import meet
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import THE_OUTSIDE, act
from treadle.threads.strands import STATE, Strand
from treadle.threads.switching import ALL
from treadle.threads.unasked import BUILTINS
from treadle.threads.unwinding import StrandEnd

_Base: Any = selector_events.BaseSelectorEventLoop  # most of what is used of it is private, and not in its type


# Iterations of a loop that never rests, before time moves on to its next timer, and before it is given up.
ROUNDS = 200
_MOST_ROUNDS = 20_000

_SHUTDOWN_GENERATORS = _Base.shutdown_asyncgens.__code__
_SHUTDOWN_EXECUTOR = _Base.shutdown_default_executor.__code__
# Of what kind callbacks are that are no code of the program, but may work for it: `loop.call_soon(items.append, 1)`.
_IN_C = frozenset({*BUILTINS, functools.partial})
_JOIN_TIMEOUT = getattr(constants, "THREAD_JOIN_TIMEOUT", None)  # since 3.12


def _begun_by_asyncio() -> dict[str, Any]:
    """The attributes that asyncio gives a new loop."""
    blank = _Base.__new__(_Base)
    base_events.BaseEventLoop.__init__(blank)
    blank.set_debug(False)
    found = {**vars(blank)}
    blank._closed = True  # or it would be complained about
    return found


class Loop(Timed):
    """What `asyncio.new_event_loop()` makes inside an execution."""

    _stopping = False
    main: Any = None  # the future that run_until_complete waits for
    running: Any = None  # the handle that is run now
    rounds = 0  # iterations since the loop last had nothing to do
    entered = -1  # the last event before the loop began to run
    between_steps = False  # with any_order: may a step begin?
    turn: Any = None

    def __init__(self) -> None:
        strand = here()
        if strand is None:
            raise RuntimeError("this event loop works inside an execution only")
        run: Any = strand.execution
        self.execution = run
        self.strand = thread_of(strand)  # the thread that runs it, or made it
        self.queue = Queue(self)
        self.name = self.queue.treadle_name = strand.fresh("loop")
        self.known_to_be_shared = run.is_shared(self.name)
        # Looking what there is to do and waiting for it are one operation, unless a thread schedules without waking.
        self.looks_once = not (run.any_order or run.any_timeout or run.is_shared(self.unsafely))
        # Whether a handle is cancelled is looked at by itself where another thread may do that.
        self.cancelled_by_others = not run.any_order and run.is_shared(self.handles)
        self._begin_timers()
        self.tasks: list[weakref.ref[Any]] = []  # asyncio keeps tasks by weak references as well
        self.failed: list[Any] = []  # futures that hold an exception
        self._make_turn()
        # with any_order, of each ready handle: its place in the order of asyncio, and the event that scheduled it
        self.causes: deque[tuple[int, int]] = deque()
        self.strands: list[TaskStrand] = []  # of its tasks, with any_order
        self.execution.loops.append(self)
        self.execution.alone = False  # its steps may be put in another order
        for name, make in _CONTAINERS:
            setattr(self, name, make())
        self._debug = coroutines._is_debug_mode()  # type: ignore[attr-defined]

    def _make_turn(self) -> None:
        self.turn = Turn(self)
        self.step_of_loop = (STEP, self.turn.treadle_name, None)

    @property
    def callbacks(self) -> str:
        return f"callbacks of {self.name}"

    @property
    def life(self) -> str:
        """Whether it runs, whether it is closed."""
        return f"life of {self.name}"

    @property
    def unsafely(self) -> str:
        return f"{self.name}, unsafely"

    @property
    def handles(self) -> str:
        return f"handles of {self.name}"

    # What few loops use is made when it is.
    _asyncgens: Any = MadeLate(weakref.WeakSet)
    _selector: Any = MadeLate(WatchedSockets)
    _transports: Any = MadeLate(weakref.WeakValueDictionary)
    signal_handlers: Any = MadeLate(dict)

    def __del__(self) -> None:
        """A loop that was not closed ends with its execution."""

    def release(self) -> None:
        """Nobody looks at its execution any more: it is held by nothing that it holds."""
        for strand in self.strands:
            strand.release()
        self.strands.clear()
        if "_transports" in self.__dict__:
            for transport in list(self._transports.values()):
                transport._sock = None  # closed behind the execution
        self.queue.loop = None  # type: ignore[assignment]
        if self.turn is not None:
            self.turn.loop = None

    # ------------------------------------------------------------------ what other threads see

    def seen(self, *operations: Operation) -> None:
        """Operations on the loop in one go: a point, unless only its own thread touches it."""
        strand = here()
        if strand is None:
            return
        if not self.known_to_be_shared:
            if thread_of(strand) is self.strand:
                return
            self.known_to_be_shared = True
            self.execution.reveal_name(self.name)
        strand.checks = ALL  # this is Python code in asyncio as well
        if strand.held:
            strand.callback()
        strand.touched = self.queue
        woken = [(SIGNAL, THE_OUTSIDE, None)] if self.watches_sockets() else []
        perform(strand, [*operations, *woken])
        strand.touched = None
        strand.checks = ALL

    def is_running(self) -> bool:
        self.seen((LOOK, self.life, None))
        return bool(super().is_running())

    def is_closed(self) -> bool:
        self.seen((LOOK, self.life, None))
        return bool(super().is_closed())

    def close(self) -> None:
        if self.known_to_be_shared or not self._is_own_thread():
            self.seen((SIGNAL, self.name, None), (SIGNAL, self.life, None))
        self._leave_tasks()
        self.timers.clear()
        self.__dict__.setdefault("_selector", None)  # where it has watched nothing
        super().close()

    def _leave_tasks(self) -> None:
        """It is closed: what is not done will never be, which asyncio says when it finds the task in the garbage."""
        if self.is_over() or self.execution.ending or self._exception_handler is not None:
            return
        for task in self.pending_tasks():
            if task._log_destroy_pending:
                task._log_destroy_pending = False  # told once
                self.execution.left_pending.append(describe_task(task))

    # ------------------------------------------------------------------ scheduling

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        if not self.execution.any_order or not self._is_own_thread():  # own callbacks keep their order
            self._scheduling()
        if self._closed:
            self._check_closed()
        if self._debug:
            self._check_thread()
            self._check_callback(callback, "call_soon")
        return self.put(LoopHandle(callback, args, self, context))

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        self.seen((SIGNAL, self.name, None))
        self._check_closed()
        if self._debug:
            self._check_callback(callback, "call_soon_threadsafe")
        self.queue.woken = not self.execution.any_order
        handle = self.put(LoopHandle(callback, args, self, context))
        if self.between_steps:
            announce(self)
        return handle

    def cancelling_one(self) -> None:
        """A handle is cancelled, by the thread of the loop or by another one."""
        if not self._is_own_thread():
            self.execution.called_unsafely = True
            if not self.cancelled_by_others and not self.execution.any_order:
                self.execution.reveal_name(self.handles)
        elif not self.cancelled_by_others:
            return
        self.seen((SIGNAL, self.name, None), (SIGNAL, self.handles, None))

    def _scheduling(self) -> None:
        """Something is scheduled, by the thread of the loop or by one that does not wake it."""
        if not self._is_own_thread():
            self.execution.called_unsafely = True
            if self.looks_once:
                self.execution.reveal_name(self.unsafely)
        self.seen((SIGNAL, self.name, None))

    def put(self, handle: Any) -> Any:
        """Schedule a handle behind all others, or as the next step of its task."""
        run = self.execution
        if run.any_order:
            handle.treadle_name = self._name_of_handle()
            task = task_of(handle)
            if task is not None:
                strand = task.treadle_strand or self.strand_for(task)
                strand.schedule(handle)
                return handle
            self._in_order()
            self.causes.append((next(self.execution.scheduled), self.execution.step - 1))
        self._ready.append(handle)
        return handle

    def strand_for(self, task: Any) -> TaskStrand:
        """With any_order: the strand of a task that is scheduled for the first time."""
        strand: TaskStrand = self.execution.add_task(self, task)
        task.treadle_strand = strand
        self.strands.append(strand)
        return strand

    def _name_of_handle(self) -> str:
        strand = here()
        return "" if strand is None else strand.fresh("handle")

    def _in_order(self) -> None:
        """With any_order, the order in which callbacks and timers are set is what their tasks share."""
        strand = here()
        if strand is not None and self.execution.any_order and not self.execution.ending:
            strand.access(WRITE, self.callbacks, None)

    def register(self, task: Any) -> None:
        """A task was made."""
        self.tasks.append(weakref.ref(task))
        self._made(task)

    def create_future(self) -> Any:
        future = Future(loop=self)
        self._made(future)
        return future

    def _made(self, future: Any) -> None:
        strand = here()
        if strand is not None:
            meet(strand, future)  # named by who made it, whoever touches it first
            if not getattr(future, "_treadle_hash", 0):  # an eager task may have one, of its first step
                give_hash(future, strand)

    # ------------------------------------------------------------------ running

    def run_forever(self) -> None:
        self.seen((SIGNAL, self.name, None), (SIGNAL, self.life, None))
        self._check_closed()
        self._check_running()
        strand = here()
        assert strand is not None, "an event loop of an execution that is over"
        self.strand = thread_of(strand)
        for task in self.strands:
            task.of_thread = self.strand
        self._thread_id: int | None = strand.ident
        self.entered = self.execution.step - 1
        self._stop_soon()
        set_running(self)
        try:
            once = functools.partial(run_any, self) if self.execution.any_order else self._run_once
            while not self._stopping:
                once()
                self._pass_time(strand)
        finally:
            self._stopping = False
            self._thread_id = None
            set_running(None)

    def _stop_soon(self) -> None:
        """A loop that was stopped before it runs goes round once."""
        if self._stopping:
            self._stopping = False
            self.put(LoopHandle(self.stop, (), self, None))

    def stop(self) -> None:
        """Another thread does not wake the loop by this."""
        if self._thread_id is None or not self._is_own_thread():
            self._scheduling()
        self._stopping = True

    def _run_once(self) -> None:
        """One iteration: what is scheduled now, and the timers that are due."""
        if self.looks_once and self.known_to_be_shared:
            self._wait()
            self._take_due_timers()
        else:
            self.seen((LOOK, self.name, None))
            self.queue.woken = False
            if self.watches_sockets():
                act(self.strand)
                self._process_events(self.arrived())
            self._take_timers()
            if not self._ready and not self._stopping:
                if self._wait() and self.execution.any_timeout:
                    strike(self, must=True)
                self._take_due_timers()
        ready = self._ready
        for _ in range(len(ready)):
            if self.execution.cancel != "never":
                cancel_one(self)
            handle = ready.popleft()
            if self.cancelled_by_others:
                self.seen((LOOK, self.handles, None))
            if not handle._cancelled:
                self.run_handle(handle)

    def run_until_complete(self, future: Any) -> Any:
        """As asyncio does, without a task for a shutdown of nothing."""
        code = getattr(future, "cr_code", None)
        if self.is_over():
            if code is not None:
                future.close()
            return None
        if (code is _SHUTDOWN_GENERATORS and not self.__dict__.get("_asyncgens")) or (
            code is _SHUTDOWN_EXECUTOR and self._default_executor is None
        ):
            self._asyncgens_shutdown_called = True
            self._executor_shutdown_called |= code is _SHUTDOWN_EXECUTOR
            future.close()
            return None
        is_new = not asyncio.isfuture(future)
        future = asyncio.ensure_future(future, loop=self)
        if is_new:
            future._log_destroy_pending = False
        outer, self.main = self.main, future
        try:
            return super().run_until_complete(future)
        finally:
            self.main = outer

    def shutdown_default_executor(self, timeout: float | None = None) -> Any:
        """The minutes that `asyncio.run` grants are for ever here: no program counts on their end."""
        given = () if timeout in (None, _JOIN_TIMEOUT) else (timeout,)
        return super().shutdown_default_executor(*given)

    def is_over(self) -> bool:
        """Has its execution ended? Finalisers of what dies with it may come to the loop, and find nothing to do."""
        return self.execution.ending and here() is None

    def _is_own_thread(self) -> bool:
        strand = here()
        return strand is None or thread_of(strand) is self.strand

    def run_handle(self, handle: Any) -> None:
        self.running = handle
        self.strand.checks = ALL  # between two handles runs the loop's own code
        if self.execution.detail is not None:
            self.execution.note_step(handle)
        if type(handle._callback) in _IN_C:
            handle._callback = STATE.seen.function(handle._callback)
        handle._run()
        self.running = None
        if self.execution.ending:
            raise StrandEnd  # asyncio has caught the one that was thrown

    def _pass_time(self, strand: Strand) -> None:
        """Computing takes no time, but a loop that never rests (tasks that yield again and again until something
        changes) would wait for its timers for ever: after so many rounds time moves on, and at last it is given up."""
        self.rounds += 1
        if self.rounds % ROUNDS == 0 and self.timers and not self._stopping:
            strand.pause((SLEEP, None, None), None, self.timers[0][0])
        elif self.rounds >= _MOST_ROUNDS:
            self.execution.give_up("limit")

    def _wait(self) -> bool:
        """Nothing to do: until a thread wakes the loop, or until the first timer (True)."""
        strand = here()
        assert strand is not None
        self._before_waiting(strand)
        self.execution.advance(strand)
        strand.touched = strand.guard = strand.deadline = None
        timed_out = strand.timed_out
        strand.timed_out = self.queue.woken = False
        self.rounds = 0
        if self.watches_sockets():
            self._process_events(self.arrived())
        return timed_out

    def _before_waiting(self, strand: Strand) -> None:
        strand.deadline = self.timers[0][0] if self.timers else None
        strand.waits = WAIT
        # a wait whose time may run out whenever it likes never blocks
        never_blocks = strand.deadline is not None and self.execution.any_timeout
        if self.watches_sockets():
            strand.pending = (TRY if never_blocks else GET, THE_OUTSIDE, None)
        else:
            strand.pending = (LOOK if never_blocks else WAIT, self.name, None)
        strand.touched = strand.guard = self.queue

    def _write_to_self(self) -> None:
        self.queue.woken = True

    def waiting_tasks(self) -> list[str]:
        """The tasks that have not finished, with what they await and where."""
        return [describe_task(task) for task in self.pending_tasks()]

    def name_of(self, task: Any) -> str:
        return f"task {task_name(task)}"

    def pending_tasks(self) -> list[Any]:
        found = [reference() for reference in self.tasks]
        return [task for task in found if task is not None and task._state == "PENDING"]

    def with_exception(self) -> list[Any]:
        """The futures and tasks that hold an exception."""
        return self.failed

    # ------------------------------------------------------------------ real sockets

    def watches_sockets(self) -> bool:
        return type(self.queue) is QueueAndSockets

    def arrived(self) -> list[Any]:
        """What there is to do with the real sockets it watches, now."""
        return self._selector.select(0) if self._selector.get_map() else []

    def _add_reader(self, fd: Any, callback: Callable[..., object], *args: Any) -> Any:
        self._watch_sockets()
        return super()._add_reader(fd, callback, *args)

    def _add_writer(self, fd: Any, callback: Callable[..., object], *args: Any) -> Any:
        self._watch_sockets()
        return super()._add_writer(fd, callback, *args)

    def _watch_sockets(self) -> None:
        before, strand = self.queue, self.strand
        if type(before) is Queue:
            self.queue = QueueAndSockets(self)
            self.queue.treadle_name, self.queue.woken = before.treadle_name, before.woken
            if strand.guard is before:  # another thread does this, while it waits
                self._before_waiting(strand)

    def _add_callback(self, handle: Any) -> None:
        """One that watches a socket is called for each arrival, unless it is cancelled before."""
        self.put(LoopHandle(_run_unless_cancelled, (handle,), self, handle._context))

    def _close_self_pipe(self) -> None:
        """There is none: see `_write_to_self`."""

    # ------------------------------------------------------------------ what goes wrong

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if here() is None or self.execution.ending:
            return  # what dies with the execution is no part of it
        if self._exception_handler is None:
            self.execution.told.append(context)
        super().call_exception_handler(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """asyncio logs what happened; here it is a finding."""

    # ------------------------------------------------------------------ what is not there

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:
        self._check_closed()
        self.signal_handlers[sig] = callback, args  # no signal ever comes

    def remove_signal_handler(self, sig: int) -> bool:
        return self.signal_handlers.pop(sig, None) is not None


def _run_unless_cancelled(handle: Any) -> None:
    if not handle._cancelled:
        handle._callback(*handle._args)


# What asyncio gives a loop at its beginning, without a pipe to itself. There is a loop in every execution: what is a
# plain value is in the class, and the rest is made for each.
_CONTAINERS: list[tuple[str, Callable[[], Any]]] = []
for _name, _value in _begun_by_asyncio().items():
    if isinstance(_value, (bool, int, float, type(None))):
        setattr(Loop, _name, _value)
    elif not hasattr(Loop, _name):
        _CONTAINERS.append((_name, type(_value)))

# ---------------------------------------------------------------------- the world outside

for _what, _methods in OUTSIDE.items():
    for _method in _methods:
        setattr(Loop, _method, refused(_what, _method))
for _function in LOCAL:
    setattr(Loop, _function.__name__, _function)
