"""Waiting in real time, when no strand can go on and some wait for something real.

Virtual time is moved on afterwards by as much as was waited, so that what is measured is what passed. Not longer than
until the first deadline of a strand, the end of the search, or PATIENCE: then the test is refused, with the line that
waits.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from treadle.core.errors import Unsupported
from treadle.core.operation import SLEEP
from treadle.core.packages import is_library
from treadle.threads import carriers
from treadle.threads.carriers import getcurrent, os_thread
from treadle.threads.detail import stack_of
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.strands import AFTER_EXECUTION, Strand, SyncObject

if TYPE_CHECKING:
    from treadle.threads.execution import Execution

# Seconds: another process that works for longer is not part of a test that is run again and again.
PATIENCE = 20.0
_LOOK_EVERY = 0.001
# Seconds: when more than this lies between two looks, the machine slept or was given to others. That is no time that
# the program waited, and no reason for its timeouts to strike.
_STALLED = 0.5

# Seconds: a time limit that is longer than this is there for what never comes, and a shorter one to look again soon.
_SHORT = 1.0

WORKING: list[Callable[[], bool]] = []  # does what this execution has started beside its strands still work?
AFTER_EXECUTION.append(WORKING.clear)

_real_monotonic = time.monotonic  # models replace names in modules of the program only
_real_sleep = time.sleep


def waited_really(run: Execution, first: Strand | None) -> bool:
    """Nobody can go on: when some wait for something real, wait for that, until the first deadline at most. True when
    one of them can go on."""
    outside = _waiting_outside(run.live)
    deadline = None if first is None else first.deadline
    if not outside:
        if _became_ready(run.live):
            return True
        if first is not None and any(works() for works in WORKING):
            _let_work(run, first)
        if run.beside and (first is None or first.pending[0] != SLEEP):  # nobody ends the sleep of another
            run.failure, run.stop_reason = not_controlled(run.beside), "outside"
        elif run.alarm is not None and (deadline is None or deadline >= run.alarm):
            run.failure, run.stop_reason = _by_real_time(), "outside"
        return False
    return _wait_for(run, outside, None if deadline is None else deadline - run.clock.now)


def has_not_ended(process: Any) -> bool:
    """Does another process still work?"""
    if process.returncode is not None:
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except (AttributeError, OSError):
        return False


def _let_work(run: Execution, first: Strand) -> None:
    """Time passes beside a process that the test has started (or a library with threads of its own), and may ask again
    and again whether it is ready: then it takes its time."""
    assert first.deadline is not None
    seconds = first.deadline - run.clock.now
    if seconds < (PATIENCE if first.pending[0] == SLEEP else _SHORT):
        run.assumed.add("time beside what works outside (real)")
        _wait_really((), seconds, run)
        if run.limit < 0:
            run.stop_reason = "seconds"


def becomes_ready(run: Execution, strand: Strand, guard: SyncObject) -> bool:
    """Can a strand go on as planned, soon? What is real may need as long as it did when the plan was made."""
    if not guard.outside:
        return False
    return _became_ready([strand]) if guard.of_this_process() else _wait_for(run, [strand], None)


def _became_ready(strands: Sequence[Strand]) -> bool:
    """Did something real become ready meanwhile? A process that wrote and ended after the last look at its pipe is none
    any more when it is asked who else could write there."""
    return any(
        strand.guard is not None and strand.guard.outside and strand.guard.ready(strand.waits, strand)
        for strand in strands
    )


def note_real(run: Execution, outside: list[Strand]) -> None:
    """A pass says that something real, which nobody controls, was taken as it came."""
    run.assumed.update(f"{strand.guard.describe()} (real)" for strand in outside if strand.guard is not None)


def note_lost(run: Execution) -> None:
    """An execution that could not go on as it was planned does not count: perhaps only because something real was not
    ready yet."""
    note_real(run, _waiting_outside(run.live))


def _wait_for(run: Execution, outside: list[Strand], seconds: float | None) -> bool:
    note_real(run, outside)
    try:
        _check_open(outside)
        ready, passed = _wait_really(outside, seconds, run)
    except Unsupported as problem:
        run.failure, run.stop_reason = problem, "outside"
        return False
    run.clock.now += passed if seconds is None else min(passed, seconds)
    if run.limit < 0:
        run.stop_reason = "seconds"
    return ready


def _waiting_outside(strands: Sequence[Strand]) -> list[Strand]:
    """Those that wait for something real that somebody else than a strand can make ready."""
    return [
        strand
        for strand in strands
        if strand.guard is not None and strand.guard.outside and not strand.guard.of_this_process()
    ]


# Packages that have threads of their own beside the tests they run, and wait in them.
_RUNNERS = frozenset({"execnet", "xdist", "pytest_timeout", "rich"})


def threads_beside() -> list[tuple[int, set[str]]]:
    """The OS threads that are neither strands nor of who runs the tests, with the modules of the code they are in."""
    me = os_thread()
    found = [(ident, _modules_of(frame)) for ident, frame in sys._current_frames().items() if ident != me]
    return [
        (ident, modules)
        for ident, modules in found
        if carriers.__name__ not in modules and not any(name.partition(".")[0] in _RUNNERS for name in modules)
    ]


def _modules_of(frame: FrameType | None) -> set[str]:
    modules = set()
    while frame is not None:
        modules.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return modules


def thread_beside() -> str:
    """The name of a thread of the program that is no strand, because it was started before; "" if there is none."""
    main = threading.main_thread().ident  # where the search runs in another one, that waits for the search
    for ident, modules in threads_beside():
        if ident != main and not modules.isdisjoint(REWRITTEN):
            return name_of(ident)
    return ""


def name_of(ident: int) -> str:
    thread = threading._active.get(ident)  # type: ignore[attr-defined]
    return str(ident if thread is None else thread.name)


def not_controlled(thread: str) -> Unsupported:
    """Nobody can go on, but who says that nothing more happens?"""
    return Unsupported(
        f"the thread '{thread}' was started before the test, so Treadle does not control it, and it may still do what "
        "the test waits for; start it in the test, or in a fixture of function scope"
    )


def _by_real_time() -> Unsupported:
    """Nobody can go on before a signal that the program asked for."""
    return Unsupported(
        "the test waits for a signal of signal.setitimer or signal.alarm, which comes in real time, while its sleeps "
        "and timeouts take none; explore a test without such a signal"
    )


def _wait_really(strands: Sequence[Strand], seconds: float | None, run: Execution) -> tuple[bool, float]:
    """Wait until one of these can go on; whether one can, and how long it took."""
    looked, passed = _real_monotonic(), 0.0
    longest = PATIENCE if seconds is None else min(seconds, PATIENCE)
    while True:
        now = _real_monotonic()
        looked, passed = now, passed + min(now - looked, _STALLED)
        if any(strand.guard is None or strand.guard.ready(strand.waits, strand) for strand in strands):
            return True, passed
        if passed >= longest or run.limit < 0:
            if passed >= PATIENCE:
                raise Unsupported(_in_vain(strands[0]))
            return False, passed
        _real_sleep(_LOOK_EVERY)


def _check_open(strands: Sequence[Strand]) -> None:
    """Whoever waits for nothing but what is closed waits in vain."""
    for strand in strands:
        descriptors: tuple[int, ...] = getattr(strand.guard, "descriptors", ())
        if descriptors and not any(map(_is_open, descriptors)):
            raise Unsupported(
                f"{_where(strand)} waits for what is closed: something that an execution before left behind, and that "
                "is not put back, as a coroutine that is suspended; make what it uses in the test"
            )


def _is_open(descriptor: int) -> bool:
    if descriptor < 0:  # not a real one
        return True
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _where(strand: Strand) -> str:
    """The line of the program at which a strand stands."""
    frame = sys._getframe() if strand.greenlet is getcurrent() else strand.greenlet.gr_frame
    stack = stack_of(frame) if frame is not None else ()
    file, line, function = next((one for one in stack if not is_library(one[0])), ("?", 0, "?"))
    return f"{file}:{line} in {function}" if line else strand.treadle_name


def _in_vain(strand: Strand) -> str:
    what = "" if strand.guard is None else strand.guard.describe()
    return (
        f"nothing happened for {PATIENCE:g} s: {_where(strand)} waits for {what}, which is outside Treadle's control; "
        "give the test something in its place that lives in memory"
    )
