"""The point before an access, for all hooks: is there one at all, and what is it called.

An object that only the running strand has touched so far needs no point. One that a second strand touches is revealed
as shared, and from the next execution on every access to it is a point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.core.dependency import READS
from treadle.core.operation import MULTI, Operation
from treadle.threads.called_back import watching
from treadle.threads.lives import let_go
from treadle.threads.names import INERT, Named, is_private, meet, name_by_path
from treadle.threads.strands import STATE, Strand


def public(strand: Strand, named: Named, kind: int) -> bool:
    """Must an access to an object that is not known to be shared be a point? It is now shared if so."""
    if is_private(strand, named):
        if strand.execution.lets_go and not strand.execution.ending:
            let_go(strand.execution, strand)
        if not READS[kind]:
            strand.private_writes += 1
        return False
    strand.execution.reveal(named)
    return True


def touch(strand: Strand, kind: int, obj: Any, key: Any) -> Named:
    """An access to an object, as a point unless the object is private to this strand."""
    named = strand.execution.names.get(id(obj)) or meet(strand, obj)
    if not STATE.coasting and (named.shared or public(strand, named, kind)):
        strand.pending = (kind, named.name, key)
        strand.execution.advance(strand)
    return named


def include(strand: Strand, operations: list[Operation], obj: Any, kind: int, key: Any = None) -> None:
    """Add an access to an operation on several objects, unless the object is private to this strand."""
    named = meet(strand, obj)
    if named.shared or public(strand, named, kind):
        operations.append((kind, named.name, key))


def perform(strand: Strand, operations: list[Operation]) -> None:
    if not operations or STATE.coasting:
        return
    strand.pending = operations[0] if len(operations) == 1 else (MULTI, None, tuple(operations))
    strand.execution.advance(strand)


# Whoever is given the arguments of a call of the program has parameters that no program names: compiled functions take
# positional-only ones by their names, too, and `request(method="GET")` would not be a call of one method.


def during(
    treadle_strand: Strand,
    treadle_operations: list[Operation],
    treadle_called: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A native call that does these operations, with the point before it."""
    strand, operations, called = treadle_strand, treadle_operations, treadle_called
    if not operations:
        return called(*args, **kwargs)
    perform(strand, operations)
    return holding(strand, operations, called, *args, **kwargs)


def holding(
    treadle_strand: Strand,
    treadle_operations: list[Operation],
    treadle_called: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A native call whose point was passed: what it does belongs to every step that the program's code takes inside."""
    strand, operations, called = treadle_strand, treadle_operations, treadle_called
    if not operations:
        return called(*args, **kwargs)
    before = strand.held
    strand.held = (*before, *operations)
    try:
        if strand.execution.values:  # it checks a pass
            return watching(strand, called, *args, **kwargs)
        return called(*args, **kwargs)
    finally:
        strand.held = before


def name_part(strand: Strand, value: Any, path: str) -> None:
    """What was found at a named place is named after it, unless it has a name."""
    if type(value) not in INERT and id(value) not in strand.execution.names:
        name_by_path(strand, value, path)


def found(strand: Strand, value: Any, path: str) -> Any:
    """A strand read a value from a named place."""
    name_part(strand, value, path)
    if strand.detail:
        strand.execution.saw(value)
    return value
