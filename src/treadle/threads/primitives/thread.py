"""Thread and Timer: `start` inside an execution makes a strand; everything the threading module tells about threads
(current_thread, enumerate, get_ident, ...) is told of strands.

The methods are put into CPython's own class, so every subclass works, whenever it was defined. Names and identifiers
count from one in each execution, so that they are the same whenever the same thing happens. An exception that ends a
thread is kept on its strand for the oracles, and given to `threading.excepthook` when the program set its own.
"""

from __future__ import annotations

import _thread
import sys
import threading
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from treadle.core.operation import LOOK, MULTI, READ, WAIT, WRITE, Operation
from treadle.threads.hooks.points import perform
from treadle.threads.learning import STARTS
from treadle.threads.names import announce, is_private, meet, publish
from treadle.threads.primitives.event import make_guard
from treadle.threads.primitives.inside import count_made, here, put_back
from treadle.threads.primitives.local import forget
from treadle.threads.primitives.native import is_native, run_beside
from treadle.threads.strands import STATE, Strand
from treadle.threads.unwinding import StrandEnd

Real: Any = threading.Thread
RealTimer: Any = threading.Timer
RealEvent: Any = threading.Event
_real_init = Real.__init__
_real_start = Real.start
_real_join = Real.join
_real_run = Real.run
_real_is_alive = Real.is_alive
_real_repr = Real.__repr__
_real_ident = Real.ident.fget
_real_native_id = Real.native_id.fget
_real_set_daemon = Real.daemon.fset
_real_timer_run = RealTimer.run
_real_current_thread = threading.current_thread
_real_enumerate = threading.enumerate
_real_active_count = threading.active_count
_real_get_ident = _thread.get_ident
_real_get_native_id = _thread.get_native_id
_real_start_new_thread = _thread.start_new_thread
_real_count = _thread._count
_own_excepthook = threading.__excepthook__
_HAS_HANDLE = sys.version_info >= (3, 13)
_HAS_CONTEXT = sys.version_info >= (3, 14)


# ---------------------------------------------------------------------- Thread


def init(
    self: Any,
    group: None = None,
    target: Callable[..., object] | None = None,
    name: str | None = None,
    args: Any = (),
    kwargs: Any = None,
    *,
    daemon: bool | None = None,
    **context: Any,
) -> None:
    strand = here()
    if strand is None:
        _real_init(self, group, target, name, args, kwargs, daemon=daemon, **context)
        return
    for word in context:
        if word != "context" or not _HAS_CONTEXT:
            raise TypeError(f"Thread.__init__() got an unexpected keyword argument '{word}'")
    if _HAS_CONTEXT:
        self._context = context.get("context")
    assert group is None, "group argument must be None for now"
    if name:
        name = str(name)
    else:
        count = count_made(strand, "thread")
        name = f"Thread-{count}"
        if target is not None:
            try:
                name = f"Thread-{count} ({target.__name__})"
            except AttributeError:
                pass
    self._target = target
    self._name = name
    self._args = args
    self._kwargs = {} if kwargs is None else kwargs
    self._treadle_kwargs = kwargs is not None  # else nobody but CPython has the dictionary
    self._daemonic = strand.daemon if daemon is None else daemon
    self._ident = None
    self._native_id = None
    if _HAS_HANDLE:
        self._handle = None
    else:
        self._tstate_lock = None
        self._is_stopped = False
    self._started = _not_started()
    self._initialized = True
    self._stderr = sys.stderr
    self._treadle = None


def _not_started() -> Any:
    """The Event in a Thread object that tells whether it was started."""
    started = RealEvent.__new__(RealEvent)
    started._flag = False
    started._cond = make_guard(False)
    return started


def _bring_in(self: Any) -> None:
    """A thread that was made outside is started inside: it can be started again in the next execution."""
    put_back(self, "_treadle", "_treadle_hash", "_started", "_ident", "_native_id", "_target", "_args", "_kwargs")
    self._started = _not_started()
    self._treadle = None
    self._treadle_hash = object.__hash__(self)  # it may be in a set already


def _life(self: Any, strand: Strand | None, kind: int, starts: bool = False) -> None:
    """The point before a thread is started, or before somebody asks whether it was; none while one strand has it."""
    if strand is None or not self._initialized:
        return
    named = meet(strand, self)
    operations: list[Operation] = []
    if not named.shared and not is_private(strand, named):
        strand.execution.reveal(named)
    if named.shared and (named.owner is not strand or strand.execution.shared is not None):
        operations.append((kind, named.name, "life"))
    if starts:
        _add_start(strand, operations)
    perform(strand, operations)


def _add_start(strand: Strand, operations: list[Operation]) -> None:
    """Starting a thread is seen by who asks which threads there are."""
    if STARTS in strand.execution.rebound:
        operations.append((WRITE, STARTS, strand.treadle_name))


def start(self: Any) -> None:
    strand = here()
    if strand is None:
        _real_start(self)
        return
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    _life(self, strand, WRITE, starts=True)
    if self._started._flag:
        raise RuntimeError("threads can only be started once")
    if "_treadle" not in vars(self):
        _bring_in(self)
    started = self._started
    started._flag = True
    started._cond.flag = True
    publish(strand, self)
    target = getattr(self, "_target", None)
    if target is not None:
        announce(strand, target)
        announce(strand, self._args)
    strand.execution.spawn(self, partial(_live, self), self._name, self._daemonic)


