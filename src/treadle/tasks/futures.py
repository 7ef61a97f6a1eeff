"""Future and Task inside an execution: asyncio's Python forms, each operation on them seen as one access.

CPython's own are written in C: what one task does to another's future would not be seen. A future that strands of
several threads touch (which asyncio does not allow) is a point at each operation, as any shared object is.

Invariant: a set of tasks is looped over in the same order in every execution, so the hash of a future is not its
address but follows from who made it, and as the how-manieth.
"""

from __future__ import annotations

import asyncio.futures as futures
import asyncio.tasks as tasks
import zlib
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads.hooks.points import include, perform, touch
from treadle.threads.names import meet
from treadle.threads.primitives.inside import here

_PyFuture: Any = futures._PyFuture  # type: ignore[attr-defined]
_PyTask: Any = tasks._PyTask  # type: ignore[attr-defined]

# the two things of a future that others look at apart from all of it
STATE_KEY, CALLBACKS_KEY = "state", "callbacks"


class _Recorded:
    """What of the current execution is recorded. One slot that every operation on a future reads."""

    __slots__ = ("futures",)

    def __init__(self) -> None:
        self.futures = True


RECORDED: Final = _Recorded()


class Seen:
    """What is common to both forms: an operation is announced, then done as asyncio does it."""

    _treadle_hash = 0

    def __hash__(self) -> int:
        number = self._treadle_hash
        if not number:
            strand = here()
            if strand is None:
                return object.__hash__(self)
            number = self._treadle_hash = zlib.crc32(meet(strand, self).name.encode()) or 1
        return number

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


class Future(Seen, _PyFuture):  # type: ignore[misc]
    """What `asyncio.Future` makes inside an execution."""


class Task(Seen, _PyTask):  # type: ignore[misc]
    """What `asyncio.Task` makes inside an execution."""

    treadle_strand: Any = None  # with any_order: its strand, once it has been scheduled

    def _Future__schedule_callbacks(self) -> None:
        """The task has come to its end."""
        if RECORDED.futures:
            self._treadle_touch(WRITE, None)
        super()._Future__schedule_callbacks()
        self._treadle_failed()


for _form, _name in ((Future, "Future"), (Task, "Task")):
    _form.__name__ = _form.__qualname__ = _name
    _form.__module__ = "asyncio"
