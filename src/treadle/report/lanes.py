"""A schedule as lanes: what the page is told about one finding, for every door whose executions are steps of strands.

Decides which steps let others go on (the arrows), which ones clashed, and where the nearest schedule that passes parts
from the failing one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treadle.core.result import Step, Waiting
from treadle.report.explanation import Clash, culprit, cycle, short_names

# Operations that order what comes after them in another strand with what came before, and what each is waited for by.
_PASSES_ON = {
    "releases": ("acquires", "tries"),
    "puts into": ("gets from",),
    "signals": ("waits for", "looks at"),
    "finishes": ("waits for",),
}


def lanes(
    steps: Sequence[Step],
    waiting: Sequence[Waiting] = (),
    passing: Sequence[Step] = (),
    started: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What a page shows of one failing schedule, and beside it of the nearest one that passes."""
    names = short_names([step.file for step in (*steps, *passing)])
    pair = culprit(steps) if not waiting else None
    return {
        "cause": pair.sentence(names) if pair is not None else "",
        "repair": _repair(pair, cycle(waiting), names),
        "strands": list(dict.fromkeys(step.strand for step in steps)),
        "steps": [_step(step, names) for step in steps],
        "pair": [] if pair is None else _pair(steps, pair),
        "arrows": list(_arrows(steps, started or {})),
        "stuck": [_waiting(one) for one in waiting],
        "cycle": [one.strand for one in cycle(waiting)],
        "passing": [_step(step, names) for step in passing],
        "parts": _where_they_part(steps, passing),
    }


def files_of(steps: Iterable[Step]) -> Iterable[str]:
    return (step.file for step in steps if step.file)


def _where_they_part(failing: Sequence[Step], passing: Sequence[Step]) -> int:
    """The number of the first step that is another one."""
    together = zip(failing, passing, strict=False)
    for number, (one, other) in enumerate(together):
        if (one.strand, one.operation, one.object) != (other.strand, other.operation, other.object):
            return number
    return min(len(failing), len(passing))


def _waiting(one: Waiting) -> dict[str, Any]:
    return {
        "strand": one.strand,
        "operation": one.operation,
        "object": one.object,
        "held_by": one.held_by,
        "holds": one.holds,
        "note": one.note,
        "place": f"{one.stack[0][0]}:{one.stack[0][1]}" if one.stack else "",
    }


def _pair(steps: Sequence[Step], pair: Clash) -> list[int]:
    """The numbers of the steps that clashed."""
    found = [step for step in (pair.first, pair.between, pair.last) if step is not None]
    return [number for number, step in enumerate(steps) if any(step is one for one in found)]


def _step(step: Step, names: dict[str, str]) -> dict[str, Any]:
    return {
        "strand": step.strand,
        "verb": step.operation,
        "object": step.object,
        "value": step.value,
        "file": step.file,
        "line": step.line,
        "place": f"{names.get(step.file, step.file)}:{step.line} {step.function}" if step.line else "",
    }


def _repair(pair: Clash | None, ring: Sequence[Waiting], names: dict[str, str]) -> str:
    """What usually helps: only what follows from the schedule itself."""
    if ring:
        wanted = " and ".join(dict.fromkeys(one.object for one in ring))
        return f"let every strand take {wanted} in the same order, or take one lock for all; then explore again"
    if pair is None:
        return ""
    found = [step for step in (pair.first, pair.between, pair.last) if step is not None and step.line]
    places = list(dict.fromkeys(f"{names.get(step.file, step.file)}:{step.line}" for step in found))
    if not places:
        return ""
    return (
        f"nothing keeps the strands apart at {' and '.join(places)}: hold one lock around all that belongs together "
        "there, in every strand, or do not share the object; then explore again"
    )


def _arrows(steps: Sequence[Step], started: Mapping[str, int]) -> Iterable[tuple[int, int, str]]:
    """Where one strand lets another go on: it started it, handed a lock over, ended, put something into a queue."""
    passed: dict[str, int] = {}  # object -> the last step that lets somebody go on
    begun: set[str] = set()
    for number, step in enumerate(steps):
        if step.strand not in begun and step.strand in started:
            yield started[step.strand], number, f"{steps[started[step.strand]].strand} starts {step.strand}"
        begun.add(step.strand)
        giver = passed.get(step.object)
        if giver is not None and steps[giver].strand != step.strand:
            yield from _handed_on(steps, giver, number)
        if step.operation in _PASSES_ON:
            passed[step.object if step.operation != "finishes" else step.strand] = number


def _handed_on(steps: Sequence[Step], giver: int, taker: int) -> Iterable[tuple[int, int, str]]:
    if steps[taker].operation in _PASSES_ON[steps[giver].operation]:
        yield giver, taker, f"{steps[giver].strand} {steps[giver].operation} {steps[taker].object}"
