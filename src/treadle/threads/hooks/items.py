"""Items: `obj[key]` read, written and deleted, and `value in obj`.

Of a built-in container one key or index is touched, or all of it. An operator of a class that is not rewritten is one
operation on all that the object leads to.
"""

from __future__ import annotations

import functools
import types
from collections import defaultdict
from collections.abc import Callable
from operator import contains as _contains
from operator import delitem as _delitem
from operator import getitem as _getitem
from operator import setitem as _setitem
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import containers, known, without_gil
from treadle.threads.containers import container_base
from treadle.threads.hash_order import note_order
from treadle.threads.hooks import reach
from treadle.threads.hooks.attributes import rebind_global
from treadle.threads.hooks.calls import is_controlled, rebind_keys
from treadle.threads.hooks.keys import hashed, include_key, keyed
from treadle.threads.hooks.points import during, found, include, perform
from treadle.threads.hooks.reach import CARRIER, GENERATOR, NOTHING, OWN, WINDOW, kind_of
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import INERT, publish
from treadle.threads.strands import STATE, Strand
from treadle.threads.switching import ALL
from treadle.threads.unasked import home_of


def item(obj: Any, key: Any) -> Any:
    """`obj[key]`"""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return obj[key]
    kind = type(obj)
    if kind in INERT or kind is tuple:
        return obj[key]
    base = container_base(kind)
    if base is None or overridden(kind, base, "__getitem__"):
        return _foreign_item(strand, obj, _getitem, "__getitem__", READ, key)
    answers = hashed(key) if base is dict and type(key) not in INERT else None
    place = containers.simple_key(key) if base is dict else containers.index_key(key)
    operations: list[Operation] = []
    include(strand, operations, obj, READ, place)
    if base is list and operations:
        without_gil.note_look(strand, operations)
    elif base is dict and type(key) not in INERT:
        include_key(strand, operations, key)
    perform(strand, operations)
    if base is dict and getattr(kind, "__missing__", None) is defaultdict.__missing__:
        value = keyed(strand, operations, obj, key, answers, dict.get, obj, key, _NOTHING)
        if value is _NOTHING:
            value = _made(strand, obj, key)
    else:
        value = keyed(strand, operations, obj, key, answers, _getitem, obj, key)
        if base is dict and kind is not dict and _is_python_outside(getattr(kind, "__missing__", None)):
            strand.look(ALL if not dict.__contains__(obj, key) else 0)
    if type(value) in INERT:
        if strand.detail:
            strand.execution.saw(value)
        return value
    owner = strand.execution.names[id(obj)].name
    return found(strand, value, f"{owner}[{place!r}]" if place is not None else f"{owner}[]")


_NOTHING: Final = object()


def _made(strand: Strand, mapping: Any, key: Any) -> Any:
    """What `__missing__` of a default dictionary does. Without a GIL others may come before the making and before the
    keeping; with one they do where the factory is code in Python."""
    factory = mapping.default_factory
    if factory is None:
        return mapping[key]  # which raises
    value = factory()
    if _is_python_outside(factory):
        strand.look(ALL)
    set_item(value, mapping, key)
    return value


def _is_python_outside(called: Any) -> bool:
    """Is this a function in Python that is not rewritten, or does one make its instances?"""
    if type(called) is functools.partial:
        return _is_python_outside(called.func)
    if isinstance(called, type):
        return any(_is_python_outside(getattr(called, name)) for name in ("__init__", "__new__"))
    called = getattr(called, "__func__", called)
    return type(called) is types.FunctionType and not (
        called.__globals__.get("__name__") in REWRITTEN or is_controlled(called.__globals__.get("__name__") or "")
    )


def set_item(value: Any, obj: Any, key: Any) -> None:
    """`obj[key] = value`"""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        obj[key] = value
        return
    kind = type(obj)
    base = container_base(kind)
    publish(strand, value)
    if base is None or overridden(kind, base, "__setitem__"):
        _foreign_item(strand, obj, _setitem, "__setitem__", WRITE, key, value)
        return
    if kind is dict and "__builtins__" in obj and type(obj.get("__name__")) is str:
        rebind_global(strand, obj, key)
        obj[key] = value
        return
    if base is dict and strand.execution.attributes_of:
        rebind_keys(strand, obj, (key,))
    answers = hashed(key) if base is dict and type(key) not in INERT else None
    mode, place = containers.store_access(obj, key) if base is dict else (WRITE, containers.index_key(key))
    operations: list[Operation] = []
    include(strand, operations, obj, mode, place)
    if base is dict and type(key) not in INERT:
        include_key(strand, operations, key)
    if type(key) is slice:
        taken: list[Operation] = []
        reach.take(strand, taken, value, known.LOOKS)
        without_gil.note_slice(strand, operations, taken, value)
        note_order(strand, value)
        operations += taken
    perform(strand, operations)
    if base is dict and operations and containers.store_access(obj, key) != (mode, place):
        set_item(value, obj, key)
        return
    if strand.detail and operations:
        strand.execution.saw(value)
    keyed(strand, operations, obj, key, answers, _setitem, obj, key, value)


