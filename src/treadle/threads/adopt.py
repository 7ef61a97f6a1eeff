"""Objects and functions of CPython's own that rewritten code meets inside an execution, and what stands for them there.

`adopt(obj)` gives the model of a real lock, RLock or SimpleQueue (one per object and execution, by identity, in the
state the real one is in), makes a real `threading.local` show the attributes of the running strand, puts a Condition
over a modelled lock, and replaces a function or class that was imported by name before the patches came
(`from time import sleep`). Everything else is returned as it is: Event, Semaphore, Barrier, Queue, Thread, Future and
executors are Python classes, whose own methods are under control.

Hooks call this for every object they touch, so the common answer is one look into a dictionary by type.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

from treadle.threads.primitives import condition, event, queues, semaphore
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.local import RealLocal, adopt_local
from treadle.threads.primitives.locks import RealLock, RealRLock, adopt_lock
from treadle.threads.primitives.queues import RealSimpleQueue, adopt_simple_queue
from treadle.threads.strands import Strand
from treadle.threads.unasked import BUILTINS

# what was imported by name before the patches came -> what stands for it; filled by treadle.threads.patches
REPLACED: dict[Any, Any] = {}


def _adopt_condition(obj: Any, strand: Strand) -> Any:
    if "_treadle" not in vars(obj) and "_lock" in vars(obj):
        condition.bring_in(obj, strand)
    return obj


def _adopt_callable(obj: Any, strand: Strand) -> Any:
    return REPLACED.get(obj, obj)


def _adopt_builtin(obj: Any, strand: Strand) -> Any:
    """A function of the time or _thread module, or a method of a real lock that was taken off it (`lock.acquire`)."""
    of = obj.__self__
    if of is None or type(of) is types.ModuleType or type(of) is type:
        return REPLACED.get(obj, obj)
    adopter = ADOPTERS.get(type(of))
    if adopter is None or adopter is _adopt_builtin or adopter is _adopt_callable:
        return obj
    return getattr(adopter(of, strand), obj.__name__)


def _adopt_method(obj: Any, strand: Strand) -> Any:
    """A method of a thread, event, queue, ... that was taken off it before the patches came (`done = event.set`)."""
    model = REPLACED.get(obj.__func__)
    return obj if model is None else types.MethodType(model, obj.__self__)


ADOPTERS: dict[type, Callable[[Any, Strand], Any]] = {
    RealLock: adopt_lock,
    RealRLock: adopt_lock,
    RealSimpleQueue: adopt_simple_queue,
    RealLocal: adopt_local,
    threading.Condition: _adopt_condition,
    **dict.fromkeys(BUILTINS, _adopt_builtin),
    types.FunctionType: _adopt_callable,
    types.MethodType: _adopt_method,
    type: _adopt_callable,
}

# Types seen before that need nothing. Subclasses are looked at once, then found here or in ADOPTERS.
_NOTHING: set[type] = set()
_BASES: tuple[type, ...] = (RealSimpleQueue, RealLocal, threading.Condition)


def guard_of(obj: Any, strand: Strand) -> Any:
    """What the operations of a modelled Event, Semaphore or Queue are announced on."""
    for model, place, kind in _GUARDED:
        if issubclass(type(obj), model.Real):
            guard = getattr(obj, place)
            return guard if type(guard) is kind else model.bring_in(obj, strand)
    raise TypeError(f"{type(obj).__name__} has no guard")


_GUARDED: tuple[tuple[Any, str, type], ...] = (
    (event, "_cond", event.EventGuard),
    (semaphore, "_cond", semaphore.SemaphoreGuard),
    (queues, "mutex", queues.QueueGuard),
)


def adopt(obj: Any) -> Any:
    """What stands for this object inside the execution: its model, or the object itself."""
    kind = type(obj)
    if kind in _NOTHING:
        return obj
    adopter = ADOPTERS.get(kind)
    if adopter is None:
        for base in _BASES:
            if issubclass(kind, base):
                adopter = ADOPTERS[kind] = ADOPTERS[base]
                break
        else:
            _NOTHING.add(kind)
            return obj
    strand = here()
    return obj if strand is None else adopter(obj, strand)
