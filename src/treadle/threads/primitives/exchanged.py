"""What CPython's own code exchanges for all threads at once: standard streams, filters of warnings, loaded modules,
the functions that trace new threads.

`contextlib.redirect_stdout`, `warnings.catch_warnings` and `threading.settrace` bind variables of other modules, an
import statement looks into `sys.modules`: none of that is rewritten code. Here each is the operation that it would be
there.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import sys
import threading
import warnings
from types import ModuleType
from typing import Any

from treadle.core.operation import READ, WRITE
from treadle.threads import settings
from treadle.threads.hooks.points import during
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import is_private, name_by_path
from treadle.threads.primitives.frames import frames_of_treadle
from treadle.threads.primitives.inside import at_end, here
from treadle.threads.primitives.locks import RLock
from treadle.threads.strands import Strand

_BETWEEN = ("treadle", "contextlib", "warnings")
_Redirect: Any = contextlib.redirect_stdout.__base__
_Catch: Any = warnings.catch_warnings
# In this execution: module that was loaded anew -> who loads it, and strand -> the import that it waits for.
_LOADS: dict[str, RLock] = {}
_WAITING: dict[Strand, RLock] = {}
_real_import = builtins.__import__
_real_reload = importlib.reload
_real_warn = warnings.warn
_real_redirect_enter = _Redirect.__enter__
_real_redirect_exit = _Redirect.__exit__
_real_catch_enter = _Catch.__enter__
_real_catch_exit = _Catch.__exit__
_real_simple = warnings.simplefilter
_real_filter = warnings.filterwarnings
_real_reset = warnings.resetwarnings


def _exchange(module: str, name: str) -> None:
    """A variable of a module is about to be bound anew: from now on reading it is an operation, too."""
    strand = here()
    if strand is not None:
        variables = vars(sys.modules[module])
        settings.variable_changes(variables, name)
        settings.container_met(module, variables.get(name))
        strand.execution.rebind(f"{module}.{name}")
        if len(strand.execution.strands) > 1 and _asked_by_the_program():
            # it is several steps of Python code that is not rewritten
            strand.execution.assumed.add(f"the exchange of {module}.{name}")
        strand.access(WRITE, module, name)


def _asked_by_the_program() -> bool:
    """Or by a library, whose calls are told as a whole?"""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") in REWRITTEN


def _setter(real: Any, name: str) -> Any:
    def set_for_new_threads(func: Any) -> None:
        _exchange("threading", name)
        real(func)

    return set_for_new_threads


def _getter(real: Any, name: str) -> Any:
    def get_for_new_threads() -> Any:
        strand = here()
        if strand is not None:
            strand.access(READ, "threading", name)
        return real()

    return get_for_new_threads


def redirect_enter(self: Any) -> Any:
    _exchange("sys", self._stream)
    return _real_redirect_enter(self)


def redirect_exit(self: Any, *error: Any) -> Any:
    _exchange("sys", self._stream)
    return _real_redirect_exit(self, *error)


def catch_enter(self: Any) -> Any:
    _exchange("warnings", "filters")
    return _real_catch_enter(self)


def catch_exit(self: Any, *error: Any) -> Any:
    _exchange("warnings", "filters")
    return _real_catch_exit(self, *error)


def simplefilter(*args: Any, **kwargs: Any) -> None:
    _exchange("warnings", "filters")
    _real_simple(*args, **kwargs)


def filterwarnings(*args: Any, **kwargs: Any) -> None:
    _exchange("warnings", "filters")
    _real_filter(*args, **kwargs)


def resetwarnings() -> None:
    _exchange("warnings", "filters")
    _real_reset()


def warn(message: Any, category: Any = None, stacklevel: int = 1, *args: Any, **kwargs: Any) -> None:
    """A warning goes through the filters, and to whoever catches warnings at the time."""
    strand = here()
    if strand is not None and "warnings.filters" in strand.execution.rebound:
        strand.access(WRITE, "warnings", "filters")
    hidden = 0 if strand is None else frames_of_treadle(sys._getframe(1), stacklevel)
    _real_warn(message, category, stacklevel + 1 + hidden, *args, **kwargs)


def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """An import statement of the program looks for the module among those that are loaded."""
    strand = here()
    if strand is not None and not level and globals is not None and globals.get("__name__") in REWRITTEN:
        _look_for(strand, name)
        for variable in fromlist or ():
            if f"{name}.{variable}" in strand.execution.rebound:
                strand.access(READ, name, variable)
        if name in _LOADS or (name in REWRITTEN and name not in sys.modules):
            return _load(strand, name, globals, locals, fromlist)
    return _real_import(name, globals, locals, fromlist, level)


def _load(strand: Strand, name: str, globals: Any, locals: Any, fromlist: Any) -> Any:
    """Load a module that the program has taken out of `sys.modules`: one thread at a time, as CPython's import system
    sees to. Threads that would wait for each other go on with what there is, as there."""
    lock = _LOADS.get(name)
    if lock is None:
        lock = _LOADS[name] = RLock.named(strand, f"the import of {name}")
        at_end(_LOADS.clear)
    holder = lock.owner
    while holder is not None and holder is not strand:
        holder = getattr(_WAITING.get(holder), "owner", None)
    if holder is strand and lock.owner is not strand:
        return _real_import(name, globals, locals, fromlist)
    _WAITING[strand] = lock
    try:
        lock.acquire()
    finally:
        del _WAITING[strand]
    try:
        return _real_import(name, globals, locals, fromlist)
    finally:
        lock.release()


def reload(module: Any) -> Any:
    """All variables of a module are bound anew, one after the other."""
    strand = here()
    if strand is not None and type(module) is ModuleType:
        for variable in list(vars(module)):
            strand.execution.rebind(f"{module.__name__}.{variable}")
        if len(strand.execution.strands) > 1:
            strand.execution.assumed.add("importlib.reload")
        return during(strand, [(WRITE, module.__name__, None)], _real_reload, module)
    return _real_reload(module)


def _look_for(strand: Strand, module: str) -> None:
    names = strand.execution.names
    if id(sys.modules) not in names:
        name_by_path(strand, sys.modules, "sys.modules")
    named = names[id(sys.modules)]
    if not named.shared and not is_private(strand, named):
        strand.execution.reveal(named)
    if named.shared:
        strand.access(READ, named.name, module)


PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (_Redirect, {"__enter__": redirect_enter, "__exit__": redirect_exit}),
    (_Catch, {"__enter__": catch_enter, "__exit__": catch_exit}),
    (builtins, {"__import__": import_}),
    (importlib, {"reload": reload}),
    (
        threading,
        {
            "settrace": _setter(threading.settrace, "_trace_hook"),
            "gettrace": _getter(threading.gettrace, "_trace_hook"),
            "setprofile": _setter(threading.setprofile, "_profile_hook"),
            "getprofile": _getter(threading.getprofile, "_profile_hook"),
        },
    ),
    (
        warnings,
        {
            "warn": warn,
            "simplefilter": simplefilter,
            "filterwarnings": filterwarnings,
            "resetwarnings": resetwarnings,
        },
    ),
]
