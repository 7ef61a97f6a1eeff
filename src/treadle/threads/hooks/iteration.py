"""Containers as a whole: looped over item by item, or used at once (their truth, formatting).

An iterator is an object: taking an item from it changes it, and reads what it takes the item from.
"""

from __future__ import annotations

import contextvars
import decimal
import types
from collections.abc import Iterator
from typing import Any

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads.containers import container_base
from treadle.threads.hash_order import note_order
from treadle.threads.hooks import reach
from treadle.threads.hooks.items import overridden
from treadle.threads.hooks.points import during, found, holding, include, perform, touch
from treadle.threads.hooks.reach import CONTAINER, GENERATOR, ITERATOR, OBJECT, OWN, WINDOW, kind_of
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.known import LOOKS
from treadle.threads.names import INERT, is_private, meet
from treadle.threads.strands import STATE, Strand
from treadle.threads.unasked import home_of
from treadle.threads.without_gil import COPIED, OF_DICTS, note_expression, note_look, note_next


def use(value: Any) -> Any:
    """Only whether a value is true or how long it is counts. For a container that reads all of it."""
    strand = STATE.strand
    if strand is None or STATE.coasting or type(value) in INERT:
        return value
    kind = type(value)
    category = kind_of(kind)
    if category == CONTAINER and not overridden(kind, container_base(kind) or object, "__len__"):
        touch(strand, READ, value, None)
    elif category == WINDOW or (category in (CONTAINER, OBJECT, OWN) and _counts_natively(kind)):
        operations: list[Operation] = []
        reach.everything(strand, operations, value, READ)
        perform(strand, operations)
    elif kind is decimal.Decimal:  # `-price` is worked out by the context of the thread
        touch(strand, WRITE, decimal.getcontext(), None)
    return value


def _counts_natively(kind: type) -> bool:
    """Is the truth of such an object worked out by code that is not rewritten?"""
    for name in ("__bool__", "__len__"):
        method = getattr(kind, name, None)
        if method is not None:
            return not _is_rewritten(method)
    return False


def _is_rewritten(method: Any) -> bool:
    return getattr(method, "__globals__", {}).get("__name__") in REWRITTEN


def show(value: Any) -> Any:
    """A value is formatted, or matched: all that is in it is looked at."""
    strand = STATE.strand
    if strand is None or STATE.coasting or type(value) in INERT:
        return value
    note_order(strand, value)
    operations: list[Operation] = []
    reach.content(strand, operations, value, READ)
    perform(strand, operations)
    return value


def match(value: Any) -> Any:
    """The subject of a `match` statement: patterns look at its items and attributes."""
    strand = STATE.strand
    if strand is None or STATE.coasting or type(value) in INERT:
        return value
    operations: list[Operation] = []
    reach.everything(strand, operations, value, READ)
    note_expression(strand, operations, "match")
    perform(strand, operations)
    return value


def spread(value: Any) -> Any:
    """`f(*value)`: all items of a value are taken."""
    return _taken(value, type(value) is not list)


def merge(value: Any) -> Any:
    """`f(**value)`, `{**value}`: all items of a mapping are taken."""
    return _taken(value, type(value) not in OF_DICTS)


def star(value: Any) -> Any:
    """`[*value]`: what a list copies under its lock is one step, without a GIL as well."""
    return _taken(value, False) if type(value) in COPIED else iterate(value)


def _taken(value: Any, in_steps: bool) -> Any:
    strand = STATE.strand
    if strand is None or STATE.coasting or type(value) in INERT or type(value) is tuple:
        return value
    note_order(strand, value)
    operations: list[Operation] = []
    reach.take(strand, operations, value, LOOKS)
    if in_steps:
        note_expression(strand, operations, "unpacking")
    perform(strand, operations)
    return value


def iterate_unpacking(iterable: Any) -> Any:
    """The iterable of `for a, b in iterable`: each item is taken apart as well."""
    items = iterate(iterable)
    return items if STATE.strand is None or STATE.coasting or type(iterable) in INERT else _taken_apart(items)


def _taken_apart(items: Any) -> Iterator[Any]:
    for value in items:
        yield value if type(value) is tuple else spread(value)


