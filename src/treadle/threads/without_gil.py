"""What a build without a GIL does in several steps, although it is one call: methods of containers and functions that
go through a container item by item without its lock, or let others see it half changed.

From the page Thread Safety Guarantees of Python's library reference, checked with plain threads on such a build
(`tests/threads_switching/half_seen.py`). An execution takes such a call as one step all the same; a pass in which
another strand's access raced with one says so.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, Final

from treadle.core.operation import READ, Operation, parts
from treadle.threads.strands import Strand

# Who can see such a call half done.
ANYBODY: Final = 0  # it takes no lock, so whoever changes or reads the same meanwhile
READERS: Final = 1  # whoever takes no lock to read: during a sort a list is empty
LOOKERS: Final = 2  # whoever looks at item after item, while they move; a length is right all the time
LOOKS: Final = 3  # is a look at an item, and no call in steps

_COMPARING: Final = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_METHODS: Final[dict[tuple[type, str], int]] = {
    **dict.fromkeys([(kind, name) for kind in (list, deque) for name in _COMPARING], ANYBODY),
    **dict.fromkeys([(list, name) for name in ("index", "count", "__contains__")], ANYBODY),
    **dict.fromkeys([(list, name) for name in ("reverse", "insert", "remove", "__imul__", "__delitem__")], LOOKERS),
    (list, "sort"): READERS,
}
# One step for each item, unless the items are in a container that is locked meanwhile.
_FROM_ITEMS: Final = frozenset({"extend", "update", "__iadd__", "__ior__"})
_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))
_AT_ONCE: Final[dict[type, tuple[type, ...]]] = {
    list: (list, tuple, set, frozenset, dict, *_VIEWS),
    dict: (dict,),
    set: (set, frozenset, dict),
}
# Functions that go through what they are given item by item, unless it is one of these.
_FUNCTIONS: Final[dict[Any, tuple[type, ...]]] = {
    **dict.fromkeys((sum, min, max, any, all, functools.reduce, deque, Counter), ()),
    **dict.fromkeys((heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop), ()),
    **dict.fromkeys((bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right), ()),
    **dict.fromkeys((list, tuple, sorted), (list, tuple, set, frozenset, dict, *_VIEWS)),
    **dict.fromkeys((set, frozenset), (set, frozenset, dict)),
    dict: (dict,),
}


Note = tuple[Operation, str, int]  # what a call does, its name, and who can see it half done


def note_method(strand: Strand, operations: list[Operation], base: type, method: str, args: tuple[Any, ...]) -> None:
    """A method of a built-in container is called, which does these operations."""
    if method in _FROM_ITEMS and base in _AT_ONCE:
        seen_by = ANYBODY if any(not isinstance(argument, _AT_ONCE[base]) for argument in args) else None
    elif method == "pop" and base is list and args:
        seen_by = LOOKERS
    else:
        seen_by = _METHODS.get((base, method))
    if seen_by is not None:
        _note(strand, operations, f"{base.__name__}.{method}", seen_by)


def note_function(strand: Strand, operations: list[Operation], called: Any, args: tuple[Any, ...]) -> None:
    """A function that is not rewritten is called, which does these operations."""
    at_once = _FUNCTIONS.get(called)
    if at_once is not None and args and not isinstance(args[0], at_once):
        _note(strand, operations, called.__name__, ANYBODY)


def note_look(strand: Strand, operations: list[Operation]) -> None:
    """An item of a list is looked at, and perhaps others after it."""
    _note(strand, operations, "", LOOKS)


def _note(strand: Strand, operations: list[Operation], call: str, seen_by: int) -> None:
    if strand.execution.constants is None:  # else there is a GIL
        strand.execution.in_steps.update([(op, call, seen_by) for op in operations])


def half_seen(notes: set[Note], races: Iterable[tuple[Operation, Operation]]) -> set[str]:
    """The calls that raced with somebody who may see them half done where there is no GIL."""
    looks = {op for op, _, seen_by in notes if seen_by == LOOKS}
    raced = {
        call
        for first, second in races
        for one, other in ((first, second), (second, first))
        for op, call, seen_by in notes
        if op in parts(one) and call
        if seen_by == ANYBODY
        or any(part[1] == op[1] and (part in looks if seen_by == LOOKERS else part[0] == READ) for part in parts(other))
    }
    return {f"{call}, which is several steps without a GIL" for call in raced}
