"""Finer points: while `fine_points()` is open, rewritten code stops before every hook and after every native call.

Points of this kind touch nothing (a YIELD), so they make no two steps dependent: they are places where an execution
that checks a pass may be interrupted although no operation is known there. They come before a strand's first step, at
every line that has a hook, at accesses to private objects and around native calls; under a GIL, where the interpreter
looks at its eval breaker, and nowhere else.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from treadle.core.operation import FINE
from treadle.threads.hooks import HOOKS
from treadle.threads.instrument.swap import install_hooks
from treadle.threads.loom import Loom
from treadle.threads.strands import STATE
from treadle.threads.switching import versions_in

# What is announced right before the access itself, or looks at the frame of its caller.
_TOGETHER = frozenset({"_treadle_asked", "_treadle_cell_write", "_treadle_spin"})
_CALLS = frozenset({"_treadle_function", "_treadle_callee"})


def stop() -> None:
    """A point at which nothing is touched."""
    strand = STATE.strand
    if strand is not None:
        strand.access(*FINE)


def _before(hook: Callable[..., Any]) -> Callable[..., Any]:
    def fine(*args: Any) -> Any:
        stop()
        return hook(*args)

    return fine


def _around_call(hook: Callable[..., Any]) -> Callable[..., Any]:
    def fine(*args: Any) -> Any:
        called = hook(*args)
        if type(called) is not functools.partial or STATE.strand is None:
            stop()
            return called

        def around(*call_args: Any, **kwargs: Any) -> Any:
            stop()
            result = called(*call_args, **kwargs)
            stop()
            return result

        return around

    return fine


def _fine_hooks() -> dict[str, Any]:
    return {
        name: hook if name in _TOGETHER else _around_call(hook) if name in _CALLS else _before(hook)
        for name, hook in HOOKS.items()
    }


def points_of(loom: Loom) -> str | list[str]:
    """What the settings of a trail call the finer points of a loom: under a GIL, the versions that look there."""
    return list(versions_in(loom.gil)) if loom.gil else "fine"


def fine_points(loom: Loom) -> AbstractContextManager[None]:
    """Executions inside the `with` block have the finer points as well."""
    return _with_looks(loom, loom.gil) if loom.gil else installed(_fine_hooks())


def plain_points(loom: Loom) -> AbstractContextManager[None]:
    """Executions inside the `with` block have the points of a search only."""
    return _with_looks(loom, 0) if loom.gil else installed(HOOKS)


@contextmanager
def _with_looks(loom: Loom, versions: int) -> Iterator[None]:
    before, loom.looks_are_points = loom.looks_are_points, versions
    try:
        yield
    finally:
        loom.looks_are_points = before


@contextmanager
def installed(hooks: dict[str, Any]) -> Iterator[None]:
    """Rewritten code calls these hooks inside the `with` block."""
    before = {name: value for name, value in vars(builtins).items() if name.startswith("_treadle_")}
    install_hooks(hooks)
    try:
        yield
    finally:
        vars(builtins).update(before)