def iterate(iterable: Any) -> Any:
    """The iterable of a for loop or an unpacking: each `next` is a point."""
    strand = STATE.strand
    if strand is None:
        return iterable
    kind = type(iterable)
    if kind in INERT or kind is tuple or (STATE.coasting and kind is not contextvars.Context):
        return iterable
    note_order(strand, iterable)
    category = kind_of(kind)
    if category == CONTAINER:
        if not overridden(kind, container_base(kind) or object, "__iter__"):
            return _steps(iterable, iterable)
        return iterable if _is_rewritten(kind.__iter__) else _foreign_items(strand, iterable)
    if category == WINDOW:
        return _steps(iterable, reach.root_of(iterable))
    if category in (GENERATOR, ITERATOR):
        named = meet(strand, iterable)
        private = not named.shared and is_private(strand, named)
        if category == GENERATOR and private and not reach.is_foreign(iterable):
            return iterable  # nobody else has it: its own code is seen
        return _steps(iterable)
    if kind is contextvars.Context:
        return _steps(reach.variables_of(iterable), iterable)
    if category == OBJECT and type(getattr(kind, "__iter__", None)) is not types.FunctionType:
        return _steps(iterable) if hasattr(kind, "__iter__") else iterable
    if category == OBJECT:
        return _foreign_items(strand, iterable)
    return iterable


def delegate(iterable: Any) -> Any:
    """The iterable of `yield from`: what is sent to a generator must get there, so it stays itself."""
    strand = STATE.strand
    if strand is None or STATE.coasting or kind_of(type(iterable)) != GENERATOR:
        return iterate(iterable)
    operations: list[Operation] = []
    reach.advance(strand, operations, iterable)
    perform(strand, operations)
    return iterable


def _foreign_items(strand: Strand, iterable: Any) -> Any:
    """Iterating by Python code that is not rewritten (UserDict): getting the iterator and each item read all of it."""
    operations: list[Operation] = []
    reach.everything(strand, operations, iterable, READ)
    kind = type(iterable)
    if operations:
        strand.execution.assumed.add(f"{home_of(kind)}.{kind.__name__}.__iter__")
    return _steps(during(strand, operations, iter, iterable), iterable, True)


def _steps(iterable: Any, container: Any = None, wide: bool = False) -> Iterator[Any]:
    """The items one by one, from a container or from whatever an iterator takes them from."""
    iterator = None if container is not None else iter(iterable)
    count = 0
    while True:
        strand = STATE.strand
        if strand is None or STATE.coasting:
            yield from iterable if iterator is None else iterator
            return
        operations: list[Operation] = []
        if container is None:
            reach.advance(strand, operations, iterator)
            path = f"{meet(strand, iterator).name}[{count}]"
        elif wide:
            reach.everything(strand, operations, container, READ)
            path = f"{meet(strand, container).name}[{count}]"
        else:
            include(strand, operations, container, READ)
            if operations and type(container) is list:
                note_look(strand, operations)
            path = f"{meet(strand, container).name}[{count}]"
        perform(strand, operations)
        if iterator is None:
            iterator = iter(iterable)  # with the first item: nothing comes between them
        try:
            value = holding(strand, operations, next, iterator)
        except StopIteration:
            return
        yield found(strand, value, path)
        count += 1


def next_item(iterator: Any, *default: Any) -> Any:
    """`next(iterator)`"""
    return step_iterator(next, iterator, *default)


def step_iterator(method: Any, iterator: Any, *args: Any) -> Any:
    """A call that takes an item from an iterator, or sends something to a generator."""
    strand = STATE.strand
    kind = type(iterator)
    if strand is None or STATE.coasting or kind_of(kind) not in (ITERATOR, GENERATOR, OBJECT):
        return method(iterator, *args)
    if getattr(getattr(kind, "__next__", None), "__globals__", {}).get("__name__") in REWRITTEN:
        return method(iterator, *args)
    operations: list[Operation] = []
    if kind_of(kind) == OBJECT:
        reach.everything(strand, operations, iterator, WRITE)
        note_next(strand, operations, iterator)
    else:
        reach.advance(strand, operations, iterator)
    return found(strand, during(strand, operations, method, iterator, *args), f"{meet(strand, iterator).name}.next")
