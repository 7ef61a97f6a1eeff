"""Which classes an input declared as C may really have: C and the subclasses that are known, if they can be made."""

from __future__ import annotations

import functools
import inspect
from typing import Any


def known_subclasses(cls: type) -> tuple[type, ...]:
    """The class itself first (unless abstract), then its loaded subclasses from the same top-level package."""
    key: object = cls
    return _known_subclasses(key)


@functools.cache
def _known_subclasses(cls: Any) -> tuple[type, ...]:
    package = cls.__module__.partition(".")[0]
    found: dict[type, None] = {}

    def visit(c: type) -> None:
        if c in found or c.__module__.partition(".")[0] != package:
            return
        found[c] = None
        heirs: list[type] = type.__subclasses__(c)
        for sub in heirs:
            visit(sub)

    visit(cls)
    concrete = tuple(c for c in found if not inspect.isabstract(c) and not getattr(c, "_is_protocol", False))
    return concrete or (cls,)


def is_plain_object(kind: object) -> bool:
    """An instance of a class written in Python, without a compiled base that holds state of its own."""
    return _is_plain_object(kind)


# Py_TPFLAGS_IMMUTABLETYPE: compiled; files of Python 3.13 let object.__new__ make an empty one of them all the same
_IMMUTABLE = 1 << 8


@functools.cache
def _is_plain_object(kind: Any) -> bool:
    if kind.__module__ in ("builtins", "typing", "treadle.symbolic.python.values.values") or kind is object:
        return False
    if any(base.__flags__ & _IMMUTABLE for base in kind.__mro__ if base is not object):
        return False
    try:
        object.__new__(kind)
    except TypeError:
        return False
    return True
