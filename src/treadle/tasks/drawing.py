"""Steps of one loop drawn one after the other: the quick way through an execution of which only the order of its steps
is asked for.

There is one thread and one loop, and no access is recorded (`TaskExecution.only_steps`). Choosing a step and running it
is then a few lines, which decide the rate at which schedules are drawn. What is more than the choice of a step is left
to the loop: following a plan, timers, waiting, cancelling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treadle.core.operation import STEP
from treadle.tasks.steps import TaskStrand
from treadle.threads.strands import STATE, StrandEnd

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop

# So many steps are drawn before the loop looks whether it goes round for ever.
_AT_ONCE = 100


def draw_steps(loop: Loop) -> None:
    """Run steps, as the strategy chooses, as long as there is nothing to do but that."""
    run, me, turn, ready = loop.execution, loop.strand, loop.turn, loop._ready
    live, trace, guards, pick = run.live, run.trace, run.guards, run.picker.pick
    step_of_loop = loop.step_of_loop
    run.drawing = loop.between_steps = True
    me.pending, me.waits, me.deadline = step_of_loop, STEP, None
    left = min(_AT_ONCE, run.limit - run.step)
    try:
        while left > 0 and not loop._stopping and not loop.timers:
            left -= 1
            while ready and ready[0]._cancelled:
                ready.popleft()
                loop.causes.popleft()
            if not ready and len(live) == 1:
                return
            turn.scheduled = bool(ready)
            me.guard = me.touched = turn
            who = pick(run)
            if who is None:  # it gives the execution up
                run.give_up(run.stop_reason)
            trace.append((who.index, step_of_loop))
            guards.append(0)
            run.step += 1
            if who is me:
                loop.causes.popleft()
                handle = ready.popleft()
                turn.scheduled = False
            else:
                handle = who.handle
                who.turn.scheduled = False
                who.guard = who.touched = None
                STATE.strand = who
            if not handle._cancelled:
                loop.running = handle
                try:
                    handle._run()
                finally:
                    STATE.strand = me
                loop.running = None
                if run.ending:
                    raise StrandEnd  # asyncio has caught the one that was thrown
            else:
                STATE.strand = me
            if type(who) is TaskStrand:
                who.end_step()
    finally:
        run.drawing = loop.between_steps = False
        me.guard = me.touched = None
