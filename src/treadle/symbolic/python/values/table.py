"""The one table of built-ins: which function of this package stands for which function, type or method of Python's.

A meaning is written beside the values it is about, and enters the table by a decorator: `@stands_for(len)` over a
function of (vm, value), `@method(str, "zfill")` over one of (vm, self, width). To add a built-in is to write one such
function. What is not in the table is called for real with known values.
"""

from __future__ import annotations

import collections
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Handler = Callable[..., Any]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class MethodMeaning:
    """What stands for a method.

    `accepts` tells for which arguments, given their values; all others go to the real method. `lazy`: the arguments
    are not looked at before.
    """

    run: Handler
    accepts: Handler | None = None
    lazy: bool = False


# Types whose methods are those of another one, but for their own.
_LIKE: dict[type, type] = {frozenset: set, collections.OrderedDict: dict}

BUILTINS: dict[Any, Handler] = {}
METHODS: dict[type, dict[str, MethodMeaning]] = {}


def stands_for(*originals: object) -> Callable[[H], H]:
    """The decorated function (vm, *args) says what a call of each original means."""

    def enter(handler: H) -> H:
        for original in originals:
            _once(original not in BUILTINS, original)
            BUILTINS[original] = handler
        return handler

    return enter


def method(kind: type, *names: str, accepts: Handler | None = None, lazy: bool = False) -> Callable[[H], H]:
    """The decorated function (vm, self, *args) says what these methods of a built-in type mean."""

    def enter(handler: H) -> H:
        known = METHODS.setdefault(kind, {})
        for name in names:
            _once(name not in known, f"{kind.__name__}.{name}")
            known[name] = MethodMeaning(handler, accepts, lazy)
        return handler

    return enter


def _once(first: bool, what: object) -> None:
    if not first:
        raise ValueError(f"{what} has a meaning already")


def builtin(original: object) -> Handler | None:
    """What stands for a function or a type."""
    try:
        return BUILTINS.get(original)
    except TypeError:  # not hashable
        return None


def method_of(kind: type, name: str) -> MethodMeaning | None:
    found = METHODS.get(kind, {}).get(name)
    base = _LIKE.get(kind)
    return found if found is not None or base is None else method_of(base, name)


def takes(handler: Handler, given: int, named: Mapping[str, object]) -> bool:
    """Whether a handler can be called with so many arguments and these names."""
    signature, least, most = _parameters(handler)
    if not named:
        return least <= given <= most
    try:
        signature.bind(*range(given), **named)
    except TypeError:
        return False
    return True


@functools.cache
def _parameters(handler: Handler) -> tuple[inspect.Signature, int, float]:
    """Looked up once per handler: its signature, and how many positional arguments it takes."""
    signature = inspect.signature(handler)
    positional = [p for p in signature.parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    rest = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    return signature, sum(p.default is p.empty for p in positional), float("inf") if rest else len(positional)
