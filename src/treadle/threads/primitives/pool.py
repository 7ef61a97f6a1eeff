"""ThreadPoolExecutor: submitting, taking a task and shutting down are one operation each.

Workers are threads of the program (named as CPython names them), started as CPython starts them: one per submit while
none is idle and fewer than `max_workers` exist. A worker without a task does not keep the execution going: CPython
sends it home when the interpreter exits. The pool's guard counts how many waiting workers have a task coming, and
those do.
"""

from __future__ import annotations

import functools
import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import _base
from concurrent.futures import thread as module
from typing import Any

from treadle.core.operation import GET, LOOK, SIGNAL, TRY
from treadle.threads.names import announce
from treadle.threads.primitives.futures import log
from treadle.threads.primitives.inside import at_end, count_made, here, name_made_outside, put_back
from treadle.threads.primitives.locks import Lock
from treadle.threads.strands import STATE, Strand, SyncObject
from treadle.threads.unwinding import StrandEnd

Real: Any = module.ThreadPoolExecutor
_real_init = Real.__init__
_real_submit = Real.submit
_real_map = _base.Executor.map
_real_shutdown = Real.shutdown

# CPython: the number of processors plus 4. A fixed number, so that an execution is the same on every machine; that of
# one processor, the least CPython uses, because a pool that is too small is the harder case.
DEFAULT_WORKERS = 5


