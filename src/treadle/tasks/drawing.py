"""The loop of an execution of which nothing is recorded but that it took place.

There is one thread, and schedules are drawn, so nobody asks what a step does unless the execution fails: then the same
numbers are drawn again, with strands for its tasks (`TaskLoom.run`). What a loop does for them is left out here. Tasks
and futures are CPython's own, made in C.

Invariant: the same numbers mean the same schedule here and there. Whoever comes to something for which that is not
certain (`needs_strands`) has the whole search start again without this loop.
"""

from __future__ import annotations

import asyncio.base_events as base_events
import asyncio.tasks as tasks
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

from treadle.tasks.drawn_steps import draw_steps
from treadle.tasks.futures import WAKEUP_IN_C, DrawnFuture, DrawnTask, PyTask, StepInC, thread_makes
from treadle.tasks.handles import LoopHandle
from treadle.tasks.loop import ROUNDS, Loop
from treadle.tasks.running import RUNNING

_Builtin: Final = types.BuiltinMethodType
_Method: Final = types.MethodType
_stop_when_done: Any = base_events._run_until_complete_cb  # type: ignore[attr-defined]


class DrawnLoop(Loop):
    """What `asyncio.new_event_loop()` makes where nobody asks what is touched."""

    def __init__(self) -> None:
        super().__init__()
        self.live: list[Any] = []  # tasks that are ready, in the order in which they became so

    def _make_turn(self) -> None:
        """Nobody waits for a turn."""

    def seen(self, *operations: Any) -> None:
        """There is no other thread."""

    def is_running(self) -> bool:
        return self._thread_id is not None

    def is_closed(self) -> bool:
        return bool(self._closed)

    # ------------------------------------------------------------------ scheduling

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        if self._closed:
            self._check_closed()
        kind = type(callback)
        if kind is StepInC or (kind is _Builtin and callback.__name__ == WAKEUP_IN_C):
            task: Any = callback.__self__  # type: ignore[attr-defined]
            if type(task) is DrawnTask:
                task.call = context, callback, args
                if not task.is_live:
                    task.is_live = True
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
            name = f"Task-{tasks._task_name_counter()}"  # type: ignore[attr-defined]
        task = DrawnTask(coro, loop=self, name=name, context=context)
        self._made(task)
        self.tasks.append(weakref.ref(task))
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
            future.remove_done_callback(_stop_when_done)
        if not future.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return future.result()

    def run_forever(self) -> None:
        thread = self.strand
        if self._closed or thread in RUNNING:
            self._check_closed()
            self._check_running()
        RUNNING[thread] = self
        self._thread_id = thread.ident
        try:
            while not self._stopping:
                self._run_any()
                self._pass_time(thread)
        finally:
            self._stopping = False
            self._thread_id = None
            RUNNING.pop(thread, None)

    def _run_any(self) -> None:
        run = self.execution
        if self.watches_sockets():
            run.needs_strands()
        drawn = draw_steps(self, run, ROUNDS - self.rounds % ROUNDS)
        if drawn:
            self.rounds += drawn - 1  # who called counts one
        elif not self._stopping:
            self._wait()
