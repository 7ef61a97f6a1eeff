"""Putting asyncio under control for the executions of one loom, and giving it back.

Inside an execution `asyncio.new_event_loop()` makes the loop of this room, whatever the event loop policy says; Task
and Future are their Python forms; which loop is running is known per strand. The signal handlers of `asyncio.run` are
left out, so that Ctrl-C still ends the search.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events
import asyncio.events as events
import asyncio.futures as futures
import asyncio.runners as runners
import asyncio.selector_events
import asyncio.tasks as tasks
import inspect
import signal
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from treadle.core.errors import Unsupported
from treadle.tasks import kept_locks, running
from treadle.tasks.drawing import new_event_loop
from treadle.tasks.drawing import run as drawn_run
from treadle.tasks.execution import TaskExecution
from treadle.tasks.futures import DrawnTask, Future, Task
from treadle.tasks.loop import Loop
from treadle.threads.detail import stack_of
from treadle.threads.patches import bound
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.local import Local

_real_register_task: Any = tasks._register_task
_real_all_tasks = tasks.all_tasks
_real_as_completed: Any = tasks.as_completed
_real_runner_init: Any = runners.Runner.__init__
_real_loop_init: Any = asyncio.base_events.BaseEventLoop.__init__
_real_warn_unawaited: Any = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
_real_selector_loop: Any = asyncio.SelectorEventLoop
_ALL_TASKS: Any = vars(tasks)["_scheduled_tasks" if hasattr(tasks, "_scheduled_tasks") else "_all_tasks"]  # up to 3.11

# functions of asyncio.tasks that have a C form, whose Python form is kept beside it
_WITH_C_FORM = (
    *("_unregister_task", "_enter_task", "_leave_task", "_swap_current_task", "current_task"),
    *("_register_eager_task", "_unregister_eager_task"),
)


def _runner_init(self: Any, *, debug: bool | None = None, loop_factory: Any = None) -> None:
    strand = here()
    if strand is not None and loop_factory is not None:
        module = str(getattr(loop_factory, "__module__", "")).partition(".")[0]
        if module not in ("asyncio", "treadle"):
            strand.execution.replaced.add(f"the loop factory of {module}")  # type: ignore[attr-defined]
        loop_factory = new_event_loop
    _real_runner_init(self, debug=debug, loop_factory=loop_factory)


def _loop_init(self: Any, *args: Any, **kwargs: Any) -> None:
    """A loop of a class that the program has derived from asyncio's stays what it is, and a pass knows of it."""
    strand = here()
    if strand is not None and isinstance(strand.execution, TaskExecution):
        strand.execution.uncontrolled.add(type(self).__qualname__)
    _real_loop_init(self, *args, **kwargs)


# The policy that asyncio's own ones are derived from (from 3.14 on under the second name).
_POLICY: Any = vars(events).get("BaseDefaultEventLoopPolicy") or vars(events)["_BaseDefaultEventLoopPolicy"]


def _of_policy(name: str, controlled_form: Any) -> Any:
    """A method of event loop policies that does inside an execution what the function of asyncio does."""
    real = vars(_POLICY)[name]

    def method(self: Any, *args: Any) -> Any:
        strand = here()
        inside = strand is not None and isinstance(strand.execution, TaskExecution)
        return controlled_form(*args) if inside else real(self, *args)

    method.__name__ = name
    return method


class _Loops(type):
    """A class of event loops: to call it makes the controlled loop inside an execution; a class for everything else."""

    treadle_real: Any
    treadle_says = ""  # who is replaced, where that is said

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        strand: Any = here()
        if strand is None:
            return cls.treadle_real(*args, **kwargs)
        if cls.treadle_says:
            strand.execution.replaced.add(cls.treadle_says)
        return new_event_loop()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls.treadle_real, Loop))


class SelectorEventLoop(metaclass=_Loops):
    """Stands for `asyncio.SelectorEventLoop`."""

    treadle_real = _real_selector_loop


def _uvloop() -> list[tuple[Any, dict[str, Any]]]:
    """Where uvloop is loaded: its loop, which its functions make and ask for."""
    uvloop: Any = sys.modules.get("uvloop")
    if not hasattr(uvloop, "Loop"):
        return []
    stand_in = _Loops("Loop", (), {"treadle_real": uvloop.Loop, "treadle_says": "uvloop's event loop"})
    return [(uvloop, {"Loop": stand_in})]


def _register_task(task: Any) -> None:
    loop = getattr(task, "_loop", None)
    if isinstance(loop, Loop):
        loop.register(task)
    else:
        _real_register_task(task)


def _add_task(task: Any) -> None:
    """A task in C was made, which puts itself into the set of all tasks."""
    if type(task) is not DrawnTask:
        weakref.WeakSet.add(_ALL_TASKS, task)


def all_tasks(loop: Any = None) -> Any:
    if loop is None:
        loop = running.get_running_loop()
    if not isinstance(loop, Loop):
        return _real_all_tasks(loop)
    if loop.is_over():
        return set()
    beginning = getattr(tasks, "_eager_tasks", ())  # from 3.12 on: those in a first step that was not scheduled
    return {*loop.pending_tasks(), *(task for task in beginning if task._loop is loop and not task.done())}


def as_completed(fs: Any, *, timeout: float | None = None) -> Any:
    """asyncio makes tasks of a set of coroutines, in the order of their addresses; here in the order given."""
    if here() is None or not isinstance(fs, (list, tuple)):
        return _real_as_completed(fs, timeout=timeout)
    if inspect.isgeneratorfunction(_real_as_completed):  # up to 3.12: nothing begins before the first is asked for
        return _completed(fs, timeout)
    return _real_as_completed(_begun(fs), timeout=timeout)


