"""The loom of the explore door: runs a test again and again, its threads and its event loops under control.

A test that is a coroutine function is run by `asyncio.run`, each time on a new loop.
"""

from __future__ import annotations

import asyncio
import asyncio.events as events
import contextvars
import functools
import gc
import inspect
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any, cast

from treadle.core.errors import Unsupported, UsageError
from treadle.search.random_walk import DrawnAgain
from treadle.search.strategy import Strategy
from treadle.tasks.environment import may_cancel, named
from treadle.tasks.execution import TaskExecution
from treadle.tasks.futures import IN_C
from treadle.tasks.patches import controlled, loaded, of_libraries
from treadle.tasks.running import thread_of
from treadle.tasks.unseen import UNSEEN_HOOKS
from treadle.threads import known
from treadle.threads.carriers import main_context
from treadle.threads.execution import Execution
from treadle.threads.instrument import live
from treadle.threads.instrument.selection import ModuleSelection
from treadle.threads.instrument.swap import REWRITTEN, install_hooks, instrumented
from treadle.threads.loom import Loom
from treadle.threads.patches import bound
from treadle.threads.strands import AFTER_EXECUTION, STATE

# The place of the shared names among the arguments of an execution.
_SHARED = 9

_OF_ASYNCIO = [asyncio.locks, asyncio.queues, asyncio.streams, asyncio.taskgroups, asyncio.timeouts]


