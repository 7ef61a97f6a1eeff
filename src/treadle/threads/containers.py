"""What the methods of built-in containers touch: one read or write of one key, or of the whole container.

Whole: length, iteration, structural change (a new or removed key), everything that depends on position from the end.
A key or index is named by itself when it is a simple value; anything else stands for the whole container.
"""

from __future__ import annotations

import gc
import re
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from treadle.core.operation import READ, WRITE
from treadle.threads import known

CONTAINERS: tuple[type, ...] = (list, dict, set, deque, OrderedDict, defaultdict, Counter, bytearray)
VIEWS = frozenset({type({}.keys()), type({}.values()), type({}.items())}) | {
    type(OrderedDict().keys()),
    type(OrderedDict().values()),
    type(OrderedDict().items()),
}

_SIMPLE = frozenset({int, str, bytes, bool, float, type(None)})

_base_of: dict[type, type | None] = {}


def container_base(kind: type) -> type | None:
    """The built-in container a type is, or is derived from; None when it is neither."""
    try:
        return _base_of[kind]
    except KeyError:
        base = None
        for cls in kind.__mro__:
            if cls in CONTAINERS:
                base = dict if issubclass(cls, dict) else cls
                break
        _base_of[kind] = base
        return base


# The addresses that `id` gave out in this execution, and the names of the objects they belong to.
ADDRESSES: dict[int, str] = {}


# Python refuses to write numbers of more digits than 4300.
_LONG = 1 << 1000


def simple_key(key: Any) -> Any:
    """The key itself when it means the same in every execution, else None: the whole container."""
    kind = type(key)
    if kind in _SIMPLE:
        if kind is int and not -_LONG < key < _LONG:
            return None
        return _without_address(key) if ADDRESSES else key
    if kind is tuple and all(type(part) in _SIMPLE for part in key):
        if any(type(part) is int and not -_LONG < part < _LONG for part in key):
            return None
        return tuple(map(_without_address, key)) if ADDRESSES else key
    return None


def _without_address(key: Any) -> Any:
    """A key that is an address, or a text with one in it, names the object instead."""
    if type(key) is str:
        return _LONG_NUMBER.sub(lambda found: ADDRESSES.get(int(found[0]), found[0]), key)
    return ADDRESSES.get(key, key)


_LONG_NUMBER = re.compile(r"\d{9,30}")


def index_key(index: Any) -> Any:
    """A list index from the front names a place; slices and indexes from the end depend on the length."""
    return index if type(index) is int and index >= 0 else None


def method_access(obj: Any, base: type, method: str, args: tuple[Any, ...]) -> tuple[int, Any] | None:
    """(READ or WRITE, key or None for whole) for a method call on a container; None when it touches nothing."""
    if method in known.LAZY:
        return None
    if base is dict:
        return _dict_access(obj, method, args)
    if known.reads(base, method):
        if method == "__getitem__" and args:
            return READ, index_key(args[0])
        if base is set and method == "__contains__" and args:
            return READ, simple_key(args[0])
        return READ, None
    if method == "__setitem__" and args:
        return WRITE, index_key(args[0])
    return WRITE, None


def _dict_access(obj: Any, method: str, args: tuple[Any, ...]) -> tuple[int, Any]:
    if method in ("get", "__contains__") and args:
        return READ, simple_key(args[0])
    if method == "__getitem__" and args:
        return item_access(obj, args[0])
    if method == "__setitem__" and args:
        return store_access(obj, args[0])
    if method == "setdefault" and args:
        return (READ, simple_key(args[0])) if _has(obj, args[0]) else (WRITE, None)
    return (READ, None) if known.reads(type(obj), method) else (WRITE, None)


def item_access(obj: Any, key: Any) -> tuple[int, Any]:
    """What `mapping[key]` touches: a default dictionary makes the key that is missing."""
    if isinstance(obj, defaultdict) and not _has(obj, key):
        return WRITE, None
    return READ, simple_key(key)


def store_access(obj: Any, key: Any) -> tuple[int, Any]:
    """What `mapping[key] = value` touches: a new key is a structural change."""
    simple = simple_key(key)
    if simple is None or not dict.__contains__(obj, key):
        return WRITE, None
    return WRITE, simple


def _has(obj: Any, key: Any) -> bool:
    return simple_key(key) is not None and dict.__contains__(obj, key)


def view_source(view: Any) -> Any:
    """The dictionary behind a view, which the view itself hides."""
    if hasattr(view, "mapping"):
        found = gc.get_referents(view.mapping)
        if found:
            return found[0]
    return view