def _completed(fs: Any, timeout: float | None) -> Iterator[Any]:
    yield from _real_as_completed(_begun(fs), timeout=timeout)


def _begun(fs: Any) -> list[Any]:
    return [tasks.ensure_future(one) for one in dict.fromkeys(fs)]


def _warn_unawaited(coroutine: Any) -> None:
    strand = here()
    if strand is None:
        return  # left by an execution that is over
    if not isinstance(strand.execution, TaskExecution):
        _real_warn_unawaited(coroutine)
    elif not strand.execution.ending:
        strand.execution.unawaited.append(coroutine.__qualname__)


class _NoSignals(types.SimpleNamespace):
    """The signal module for asyncio.Runner: nobody has Python's own handler for Ctrl-C."""


def _patches() -> list[tuple[Any, dict[str, Any]]]:
    python_forms = {
        name: getattr(tasks, f"_py_{name.lstrip('_')}")
        for name in _WITH_C_FORM
        if hasattr(tasks, name) and hasattr(tasks, f"_py_{name.lstrip('_')}")
    }
    # from 3.14 on, a task in Python calls what is registered under the second name
    registering = {name: _register_task for name in ("_register_task", "_py_register_task") if hasattr(tasks, name)}
    if hasattr(tasks, "create_eager_task_factory"):  # from 3.12 on; asyncio's own factory makes tasks in C
        python_forms["eager_task_factory"] = tasks.create_eager_task_factory(Task)
    no_signals = _NoSignals(**vars(signal))
    no_signals.getsignal = lambda number: None
    return [
        (tasks, {"Task": Task, **python_forms, **registering, "all_tasks": all_tasks, "as_completed": as_completed}),
        (_ALL_TASKS, {"add": _add_task}),
        (futures, {"Future": Future}),
        (
            events,
            {
                "_get_running_loop": running.running_or_none,
                "_set_running_loop": running.set_running,
                "get_running_loop": running.get_running_loop,
                "get_event_loop": running.get_event_loop,
                "set_event_loop": running.set_event_loop,
                "new_event_loop": new_event_loop,
                **({"_get_event_loop": running.get_event_loop} if hasattr(events, "_get_event_loop") else {}),
            },
        ),
        (
            _POLICY,
            {
                "new_event_loop": _of_policy("new_event_loop", new_event_loop),
                "get_event_loop": _of_policy("get_event_loop", running.get_event_loop),
                "set_event_loop": _of_policy("set_event_loop", running.set_event_loop),
            },
        ),
        (asyncio.base_events.BaseEventLoop, {"__init__": _loop_init}),
        *kept_locks.patches(),
        (asyncio, {"SelectorEventLoop": SelectorEventLoop}),
        (runners, {"run": drawn_run}),
        (runners.Runner, {"__init__": _runner_init}),
        (runners, {"signal": no_signals}),
        (warnings, {"_warn_unawaited_coroutine": _warn_unawaited}),
    ]


class _ThreadLocals(Local):
    """What anyio knows of each thread, made before there were executions."""


def _anyio() -> list[tuple[Any, dict[str, Any]]]:
    """Where anyio is loaded: its thread-local variables are those of strands."""
    names = ("anyio._core._eventloop", "anyio._backends._asyncio", "anyio.from_thread")
    loaded = [sys.modules[name] for name in names if hasattr(sys.modules.get(name), "threadlocals")]
    model = _ThreadLocals()
    return [(module, {"threadlocals": model}) for module in loaded]


def _is_of_trio(path: str) -> bool:
    """Is this file trio's, or one of anyio's, which calls it?"""
    return "/trio/" in path or "/anyio/" in path


def _no_trio() -> list[tuple[Any, dict[str, Any]]]:
    """Where trio is loaded, its event loop is refused inside an execution."""
    trio = sys.modules.get("trio._core._run")
    real: Any = getattr(trio, "setup_runner", None)
    if real is None:
        return []

    def setup_runner(*args: Any, **kwargs: Any) -> Any:
        strand = here()
        if strand is None:
            return real(*args, **kwargs)
        places = [place for place in stack_of(sys._getframe(1)) if not _is_of_trio(place[0])]
        where = f"{places[0][0]}:{places[0][1]}" if places else "the test"
        error = Unsupported(f"{where} uses trio, whose event loop no schedule controls; Treadle explores asyncio")
        strand.execution.failure = error
        raise error

    return [(trio, {"setup_runner": setup_runner})]


def _first_iteration(generator: Any) -> None:
    loop = None if here() is None else running.running_or_none()
    if loop is not None:
        loop._asyncgen_firstiter_hook(generator)


def _finalize(generator: Any) -> None:
    loop = None if here() is None else running.running_or_none()
    if loop is not None:
        loop._asyncgen_finalizer_hook(generator)


# What is replaced of libraries, by the module in which it is.
_OF_LIBRARIES: dict[str, Callable[[], list[tuple[Any, dict[str, Any]]]]] = {
    "uvloop": _uvloop,
    "anyio._core._eventloop": _anyio,
    "trio._core._run": _no_trio,
}


def loaded() -> set[str]:
    """The modules of libraries that are there, of which something is replaced."""
    return _OF_LIBRARIES.keys() & sys.modules.keys()


def of_libraries(names: set[str]) -> list[tuple[Any, dict[str, Any]]]:
    return [patch for name in sorted(names) for patch in _OF_LIBRARIES[name]()]


@contextmanager
def controlled() -> Iterator[None]:
    """asyncio is under control inside the `with` block."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=_first_iteration, finalizer=_finalize)
    try:
        with bound(_patches() + of_libraries(loaded())):
            yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
