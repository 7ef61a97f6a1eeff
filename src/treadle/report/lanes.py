"""A schedule as lanes: what the page is told about one finding, for every door whose executions are steps of strands.

Decides which steps let others go on (the arrows), while which ones a strand waits for a lock, which ones clashed, and
where the nearest schedule that passes parts from the failing one.
"""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treadle.core.names import age_of_strand
from treadle.core.operation import ACQUIRE, FINISH, GET, LOOK, PUT, RELEASE, SIGNAL, TRY, WAIT
from treadle.core.result import Step, Waiting
from treadle.report.explanation import Clash, culprit, cycle, short_names, wants
from treadle.report.repair import at, repair

# Operations that order what comes after them in another strand with what came before, and what each is waited for by.
_PASSES_ON = {
    RELEASE: (ACQUIRE, TRY),
    PUT: (GET,),
    SIGNAL: (WAIT, LOOK),
    FINISH: (WAIT,),
}

# How much is shown of two schedules around the step at which they part.
_BEFORE_THEY_PART, _AFTER_THEY_PART = 6, 40


def lanes(
    steps: Sequence[Step],
    waiting: Sequence[Waiting] = (),
    passing: Sequence[Step] = (),
    started: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What a page shows of one failing schedule, and beside it of the nearest one that passes."""
    stacks = [frame[0] for stack in (*(one.stack for one in waiting), *(one.stack for one in steps)) for frame in stack]
    names = short_names([step.file for step in (*steps, *passing)] + stacks)
    pair = culprit(steps) if not waiting else None
    return {
        "cause": pair.sentence(names) if pair is not None else "",
        "lines": _lines(pair, names),
        "repair": repair(pair, waiting, steps, names),
        "strands": sorted(dict.fromkeys(step.strand for step in steps), key=age_of_strand),
        "steps": [_step(step, names) for step in steps],
        "pair": [] if pair is None else _pair(steps, pair),
        "arrows": list(_arrows(steps, started or {})),
        "waits": [*_waits(steps, started or {}), *_waits_at_the_end(steps, waiting)],
        "stuck": [_waiting(one, names) for one in waiting],
        "cycle": [one.strand for one in cycle(waiting)],
        "passing": [_step(step, names) for step in passing],
        "twin": _side_by_side(steps, passing),
    }


def files_of(steps: Iterable[Step]) -> Iterable[str]:
    return (step.file for step in steps if step.file)


def _side_by_side(failing: Sequence[Step], passing: Sequence[Step]) -> list[tuple[int | None, int | None]]:
    """The numbers of the same step in both schedules, in rows, a little before and after where they part."""
    keys = [[(step.strand, step.operation, step.object) for step in steps] for steps in (failing, passing)]
    together = next((n for n, (one, other) in enumerate(zip(*keys, strict=False)) if one != other), min(map(len, keys)))
    first = max(0, together - _BEFORE_THEY_PART)
    near = [steps[first : together + _AFTER_THEY_PART] for steps in keys]
    rows: list[tuple[int | None, int | None]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, near[0], near[1], autojunk=False).get_opcodes():
        if tag == "equal":
            rows += zip(range(first + a, first + b), range(first + c, first + d), strict=True)
        else:
            rows += [(n, None) for n in range(first + a, first + b)]
            rows += [(None, n) for n in range(first + c, first + d)]
    return rows if passing else []


def _lines(pair: Clash | None, names: dict[str, str]) -> list[dict[str, str]]:
    """The accesses that clash, in the order in which they happened, each with its line of source."""
    found = [] if pair is None else [step for step in (pair.first, pair.between, pair.last) if step is not None]
    return [
        {"strand": step.strand, "verb": step.operation, "place": at(step.file, step.line, names), "source": text}
        for step in found
        if (text := linecache.getline(step.file, step.line).strip())
    ]


def _waiting(one: Waiting, names: dict[str, str]) -> dict[str, Any]:
    file, line = one.stack[0][:2] if one.stack else ("", 0)
    return {
        "strand": one.strand,
        "wants": wants(one),
        "object": one.object,
        "held_by": one.held_by,
        "holds": one.holds,
        "note": one.note,
        "file": file,
        "line": line,
        "place": at(file, line, names) if file else "",
        "source": linecache.getline(file, line).strip(),
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
        "place": f"{at(step.file, step.line, names)} {_inner(step.function)}" if step.line else "",
    }


def _inner(function: str) -> str:
    """The name of a function without those around it, for which a lane has no room."""
    return function.rpartition("<locals>.")[2]


def _arrows(steps: Sequence[Step], started: Mapping[str, int]) -> Iterable[tuple[int, int, str]]:
    """Where one strand lets another go on: it started it, handed a lock over, ended, put something into a queue."""
    passed: dict[str, int] = {}  # object -> the last step that lets somebody go on
    latest: dict[str, int] = {}  # strand -> its last step
    for number, step in enumerate(steps):
        if step.strand not in latest and step.strand in started:
            yield started[step.strand], number, f"{steps[started[step.strand]].strand} starts {step.strand}"
        latest[step.strand] = number
        giver = passed.get(step.object)
        if giver is not None and steps[giver].strand != step.strand:
            yield from _handed_on(steps, giver, number)
        elif giver is None and step.performed[0] == WAIT and step.object in latest:
            # a strand whose end is not among the steps
            yield latest[step.object], number, f"{step.object} ends"
        if step.performed[0] in _PASSES_ON:
            passed[step.object if step.performed[0] != FINISH else step.strand] = number


def _handed_on(steps: Sequence[Step], giver: int, taker: int) -> Iterable[tuple[int, int, str]]:
    if steps[taker].performed[0] in _PASSES_ON[steps[giver].performed[0]]:
        yield giver, taker, f"{steps[giver].strand} {steps[giver].operation} {steps[taker].object}"


def _waits(steps: Sequence[Step], started: Mapping[str, int]) -> Iterable[tuple[str, int, int, str]]:
    """While which steps a strand could not go on because another one had the lock that it acquires next."""
    latest: dict[str, int] = {}  # strand -> its last step
    held: dict[str, tuple[str, int]] = {}  # lock -> who took it last, and when
    freed: dict[str, int] = {}  # lock -> when it was released
    for number, step in enumerate(steps):
        if step.performed[0] == ACQUIRE:
            owner, taken = held.get(step.object, (step.strand, 0))
            since = max(taken, latest.get(step.strand, started.get(step.strand, number)))
            if owner != step.strand and since < freed.get(step.object, 0):
                yield step.strand, since, freed[step.object], step.object
            held[step.object] = step.strand, number
        elif step.performed[0] == RELEASE:
            freed[step.object] = number
        latest[step.strand] = number


def _waits_at_the_end(steps: Sequence[Step], waiting: Sequence[Waiting]) -> Iterable[tuple[str, int, int, str]]:
    latest = {step.strand: number for number, step in enumerate(steps)}
    return ((one.strand, latest[one.strand], len(steps), one.object) for one in waiting if one.strand in latest)
