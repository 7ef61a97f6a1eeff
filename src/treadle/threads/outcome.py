"""What went wrong in one execution: exceptions, deadlock, livelock; and what was left behind, as warnings.

Judges an execution after its end from what its strands look like. Decides the order of importance: a failed assertion
or exception first, then a deadlock, then a livelock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from treadle.core.operation import ACQUIRE, SPIN, WAIT, verb
from treadle.core.result import Finding, Waiting
from treadle.core.usual import type_name

# How often a loop must repeat exactly, under a schedule that lets everybody run, to be called a livelock.
_REPEATS = 20
_LONGEST_PERIOD = 400


def judge(run: Any) -> list[Finding]:
    """The findings of one execution, most important first; empty when nothing is wrong with it."""
    findings = [_exception(strand) for strand in run.strands if strand.exception is not None and not _usual(strand)]
    if run.stop_reason == "stuck":
        spinning = [one for one in run.stuck if one.wanted[0] == SPIN]
        if spinning:
            findings.append(Finding("livelock", _spinning(spinning)))
        else:
            findings.append(Finding("deadlock", _deadlock(run.stuck)))
    elif run.stop_reason == "limit" and endless(run):
        findings.append(Finding("livelock", f"the same operations repeat without end ({len(run.trace)} operations)"))
    findings += run.more_findings()
    return findings


def leftovers(run: Any) -> list[Finding]:
    """Warnings: strands that nobody waited for, locks that nobody released."""
    if run.stop_reason:
        return []
    running = [
        Finding("strand left running", f"{strand.treadle_name} was still running at the end")
        for strand, _ in run.unfinished
        if strand.daemon
    ]
    raised = [
        Finding("exception in a thread", f"{_exception(strand).message}, as in a plain run, of which pytest only warns")
        for strand in run.strands
        if strand.exception is not None and _usual(strand)
    ]
    held = [Finding("lock left held", f"{lock} was still held by {owner} at the end") for lock, owner in run.held]
    return [*running, *raised, *held, *run.more_warnings()]


# What goes wrong in a plain run of the test as well, which passes: names of `core.usual`.
_USUAL: set[str] = set()


@contextmanager
def usual_in_plain_runs(names: Iterable[str]) -> Iterator[None]:
    """Inside the `with` block, what has one of these names is no failure, as it is none for pytest."""
    before = set(_USUAL)
    _USUAL.update(names)
    try:
        yield
    finally:
        _USUAL.clear()
        _USUAL.update(before)


def type_in_thread(finding: Finding) -> str:
    """The type of the exception, if a finding is one that ended another thread than the first."""
    return type_name(finding.exception) if finding.exception is not None and finding.in_thread else ""


def is_usual(name: str) -> bool:
    return name in _USUAL


def _usual(strand: Any) -> bool:
    return bool(_USUAL) and strand.index > 0 and is_usual(type_name(strand.exception))


def _exception(strand: Any) -> Finding:
    error = strand.exception
    kind = "assertion" if isinstance(error, AssertionError) else "exception"
    message = strand.failure_text or message_of(error)
    where = "" if strand.index == 0 else f" in {strand.treadle_name}"
    return Finding(kind, message + where, exception=error, in_thread=bool(where))


def message_of(error: BaseException) -> str:
    """The type and the first line of an exception. It may run code of the program: before its state is put back."""
    name = type(error).__name__
    try:
        lines = str(error).strip().split("\n")
        text = lines[-1 if lines[0].startswith("Traceback (most recent") else 0].strip()  # testtools sends a traceback
    except Exception:
        return name
    return f"{name}: {text}" if text else name


def _spinning(stuck: list[Waiting]) -> str:
    names = ", ".join(one.strand for one in stuck)
    return f"{names} {'spins' if len(stuck) == 1 else 'spin'} for ever: nobody is left to change what the loop reads"


def _deadlock(stuck: list[Waiting]) -> str:
    parts = []
    for one in stuck:
        held = f", held by {one.held_by}" if one.held_by and one.held_by != one.object else ""
        tasks = f" ({'; '.join(one.tasks)})" if one.tasks else ""
        parts.append(f"{one.strand} {verb(one.wanted)} {one.object}{held}{tasks}")
    return "no strand can go on: " + "; ".join(parts)


def endless(run: Any, since: int | None = None) -> bool:
    """Do the strands go round for ever, although everybody who could go on does, and have they since a step?

    A loop that waits for a strand which the schedule never lets on is no livelock: no real scheduler does that.
    """
    period = period_of(run.trace)
    if since is not None and run.trace[since + period :] != run.trace[since : len(run.trace) - period]:
        return False
    acting = {index for index, _ in run.trace[len(run.trace) - period :]}
    held = dict(run.held)
    alive = {strand.treadle_name for strand, _ in run.unfinished}
    return period > 0 and all(
        strand.index in acting
        or (op[0] == ACQUIRE and held.get(op[1], strand.treadle_name) != strand.treadle_name)
        or (op[0] == WAIT and op[1] in alive)
        for strand, op in run.unfinished
    )


def period_of(trace: list[Any]) -> int:
    """How many operations the end of a trace repeats exactly, many times over; 0 when it does not."""
    for period in range(1, _LONGEST_PERIOD + 1):
        length = period * _REPEATS
        if length > len(trace) // 2:
            return 0
        tail = trace[-length:]
        if tail[period:] == tail[:-period]:
            return period
    return 0
