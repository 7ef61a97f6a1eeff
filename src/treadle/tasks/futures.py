"""Future and Task inside an execution: asyncio's Python forms, each operation on them seen as one access.

CPython's own are written in C: what one task does to another's future would not be seen. A future that strands of
several threads touch (which asyncio does not allow) is a point at each operation, as any shared object is. Where nobody
asks what is touched (`TaskExecution.only_steps`), the forms in C are used: they do the same, faster.

Invariant: a set of tasks is looped over in the same order in every execution, in all forms alike, so the hash of a
future is not its address but follows from who made it, and as the how-manieth.
"""

from __future__ import annotations

import asyncio.futures as futures
import asyncio.tasks as tasks
import sys
import types
import zlib
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads.hooks.points import include, perform, touch
from treadle.threads.primitives.inside import here

_PyFuture: Any = futures._PyFuture  # type: ignore[attr-defined]
PyTask: Any = tasks._PyTask  # type: ignore[attr-defined]
_CFuture: Any = futures.Future
_CTask: Any = tasks.Task
# From 3.14 on a task in C asks the OS thread which loop runs; all strands are one.
IN_C: Final = sys.version_info < (3, 14) and _CTask is not PyTask

# the two things of a future that others look at apart from all of it
STATE_KEY, CALLBACKS_KEY = "state", "callbacks"


class _Recorded:
    """What of the current execution is recorded. One slot that every operation on a future reads."""

    __slots__ = ("futures",)

    def __init__(self) -> None:
        self.futures = True


RECORDED: Final = _Recorded()


# The hash of who made it is multiplied by this, and then the number of what was made is added, in so many bits.
FACTOR: Final = 1_000_003
BITS: Final = (1 << 60) - 1
_MADE = "tasks and futures"  # among what a strand counts
_OF_THREADS: Final[dict[str, int]] = {}  # name of a thread -> what the hashes of what it makes begin at


class Hashed:
    """What is common to all forms: a hash by who made it."""

    __slots__ = ()
    _treadle_hash = 0
    treadle_made = 0  # of a task: how many tasks and futures its steps have made

    def __hash__(self) -> int:
        if not self._treadle_hash:
            strand = here()
            if strand is None:
                return object.__hash__(self)
            give_hash(self, strand)
        return self._treadle_hash

    def treadle_makes(self, future: Any) -> None:
        """A step of this task has made a future."""
        this: Any = self  # some forms have slots, others none
        this.treadle_made += 1
        future._treadle_hash = (this._treadle_hash * FACTOR + this.treadle_made) & BITS


def give_hash(future: Any, strand: Any) -> None:
    """A strand has made a future: a task in one of its steps, or else a thread."""
    task = getattr(strand, "task", None) or strand.execution.drawn_task()
    if task is not None:
        task.treadle_makes(future)
    else:
        thread_makes(strand, future)


def thread_makes(strand: Any, future: Any) -> None:
    """A thread has made a future, outside of its tasks."""
    name = strand.treadle_name
    begin = _OF_THREADS.get(name)
    if begin is None:
        begin = _OF_THREADS[name] = zlib.crc32(name.encode()) * FACTOR
    count = strand.encounters[_MADE] = strand.encounters.get(_MADE, 0) + 1
    future._treadle_hash = (begin + count) & BITS


