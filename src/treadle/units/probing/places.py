"""Places among the inputs of a call: a parameter and a path from it, with what stands there."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any
from unittest.mock import NonCallableMock

# (parameter, path, value): a place among the inputs, and what it held
Place = tuple[str, str, Any]
# a child of a stand-in deeper than this is not looked at
_DEEPEST = 4
_MOST_SAME = 4
# what a stand-in is asked for by the interpreter: these are set like its attributes
_ASKED = ("__getitem__", "__enter__", "__contains__", "__len__", "__iter__", "__next__", "__aenter__", "__call__")


def places_in(name: str, value: Any, mentioned: set[str], path: str = "", depth: int = 0) -> Iterator[Place]:
    """Whatever the call may have looked at, and could be set."""
    if depth > _DEEPEST:
        return
    if isinstance(value, NonCallableMock):
        yield from _places_in_stand_in(name, value, mentioned, path, depth)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value[:3]):
            if isinstance(value, list):
                yield name, f"{path}[{place}]", item
            yield from places_in(name, item, mentioned, f"{path}[{place}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in list(value.items())[:8]:
            if isinstance(key, str | int):
                yield name, f"{path}[{key!r}]", item
                yield from places_in(name, item, mentioned, f"{path}[{key!r}]", depth + 1)
    holds = not isinstance(value, type | types.ModuleType | types.FunctionType | NonCallableMock)
    if holds and hasattr(value, "__dict__"):
        for key, item in list(vars(value).items()):
            if key in mentioned and key.isidentifier():
                yield name, f"{path}.{key}", item
                yield from places_in(name, item, mentioned, f"{path}.{key}", depth + 1)


def _places_in_stand_in(
    name: str, value: NonCallableMock, mentioned: set[str], path: str, depth: int
) -> Iterator[Place]:
    children = dict(value._mock_children)
    for key, child in list(children.items()):
        usual = key.isidentifier() and not key.startswith(("__", "_mock", "assert_"))
        if isinstance(child, NonCallableMock) and (usual or (key in _ASKED and getattr(child, "called", False))):
            if usual and not getattr(child, "called", False):
                yield name, f"{path}.{key}", child
            yield from places_in(name, child, mentioned, f"{path}.{key}", depth + 1)
    for key, item in list(vars(value).items()):
        if not key.startswith("_") and key not in ("method_calls", *children):
            yield name, f"{path}.{key}", item
            yield from places_in(name, item, mentioned, f"{path}.{key}", depth + 1)
    if getattr(value, "called", False):
        returned = getattr(value, "_mock_return_value", None)
        yield name, f"{path}.return_value", returned
        yield from places_in(name, returned, mentioned, f"{path}.return_value", depth + 1)


def at_places(value: Any, places: list[Place]) -> list[Place]:
    """Where a value stands among the inputs: the very object, or for plain ones an equal one."""
    plain = value is None or type(value) in (int, str, float, bool, bytes)
    same = [p for p in places if p[2] is value or (plain and type(p[2]) is type(value) and p[2] == value)]
    return same[:_MOST_SAME]
