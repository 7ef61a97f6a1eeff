"""Which objects are alive: what weak references tell, which steps may change it, and that what is gone is gone.

Asking is an operation that reads `LIVES`. An object that is asked for is watched: where it dies, the step of that place
changes `LIVES` from then on, and the search begins again. Where the answer is that it is dead, or what is asked knows
more than one object, nobody has watched who ended that life: then each step may have (`EVERY`).

A life that ends after an operation on a lock or the like belongs to no step that the search could tell apart from that
operation. That is told, and the search is no proof.

Objects that no weak reference can tell of (lists, dictionaries, iterators) are kept by the execution, so that their
addresses are not used again for others. Where something has a finaliser, or somebody asks for lives, what nobody else
has is let go at the next point of the strand that had it last: what it held dies there, as it would have without us.
"""

from __future__ import annotations

import os
import sys
import weakref
from functools import partial
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Final

from treadle.core.operation import MULTI, READ, WAIT, WRITE, Operation, parts
from treadle.threads.detail import place_of
from treadle.threads.strands import STATE, Strand, with_held

if TYPE_CHECKING:
    from treadle.threads.execution import Execution

LIVES: Final = "the lives of objects"
EVERY: Final = "the lives of objects, ended by any step"
FINALISERS: Final = "what is called when objects die"
_UNPLACED: Final = "when an object dies that a weak reference asks for, after an operation that is not on memory"


# References to an object that is in one list and nowhere else, as they are counted below.
_ALONE: Final = max(map(getrefcount, [object()]))
# Most objects die young: of those met lately so many are asked at each point, the others as often as costs the same.
_LATELY: Final = 8


def let_go(run: Execution, me: Strand, last: bool = False) -> None:
    """Before the next operation of a strand, or its end: what it had, and nobody has any more, dies."""
    keep = run.keep
    run.points_unswept += 1
    start = 0
    if last or run.points_unswept * _LATELY >= len(keep):
        run.points_unswept = 0
    else:
        start = len(keep) - _LATELY
    while _ALONE + 1 in map(getrefcount, keep[start:]):  # the slice has one, too
        gone = [start + number for number, held in enumerate(map(getrefcount, keep[start:])) if held == _ALONE + 1]
        dying = [keep.pop(number) for number in reversed(gone)]
        for one in dying:
            run.names.pop(id(one), None)
            run.attributes_of.pop(id(one), None)
        one = None
        before = me.pending, me.guard, me.touched, me.waits, me.deadline, me.checks, me.if_waited, me.answers
        me.guard = me.touched = me.deadline = me.answers = None
        while dying:
            dying.pop()  # finalisers run here, with points of their own
        me.pending, me.guard, me.touched, me.waits, me.deadline, me.checks, me.if_waited, me.answers = before


def _ended_at(place: tuple[str, int]) -> str:
    return f"{LIVES}, ended at {os.path.basename(place[0])}:{place[1]}"


def may_end_one(run: Execution, me: Strand) -> None:
    """Where somebody asks for lives: the operation that a strand is about to perform is one that may end one."""
    me.place = place_of(sys._getframe())
    if EVERY in run.rebound or _ended_at(me.place) in run.rebound:
        me.pending = with_held(me.pending, (_ending(me),))


def _ending(strand: Strand) -> Operation:
    return WRITE, LIVES, strand.treadle_name


def watch(strand: Strand, obj: Any, reference: Any) -> None:
    """A weak reference to this object is made, or gave it."""
    run = strand.execution
    run.watched[id(reference)] = None  # it is known who ends that life
    known = run.watched.get(id(obj))
    if known is None or known() is not obj:
        run.watched[id(obj)] = weakref.ref(obj, partial(_died, run))


def found_dead(strand: Strand, reference: Any) -> None:
    """A weak reference gave nothing."""
    run = strand.execution
    run.rebind(EVERY)
    if id(reference) not in run.watched:
        run.assumed.add(_UNPLACED)


def _died(run: Execution, _: Any) -> None:
    strand = STATE.strand
    if strand is None or strand.execution is not run or run.ending or STATE.coasting or not run.lives:
        return
    kind = strand.pending[0]
    if kind not in (READ, WRITE, MULTI):
        if not _is_last(strand):
            run.assumed.add(_UNPLACED)
    elif _ending(strand) not in parts(strand.pending):
        run.rebind(_ended_at(strand.place))


def _is_last(strand: Strand) -> bool:
    """Has it waited for the ends of all others? Then whatever they asked was before."""
    run = strand.execution
    waits = {name for index, op in run.trace if index == strand.index for kind, name, _ in parts(op) if kind == WAIT}
    return all(one is strand or one.treadle_name in waits for one in run.strands)