class Seen(Hashed):
    """What is common to both Python forms: an operation is announced, then done as asyncio does it."""

    def _treadle_touch(self, kind: int, key: Any) -> None:
        strand = here()
        if strand is not None:
            touch(strand, kind, self, key)

    def done(self) -> bool:
        if RECORDED.futures:
            self._treadle_touch(READ, STATE_KEY)
        return bool(super().done())  # type: ignore[misc]

    def cancelled(self) -> bool:
        if RECORDED.futures:
            self._treadle_touch(READ, STATE_KEY)
        return bool(super().cancelled())  # type: ignore[misc]

    def result(self) -> Any:
        if RECORDED.futures:
            self._treadle_touch(READ, STATE_KEY)
        return super().result()  # type: ignore[misc]

    def exception(self) -> Any:
        if RECORDED.futures:
            self._treadle_touch(READ, STATE_KEY)
        return super().exception()  # type: ignore[misc]

    def add_done_callback(self, fn: Any, *, context: Any = None) -> None:
        strand = here() if RECORDED.futures else None
        if strand is not None:
            operations: list[Operation] = []
            include(strand, operations, self, WRITE, CALLBACKS_KEY)
            include(strand, operations, self, READ, STATE_KEY)
            perform(strand, operations)
        super().add_done_callback(fn, context=context)  # type: ignore[misc]

    def remove_done_callback(self, fn: Any) -> int:
        if RECORDED.futures:
            self._treadle_touch(WRITE, CALLBACKS_KEY)
        return int(super().remove_done_callback(fn))  # type: ignore[misc]

    def set_result(self, result: Any) -> None:
        if RECORDED.futures:
            self._treadle_touch(WRITE, None)
        super().set_result(result)  # type: ignore[misc]

    def set_exception(self, exception: Any) -> None:
        if RECORDED.futures:
            self._treadle_touch(WRITE, None)
        super().set_exception(exception)  # type: ignore[misc]
        self._treadle_failed()

    def _treadle_failed(self) -> None:
        """Remember who holds an exception: at the end of the execution somebody must have looked at it."""
        failed = getattr(self._loop, "failed", None)  # type: ignore[attr-defined]
        if failed is not None and self._exception is not None:  # type: ignore[attr-defined]
            failed.append(self)

    def cancel(self, msg: Any = None) -> bool:
        if RECORDED.futures:
            self._treadle_touch(WRITE, None)
        return bool(super().cancel(msg=msg))  # type: ignore[misc]


class _Kind(type):
    """A future is one whatever its form, and a task is a future, as it is in asyncio."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _FORMS[cls]) if cls in _FORMS else type.__subclasscheck__(cls, subclass)


class Future(Seen, _PyFuture, metaclass=_Kind):  # type: ignore[misc]
    """What `asyncio.Future` makes inside an execution."""


class Task(Seen, PyTask, metaclass=_Kind):  # type: ignore[misc]
    """What `asyncio.Task` makes inside an execution."""

    treadle_strand: Any = None  # with any_order: its strand, once it has been scheduled

    def _Future__schedule_callbacks(self) -> None:
        """The task has come to its end."""
        if RECORDED.futures:
            self._treadle_touch(WRITE, None)
        super()._Future__schedule_callbacks()
        self._treadle_failed()


class DrawnFuture(Hashed, _CFuture):  # type: ignore[misc]
    """What a loop makes where nobody asks what is touched."""

    def set_exception(self, exception: Any) -> None:
        super().set_exception(exception)
        self._loop.failed.append(self)


class DrawnTask(Hashed, _CTask):  # type: ignore[misc]
    """What a loop makes where nobody asks what is touched."""

    __slots__ = ("_treadle_hash", "call", "treadle_made")
    call: Any  # its next step, when it is ready: context, function, arguments


def _step_in_c() -> Any:
    """The type of what asyncio's tasks in C have called for their next step."""
    found: list[Any] = []
    loop = types.SimpleNamespace(call_soon=lambda call, context: found.append(type(call)), get_debug=lambda: False)
    coroutine = tasks.sleep(0)
    task = _CTask(coroutine, loop=loop)
    task._log_destroy_pending = False
    coroutine.close()
    return found[0]


# How a task in C is called: for its first step and after a bare yield, and when what it waited for is there.
StepInC: Final = _step_in_c() if IN_C else None
WAKEUP_IN_C: Final = "task_wakeup"


_FORMS: Final[dict[type, tuple[type, ...]]] = {Future: (_PyFuture, _CFuture), Task: (PyTask, _CTask)}

for _form, _name in ((Future, "Future"), (Task, "Task"), (DrawnFuture, "Future"), (DrawnTask, "Task")):
    _form.__name__ = _form.__qualname__ = _name
    _form.__module__ = "asyncio"
