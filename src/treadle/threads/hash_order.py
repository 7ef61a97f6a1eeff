"""Where a program uses an order that hashes decide: it goes through a set of strings, or of objects at their addresses.

All executions have the same hash seed, so such a set has one order in all of them, and the others are never tried. A
pass names the lines. Taken for the same under every seed are sets of at most one item and sets of numbers, and what
does not depend on the order of its items (`sorted(names)`).
"""

from __future__ import annotations

import copy
import decimal
import fractions
import sys
from typing import Any, Final

from treadle.threads.detail import program_frame
from treadle.threads.strands import Strand

_FIXED: Final[frozenset[type]] = frozenset(
    {int, bool, float, complex, decimal.Decimal, fractions.Fraction}
    | ({type(None)} if sys.version_info >= (3, 12) else set())  # before that its address is its hash
)
_SETS: Final = (set, frozenset)
# Whatever the order of the items, these do the same; those that take a key only without one.
_BLIND: Final = (len, set, frozenset, bool, any, all, sum, sorted, min, max, copy.copy, copy.deepcopy, id, type)


def note_order(strand: Strand, value: Any) -> None:
    """Items are taken one after the other: those of a set in an order that may be another elsewhere."""
    if isinstance(value, _SETS) and len(value) > 1 and not all(map(is_fixed, value)):
        _note(strand)


def note_call(strand: Strand, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Code that is not rewritten is given this."""
    if called is hash and args and not is_fixed(args[0]):
        _note(strand)
    for argument in args:
        if isinstance(argument, _SETS) and (kwargs or not _is_blind(called)):
            note_order(strand, argument)


def _note(strand: Strand) -> None:
    frame = program_frame(sys._getframe())
    if frame is not None and frame.f_code.co_name != "__hash__":  # whose result only decides orders
        strand.execution.hash_orders.add((frame.f_code.co_filename, frame.f_lineno))


def _is_blind(called: Any) -> bool:
    return any(called is one for one in _BLIND) or isinstance(getattr(called, "__self__", None), _SETS)


def is_fixed(value: Any) -> bool:
    """Has a value the same hash in every process?"""
    kind = type(value)
    return kind in _FIXED or (kind in (tuple, frozenset) and all(map(is_fixed, value)))