class _Task:
    __slots__ = ("args", "fn", "future", "kwargs")

    def __init__(self, future: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.future = future
        self.fn = fn
        self.args = args
        self.kwargs = kwargs

    def run(self) -> None:
        future = self.future
        if not future.set_running_or_notify_cancel():
            return
        try:
            value = STATE.seen.function(self.fn)(*self.args, **self.kwargs)
        except StrandEnd:
            raise
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(value)


class PoolGuard(SyncObject):
    """In the place of `_work_queue`: the tasks, and the workers that wait for one."""

    __slots__ = ("idle", "kept_busy", "shut", "tasks", "waiting", "workers")
    label = "ThreadPoolExecutor"

    def __init__(self) -> None:
        self.tasks: deque[_Task | None] = deque()  # None, which a program put, wakes a worker up, as in CPython
        self.idle = 0  # workers that found nothing to do and were not yet counted on by a submit
        self.waiting = 0  # workers at GET, without daemons: nobody waits for these
        self.kept_busy = 0  # waiting workers with a task coming: they keep the execution going
        self.shut = False
        self.workers: list[threading.Thread] = []

    def ready(self, kind: int, strand: Strand) -> bool:
        return bool(self.tasks) or self.shut

    def guards(self) -> int:
        return 1 << GET if self.tasks or self.shut else 0

    def describe(self) -> str:
        return f"{len(self.tasks)} tasks" if self.tasks else "no tasks"

    def balance(self, strand: Strand) -> None:
        """Let the execution wait for as many idle workers as have something to do."""
        busy = self.waiting if self.shut else min(self.waiting, len(self.tasks))
        strand.execution.running_foreground += busy - self.kept_busy
        self.kept_busy = busy

    def qsize(self) -> int:
        """What programs ask of `executor._work_queue`."""
        strand = here()
        if strand is not None:
            strand.point(LOOK, self)
        return len(self.tasks)

    def empty(self) -> bool:
        return self.qsize() == 0

    def put(self, task: Any, block: bool = True, timeout: float | None = None) -> None:
        """A program that shuts its pool down by itself wakes a worker up with None."""
        strand = here()
        if strand is not None:
            strand.point(SIGNAL, self)
        self.tasks.append(task)
        if strand is not None:
            self.balance(strand)

    put_nowait = put

    def get_nowait(self) -> _Task | None:
        """A program takes away what nobody has begun."""
        strand = here()
        if strand is not None:
            strand.point(TRY, self)
        if not self.tasks:
            if strand is not None:
                strand.failed()
            raise queue.Empty
        task = self.tasks.popleft()
        if strand is not None:
            self.balance(strand)
        return task


def init(
    self: Any,
    max_workers: int | None = None,
    thread_name_prefix: str = "",
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
    **others: Any,
) -> None:
    strand = here()
    if strand is None:
        _real_init(self, max_workers, thread_name_prefix, initializer, initargs, **others)
        return
    if max_workers is None:
        max_workers = DEFAULT_WORKERS
    if max_workers <= 0:
        raise ValueError("max_workers must be greater than 0")
    if initializer is not None and not callable(initializer):
        raise TypeError("initializer must be a callable")
    self._max_workers = max_workers
    self._work_queue = guard = PoolGuard()
    guard.treadle_name = strand.fresh("ThreadPoolExecutor")
    self._threads = set()
    self._broken = False
    self._shutdown = False
    self._shutdown_lock = Lock()
    self._thread_name_prefix = thread_name_prefix or f"ThreadPoolExecutor-{count_made(strand, 'pool') - 1}"
    self._initializer = initializer
    self._initargs = initargs
    at_end(functools.partial(_outlives, weakref.ref(self)))


def _outlives(made: weakref.ref[Any]) -> None:
    """The execution is over, and somebody keeps a pool that it made: its workers have ended, so for later executions it
    is one made outside. A module that is not rewritten keeps such a pool, when the test imports it."""
    pool = made()
    if pool is not None and type(pool._work_queue) is PoolGuard and not pool._shutdown:
        _real_init(pool, pool._max_workers, pool._thread_name_prefix, pool._initializer, pool._initargs)


def _guard(self: Any, strand: Strand) -> PoolGuard:
    guard = self._work_queue
    if type(guard) is PoolGuard:
        return guard
    # a pool made outside: its workers stay there, and it gets others for this execution
    put_back(self, "_work_queue", "_threads", "_broken", "_shutdown", "_shutdown_lock", "_idle_semaphore")
    self._work_queue = guard = PoolGuard()
    guard.treadle_name = name_made_outside(self, strand, "ThreadPoolExecutor")
    guard.shut = self._shutdown
    self._threads = set()
    return guard


def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    strand = here()
    if strand is None:
        return _real_submit(self, fn, *args, **kwargs)
    guard = _guard(self, strand)
    announce(strand, fn)
    announce(strand, args)
    announce(strand, tuple(kwargs.values()))
    strand.point(SIGNAL, guard)
    if self._broken:
        raise module.BrokenThreadPool(self._broken)
    if self._shutdown:
        raise RuntimeError("cannot schedule new futures after shutdown")
    future = _base.Future()  # type: ignore[var-annotated]
    guard.tasks.append(_Task(future, fn, args, kwargs))
    if guard.idle:
        guard.idle -= 1
    elif len(guard.workers) < self._max_workers:
        worker = threading.Thread(
            name=f"{self._thread_name_prefix or self}_{len(guard.workers)}", target=_work, args=(self, guard)
        )
        guard.workers.append(worker)
        self._threads.add(worker)
        worker.start()
    guard.balance(strand)
    return future


def _work(pool: Any, guard: PoolGuard) -> None:
    """The life of a worker."""
    strand = STATE.strand
    assert strand is not None
    if _initializer_of(pool)[0] is not None and not _initialize(pool, guard, strand):
        return
    while True:
        strand.point(TRY, guard)
        if not guard.tasks:
            strand.failed()  # only who submits asks how many are idle
            if guard.shut:
                return
            _wait_for_task(guard, strand)
            if not guard.tasks:
                strand.failed()
                return
        task = guard.tasks.popleft()
        if task is None and pool._shutdown:
            guard.shut = True  # CPython's worker puts the None back for the next one
        guard.balance(strand)
        if task is not None:
            task.run()
        del task


def _wait_for_task(guard: PoolGuard, strand: Strand) -> None:
    """Nothing to do: from here to the next task (or the end) the execution does not wait for this worker."""
    guard.idle += 1
    foreground = not strand.daemon  # it is one as the thread is that submitted first
    if foreground:
        guard.waiting += 1
        strand.daemon = True
        strand.execution.running_foreground -= 1
        guard.balance(strand)
    strand.point(GET, guard)
    if foreground:
        guard.waiting -= 1
        strand.daemon = False
        strand.execution.running_foreground += 1
        guard.balance(strand)


def _initializer_of(pool: Any) -> tuple[Any, Any]:
    """The initializer and its arguments; from 3.14 on, the context of a worker has those of a pool made outside."""
    if hasattr(pool, "_initializer"):
        return pool._initializer, pool._initargs
    context = pool._create_worker_context()
    return context.initializer, context.initargs


def _initialize(pool: Any, guard: PoolGuard, strand: Strand) -> bool:
    initializer, arguments = _initializer_of(pool)
    try:
        STATE.seen.call(initializer, arguments, None)
        return True
    except StrandEnd:
        raise
    except BaseException:
        log("critical", "Exception in initializer:")
    strand.point(SIGNAL, guard)
    pool._broken = "A thread initializer failed, the thread pool is not usable anymore"
    while guard.tasks:
        task = guard.tasks.popleft()
        if task is not None:
            task.future.set_exception(module.BrokenThreadPool(pool._broken))
    guard.balance(strand)
    return False


def shutdown(self: Any, wait: bool = True, *, cancel_futures: bool = False) -> None:
    strand = here()
    if strand is None:
        if type(self._work_queue) is not PoolGuard:
            _real_shutdown(self, wait, cancel_futures=cancel_futures)
        return
    guard = _guard(self, strand)
    strand.point(SIGNAL, guard)
    self._shutdown = guard.shut = True
    dropped: list[_Task] = []
    if cancel_futures:
        dropped.extend(task for task in guard.tasks if task is not None)
        guard.tasks.clear()
    guard.balance(strand)
    for task in dropped:
        task.future.cancel()
    if wait:
        for worker in guard.workers:
            worker.join()


def map_(self: Any, fn: Callable[..., Any], *iterables: Any, **options: Any) -> Any:
    """CPython's own, which submits one task for each item, and takes the next one then."""
    return _real_map(self, fn, *map(STATE.seen.each, iterables), **options)


PATCHES = [
    (Real, {"__init__": init, "submit": submit, "shutdown": shutdown}),
    (_base.Executor, {"map": map_}),
]
