"""Steps of tasks as events of the search: what `any_order` permutes.

A task is a strand of its own that borrows the greenlet of its loop. It can be chosen when it is scheduled and no other
task of the loop is in the middle of a step; the loop's own strand runs the callbacks, in their order. So a step is
atomic against the tasks of its own loop, while other threads interleave at its accesses to what they share.

What a step did is known when it has ended: its accesses to what other threads touch are events, all others are kept in
footprints. Two steps of one loop depend on each other when their accesses conflict, by the rules of `core/dependency`.
A step through code that is not seen conflicts with every other.
"""

from __future__ import annotations

import asyncio.tasks as tasks
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mypy_extensions import mypyc_attr

from treadle.core.dependency import Footprint
from treadle.core.operation import CAUSE_BITS, STEP, WAIT, Operation
from treadle.core.result import BEGINS, GOES_ON, Step
from treadle.tasks.futures import Task
from treadle.threads.detail import is_own
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.strands import AFTER_EXECUTION, STATE, Strand, SyncObject

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop

_Gathering: Any = tasks._GatheringFuture  # type: ignore[attr-defined]


def causes(first: int, second: int) -> int:
    """Two events that a step comes after, as one number for the search; -1 is none."""
    return (first + 1) | (second + 1) << CAUSE_BITS


@mypyc_attr(allow_interpreted_subclasses=True)
class Turn(SyncObject):
    """Whose turn it is in a loop, as seen by one of its strands."""

    __slots__ = ("cause", "loop", "scheduled")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.treadle_name = f"turn of {loop.name}"
        self.scheduled = False
        self.cause = -1  # the event that scheduled the next step

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.scheduled and self.loop.between_steps

    def guards(self) -> int:
        return causes(self.cause, self.loop.entered)  # the search reads them here


@mypyc_attr(allow_interpreted_subclasses=True)
class TaskStrand(Strand):
    """A task of an event loop, in an execution that permutes steps."""

    def __init__(self, loop: Loop, index: int, name: str, task: Any) -> None:
        super().__init__(loop.execution, index, name, loop.strand.thread, None, False)
        self.of_loop = loop
        self.of_thread = loop.strand
        self.greenlet = loop.strand.greenlet
        self.turn = Turn(loop)
        self.task = task
        self.handle: Any = None
        self.is_live = False
        self.number = -1  # its place in the order that asyncio promises
        self.pending = (WAIT, None, None)
        self.unseen: bool | None = None  # did its last step end in code that is not rewritten?

    def schedule(self, handle: Any) -> None:
        """Its next step may run."""
        run: Any = self.execution
        self.handle = handle
        self.number = next(run.scheduled)
        self.turn.scheduled = True
        self.turn.cause = run.step - 1
        if STATE.strand is not self:  # what schedules itself does so when its step has ended
            self.wait_for_turn()
        if not self.is_live and not run.ending:
            self.is_live = True
            run.live.append(self)

    def end_step(self) -> None:
        """A step has ended: the next one is scheduled already, or the task waits, or it is done."""
        if self.turn.scheduled:
            self.wait_for_turn()
        else:
            self.is_live = False
            self.execution.live.remove(self)
            self.finished = self.task._state != "PENDING"

    def wait_for_turn(self) -> None:
        """The next point of this strand is the beginning of a step."""
        if self.detail:
            self.step = described(self.treadle_name, self.task)
        self.pending = self.of_loop.step_of_loop
        self.guard = self.touched = self.turn
        self.waits = STEP

    def release(self) -> None:
        self.task = self.handle = self.turn.loop = self.of_loop = None  # type: ignore[assignment]


def described(strand: str, task: Any) -> Step:
    """The next step of a task, for people: it begins, or goes on after what it awaited."""
    coroutine = task.get_coro()
    places = [
        (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)
        for frame in frames(coroutine)
        if not is_own(frame.f_code.co_filename)
    ]
    file, line, function = places[-1] if places else ("", 0, "")
    begins = getattr(coroutine, "cr_suspended", True) is False
    verb, what = (BEGINS, "") if begins else (GOES_ON, awaited(task))
    return Step(strand, verb, what, file, line, function, "", tuple(places[::-1]))


