"""Items: `obj[key]` read, written and deleted, and `value in obj`.

Of a built-in container one key or index is touched, or all of it. An operator of a class that is not rewritten is one
operation on the whole object.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from operator import contains as _contains
from operator import delitem as _delitem
from operator import getitem as _getitem
from operator import setitem as _setitem
from typing import Any

from treadle.core.operation import READ, WRITE
from treadle.threads import containers
from treadle.threads.containers import container_base
from treadle.threads.hooks.points import found, touch
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import PLAIN, publish
from treadle.threads.strands import STATE, Strand, SyncObject


def item(obj: Any, key: Any) -> Any:
    """`obj[key]`"""
    strand = STATE.strand
    if strand is None:
        return obj[key]
    kind = type(obj)
    if kind in PLAIN:
        return obj[key]
    base = container_base(kind)
    if base is None:
        return _atomic_item(strand, obj, _getitem, key) if _foreign(kind) else obj[key]
    if overridden(kind, base, "__getitem__"):
        return obj[key]
    mode, place = containers.item_access(obj, key) if base is dict else (READ, containers.index_key(key))
    owner = touch(strand, mode, obj, place)
    return found(strand, obj[key], f"{owner.name}[{place!r}]" if place is not None else f"{owner.name}[]")


def set_item(value: Any, obj: Any, key: Any) -> None:
    """`obj[key] = value`"""
    strand = STATE.strand
    if strand is None:
        obj[key] = value
        return
    kind = type(obj)
    base = container_base(kind)
    if base is None:
        publish(strand, value)
        if _foreign(kind):
            _atomic_item(strand, obj, _setitem, key, value)
        else:
            obj[key] = value
        return
    publish(strand, value)
    if not overridden(kind, base, "__setitem__"):
        mode, place = containers.store_access(obj, key) if base is dict else (WRITE, containers.index_key(key))
        owner = touch(strand, mode, obj, place)
        if strand.detail:
            strand.execution.saw(value, owner)
    obj[key] = value


def del_item(obj: Any, key: Any) -> None:
    """`del obj[key]`"""
    strand = STATE.strand
    if strand is not None:
        kind = type(obj)
        base = container_base(kind)
        if base is None:
            if _foreign(kind):
                _atomic_item(strand, obj, _delitem, key)
                return
        elif not overridden(kind, base, "__delitem__"):
            touch(strand, WRITE, obj, None)
    del obj[key]


def inside(value: Any, container: Any) -> bool:
    """`value in container`"""
    strand = STATE.strand
    if strand is None:
        return value in container
    kind = type(container)
    if kind in PLAIN:
        return value in container
    base = container_base(kind)
    if base is None:
        if kind in containers.VIEWS:
            touch(strand, READ, containers.view_source(container), None)
        elif _foreign(kind):
            return bool(_atomic_item(strand, container, _contains, value))
        return value in container
    if not overridden(kind, base, "__contains__"):
        place = containers.simple_key(value) if base in (dict, set) else None
        touch(strand, READ, container, place)
    return value in container


def overridden(kind: type, base: type, method: str) -> bool:
    """Does a subclass of a container define this method in Python?"""
    return kind is not base and isinstance(getattr(kind, method, None), types.FunctionType)


def _foreign(kind: type) -> bool:
    """Not immutable, and its operators are not rewritten code: operators on it are atomic."""
    try:
        return _foreign_types[kind]
    except KeyError:
        method = getattr(kind, "__getitem__", None)
        code = isinstance(method, types.FunctionType) and method.__globals__.get("__name__") in REWRITTEN
        known = kind in PLAIN or issubclass(kind, (SyncObject, type, BaseException))
        answer = _foreign_types[kind] = not (code or known)
        return answer


_foreign_types: dict[type, bool] = {}


def _atomic_item(strand: Strand, obj: Any, action: Callable[..., Any], *args: Any) -> Any:
    mode = READ if action in (_getitem, _contains) else WRITE
    touch(strand, mode, obj, None)
    return action(obj, *args)
