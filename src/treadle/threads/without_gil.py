"""What a build without a GIL does in several steps, although it is one call: methods of containers and functions that
go through a container item by item without its lock, or let others see it half changed.

From the page Thread Safety Guarantees of Python's library reference, checked with plain threads on such a build
(`tests/threads_switching/half_seen.py`). An execution takes such a call as one step all the same; a pass in which
another strand's access raced with one says so.
"""

from __future__ import annotations

import array
import functools
import itertools
import operator
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation, parts
from treadle.threads.names import INERT
from treadle.threads.strands import Strand

# Who can see such a call half done.
ANYBODY: Final = 0  # it takes no lock, so whoever changes or reads the same meanwhile
READERS: Final = 1  # whoever takes no lock to read: during a sort a list is empty
LOOKERS: Final = 2  # whoever looks at item after item, while they move; a length is right all the time
LOOKS: Final = 3  # is a look at an item, and no call in steps

_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))

_COMPARING: Final = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
# Containers that a list copies while they are locked.
COPIED: Final = frozenset({list, tuple, set, frozenset, dict, *_VIEWS})
OF_DICTS: Final = frozenset({dict, Counter, defaultdict})
# Containers whose items a method of these takes in while they are locked; others are gone through.
_AT_ONCE: Final[dict[type, frozenset[type]]] = {
    list: COPIED,
    dict: OF_DICTS,
    set: frozenset({set, frozenset, dict}),
    deque: frozenset(),
}
_FROM_ITEMS: Final = frozenset({"extend", "update", "__iadd__", "__ior__"})
_OF_ARRAY: Final = vars(array.array).keys() - {"__getitem__", "__setitem__"}
_OF_SET: Final = ("update", "__ior__", "__ixor__", "__isub__", "difference_update", "symmetric_difference_update")


def _methods(kind: type, names: Iterable[str], seen_by: int) -> dict[tuple[type, str], int]:
    return {(kind, name): seen_by for name in names}


_METHODS: Final[dict[tuple[type, str], int]] = {
    **_methods(list, ("index", "count", "__contains__", *_COMPARING), ANYBODY),
    **_methods(list, ("reverse", "insert", "remove", "__imul__", "__delitem__"), LOOKERS),
    **_methods(list, ("sort",), READERS),
    **_methods(deque, ("copy", "__copy__", "__add__", "__mul__", "__rmul__", *_COMPARING), ANYBODY),
    **_methods(deque, ("extend", "extendleft", "__iadd__", "__imul__"), READERS),
    **_methods(set, _OF_SET, READERS),
    **_methods(
        OrderedDict, ("popitem", "pop", "setdefault", "move_to_end", "update", "copy", "__or__", "__ior__"), ANYBODY
    ),
    **_methods(array.array, _OF_ARRAY, ANYBODY),  # it has no lock
    **{(kind, name): ANYBODY for kind in _VIEWS for name in _COMPARING},
}
# A function goes through the items of what it is given one by one, unless it only looks at the container as such, or
# copies one of these at once.
_LAZY: Final = frozenset(
    {len, iter, bool, enumerate, zip, map, filter, reversed, memoryview, types.MappingProxyType, object, type, slice}
    | {
        range,
        int,
        float,
        complex,
        hash,
        abs,
        round,
        divmod,
        pow,
        functools.partial,
        types.SimpleNamespace,
        aiter,
        anext,
    }
    | {operator.length_hint, operator.index, operator.truth, repr, str, ascii, format, anext}
    | {kind for kind in vars(itertools).values() if isinstance(kind, type)}
)
_LISTS: Final = frozenset({list, tuple})
_EAGER: Final[dict[Any, frozenset[type]]] = {
    **dict.fromkeys((list, sorted), COPIED),
    **dict.fromkeys((tuple, itertools.product, itertools.permutations, itertools.combinations), _LISTS),
    itertools.combinations_with_replacement: _LISTS,
    **dict.fromkeys((set, frozenset), _AT_ONCE[set]),
    **dict.fromkeys((dict, defaultdict), _AT_ONCE[dict]),
    **dict.fromkeys((bytes, bytearray), frozenset({bytearray})),
}


