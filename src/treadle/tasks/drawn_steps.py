"""Steps of one loop drawn one after the other: choosing a step and running it is a few lines, which decide the rate at
which schedules are drawn (`drawing`). What is more than that is left to the loop: following a plan, timers, waiting,
cancelling.

The step of a task needs no handle: asyncio gives it to nobody.
"""

from __future__ import annotations

import asyncio.format_helpers as format_helpers
import contextvars
from typing import Any, Final

from treadle.core.operation import STEP
from treadle.tasks.execution import TaskExecution
from treadle.tasks.handles import LoopHandle
from treadle.tasks.steps import TaskStrand
from treadle.threads.strands import STATE, Strand, StrandEnd

# So many steps are drawn before the loop looks whether it goes round for ever.
_AT_ONCE: Final = 100


def schedule(strand: TaskStrand, callback: Any, args: Any, context: Any) -> None:
    """The next step of a task may run."""
    strand.call = (contextvars.copy_context() if context is None else context, callback, args)
    run, turn = strand.execution, strand.turn
    turn.scheduled = True
    turn.cause = run.step - 1
    if not strand.is_live and not run.ending:
        strand.is_live = True
        run.live.append(strand)
    if STATE.strand is not strand:  # what schedules itself does so when its step has ended
        strand.wait_for_turn()


def draw_steps(loop: Any, run: TaskExecution, me: Strand) -> None:
    """Run steps as they are drawn, as long as there is nothing to do but that."""
    ready, timers, turn = loop._ready, loop.timers, loop.turn
    live, trace, guards, draw = run.live, run.trace, run.guards, run.picker.draw_one_of
    assert draw is not None
    step_of_loop = loop.step_of_loop
    left = min(_AT_ONCE, run.limit - run.step)
    me.guard = me.touched = turn  # it cannot go on while a task blocks in the middle of a step
    me.pending, me.waits, me.deadline = step_of_loop, STEP, None
    try:
        while left > 0 and not loop._stopping and not timers:
            left -= 1
            while ready and ready[0]._cancelled:
                ready.popleft()
                loop.causes.popleft()
            if ready:
                who = live[draw(len(live))]
            elif len(live) > 1:
                who = live[draw(len(live) - 1) + 1]
            else:
                return
            trace.append((who.index, step_of_loop))
            guards.append(0)
            run.step += 1
            if isinstance(who, TaskStrand):
                run_step(loop, run, who, me)
                continue
            loop.causes.popleft()
            loop.running = handle = ready.popleft()
            me.guard = me.touched = None
            handle._run()
            me.guard = me.touched = turn
            loop.running = None
            if run.ending:
                raise StrandEnd  # asyncio has caught the one that was thrown
    finally:
        me.guard = me.touched = None


def run_step(loop: Any, run: TaskExecution, strand: TaskStrand, me: Strand) -> None:
    """Run the step of a task that was chosen."""
    turn = strand.turn
    turn.scheduled = False
    strand.guard = strand.touched = None
    loop.running = strand
    STATE.strand = strand
    context, callback, args = strand.call
    try:
        context.run(callback, *args)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        _tell(loop, error, callback, args, context)
    finally:
        STATE.strand = me
    loop.running = None
    if run.ending:
        raise StrandEnd
    if turn.scheduled:
        strand.wait_for_turn()
    else:
        strand.is_live = False
        run.live.remove(strand)
        strand.finished = strand.task.done()


def _tell(loop: Any, error: BaseException, callback: Any, args: Any, context: Any) -> None:
    """A step itself failed, and not the coroutine: as asyncio's handles tell it."""
    source = format_helpers._format_callback_source(callback, args)
    handle = LoopHandle(callback, args, loop, context)
    told = {"message": f"Exception in callback {source}", "exception": error, "handle": handle}
    loop.call_exception_handler(told)
