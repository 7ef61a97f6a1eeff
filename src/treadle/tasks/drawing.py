"""The loop of an execution of which only the order of its steps is asked for.

There is one thread and one loop, and no access is recorded (`TaskExecution.only_steps`). What a loop does besides that
order is left out, and steps are drawn the quick way (`drawn_steps`) as long as there is nothing to do but that. Tasks
and futures are CPython's own, made in C.
"""

from __future__ import annotations

import asyncio.base_events as base_events
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

from treadle.tasks.drawn_steps import draw_steps, run_step, schedule
from treadle.tasks.futures import IN_C, DrawnFuture, DrawnTask
from treadle.tasks.handles import LoopHandle
from treadle.tasks.loop import Loop
from treadle.tasks.steps import STEP_IN_C, WAKEUP_IN_C, TaskStrand, Turn, task_of
from treadle.threads.primitives.inside import here
from treadle.threads.strands import STATE, Strand
from treadle.threads.switching import ALL

_Builtin: Final = types.BuiltinMethodType
_stop_when_done: Any = base_events._run_until_complete_cb  # type: ignore[attr-defined]


class DrawnLoop(Loop):
    """What `asyncio.new_event_loop()` makes where nobody asks what is touched."""

    def seen(self, *operations: Any) -> None:
        if self.known_to_be_shared:
            super().seen(*operations)

    def is_running(self) -> bool:
        return self._thread_id is not None if not self.known_to_be_shared else super().is_running()

    def is_closed(self) -> bool:
        return bool(self._closed) if not self.known_to_be_shared else super().is_closed()

    # ------------------------------------------------------------------ scheduling

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        if self._closed:
            self._check_closed()
        if self._debug:
            self._check_thread()
            self._check_callback(callback, "call_soon")
        task = getattr(callback, "__self__", None)
        if type(task) is DrawnTask:
            kind = type(callback)
            if (callback.__name__ == WAKEUP_IN_C) if kind is _Builtin else (kind.__name__ == STEP_IN_C):
                schedule(task.treadle_strand or self.strand_for(task), callback, args, context)
                return None
        return self.put(LoopHandle(callback, args, self, context))

    def put(self, handle: Any) -> Any:
        task = task_of(handle)
        if task is not None:
            schedule(task.treadle_strand or self.strand_for(task), handle._callback, handle._args, handle._context)
        else:
            self.causes.append((0, self.execution.step - 1))
            self._ready.append(handle)
        return handle

    def _name_of_handle(self) -> str:
        return ""

    def _in_order(self) -> None:
        """Nobody asks in which order callbacks are set."""

    def _note_order(self, number: int) -> None:
        """Nobody asks which step asyncio would run first."""

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None, **options: Any) -> Any:
        if not IN_C or self._task_factory is not None or options:
            return super().create_task(coro, name=name, context=context, **options)
        if self._closed:
            self._check_closed()
        strand = here()
        task = DrawnTask(coro, self, name, context, "" if strand is None else strand.fresh("Task"))
        self.tasks.append(weakref.ref(task))
        return task

    def create_future(self) -> Any:
        strand = here()
        if not IN_C or strand is None:
            return super().create_future()
        future = DrawnFuture(loop=self)
        future._treadle_name = strand.fresh("Future")
        return future

    def with_exception(self) -> list[Any]:
        if not IN_C:
            return self.failed
        tasks = [reference() for reference in self.tasks]
        return self.failed + [task for task in tasks if task is not None and task._exception is not None]

    # ------------------------------------------------------------------ running

    def run_until_complete(self, future: Any) -> Any:
        if type(future) is not DrawnTask or future._loop is not self or self.known_to_be_shared:
            return super().run_until_complete(future)
        self._check_closed()
        self._check_running()
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

    def _run_any(self) -> None:
        run = self.execution
        if run.may_draw() and not self.watches_sockets():
            draw_steps(self, run, self.strand)
            if self._stopping:
                return
        super()._run_any()

    def _run_step(self, who: Strand, handle: Any, turn: Turn) -> None:
        """A step of which nobody asks what it does."""
        self.strand.checks = ALL
        if isinstance(who, TaskStrand):
            run_step(self, self.execution, who, self.strand)
            return
        turn.scheduled = False
        try:
            if not handle._cancelled:
                self.run_handle(handle)
        finally:
            STATE.strand = self.strand
