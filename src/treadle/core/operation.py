"""The operations a strand can perform at a scheduling point, as plain data.

An operation is the tuple `(kind, name, key)`: `name` is the stable name of the object it works on (`Account#1`), `key`
the attribute, index or dictionary key it touches, or None for the whole object. Tuples, because a search makes
millions of them and compares them with the operations of the execution before.

An operation on several objects at once (a call into code that is not rewritten) is `(MULTI, None, operations)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from treadle.core.names import is_made

Operation: TypeAlias = tuple[int, Any, Any]


# The kinds: what an operation does. The comments say when a strand that is about to do it may go on.
READ: Final = 0  # memory: always
WRITE: Final = 1  # memory: always
MULTI: Final = 2  # several accesses in one step: always
LOOK: Final = 3  # only reads a synchronisation object: always
SIGNAL: Final = 4  # changes a synchronisation object without waiting: always
TRY: Final = 5  # takes if it can, fails otherwise: always
RELEASE: Final = 6  # always
ACQUIRE: Final = 7  # when the lock is free
GET: Final = 8  # when there is something to take
PUT: Final = 9  # when there is room
WAIT: Final = 10  # when what is waited for has happened
SLEEP: Final = 11  # when the time has come
SPIN: Final = 12  # when something that the loop reads has changed
YIELD: Final = 13  # always
TIMEOUT: Final = 14  # not announced by a strand: how a wait ends whose time ran out
FINISH: Final = 15  # the end of a strand: always
STEP: Final = 16  # a step of a task, with its footprint once that is known: when it is scheduled and its loop is free

# Set in the guards of a TRY or GET that found nothing: it then counts as a LOOK.
FAILED: Final = 1 << 40
# The guards of an operation of several parts: so many bits for each.
GUARD_WIDTH: Final = 48

# The two ends of a first-in-first-out queue without a limit, as keys of its operations: what puts and what takes touch
# different ones, and a take comes after the put of what it took, its cause (`cause_of`).
TAIL: Final = "tail"
HEAD: Final = "head"
_CAUSE_PLACE: Final = 17  # in the guards of a GET, above a bit for each kind and below FAILED
EVERY_KIND: Final = (1 << _CAUSE_PLACE) - 1  # the guards of what any operation can go on with
MOST_CAUSES: Final = (1 << 23) - 1

# A step of an execution that is no operation on anything: a task of a model, a message.
NO_OPERATION: Final[Operation] = (YIELD, None, None)
# A point where no operation is known, at which an execution that checks a pass may be interrupted.
FINE: Final[Operation] = (YIELD, None, "fine")

# The guards of a STEP are the numbers of the events it comes after, each plus one, in so many bits.
CAUSE_BITS: Final = 24

BLOCKING: Final = frozenset({ACQUIRE, GET, PUT, WAIT, SLEEP, SPIN})

_WORDS: Final = {
    READ: "reads",
    WRITE: "writes",
    MULTI: "calls",
    LOOK: "looks at",
    SIGNAL: "signals",
    TRY: "tries",
    RELEASE: "releases",
    ACQUIRE: "acquires",
    GET: "gets from",
    PUT: "puts into",
    WAIT: "waits for",
    SLEEP: "sleeps",
    SPIN: "spins",
    YIELD: "yields",
    TIMEOUT: "times out on",
    FINISH: "finishes",
    STEP: "goes on in",
}


def is_fine(op: Operation) -> bool:
    """Is a step one without any operation?"""
    return op == FINE or (op[0] == MULTI and all(part == FINE for part in op[2]))


def parts(op: Operation) -> tuple[Operation, ...]:
    """The single accesses of an operation."""
    return tuple(op[2]) if op[0] == MULTI else (op,)


def with_cause(guards: int, event: int) -> int:
    """The guards of a GET that took what the event put."""
    return guards | (event + 1) << _CAUSE_PLACE


def cause_of(guards: int) -> int:
    """The event that a GET with these guards comes after; -1 where there is none, or it depends on it anyway."""
    return ((guards >> _CAUSE_PLACE) & MOST_CAUSES) - 1


def accesses(ops: Iterable[Operation]) -> int:
    """How many single accesses some operations are: what comparing them costs."""
    return sum(len(op[2]) if op[0] == MULTI else 1 for op in ops)


def verb(op: Operation) -> str:
    """The verb for an operation: 'reads', 'acquires'. Several reads in one step are still a read."""
    return _WORDS[READ if all(part[0] == READ for part in parts(op)) else op[0]]


def location(op: Operation) -> str:
    """What an operation works on, as a person would write it: `Account#1.balance`, `list#1[2]`, `Lock#1`."""
    kind, name, key = op
    if kind == MULTI:
        own = [part[2] for part in key if not str(part[1]).startswith(_CLASS)]
        # where an object has no such attribute, its class is asked: for a person that is one place
        places = [location(part) for part in key if part[2] not in own or not str(part[1]).startswith(_CLASS)]
        return ", ".join(dict.fromkeys(places))
    if name is None:
        return ""
    if key is None or kind == STEP or (key in (HEAD, TAIL) and kind in (GET, SIGNAL)):
        return str(name)
    if isinstance(key, str) and is_made(str(name)) and not str(name).startswith(_CONTAINERS):
        return f"{name}.{key}"
    return f"{name}[{key!r}]"


_CLASS = "class "  # what the names of classes begin with
_CONTAINERS = ("list#", "dict#", "deque#", "defaultdict#", "OrderedDict#", "bytearray#", "set#")
