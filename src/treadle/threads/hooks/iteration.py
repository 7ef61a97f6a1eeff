"""Containers as a whole: looped over item by item, or used at once (their truth, a comparison, formatting)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treadle.core.operation import READ, Operation
from treadle.threads import containers
from treadle.threads.containers import container_base
from treadle.threads.hooks.items import overridden
from treadle.threads.hooks.points import found, include, perform, touch
from treadle.threads.names import PLAIN, meet
from treadle.threads.strands import STATE, Strand


def use(value: Any) -> Any:
    """A value is used as a whole: compared, tested, formatted. For a container that reads all of it."""
    strand = STATE.strand
    if strand is None:
        return value
    kind = type(value)
    if kind in PLAIN:
        return value
    if container_base(kind) is not None:
        if not overridden(kind, container_base(kind) or object, "__len__"):
            touch(strand, READ, value, None)
    elif kind in containers.VIEWS:
        touch(strand, READ, containers.view_source(value), None)
    return value


def iterate(iterable: Any) -> Any:
    """The iterable of a for loop or an unpacking: each `next` over a container is a point."""
    strand = STATE.strand
    if strand is None:
        return iterable
    kind = type(iterable)
    if kind in containers.ITERATORS:
        return _steps(iterable)
    if kind in PLAIN:
        return iterable
    base = container_base(kind)
    if base is not None:
        return iterable if overridden(kind, base, "__iter__") else _steps(iterable, iterable)
    if kind in containers.VIEWS:
        return _steps(iterable, containers.view_source(iterable))
    return iterable


def _steps(iterable: Any, container: Any = None) -> Iterator[Any]:
    """The items one by one, from a container or from whatever an iterator takes them from."""
    iterator = None if container is not None else iter(iterable)
    count = 0
    while True:
        strand = STATE.strand
        if strand is None:
            yield from iterable if iterator is None else iterator
            return
        if container is not None:
            path = f"{touch(strand, READ, container, None).name}[{count}]"
            if iterator is None:
                iterator = iter(iterable)  # with the first item: nothing comes between them
        else:
            path = _before_next(strand, iterator, count)
        try:
            value = next(iterator)  # type: ignore[arg-type]
        except StopIteration:
            return
        yield found(strand, value, path)
        count += 1


def _before_next(strand: Strand, iterator: Any, count: int) -> str:
    """The point before an iterator gives its next item; how the item is reached."""
    sources = containers.iterated(iterator)
    operations: list[Operation] = []
    for source in sources:
        include(strand, operations, source, READ)
    perform(strand, operations)
    return f"{meet(strand, sources[0] if sources else iterator).name}[{count}]"


def next_item(iterator: Any, *default: Any) -> Any:
    strand = STATE.strand
    if strand is None or type(iterator) not in containers.ITERATORS:
        return next(iterator, *default)
    path = _before_next(strand, iterator, 0)
    return found(strand, next(iterator, *default), path)