def task_of(handle: Any) -> Any:
    """The task whose next step this handle is; None for a callback."""
    callback = handle._callback
    owner = getattr(callback, "__self__", None)
    return owner if isinstance(owner, Task) and callback.__name__ in ("__step", "__wakeup") else None


def awaited(task: Any) -> str:
    """What a suspended task waits for: the function of asyncio that it called (`Lock.acquire`), or a task."""
    waiter = getattr(task, "_fut_waiter", None)
    if hasattr(waiter, "get_coro"):
        return f"task {task_name(waiter)}"
    for frame in frames(task.get_coro()):
        if frame.f_globals.get("__name__", "").partition(".")[0] == _ASYNCIO:
            return str(frame.f_code.co_qualname)
    if isinstance(waiter, _Gathering):
        return "gather"
    return "a Future" if waiter is None else f"a {type(waiter).__name__}"


def task_name(task: Any) -> str:
    """What its author called it, or the name of its coroutine."""
    given = task.get_name()
    return coroutine_name(task) if given.startswith("Task-") else str(given)


def coroutine_name(task: Any) -> str:
    return str(getattr(task.get_coro(), "__qualname__", task.get_name())).rpartition(".<locals>.")[2]


def frames(coroutine: Any) -> Iterator[Any]:
    """The frames in which a suspended coroutine stands, outermost first."""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None:
            yield frame
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)


class Block:
    """A step while it runs, and afterwards: its first and last event, and what it did behind each of its events."""

    __slots__ = ("begin", "last", "segments", "turn")

    def __init__(self, begin: int, turn: str) -> None:
        self.begin = self.last = begin
        self.turn = turn
        self.segments: dict[int, Footprint] = {begin: Footprint()}

    def add(self, op: Operation) -> None:
        """An access to what no other thread touches."""
        segment = self.segments.get(self.last)
        if segment is None:
            segment = self.segments[self.last] = Footprint()
        segment.add(op)


# ---------------------------------------------------------------------- code that is not seen

_ASYNCIO = "asyncio"


def is_seen(callback: Any) -> bool:
    """Is everything that this callback does to shared objects seen?"""
    while hasattr(callback, "func"):
        callback = callback.func
    function = getattr(callback, "__func__", callback)
    return _module_is_seen(getattr(function, "__globals__", {}).get("__name__") or getattr(function, "__module__", ""))


def _module_is_seen(module: Any) -> bool:
    return module in REWRITTEN or str(module).partition(".")[0] in (_ASYNCIO, "_asyncio", "treadle")


# code -> is it rewritten? Forgotten when an execution is over: more may be rewritten by then.
_SEEN: dict[Any, bool] = {}
AFTER_EXECUTION.append(_SEEN.clear)


def through_unseen_code(task: Any) -> bool:
    """Is a task suspended in a coroutine whose code is not rewritten?"""
    coroutine = task._coro
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None:
            seen = _SEEN.get(frame.f_code)
            if seen is None:
                seen = _SEEN[frame.f_code] = _module_is_seen(frame.f_globals.get("__name__"))
            if not seen:
                return True
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return False


def describe_task(task: Any) -> str:
    """A task that has not finished: its name, where it stands, what it awaits."""
    frame = innermost(task)
    place = f" ({frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno})" if frame is not None else ""
    what = "is scheduled" if task._fut_waiter is None else f"awaits {awaited(task)}"
    return f"task {task_name(task)} {what}{place}"


def innermost(task: Any) -> Any:
    """The frame in which a task is suspended that is not asyncio's own."""
    own = [frame for frame in frames(task.get_coro()) if not is_own(frame.f_code.co_filename)]
    return own[-1] if own else None
