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

# What is recorded of a step.
_DRAWN: Final = (STEP, "turn of a loop", None)


def draw_steps(loop: Any, run: TaskExecution, most: int) -> int:
    """Run steps as they are drawn, until the loop stops, has nothing to do or has run so many; how many it ran."""
    ready, live, timers = loop._ready, loop.live, loop.timers
    bits, drawn = run.picker.bits, run.picker.drawn
    assert bits is not None
    done = 0
    try:
        while done < most:
            if run.step + done >= run.limit:  # also when it is ending, and asyncio has caught what was thrown
                run.give_up("limit" if run.limit >= 0 else "seconds")
            if loop._stopping:
                break
            if timers and loop.is_due():
                loop._take_due_timers()
            first = 0  # the number of the first task: behind a callback
            count = len(live)
            if ready:
                while ready and ready[0]._cancelled:
                    ready.popleft()
                if ready:
                    first = 1
                    count += 1
            number = 0
            if count == 2:
                number = bits(1)
                drawn.append(number)
            elif count > 2:  # as `RandomWalk.draw` does it
                size = (count - 1).bit_length()
                number = bits(size)
                while number >= count:
                    number = bits(size)
                drawn.append(number)
            elif count == 0:
                break
            done += 1
            if number < first:
                loop.running = handle = ready.popleft()
                handle._run()
                continue
            number -= first
            loop.running = task = live[number]
            context, callback, args = task.call
            task.call = None
            try:
                if args:
                    context.run(callback, *args)
                else:
                    context.run(callback)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                _tell(loop, error, callback, args, context)
            if task.call is None:
                del live[number]  # what became ready meanwhile came behind it
    finally:
        loop.running = None
        run.step += done
        run.trace += [(loop.strand.index, _DRAWN)] * done
        run.guards += [0] * done
    return done


def _tell(loop: Any, error: BaseException, callback: Any, args: Any, context: Any) -> None:
    """A step itself failed, and not the coroutine: as asyncio's handles tell it."""
    source = format_helpers._format_callback_source(callback, args)
    handle = LoopHandle(callback, args, loop, context)
    told = {"message": f"Exception in callback {source}", "exception": error, "handle": handle}
    loop.call_exception_handler(told)