def _live(thread: Any) -> None:
    """The life of a strand that is a thread."""
    strand = STATE.strand
    assert strand is not None
    thread._treadle = strand
    thread._ident = thread._native_id = strand.ident
    try:
        context = thread._context if _HAS_CONTEXT else None
        if context is None:
            STATE.seen.method(thread, "run")()
        else:
            context.run(STATE.seen.method(thread, "run"))
    except (StrandEnd, KeyboardInterrupt):
        raise
    except SystemExit:
        pass  # ends the thread in silence, in CPython as well
    except BaseException as error:
        if strand.execution.ending:
            return
        strand.exception = error
        _tell_excepthook(thread, error)
    finally:
        forget(strand)
        strand.run = None  # a thread that has ended may be collected: who is still asked for it has it to its last step
        if not strand.execution.ends_are_points:
            strand.thread = None


def run(self: Any) -> None:
    """Call the target; what is not rewritten (`target=items.append`) is one operation, as in rewritten code."""
    strand = here()
    if strand is None:
        _real_run(self)
        return
    try:
        target = STATE.seen.load(self, "_target")
        if target is not None and self._daemonic and is_native(target):
            run_beside(strand, partial(target, *self._args, **self._kwargs))
        elif target is not None:
            kwargs = STATE.seen.load(self, "_kwargs")
            args = STATE.seen.load(self, "_args")
            STATE.seen.call(target, args, kwargs if vars(self).get("_treadle_kwargs", True) or kwargs else None)
    finally:
        del self._target, self._args, self._kwargs


def _tell_excepthook(thread: Any, error: BaseException) -> None:
    """Call the hook of the program. CPython's own only prints, and the one of pytest only warns: both would say again
    what Treadle reports."""
    hook: Any = threading.excepthook
    if hook is _own_excepthook or str(getattr(hook, "__module__", "")).startswith("_pytest."):
        return
    if isinstance(hook, partial) and str(getattr(hook.func, "__module__", "")).startswith("_pytest."):
        return
    try:
        STATE.seen.function(hook)(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))
    except StrandEnd:
        raise
    except Exception:
        print("Exception in threading.excepthook:", file=sys.stderr, flush=True)
        sys.excepthook(*sys.exc_info())


def _strand_of(thread: Any) -> Strand | None:
    """The strand that a thread of this execution is; None for one that is not started, or runs outside."""
    strand: Strand | None = vars(thread).get("_treadle")
    if strand is None and thread is threading.main_thread():
        caller = here()
        if caller is not None:
            return caller.execution.strands[0]
    return strand


def join(self: Any, timeout: float | None = None) -> None:
    strand = here()
    if strand is None:
        target = _strand_of(self) if self._initialized else None
        if target is None:
            _real_join(self, timeout)
        return  # outside, every strand has ended
    if not self._initialized:
        raise RuntimeError("Thread.__init__() not called")
    _life(self, strand, READ)
    if not self._started._flag:
        raise RuntimeError("cannot join thread before it is started")
    target = _strand_of(self)
    if target is strand:
        raise RuntimeError("cannot join current thread")
    if target is None:
        _real_join(self, timeout)  # a thread that runs outside the execution
    elif timeout is None:
        strand.point(WAIT, target)
    elif timeout > 0:
        strand.point(WAIT, target, timeout)
    else:
        strand.point(LOOK, target)


def is_alive(self: Any) -> bool:
    _life(self, here(), READ)
    target = _strand_of(self)
    if target is None:
        if "_treadle" in vars(self):
            return False  # made in an execution and not started
        return bool(_real_is_alive(self))
    strand = here()
    if strand is not None and strand is not target:
        strand.point(LOOK, target)
    return not target.finished


def ident(self: Any) -> int | None:
    strand = here()
    if strand is not None and self is threading.main_thread():
        return strand.execution.strands[0].ident
    if strand is not None and strand.thread is not self:
        _life(self, strand, READ)
    number: int | None = _real_ident(self)
    return number


def native_id(self: Any) -> int | None:
    strand = here()
    if strand is not None and self is threading.main_thread():
        return strand.execution.strands[0].ident
    if strand is not None and strand.thread is not self:
        _life(self, strand, READ)
    number: int | None = _real_native_id(self)
    return number


def repr_(self: Any) -> str:
    strand = _strand_of(self)
    if strand is None and "_treadle" not in vars(self):
        return str(_real_repr(self))
    assert self._initialized, "Thread.__init__() was not called"
    status = "initial" if strand is None else "stopped" if strand.finished else "started"
    if self._daemonic:
        status += " daemon"
    if strand is not None:
        status += f" {strand.ident}"
    return f"<{self.__class__.__name__}({self._name}, {status})>"


