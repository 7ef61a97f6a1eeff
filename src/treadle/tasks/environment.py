"""What the world may do to a loop between two of its steps: the order of timers, their striking early, a cancellation.

Each is a choice (see `choices`), so that it is explored, shrunk and replayed like every other:

- timers that `call_at` set for one deadline may fire in any order; others in the order of (deadline, creation);
- with timeouts="any" a timer may strike at any iteration, unless one that was set earlier and for no longer is pending;
- with cancel="at-await" one task that is suspended may be cancelled, or one `asyncio.timeout` or `wait_for` may run
  out, between any two steps, once per execution; with cancel="at-await:fetch,save" only a task of one of these names,
  with cancel="at-await-in-test" only a task of the test's own. The task that a loop runs for its caller
  (`asyncio.run(serve())`) is cancelled only by its name: what comes of it ends that call.
"""

from __future__ import annotations

import asyncio.tasks as tasks
import asyncio.timeouts as timeouts
from typing import TYPE_CHECKING, Any, NamedTuple

from treadle.tasks.choices import Stack, decide
from treadle.tasks.steps import coroutine_name, innermost, task_name
from treadle.threads.primitives.inside import here

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop

# The value of `cancel` with which nothing is cancelled but what the test itself has started.
IN_TEST = "at-await-in-test"
_NAMED = "at-await:"
# Choices that tell a person nothing.
NOTHING_CANCELLED, NO_TIMER = "nothing is cancelled", "no timer strikes"

_TIMEOUTS: tuple[Any, ...] = (timeouts.Timeout._on_timeout, tasks._release_waiter)  # type: ignore[attr-defined]


def may_cancel(cancel: str) -> bool:
    """Is this something that an option `cancel` may be?"""
    return cancel in ("never", "at-await", IN_TEST) or bool(named(cancel))


def named(cancel: str) -> frozenset[str]:
    """The names of the tasks that may be cancelled, if only those."""
    names = cancel.removeprefix(_NAMED).split(",") if cancel.startswith(_NAMED) else []
    return frozenset(name.strip() for name in names) - {""}


def is_timeout(callback: Any) -> bool:
    """Is this what ends an `asyncio.timeout` or a `wait_for`?"""
    return getattr(callback, "__func__", callback) in _TIMEOUTS


def in_some_order(timers: list[Any]) -> list[Any]:
    """Timers that are due, those of one deadline in an order that the search chooses."""
    ordered: list[Any] = []
    while timers:
        tied = [timer for timer in timers if timer.explicit and timer._when == timers[0]._when]
        if timers[0].explicit and len(tied) > 1:
            strand = here()
            assert strand is not None
            strand.execution.chose_between_steps = True  # type: ignore[attr-defined]
            names = [_name(timer._callback) for timer in tied]
            first = tied[decide(strand, names, "timer")]
        else:
            first = timers[0]
        timers.remove(first)
        ordered.append(first)
    return ordered


def that_may_strike(timers: list[Any]) -> list[Any]:
    """The timers that no other one is certain to fire before, the oldest first."""
    found: list[Any] = []
    shortest: float | None = None
    for timer in sorted(timers, key=lambda timer: int(timer.number)):
        if shortest is None or timer.delay < shortest:
            found.append(timer)
            shortest = timer.delay
    return found


def strike(loop: Loop, must: bool = False) -> None:
    """timeouts="any": some timers fire now. With `must` at least one: nothing else goes on."""
    strand = here()
    assert strand is not None
    while True:
        able = that_may_strike([timer for _, _, timer in loop.timers if not timer._cancelled])
        if not able:
            return
        options = [f"{_name(timer._callback)} strikes" for timer in able]
        taken = decide(strand, options if must else [NO_TIMER, *options], "timer")
        if not must and taken == 0:
            return
        loop.fire(able[taken if must else taken - 1])
        must = False


class CancelledTask(NamedTuple):
    """The task that the search has cancelled: its name, and where it stood."""

    name: str
    place: Stack


def cancel_one(loop: Loop) -> None:
    """A suspended task is cancelled, or a timeout runs out, or nothing happens; where only tasks of some names are
    cancelled, those of which they are or whose coroutines'; of the test's own, those written in its file."""
    run, strand = loop.execution, here()
    if run.cancellations or strand is None or run.ending:
        return
    names = named(run.cancel)
    victims = [task for task in loop.pending_tasks() if _is_suspended(task) and (names or task is not loop.main)]
    running_out = [timer for _, _, timer in loop.timers if is_timeout(timer._callback) and not timer._cancelled]
    if run.cancel == IN_TEST:
        victims = [task for task in victims if task.get_coro().cr_code.co_filename == run.test_file]
        running_out = []
    if names:
        victims = [task for task in victims if names & _names_of(task)]
        run.met.update(*map(_names_of, victims))
        running_out = []
    if not victims and not running_out:
        return
    texts = [f"{loop.name_of(task)} is cancelled" for task in victims]
    texts += [f"a timeout of {timer.delay:g} s runs out" for timer in running_out]
    places = [_place(task) for task in victims] + [()] * len(running_out)
    taken = decide(strand, [NOTHING_CANCELLED, *texts], "cancellation", [(), *places])
    if taken == 0:
        return
    run.cancellations += 1
    if taken <= len(victims):
        victim = victims[taken - 1]
        run.cancelled = CancelledTask(task_name(victim), places[taken - 1])
        victim.cancel()
    else:
        loop.fire(running_out[taken - 1 - len(victims)])


def _is_suspended(task: Any) -> bool:
    """Has it begun, and does it stand at an await?"""
    return getattr(task.get_coro(), "cr_suspended", False) is True


def _place(task: Any) -> Stack:
    """Where a task stands."""
    frame = innermost(task)
    return () if frame is None else ((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname),)


def _names_of(task: Any) -> set[str]:
    return {task.get_name(), coroutine_name(task)}


def _name(callback: Any) -> str:
    while hasattr(callback, "func"):
        callback = callback.func
    return str(getattr(callback, "__qualname__", type(callback).__name__)).rpartition(".<locals>.")[2]
