"""Steps of one loop drawn one after the other: choosing a step and running it is a few lines, which decide the rate at
which schedules are drawn (`drawing`).

No strand stands for a task here: whoever wants to know what was drawn runs it again. The steps that can be chosen are
those that `steps` would offer, in the same order: the first callback, and then the tasks by the time since when each
has been ready. So the same numbers mean the same schedule there.
"""

from __future__ import annotations

import asyncio.format_helpers as format_helpers
from typing import Any, Final

from treadle.core.operation import STEP
from treadle.tasks.execution import TaskExecution
from treadle.tasks.handles import LoopHandle
from treadle.threads.strands import StrandEnd

# What is recorded of a step.
_DRAWN: Final = (STEP, "turn of a loop", None)


def draw_steps(loop: Any, run: TaskExecution, most: int) -> int:
    """Run steps as they are drawn, until the loop stops, has nothing to do or has run so many; how many it ran."""
    ready, live, timers = loop._ready, loop.live, loop.timers
    trace, guards, draw = run.trace, run.guards, run.picker.draw_one_of
    assert draw is not None
    event = (loop.strand.index, _DRAWN)
    done = 0
    while not loop._stopping and done < most:
        if timers and loop.is_due():
            loop._take_due_timers()
        while ready and ready[0]._cancelled:
            ready.popleft()
        callbacks = 1 if ready else 0
        count = len(live) + callbacks
        if count == 0:
            return done
        if run.step >= run.limit:
            run.give_up("limit" if run.limit >= 0 else "seconds")
        number = draw(count) - callbacks
        trace.append(event)
        guards.append(0)
        run.step += 1
        done += 1
        if number < 0:
            loop.running = handle = ready.popleft()
            handle._run()
        else:
            loop.running = task = live[number]
            context, callback, args = task.call
            task.call = None
            try:
                context.run(callback, *args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                _tell(loop, error, callback, args, context)
            if task.call is None:
                del live[number]  # what became ready meanwhile came behind it
                task.is_live = False
        loop.running = None
        if run.ending:
            raise StrandEnd  # asyncio has caught the one that was thrown
    return done


def _tell(loop: Any, error: BaseException, callback: Any, args: Any, context: Any) -> None:
    """A step itself failed, and not the coroutine: as asyncio's handles tell it."""
    source = format_helpers._format_callback_source(callback, args)
    handle = LoopHandle(callback, args, loop, context)
    told = {"message": f"Exception in callback {source}", "exception": error, "handle": handle}
    loop.call_exception_handler(told)