Note = tuple[Operation, str, int]  # what a call does, its name, and who can see it half done


def note_method(strand: Strand, operations: list[Operation], kind: type, method: str, args: tuple[Any, ...]) -> None:
    """A method of a built-in container is called, which does these operations to it."""
    of = next((cls for cls in kind.__mro__ if (cls, method) in _METHODS or cls in _AT_ONCE), kind)
    seen_by = _METHODS.get((of, method))
    if method in _FROM_ITEMS and of in (list, dict, set) and any(type(one) not in _AT_ONCE[of] for one in args):
        seen_by = ANYBODY
    elif method == "pop" and of is list and args:
        seen_by = LOOKERS
    elif method == "__getitem__" and any(kind == WRITE for kind, _, _ in operations):
        seen_by = ANYBODY  # a default dictionary looks, makes and keeps
    if seen_by is not None:
        _note(strand, operations, f"{of.__name__}.{method}", seen_by)


def note_items(strand: Strand, operations: list[Operation], of: type, method: str, argument: Any) -> None:
    """A method of a container takes in the items of an argument, which does these operations to it."""
    if type(argument) not in _AT_ONCE.get(of, ()):
        _note(strand, operations, f"{of.__name__}.{method}", ANYBODY)


def note_slice(strand: Strand, written: list[Operation], taken: list[Operation], value: Any) -> None:
    """`xs[i:j] = value`: items of the list move, those of the value are taken."""
    _note(strand, written, "list.__setitem__ of a slice", LOOKERS)
    if type(value) not in _LISTS:
        _note(strand, taken, "list.__setitem__ of a slice", ANYBODY)


def note_expression(strand: Strand, operations: list[Operation], what: str) -> None:
    """An expression goes through the items of something, which does these operations to it."""
    _note(strand, operations, what, ANYBODY)


def note_function(strand: Strand, operations: list[Operation], called: Any, args: tuple[Any, ...]) -> None:
    """A native function is called, which does these operations to what it is given."""
    if type(called) is types.FunctionType:
        return  # a pass names it anyway
    at_once = _EAGER.get(called)
    if at_once is None:
        of_text = type(getattr(called, "__self__", None)) in (str, bytes)
        at_once = _LISTS if of_text else frozenset()
        if (called in _LAZY or (of_text and called.__name__ != "join")) and len(operations) < 2:
            return  # more than one: it looks at what is in the container as well
    if any(type(argument) not in INERT and type(argument) not in at_once for argument in args):
        _note(strand, operations, getattr(called, "__qualname__", type(called).__name__), ANYBODY)


def note_next(strand: Strand, operations: list[Operation], iterator: Any) -> None:
    """An item is taken from an iterator, which does these operations to it: two may get the same, but of a
    count by one, which is how numbers are given out."""
    if type(iterator) is not itertools.count or not repr(iterator)[6:-1].removeprefix("-").isdigit():
        _note(strand, operations, f"next of {type(iterator).__name__}", ANYBODY)


def note_cached(strand: Strand, operations: list[Operation], cache: Any) -> None:
    """A function with a cache is called. One in Python is seen while it runs; of others two may be made."""
    if type(cache.__wrapped__) is not types.FunctionType:
        _note(strand, operations, f"lru_cache of {getattr(cache, '__name__', 'a callable')}", ANYBODY)


def note_look(strand: Strand, operations: list[Operation]) -> None:
    """An item of a list is looked at, and perhaps others after it."""
    _note(strand, operations, "", LOOKS)


def _note(strand: Strand, operations: list[Operation], call: str, seen_by: int) -> None:
    if operations and strand.execution.constants is None:  # else there is a GIL
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
