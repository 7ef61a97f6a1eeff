"""Running the steps of a loop in the order that the search chooses: with any_order.

Between two steps the loop announces what it does itself next, its first callback or waiting; the search chooses among
that and the tasks that are ready (`steps`), and the loop runs the step and keeps what it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treadle.core.operation import READ, STEP, WRITE
from treadle.tasks.environment import cancel_one, strike
from treadle.tasks.steps import Block, TaskStrand, Turn, is_seen, task_of, through_unseen_code
from treadle.threads.names import meet
from treadle.threads.strands import STATE, Strand

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop


def run_any(loop: Loop) -> None:
    """One step, of whichever task the search chooses, or the next callback; with any_order."""
    run, me, ready = loop.execution, loop.strand, loop._ready
    if loop.watches_sockets():
        run.assumed.add("sockets that an event loop watches")
        loop._process_events(loop.arrived())
    if loop.timers:
        loop._take_timers()
    if run.cancel != "never":
        cancel_one(loop)
    announce(loop)
    loop.between_steps = True
    who = run.next_step(me)
    loop.between_steps = False
    waited = me.pending[0] != STEP or me.timed_out
    me.touched = me.guard = me.deadline = None
    if who is not me:
        assert isinstance(who, TaskStrand)
        _note_order(loop, who.number)
        me.guard = loop.turn  # the loop itself cannot go on meanwhile
        _run_step(loop, who, who.handle, who.turn)
        me.guard = None
    elif not waited:
        number, _ = loop.causes.popleft()
        _note_order(loop, number)
        _run_step(loop, me, ready.popleft(), loop.turn)
    else:
        if me.timed_out and run.any_timeout:
            strike(loop, must=True)
        me.timed_out = False
        loop.queue.woken = False
        loop.rounds = 0


def announce(loop: Loop) -> None:
    """With any_order: what the loop itself does next, its first callback or waiting, as things are now."""
    me, ready = loop.strand, loop._ready
    while ready and ready[0]._cancelled:
        ready.popleft()
        loop.causes.popleft()
    me.deadline = None
    loop.turn.scheduled = bool(ready)
    if ready:
        loop.turn.cause = loop.causes[0][1]
        me.pending, me.waits = loop.step_of_loop, STEP
        me.touched = me.guard = loop.turn
    else:
        loop._before_waiting(me)


def time_has_moved(loop: Loop) -> None:
    """With any_order: timers that are due are taken at once, however soon the loop goes on."""
    if loop.between_steps and loop.is_due() and not loop._are_tied():
        loop._take_due_timers()
        if not loop.strand.timed_out:
            announce(loop)


def _note_order(loop: Loop, number: int) -> None:
    """Has a step been chosen that is not the first one in the order that asyncio promises?"""
    if not loop.execution.out_of_order:
        waiting = [one.number for one in loop.strands if one.turn.scheduled]
        first = min([number, *waiting, *(other for other, _ in list(loop.causes)[:1])])
        loop.execution.out_of_order = number != first


def _run_step(loop: Loop, who: Strand, handle: Any, turn: Turn) -> None:
    run = loop.execution
    turn.scheduled = False
    if run.only_steps:
        _run_unseen_step(loop, who, handle)
        return
    block = run.blocks[run.step - 1] = Block(run.step - 1, turn.treadle_name)
    run.running_step[loop.strand] = block
    seen = block.segments[block.begin]
    seen.add((READ, turn.treadle_name, None))
    task = None
    before, run.atomic = run.atomic, set()
    if isinstance(who, TaskStrand):
        who.touched = who.guard = None
        task = task_of(handle)
        seen.add((WRITE, meet(who, task).name, "step"))
        seen.everything = through_unseen_code(task) if who.unseen is None else who.unseen
    else:
        seen.add((READ, handle.treadle_name, None))
        seen.everything = not is_seen(handle._callback)
    try:
        if not handle._cancelled:
            loop.run_handle(handle)
    finally:
        STATE.strand = loop.strand
        run.running_step.pop(loop.strand, None)
    if isinstance(who, TaskStrand):
        who.unseen = through_unseen_code(task)
        seen.everything = seen.everything or who.unseen
    if run.atomic:
        seen.everything = True
    run.atomic |= before
    if loop._stopping:
        block.add((WRITE, turn.treadle_name, None))
    if isinstance(who, TaskStrand):
        who.end_step()


def _run_unseen_step(loop: Loop, who: Strand, handle: Any) -> None:
    """A step of which nobody asks what it does."""
    if isinstance(who, TaskStrand):
        who.touched = who.guard = None
    try:
        if not handle._cancelled:
            loop.run_handle(handle)
    finally:
        STATE.strand = loop.strand
    if isinstance(who, TaskStrand):
        who.end_step()