def del_item(obj: Any, key: Any) -> None:
    """`del obj[key]`"""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        del obj[key]
        return
    kind = type(obj)
    base = container_base(kind)
    if base is None or overridden(kind, base, "__delitem__"):
        _foreign_item(strand, obj, _delitem, "__delitem__", WRITE, key)
    else:
        answers = None
        if base is dict:
            rebind_keys(strand, obj, (key,))
            answers = hashed(key)
        operations: list[Operation] = []
        include(strand, operations, obj, WRITE)
        if base is dict:
            include_key(strand, operations, key)
        without_gil.note_method(strand, operations, kind, "__delitem__", ())
        perform(strand, operations)
        keyed(strand, operations, obj, key, answers, _delitem, obj, key)


def inside(value: Any, container: Any) -> bool:
    """`value in container`"""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return value in container
    kind = type(container)
    if kind in INERT:
        return value in container
    base = container_base(kind)
    operations: list[Operation] = []
    if base is None:
        if kind is tuple or kind is frozenset:
            reach.content(strand, operations, container, READ)
            return bool(during(strand, operations, _contains, container, value))
        if kind_of(kind) in (reach.ITERATOR, GENERATOR):
            reach.take(strand, operations, container, known.READS)
            return bool(during(strand, operations, _contains, container, value))
        return bool(_foreign_item(strand, container, _contains, "__contains__", READ, value))
    if overridden(kind, base, "__contains__"):
        return bool(_foreign_item(strand, container, _contains, "__contains__", READ, value))
    if base in (dict, set):
        answers = hashed(value)
        include(strand, operations, container, READ, containers.simple_key(value))
        include_key(strand, operations, value)
        perform(strand, operations)
        return bool(keyed(strand, operations, container, value, answers, _contains, container, value))
    reach.content(strand, operations, container, READ)
    reach.content(strand, operations, value, READ)
    without_gil.note_method(strand, operations, kind, "__contains__", ())
    return bool(during(strand, operations, _contains, container, value))


def overridden(kind: type, base: type, method: str) -> bool:
    """Does a subclass of a container define this method in Python?"""
    return kind is not base and isinstance(getattr(kind, method, None), types.FunctionType)


def _foreign_item(
    strand: Strand, obj: Any, action: Callable[..., Any], method: str, mode: int, key: Any, *value: Any
) -> Any:
    """An operator that no built-in container has by itself: one operation, unless its code is rewritten."""
    kind = type(obj)
    category = kind_of(kind)
    code = getattr(kind, method, None) or getattr(kind, "__iter__", None)
    if category in (NOTHING, CARRIER) or getattr(code, "__globals__", {}).get("__name__") in REWRITTEN:
        return action(obj, key, *value)
    if known.is_stranger(code):
        mode = WRITE  # a cache notes what was asked for
    operations: list[Operation] = []
    reach.everything(strand, operations, obj, mode)
    without_gil.note_method(strand, operations, kind, method, ())
    for one in (key, *value):
        publish(strand, one)
        if type(one) not in INERT:
            reach.content(strand, operations, one, READ)
    if not known.in_modules(home_of(kind), known.SELF_CONTAINED):
        reach.include_module(strand, operations, home_of(kind))
    if type(code) is types.FunctionType and category != WINDOW:
        strand.execution.atomic.add(home_of(kind))
        if operations:
            strand.execution.assumed.add(f"{home_of(kind)}.{kind.__name__}.{method}")
    elif operations and category != OWN and not known.in_modules(home_of(kind), known.ATOMIC_NATIVE):
        strand.execution.assumed.add(f"{home_of(kind)}.{kind.__name__}.{method}")
    result = during(strand, operations, action, obj, key, *value)
    if strand.detail:
        strand.execution.saw(result)
    return result
