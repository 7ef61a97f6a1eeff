"""Which operations commute: every dependency rule of Treadle is in this file, and the searches are parametric in it.

Two operations are *dependent* when swapping them may change what either does. Three rules:

1. operations on different objects, or on different keys of one object, commute; an access to the whole object (its
   length, an iteration, a structural change) depends on every key;
2. operations that only read commute: reads of memory, looks at a synchronisation object, waits that change nothing,
   and an attempt to take that failed (it is recorded as a look);
3. everything else on the same object is dependent.

A blocking operation adds a question: could it have gone first at all? `reversible` answers it from the state the
object had before the earlier operation (`guards`): a release cannot be swapped with the acquire that waited for it,
two acquires of one lock can.
"""

from __future__ import annotations

from typing import Final

from treadle.core.operation import ACQUIRE, BLOCKING, GET, LOOK, MULTI, PUT, READ, WAIT, Operation

READING: Final = frozenset({READ, LOOK, WAIT})

# Blocking operations that others enable and disable. When the one before cannot be swapped with it (a release, the
# setting of an event), the one before that may (the acquire of the same lock, the clearing of the event): the search
# looks on.
ENABLED_BY: Final = frozenset({ACQUIRE, GET, PUT, WAIT})

# reads[kind]: rule 2 as a table, for the hot loop of the search
READS: Final = tuple(kind in READING for kind in range(16))


def dependent(one: Operation, other: Operation) -> bool:
    """May swapping two neighbouring operations of different strands change what either does?"""
    kind, name, key = one
    if kind == MULTI:
        return any(dependent(part, other) for part in key)
    other_kind, other_name, other_key = other
    if other_kind == MULTI:
        return any(dependent(one, part) for part in other_key)
    if name != other_name or name is None:
        return False
    if READS[kind] and READS[other_kind]:
        return False
    return key is None or other_key is None or bool(key == other_key)


def reversible(guards: int, kind: int) -> bool:
    """Could an operation of this kind have gone on in the state described by guards?"""
    return kind not in BLOCKING or bool((guards >> kind) & 1)
