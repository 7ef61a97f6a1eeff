"""The stage of a class whose methods are coroutines: a call in a task of one event loop, where it is a call in a thread
for other classes.

The object is built and looked at by the same calls, one after the other, each run to its end by the loop; the calls of
a test run as tasks, whose steps come in every order (`any_order`). A sequence that is run alone records each access;
in a test the accesses of a step belong to the step.

A call may also be cancelled at any of its awaits, once in an execution. What it returns and leaves then is not judged,
but the other call has to come to its end, and so has whoever uses the object afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from treadle.classes.calls import MethodCall, Ready
from treadle.classes.stage import Stage, Work
from treadle.classes.subject import Subject
from treadle.core.result import Step
from treadle.search.strategy import Strategy
from treadle.tasks.environment import IN_TEST, CancelledTask
from treadle.tasks.loom import TaskLoom
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom


def stage_of(subject: Subject, setup: Callable[[], Any] | None = None, *options: Any, **more: Any) -> Stage:
    """The stage that a class needs."""
    return (TaskStage if subject.in_tasks else Stage)(subject, setup, *options, **more)


class TaskStage(Stage):
    """Runs sequences and tests of a class whose methods are coroutines."""

    runner: asyncio.Runner

    def _new_loom(self, **options: Any) -> Loom:
        self._public: set[str] = set()  # what several threads touch
        self.namespace.names["between_steps"] = self._between_steps
        return TaskLoom(self._play, **options)

    def _execute(self, strategy: Strategy, detail: bool = False) -> Execution:
        loom = cast(TaskLoom, self.loom)
        loom.any_order = self.test is not None
        loom.shared = self._public if loom.any_order else None
        loom.cancel = IN_TEST if self.test is not None and self.test.cancels else "never"
        return super()._execute(strategy, detail)

    def _play(self) -> None:
        with asyncio.Runner() as self.runner:
            super()._play()

    def _build(self, root: MethodCall, setup: Any) -> Any:
        async def build() -> Any:  # a constructor may ask for the running loop
            return super(TaskStage, self)._build(root, setup)

        return self.runner.run(build())

    def _rest(self) -> None:
        """Tasks of the object's own go on while a call is awaited."""

    def _invoke(self, ready: Ready, sout: Any, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        async def invoke() -> tuple[str, Any]:
            return await self._await(ready, sout, arguments)

        return self.runner.run(invoke())

    async def _await(self, ready: Ready, sout: Any, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        how, made = super()._invoke(ready, sout, arguments)
        if how == "raised" or not ready.call.awaits:
            return how, made
        try:
            return "returned", await made
        except Exception as error:
            return "raised", error
        except asyncio.CancelledError as error:
            cancelled = self.test is not None and self.test.cancels
            return ("returned", "cancelled") if cancelled else ("raised", error)  # the first is nobody's fault

    def _run_together(self, sout: Any, work: list[Work]) -> None:
        self.runner.run(self._gather(sout, work))

    async def _gather(self, sout: Any, work: list[Work]) -> None:
        tasks: list[Any] = [
            asyncio.create_task(self._task(number, sout, part), name=_name(number)) for number, part in enumerate(work)
        ]
        self.strand_names = [task.treadle_strand.treadle_name for task in tasks]
        self.together = True
        await asyncio.gather(*tasks)

    async def _task(self, number: int, sout: Any, work: Work) -> None:
        for ready, arguments in work:
            if self.called[number]:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)  # others may come between two calls
            self.called[number] += 1
            self.results[number].append(await self._await(ready, sout, arguments))

    def calls_begun(self, thread: int) -> int:
        """A task begins with its first step, not when it is made: calls count when they have ended."""
        return len(self.results[thread]) + self.parted[thread]

    async def _between_steps(self) -> None:
        strand = getattr(asyncio.current_task(), "treadle_strand", None)
        if self.test is not None and strand is not None and strand.treadle_name in self.strand_names:
            self.parted[self.strand_names.index(strand.treadle_name)] += 1
        await asyncio.sleep(0)

    def steps_of(self, run: Execution) -> list[Step]:
        """The tasks are called T1 and T2, as threads are; what asyncio does for itself is left out."""
        columns = {name: _name(number) for number, name in enumerate(self.strand_names)}
        return [
            replace(step, strand=columns[step.strand])
            for step in cast(Any, run).story
            if step.strand in columns and step.file
        ]

    def told_besides(self, run: Execution) -> str:
        """Who is cancelled, and where it stands then."""
        cancelled: CancelledTask | None = cast(Any, run).cancelled
        if cancelled is None or cancelled.name not in map(_name, range(len(self.strand_names))):
            return ""
        where = "".join(f" at {Path(file).name}:{line}" for file, line, _ in cancelled.place[:1])
        return f"{cancelled.name} is cancelled{where}"


def _name(number: int) -> str:
    """The task of a column is called as a thread is."""
    return f"T{number + 1}"
