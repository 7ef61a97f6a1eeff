"""The loop of an execution of which nothing is recorded but that it took place.

There is one thread, and schedules are drawn, so nobody asks what a step does unless the execution fails: then the same
numbers are drawn again, with strands for its tasks (`TaskLoom.run`). What a loop does for them is left out here. Tasks
and futures are CPython's own, made in C.

Invariant: the same numbers mean the same schedule here and there. Whoever comes to something for which that is not
certain (`needs_strands`) has the whole search start again without this loop.
"""

from __future__ import annotations

import asyncio.coroutines as coroutines
import asyncio.events as events
import asyncio.runners as runners
import itertools
import os
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from treadle.tasks.drawn_steps import draw_steps
from treadle.tasks.execution import TaskExecution
from treadle.tasks.futures import BITS, FACTOR, WAKEUP_IN_C, DrawnFuture, DrawnTask, PyTask, StepInC, thread_makes
from treadle.tasks.handles import LoopHandle, MadeLate
from treadle.tasks.loop import ROUNDS, Loop
from treadle.tasks.running import RUNNING, SET
from treadle.tasks.work import Queue
from treadle.threads.primitives.inside import here

_Coroutine: Final = types.CoroutineType
_Builtin: Final = types.BuiltinMethodType
_Method: Final = types.MethodType
_Reference: Final = weakref.ref
_real_run: Any = runners.run
_real_new_event_loop = events.new_event_loop
# Looking for it in `os.environ` itself takes longer than a step of a task.
_ENVIRONMENT: Any = os.environ._data  # type: ignore[attr-defined]
_NAMES: Final = tuple(f"Task-{number}" for number in range(100))
_MAY_DEBUG: Any = os.environ.encodekey("PYTHONASYNCIODEBUG")


class DrawnLoop(Loop):
    """What `asyncio.new_event_loop()` makes where nobody asks what is touched."""

    name = "loop"
    queue: Any = None  # made when it waits
    get_debug: Any = bool  # asked for every future and task: false without a call of Python
    numbers: Any = MadeLate(itertools.count)
    strands: Any = ()  # none for its tasks
    looks_once = False

    def __init__(self) -> None:
        strand: Any = here()
        self.strand = strand
        self.execution = strand.execution
        self.live: list[Any] = []  # tasks that are ready, in the order in which they became so
        self._ready: Any = deque()
        self.timers = []
        self.tasks = []
        self.failed = []
        # asked for in every step: an attribute of the object itself is found sooner than one of its class
        self._stopping = False
        self.running = None
        self.execution.loops.append(self)
        self.execution.alone = False
        if _MAY_DEBUG in _ENVIRONMENT or sys.flags.dev_mode:
            self.set_debug(coroutines._is_debug_mode())  # type: ignore[attr-defined]

    def set_debug(self, enabled: bool) -> None:
        super().set_debug(enabled)
        self.get_debug = super().get_debug

    def seen(self, *operations: Any) -> None:
        """There is no other thread."""

    def is_running(self) -> bool:
        return self._thread_id is not None

    def is_closed(self) -> bool:
        return bool(self._closed)

    def close(self) -> None:
        if self._thread_id is not None:
            raise RuntimeError("Cannot close a running event loop")
        if self.tasks:
            self._leave_tasks()
        self._closed = True
        self.call_soon = self.call_soon_threadsafe = _refuse  # type: ignore[method-assign]
        self._ready.clear()
        self.timers.clear()

    def release(self) -> None:
        """Nobody looks at its execution any more."""
        if self.queue is not None:
            self.queue.loop = None

    # ------------------------------------------------------------------ scheduling

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        kind = type(callback)
        if kind is StepInC or (kind is _Builtin and callback.__name__ == WAKEUP_IN_C):
            task: Any = callback.__self__  # type: ignore[attr-defined]
            if type(task) is DrawnTask:
                task.call = context, callback, args
                if task is not self.running:  # or it is among them already
                    self.live.append(task)
                return None
        if self._debug:
            self._check_thread()
            self._check_callback(callback, "call_soon")
        if kind is _Method and isinstance(callback.__self__, PyTask):  # type: ignore[attr-defined]
            self.execution.needs_strands()  # a task that was made in another way
        handle = LoopHandle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def put(self, handle: Any) -> Any:
        self._ready.append(handle)
        return handle

    def _name_of_handle(self) -> str:
        return ""

    def _append(self, timer: Any) -> None:
        timer._scheduled = False
        self._ready.append(timer)

    def _in_order(self) -> None:
        """Nobody asks in which order callbacks are set."""

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None, **options: Any) -> Any:
        if self._closed:
            self._check_closed()
        if self._task_factory is not None or options:
            self.execution.needs_strands()
        if name is None:
            run = self.execution
            number = run.tasks_named = run.tasks_named + 1
            name = _NAMES[number] if number < len(_NAMES) else f"Task-{number}"
        task = DrawnTask(coro, loop=self, name=name, context=context)
        task.treadle_made = 0
        maker = self.running
        if type(maker) is DrawnTask:  # as `treadle_makes` does it, without a call
            made = maker.treadle_made = maker.treadle_made + 1
            task._treadle_hash = (maker._treadle_hash * FACTOR + made) & BITS
        else:
            thread_makes(self.strand, task)
        self.tasks.append(_Reference(task))
        return task

    def create_future(self) -> Any:
        future = DrawnFuture(loop=self)
        self._made(future)
        return future

    def _made(self, future: Any) -> None:
        maker = self.running
        if type(maker) is DrawnTask:
            maker.treadle_makes(future)
        else:
            thread_makes(self.strand, future)

    def with_exception(self) -> list[Any]:
        if not self.tasks:
            return self.failed
        made = [reference() for reference in self.tasks]
        return self.failed + [task for task in made if task is not None and task._exception is not None]

    # ------------------------------------------------------------------ running

    def run_until_complete(self, future: Any) -> Any:
        if type(future) is not DrawnTask or future._loop is not self:
            return super().run_until_complete(future)
        outer, self.main = self.main, future
        future.add_done_callback(_stop_when_done)
        try:
            self.run_forever()
        finally:
            self.main = outer
            if not future.done():
                future.remove_done_callback(_stop_when_done)
        if not future.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return future.result()

    def run_forever(self) -> None:
        thread = self.strand
        if self._closed or thread in RUNNING:
            self._check_closed()
            self._check_running()
        if self._stopping:
            self._stop_soon()
        RUNNING[thread] = self
        self._thread_id = thread.ident
        try:
            while not self._stopping:
                drawn = draw_steps(self, self.execution, ROUNDS - self.rounds % ROUNDS)
                if drawn:
                    self.rounds += drawn - 1  # the last one is counted below
                elif not self._stopping:
                    self._wait()
                self._pass_time(thread)
        finally:
            self._stopping = False
            self._thread_id = None
            RUNNING.pop(thread, None)

    def _wait(self) -> bool:
        if self.queue is None:
            self.queue = Queue(self)
            self.queue.treadle_name = self.name
        return super()._wait()

    def _write_to_self(self) -> None:
        """It is its own thread that calls."""

    def _watch_sockets(self) -> None:
        self.execution.needs_strands()

    def has_leftovers(self) -> bool:
        """Does its end take more than to close it?"""
        self.tasks = [reference for reference in self.tasks if reference() is not None]
        return bool(self._default_executor or "_asyncgens" in self.__dict__ or (self.tasks and self.pending_tasks()))


