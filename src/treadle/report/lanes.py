"""A schedule as lanes: what the page is told about one finding, for every door whose executions are steps of strands.

Decides which steps let others go on (the arrows), which ones clashed, and where the nearest schedule that passes parts
from the failing one.
"""

from __future__ import annotations

import linecache
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
    stacks = [frame[0] for one in waiting for frame in one.stack]
    names = short_names([step.file for step in (*steps, *passing)] + stacks)
    pair = culprit(steps) if not waiting else None
    return {
        "cause": pair.sentence(names) if pair is not None else "",
        "lines": _lines(pair, names),
        "repair": _repair(pair, waiting, steps, names),
        "strands": _in_order(dict.fromkeys(step.strand for step in steps)),
        "steps": [_step(step, names) for step in steps],
        "pair": [] if pair is None else _pair(steps, pair),
        "arrows": list(_arrows(steps, started or {})),
        "stuck": [_waiting(one, names) for one in waiting],
        "cycle": [one.strand for one in cycle(waiting)],
        "passing": [_step(step, names) for step in passing],
        "parts": _where_they_part(steps, passing),
    }


def _in_order(strands: Iterable[str]) -> list[str]:
    """The test itself, its threads as they were started (`T1`, `T1.1`, `T2`), and others as they come."""

    def place(name: str) -> tuple[int, list[int]]:
        numbers = name.removeprefix("T").split(".")
        if name == "main":
            return 0, []
        return (1, [int(one) for one in numbers]) if all(one.isdecimal() for one in numbers) else (2, [])

    return sorted(strands, key=place)


def files_of(steps: Iterable[Step]) -> Iterable[str]:
    return (step.file for step in steps if step.file)


def _where_they_part(failing: Sequence[Step], passing: Sequence[Step]) -> int:
    """The number of the first step that is another one."""
    together = zip(failing, passing, strict=False)
    for number, (one, other) in enumerate(together):
        if (one.strand, one.operation, one.object) != (other.strand, other.operation, other.object):
            return number
    return min(len(failing), len(passing))


def _lines(pair: Clash | None, names: dict[str, str]) -> list[dict[str, str]]:
    """The accesses that clash, in the order in which they happened, each with its line of source."""
    found = [] if pair is None else [step for step in (pair.first, pair.between, pair.last) if step is not None]
    return [
        {"who": f"{step.strand} {step.operation}", "place": _at(step.file, step.line, names), "source": text}
        for step in found
        if (text := linecache.getline(step.file, step.line).strip())
    ]


def _at(file: str, line: int, names: dict[str, str]) -> str:
    return f"{names.get(file, file)}:{line}"


def _waiting(one: Waiting, names: dict[str, str]) -> dict[str, Any]:
    return {
        "strand": one.strand,
        "operation": one.operation,
        "object": one.object,
        "held_by": one.held_by,
        "holds": one.holds,
        "note": one.note,
        "place": _at(*one.stack[0][:2], names) if one.stack else "",
        "source": linecache.getline(*one.stack[0][:2]).strip() if one.stack else "",
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


def _repair(pair: Clash | None, waiting: Sequence[Waiting], steps: Sequence[Step], names: dict[str, str]) -> str:
    """What usually helps: only what follows from the schedule itself."""
    ring = cycle(waiting)
    if ring:
        who = " and ".join(dict.fromkeys(one.strand for one in ring))
        wanted = " and ".join(dict.fromkeys(one.object for one in ring))
        return f"let {who} take {wanted} in the same order, or take one lock for all; then run the same command again"
    if waiting:
        return next(filter(None, (_let_go(one, steps, names) for one in waiting)), "")
    if pair is None:
        return ""
    found = [step for step in (pair.first, pair.between, pair.last) if step is not None and step.line]
    places = list(dict.fromkeys(_at(step.file, step.line, names) for step in found))
    if not places:
        return ""
    one_sided = _held_by_some(found, steps, names)
    if one_sided:
        return one_sided
    who = " and ".join(sorted({step.strand for step in found}))
    return (
        f"nothing keeps {who} apart at {' and '.join(places)}: hold one lock around all that belongs together "
        "there, wherever it is used, or do not share the object; then run the same command again"
    )


def _held_by_some(found: Sequence[Step], steps: Sequence[Step], names: dict[str, str]) -> str:
    """A lock that some of the accesses that clash are made under, and the others not."""
    held = [_locks_at(step, steps) for step in found]
    for lock in sorted(set().union(*held)):
        places = [_at(step.file, step.line, names) for step in found]
        inside = list(dict.fromkeys(at for at, locks in zip(places, held, strict=True) if lock in locks))
        outside = [at for at, locks in zip(places, held, strict=True) if lock not in locks and at not in inside]
        if outside and not any(step.operation == "tries" and step.object == lock for step in steps):
            where = f"{lock} is held at {' and '.join(inside)}, but not at {' and '.join(dict.fromkeys(outside))}"
            first, last = found[0], found[-1]
            if first.strand == last.strand and lock in held[-1] and lock not in held[0]:
                once = ", and once only: who takes it twice waits for itself" if lock.startswith("Lock") else ""
                return (
                    f"{where}: take it before {places[0]} already and keep it up to {places[-1]}{once}; or look again "
                    "while holding it. Then run the same command again"
                )
            return f"{where}: hold it there, too. Then run the same command again"
    return ""


def _locks_at(step: Step, steps: Sequence[Step]) -> set[str]:
    """What a strand has acquired and not released when it makes a step."""
    locks: list[str] = []
    for one in steps:
        if one is step:
            break
        if one.strand == step.strand and one.operation == "acquires":
            locks.append(one.object)
        elif one.strand == step.strand and one.operation == "releases" and one.object in locks:
            locks.remove(one.object)
    return set(locks)


def _let_go(one: Waiting, steps: Sequence[Step], names: dict[str, str]) -> str:
    """What would let one strand go on that waits outside of any ring."""
    here = f"{one.strand} waits at {_at(*one.stack[0][:2], names)}" if one.stack else f"{one.strand} waits"
    early = [step for step in steps if step.operation == "signals" and step.object == one.object]
    if early and one.object.startswith("Condition"):
        signal = _at(early[-1].file, early[-1].line, names)
        return (
            f"{here} for a notify that came before it, at {signal}, and is not kept: ask for what is waited for, and "
            f"wait, while holding the lock of {one.object}: `while not ...: condition.wait()`; then run the same "
            "command again"
        )
    if one.operation == "gets from":
        return f"{here} and nobody is left who puts something into {one.object}: put an end mark for every reader"
    return ""


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