def hash_(self: Any) -> int:
    """A set of threads is looped over in the same order in every execution, so not by address."""
    state = vars(self)
    if "_treadle" not in state or not self._initialized:
        return object.__hash__(self)
    number: int | None = state.get("_treadle_hash")
    if number is None:
        state["_treadle_hash"] = number = zlib.crc32(self._name.encode())
    return number


def get_daemon(self: Any) -> bool:
    assert self._initialized, "Thread.__init__() not called"
    strand = here()
    if strand is not None and strand.thread is not self:
        _life(self, strand, READ)
    return bool(self._daemonic)


def set_daemon(self: Any, daemonic: bool) -> None:
    strand = here()
    if strand is None:
        _real_set_daemon(self, daemonic)
        return
    if not self._initialized:
        raise RuntimeError("Thread.__init__() not called")
    _life(self, strand, WRITE)
    if self._started._flag:  # not is_set(): that would be a scheduling point
        raise RuntimeError("cannot set daemon status of active thread")
    self._daemonic = daemonic


def timer_run(self: Any) -> None:
    """Waiting and looking whether it was cancelled are one operation: nothing can tell them from two."""
    if here() is None:
        _real_timer_run(self)
        return
    if not self.finished.wait(self.interval):
        STATE.seen.call(*(STATE.seen.load(self, name) for name in ("function", "args", "kwargs")))
    self.finished.set()


# ---------------------------------------------------------------------- functions of the modules


def current_thread() -> Any:
    strand = here()
    if strand is None:
        return _real_current_thread()
    if strand.thread is None:
        if strand.index == 0:
            return threading.main_thread()
        strand.thread = _dummy(strand)
    return strand.thread


def _dummy(strand: Strand) -> Any:
    """The Thread object of a strand that was made without one, for when somebody asks."""
    count = count_made(strand, "thread")
    thread: Any = threading._DummyThread.__new__(threading._DummyThread)
    init(thread, name=f"{'Dummy' if strand.daemon else 'Thread'}-{count}", daemon=strand.daemon)
    thread._started._flag = True
    thread._ident = thread._native_id = strand.ident
    thread._treadle = strand
    return thread


def _look_at_all(strand: Strand) -> None:
    """One look at every strand: who is alive depends on all of them."""
    strand.execution.watch_starts()
    looks = [(LOOK, other.treadle_name, None) for other in strand.execution.strands]
    strand.pending = (MULTI, None, (*looks, (READ, STARTS, None)))
    strand.execution.advance(strand)


def enumerate_() -> list[Any]:
    strand = here()
    if strand is None:
        return list(_real_enumerate())
    _look_at_all(strand)
    main = threading.main_thread()
    return [
        main if other.index == 0 and other.thread is None else other.thread
        for other in strand.execution.live
        if other.index == 0 or other.thread is not None
    ]


def active_count() -> int:
    return len(enumerate_()) if here() is not None else _real_active_count()


def get_ident() -> int:
    strand = here()
    return _real_get_ident() if strand is None else strand.ident


def get_native_id() -> int:
    strand = here()
    return _real_get_native_id() if strand is None else strand.ident


def start_new_thread(function: Callable[..., object], args: Any, kwargs: Any = None, /) -> int:
    strand = here()
    if strand is None:
        return _real_start_new_thread(function, args, {} if kwargs is None else kwargs)
    if not callable(function):
        raise TypeError("first arg must be callable")
    if not isinstance(args, tuple):
        raise TypeError("2nd arg must be a tuple")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise TypeError("optional 3rd arg must be a dictionary")
    announce(strand, function)
    announce(strand, args)
    operations: list[Operation] = []
    _add_start(strand, operations)
    perform(strand, operations)
    return strand.execution.spawn(None, partial(_live_raw, function, args, kwargs), "", True).ident


def _live_raw(function: Callable[..., object], args: Any, kwargs: Any) -> None:
    strand = STATE.strand
    assert strand is not None
    try:
        STATE.seen.call(function, args, kwargs)
    except (StrandEnd, KeyboardInterrupt):
        raise
    except SystemExit:
        pass
    except BaseException as error:
        if not strand.execution.ending:
            strand.exception = error
    finally:
        forget(strand)


def count() -> int:
    strand = here()
    if strand is None:
        return _real_count()
    _look_at_all(strand)
    return len(strand.execution.live) - 1


PATCHES = [
    (
        Real,
        {
            "__init__": init,
            "start": start,
            "run": run,
            "join": join,
            "is_alive": is_alive,
            "ident": property(ident, doc=Real.ident.__doc__),
            "native_id": property(native_id, doc=Real.native_id.__doc__),
            "daemon": property(get_daemon, set_daemon, doc=Real.daemon.__doc__),
            "__repr__": repr_,
            "__hash__": hash_,
        },
    ),
    (RealTimer, {"run": timer_run}),
    (
        threading,
        {
            "current_thread": current_thread,
            "enumerate": enumerate_,
            "active_count": active_count,
            "get_ident": get_ident,
            "get_native_id": get_native_id,
        },
    ),
    (
        _thread,
        {
            "get_ident": get_ident,
            "get_native_id": get_native_id,
            "start_new_thread": start_new_thread,
            "start_new": start_new_thread,
            "_count": count,
        },
    ),
]