def _refuse(*args: Any, **options: Any) -> None:
    """What a loop does with every call once it is closed: so nobody has to ask before."""
    raise RuntimeError("Event loop is closed")


def new_event_loop() -> Any:
    """`asyncio.new_event_loop`, inside an execution and outside"""
    strand = here()
    if strand is None or not isinstance(strand.execution, TaskExecution):
        return _real_new_event_loop()
    if events._event_loop_policy is not None:  # type: ignore[attr-defined]
        _say_what_is_replaced(strand.execution)
    return DrawnLoop() if strand.execution.only_draws else Loop()


def _say_what_is_replaced(run: TaskExecution) -> None:
    module = type(events._event_loop_policy).__module__  # type: ignore[attr-defined]
    if not module.startswith("asyncio"):
        run.replaced.add(f"{module.partition('.')[0]}'s event loop policy")


def _stop_when_done(future: Any) -> None:
    """As asyncio's own, which goes through the loop's `stop`."""
    if future.cancelled() or not isinstance(future.exception(), (SystemExit, KeyboardInterrupt)):
        future._loop._stopping = True


def run(main: Any, **options: Any) -> Any:
    """`asyncio.run`: where steps are only drawn, without what a Runner does for signals and several runs."""
    __tracebackhide__ = True
    strand: Any = here()
    drawn = strand is not None and getattr(strand.execution, "only_draws", False)
    if not drawn or options or strand in RUNNING or type(main) is not _Coroutine:
        return _real_run(main, **options)
    loop: Any = events.new_event_loop()
    SET[strand] = loop
    try:
        return loop.run_until_complete(loop.create_task(main))
    finally:
        try:
            if loop.has_leftovers():
                runners._cancel_all_tasks(loop)  # type: ignore[attr-defined]
                loop.run_until_complete(loop.shutdown_asyncgens())
                loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            SET[strand] = None
            loop.close()
