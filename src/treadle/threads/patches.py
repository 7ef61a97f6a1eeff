"""Putting the models in place for a campaign, and taking them out again.

Python classes (Thread, Condition, Event, Queue, Future, ...) keep their identity and get other methods: objects and
subclasses that exist already are covered, and `isinstance` means what it meant. What is C (Lock, RLock, SimpleQueue,
local, the clocks) is replaced where it is found: in its own module, and in every module that imported it by name.
Outside an execution each of them does what CPython's own does.

Invariant: after `patched()` everything is bound to what it was bound to before, whatever happened inside.
"""

from __future__ import annotations

import _queue
import _thread
import functools
import importlib._bootstrap as import_machinery
import queue
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from treadle.core.errors import Unsupported
from treadle.threads import files
from treadle.threads.adopt import REPLACED
from treadle.threads.detail import place_of
from treadle.threads.primitives import (
    barrier,
    buffers,
    cached,
    chance,
    clock,
    condition,
    databases,
    event,
    exchanged,
    frames,
    futures,
    local,
    locks,
    outside,
    pipes,
    pool,
    processes,
    queues,
    selecting,
    semaphore,
    thread,
    tls,
    zeromq,
)
from treadle.threads.strands import STATE
from treadle.threads.unasked import globals_of, is_a

Place = Any  # a class or a module

_FAMILIES: tuple[Any, ...] = (
    condition,
    event,
    semaphore,
    barrier,
    thread,
    queues,
    futures,
    pool,
    clock,
    chance,
    cached,
    exchanged,
    frames,
    outside,
    selecting,
    tls,
    buffers,
    files,
)

_C_TYPES: list[tuple[Place, dict[str, Any]]] = [
    (threading, {"Lock": locks.Lock, "RLock": locks.RLock, "local": local.Local}),
    (_thread, {"allocate_lock": locks.Lock, "allocate": locks.Lock, "RLock": locks.RLock, "_local": local.Local}),
    (queue, {"SimpleQueue": queues.SimpleQueue}),
    (_queue, {"SimpleQueue": queues.SimpleQueue}),
]

# Modules whose names are left alone, with everything below them.
_UNTOUCHED = (
    "treadle",  # holds CPython's own on purpose
    "greenlet",
    "importlib",  # an import is one step: its locks are not the program's
    "_frozen_importlib",
    "_frozen_importlib_external",
)

_ABSENT = object()

# What objects made inside and kept for later still need: it stays in the class, and hides nothing there.
_KEPT = {
    *((id(queues.Real), name) for name in queues.CONDITIONS),
    (id(futures.Real), "__hash__"),
    (id(thread.Real), "__hash__"),
}


def _all_patches() -> list[tuple[Place, dict[str, Any]]]:
    return [patch for family in _FAMILIES for patch in family.PATCHES] + _C_TYPES


def _not_imported_by_name() -> list[tuple[Place, dict[str, Any]]]:
    return [*chance.patches(), *processes.patches(), *pipes.patches(), *zeromq.patches()]


def _dress(original: Any, model: Any) -> None:
    """A patched method looks like the one it replaces: name, signature, documentation."""
    if isinstance(original, types.FunctionType) and isinstance(model, types.FunctionType):
        functools.update_wrapper(model, original)


def _fill_replaced() -> None:
    for place, names in _all_patches():
        if isinstance(place, types.ModuleType):
            for name, model in names.items():
                original = getattr(place, name, None)
                if original is not None and original is not model:
                    REPLACED[original] = model
        else:
            for name, model in names.items():
                original = vars(place).get(name)
                _dress(original, model)
                if isinstance(original, types.FunctionType) and original is not model:
                    REPLACED[original] = model


_fill_replaced()
REPLACED.update(clock.METHODS)
REPLACED.update(processes.IMPORTED)


class _RealThreadModule(types.SimpleNamespace):
    """The _thread module for the import machinery: locks that are CPython's own."""


_REAL_THREAD = _RealThreadModule(**vars(_thread))


def _bind(undo: list[tuple[Place, str, Any]], place: Place, name: str, value: Any) -> None:
    undo.append((place, name, vars(place).get(name, _ABSENT)))
    setattr(place, name, value)


def _rebind_imported_names(undo: list[tuple[Place, str, Any]], models: dict[Any, Any]) -> None:
    """`from threading import Lock` and its like, in every module that did so before now."""
    replaced = {id(original): model for original, model in models.items()}
    for module_name, module in list(sys.modules.items()):
        if not is_a(module, types.ModuleType) or module_name.partition(".")[0] in _UNTOUCHED:
            continue
        variables = globals_of(module)
        if replaced.keys().isdisjoint(map(id, variables.values())):
            continue  # nearly all of them
        found = [(name, replaced[id(value)]) for name, value in variables.items() if id(value) in replaced]
        for name, model in found:
            _bind(undo, module, name, model)


_depth = 0


@contextmanager
def patched() -> Iterator[None]:
    """The models are in place inside the `with` block. May be nested: the outermost does the work."""
    global _depth
    undo: list[tuple[Place, str, Any]] = []
    more = ExitStack()
    _depth += 1
    try:
        if _depth == 1:
            more.enter_context(clock.dated())
            connects = databases.patches()
            models = {vars(place)["connect"]: names["connect"] for place, names in connects}
            for place, names in [*_all_patches(), *_not_imported_by_name(), *connects]:
                for name, model in names.items():
                    _bind(undo, place, name, model)
            _rebind_imported_names(undo, REPLACED | models)
            _bind(undo, import_machinery, "_thread", _REAL_THREAD)
            _bind(undo, sys, "breakpointhook", functools.partial(_breakpoint, sys.breakpointhook))
        yield
    finally:
        _depth -= 1
        _take_out(undo)
        more.close()


def _breakpoint(usual: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`breakpoint()` in a strand would wait for a person, execution after execution."""
    if STATE.strand is None:
        return usual(*args, **kwargs)
    file, line = place_of(sys._getframe())
    raise Unsupported(
        f"{file}:{line} calls breakpoint(), which no schedule gets past; step through "
        "one schedule with treadle replay STRING --debug, or take the call out"
    )


def _take_out(undo: list[tuple[Place, str, Any]]) -> None:
    for place, name, value in reversed(undo):
        if value is not _ABSENT:
            setattr(place, name, value)
        elif (id(place), name) not in _KEPT:
            delattr(place, name)


@contextmanager
def bound(patches: list[tuple[Place, dict[str, Any]]]) -> Iterator[None]:
    """More models, of another room: bound where they are named, where they were imported by name, and for the hooks."""
    undo: list[tuple[Place, str, Any]] = []
    models = {
        vars(place)[name]: model
        for place, names in patches
        if isinstance(place, types.ModuleType)
        for name, model in names.items()
        if isinstance(vars(place).get(name), (type, types.FunctionType, types.BuiltinFunctionType))
    }
    before = {original: REPLACED[original] for original in models if original in REPLACED}
    REPLACED.update(models)
    try:
        for place, names in patches:
            for name, model in names.items():
                _bind(undo, place, name, model)
        _rebind_imported_names(undo, models)
        yield
    finally:
        _take_out(undo)
        for original in models:
            REPLACED.pop(original, None)
        REPLACED.update(before)