class TaskLoom(Loom):
    """Runs executions of one test. Use as a context manager."""

    def __init__(
        self,
        test: Callable[[], Any],
        *,
        source: Any = None,
        any_order: bool = False,
        cancel: str = "never",
        **options: Any,
    ) -> None:
        if not may_cancel(cancel):
            raise UsageError(f"cancel must be 'never', 'at-await' or 'at-await:NAME,NAME' of tasks, not {cancel!r}")
        super().__init__(as_function(test), source=test if source is None else source, **options)
        self.any_order = any_order
        self.coasts = not any_order  # where each step of a task is one of the search, all is looked at
        self.cancel = cancel
        written = [one for one in (source, inspect.unwrap(test)) if hasattr(one, "__code__")]
        self.test_file = written[0].__code__.co_filename if written else ""
        if cancel != "never":
            self.bounds["cancellations"] = 1
        self.unmet = set(named(cancel))  # names of tasks to cancel that no task has had
        self.looped = False  # has an execution made an event loop?
        self.threaded = False  # and has one run several threads?
        self.spinning = False  # or a loop of the program that waits for something that it reads?
        self.with_strands = False  # must there be a strand for each task, whatever the strategy?
        self.spare: TaskExecution | None = None  # the last one that only drew: it may be used again
        self.follow: Callable[[Execution], bool] | None = None  # in `run_on`
        self.unseen = False  # are the hooks in place that record nothing?
        self.libraries: set[str] = set()  # of which something is replaced

    def _instrument(self, stack: ExitStack) -> list[ModuleType]:
        # What tasks share of asyncio itself is seen as the program's own objects are. The program comes last: what it
        # imports while it runs is rewritten by who came last.
        marked = bool(self.gil)
        kept_in = self.selection.project_root
        stack.enter_context(
            instrumented(_OF_ASYNCIO, ModuleSelection(None), self.hooks, marked=marked, kept_in=kept_in)
        )
        return [module for module in super()._instrument(stack) if module not in _OF_ASYNCIO]

    def _control(self, stack: ExitStack) -> None:
        super()._control(stack)
        self.libraries = loaded()
        stack.enter_context(controlled())
        stack.callback(self._collect, gc.get_stats()[0]["collections"])
        stack.callback(install_hooks, self.hooks)

    def _more_modules(self, run: Execution) -> None:
        """A library that the test imports by itself is under control from the next execution on."""
        super()._more_modules(run)
        new = loaded() - self.libraries
        if new:
            self.libraries |= new
            self._stack.enter_context(bound(of_libraries(new)))
            run.revealed = True

    def _collect(self, collections: int) -> None:
        """Coroutines that stuck executions never came to would be complained about when they are found later. They are
        in the youngest generation, where nobody has collected since."""
        if self.looped:
            live.collect(0 if gc.get_stats()[0]["collections"] == collections else 1)

    def _execution(self) -> Callable[..., TaskExecution]:
        return self._make

    def _make(self, *arguments: Any) -> TaskExecution:
        picker, detail = arguments[1], arguments[8]
        only_steps = (
            self.any_order
            and not self.threaded
            and not self.spinning
            and detail is None
            and not picker.reads_footprints
        )
        if self.unseen != only_steps and not self.gil:
            install_hooks(UNSEEN_HOOKS if only_steps else self.hooks)
            self.unseen = only_steps
        only_draws = only_steps and self._may_only_draw(picker)
        spare, self.spare = self.spare, None
        if spare is not None:
            spare.main = None  # it goes at once, and not when the garbage collector comes round
        if self.any_order and not only_steps:  # every access is seen, and the execution tells what threads share
            arguments = (*arguments[:_SHARED], None, *arguments[_SHARED + 1 :])
        run = TaskExecution(*arguments)
        run.any_order, run.public, run.cancel = self.any_order, self.shared, self.cancel
        run.test_file = self.test_file
        run.only_steps = only_steps
        run.only_draws = only_draws
        return run

    def _may_only_draw(self, picker: Strategy) -> bool:
        """Is it enough to know the numbers that were drawn, as long as nothing goes wrong?"""
        return (
            picker.bits is not None
            and IN_C
            and not self.with_strands
            and not self.gil
            and not self.values
            and self.cancel == "never"
            and self.timeouts == "idle"
        )

    def _draws_the_same(self, picker: Strategy) -> bool:
        """Is what is drawn now drawn as the last one was? The loom itself has not changed since, but for who looks."""
        return picker.bits is not None and not (picker.reads_footprints or self.values or self.looks_are_points)

    @property
    def interrupts(self) -> bool:
        """Threads interrupt a loop; tasks do not interrupt each other, and their steps are searched in another way."""
        return not self.looped or (self.threaded and not self.any_order)

    def run(self, strategy: Strategy, detail: bool = False) -> Execution:
        run: Any = self.spare
        if run is not None and not detail and self._draws_the_same(strategy) and run.is_blank:
            run.renew(strategy, self.most_steps, self.shared)
            draw_on = functools.partial(self._draw_on, run, strategy, contextvars.copy_context())
            self._perform(run, self.test if self.follow is None else draw_on)
        else:
            run = super().run(strategy, detail)
        if run.only_draws:
            if run.is_usual:
                self.spare, self.looped = run, self.looped or bool(run.loops)
                return cast(Execution, run)
            self.spare = run
            run = self._with_strands(run, strategy)
        self.looped = self.looped or bool(run.loops)
        self.spinning = self.spinning or run.spins
        if not self.threaded and len(run.strands) > 1:
            self.threaded = sum(thread_of(strand) is strand for strand in run.strands) > 1
        if self.unmet:
            self.unmet -= run.met
            missing = " or ".join(sorted(self.unmet))
            self.incomplete = f"no task {missing} was there to be cancelled" if missing else ""
        if run.chose_between_steps and strategy.reads_footprints:
            self.classes_unknown = True
            self.incomplete = "with any_order, timers of one deadline are not run in every order against other steps"
        if run.uncontrolled:
            own = " and ".join(sorted(run.uncontrolled))
            self.incomplete = f"the test makes an event loop of its own class ({own}), whose orders are not explored"
        if self.any_order and run.called_unsafely:
            self.incomplete = (
                "with any_order, what a thread schedules or cancels in the loop of another one without waking it is "
                "not run in every order; call call_soon_threadsafe, or leave any_order out"
            )
        return cast(Execution, run)

    def run_on(self, strategy: Strategy, follow: Callable[[Execution], bool]) -> Execution:
        self.follow = follow
        try:
            return self.run(strategy)
        finally:
            self.follow = None

    def _draw_on(self, run: TaskExecution, strategy: Strategy, outside: contextvars.Context) -> None:
        """The test, in a strand that goes on with the next execution as long as there is nothing to tell of one but
        that it took place. What is done between two executions is what `_perform` and `Execution.run` do."""
        strand, follow, watch = run.strands[0], self.follow, self.watch
        policy = events._event_loop_policy  # type: ignore[attr-defined]
        main_context(outside).run(self.test)  # what it sets there is not there for the next one
        while (
            run.ends_here()
            and events._event_loop_policy is policy  # type: ignore[attr-defined]
            and len(sys.modules) == self.modules
            and len(REWRITTEN) == self.rewritten
            and known.SETTINGS not in run.rebound
            and not (watch.interrupted or watch.raised)
            and follow is not None
            and follow(run)
        ):
            self.looped = self.looped or bool(run.loops)
            if run.deadlines:
                self.deadlines |= run.deadlines
            STATE.strand = None
            for undo in AFTER_EXECUTION:
                undo()
            self._put_back()
            run.begin_again(strategy, self.most_steps, self.shared)
            self._begin(run)
            STATE.strand = strand
            main_context(outside).run(self.test)

    def _with_strands(self, run: Any, strategy: Strategy) -> Any:
        """An execution of which only the numbers are known: the same with its strands, if somebody will look at it."""
        self.with_strands = run.wants_strands
        if run.revealed or run.ended_well:
            return run
        self.with_strands = True
        again: Any = super().run(DrawnAgain(strategy.drawn))
        if again.ended_well and run.stop_reason != "seconds":
            raise Unsupported(
                "an execution failed, but did not when the same steps were run again: it depends on something that the "
                "scheduler does not control (real time, addresses, files, other processes)"
            )
        return again


def as_function(test: Callable[[], Any]) -> Callable[[], Any]:
    """The test as a function that runs to its end when it is called."""
    return functools.partial(_run, test) if inspect.iscoroutinefunction(test) else test


def _run(test: Callable[[], Any]) -> Any:
    __tracebackhide__ = True
    return asyncio.run(test())
