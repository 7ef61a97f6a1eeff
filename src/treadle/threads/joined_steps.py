"""Several operations in one step of the search: under a GIL, threads switch only where the interpreter looks at its
eval breaker.

Keeps: an operation without such a look before it belongs to the step of the one before, unless it has to wait; a step
that was planned consists of the same operations as when it was first run. Called on every operation, so these are
functions over the execution, compiled with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treadle.core.operation import ACQUIRE, LOOK, TRY, Operation
from treadle.core.transition import JOINING
from treadle.threads.strands import ARRIVED, Arrival, Strand

if TYPE_CHECKING:
    from treadle.threads.execution import Execution


def goes_on(run: Execution, me: Strand) -> bool:
    """No look at the eval breaker since the last operation: this one belongs to the same step of the search, unless
    it has to wait. Then that it looked belongs to the step, and the strand gives way."""
    transition = run.transition
    op = me.pending
    if transition is None or op[0] not in JOINING or me.deadline is not None:
        return False
    guards = 0 if me.touched is None else me.touched.guards()
    if me.guard is not None:
        if run.constants is not None and run.constants.only(transition.parts):
            return False
        if not me.guard.ready(me.waits, me):
            transition.add((LOOK, op[1], op[2]), guards)
            me.arrival = ARRIVED._replace(at_held_lock=True)
            return False
        op = (TRY, op[1], op[2])  # it could have waited: the step as such is always possible
    transition.add(op, guards)
    run.performed[run.step - 1] += 1
    note_writes(run, op)
    return True


def arrives(me: Strand) -> None:
    """Note how a strand came to the operation that it stands at."""
    at_held_lock = me.guard is not None and me.waits == ACQUIRE and not me.guard.ready(ACQUIRE, me)
    me.arrival = Arrival(me.checks, me.if_waited, at_held_lock)


def note_writes(run: Execution, op: Operation) -> None:
    """While a strand is alone, others read what it writes afterwards: that is how constants are made."""
    if run.constants is not None and len(run.live) > 1 and not run.constants.note(op):
        run.revealed = True


def note_waits(run: Execution) -> None:
    """A lock that a strand finds taken is one that it waits for, here and elsewhere: on the versions that can
    switch where its owner stands."""
    constants = run.constants
    if constants is None:
        return
    for strand in run.live:
        guard = strand.guard
        if guard is None or strand.waits != ACQUIRE or guard.ready(ACQUIRE, strand):
            continue
        owner = getattr(guard, "owner", None)
        versions = owner.stands if isinstance(owner, Strand) and not owner.finished else -1
        who = (strand.pending[1], strand.treadle_name)
        known = constants.contended.get(who, 0)
        if versions & ~known:
            constants.contended[who] = known | versions
            run.revealed = True


def settle(run: Execution) -> None:
    """Write down all that the last step of the search has done so far."""
    number, transition = run.step - 1, run.transition
    if transition is not None and len(transition.parts) > 1 and number >= run.planned:
        run.trace[number] = (run.trace[number][0], transition.operation())
        run.guards[number] = transition.guards()


def was_as_planned(run: Execution) -> bool:
    """The last step is over. False when it was planned, and did not do what it did when it was first run."""
    settle(run)
    number, transition = run.step - 1, run.transition
    if transition is None or number >= run.planned or transition.operation() == run.trace[number][1]:
        return True
    run.diverge(number, run.trace[number][1], transition.operation())
    return False
