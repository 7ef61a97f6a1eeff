"""What usually helps against a failure: only what follows from its schedule itself."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.core.names import label_of
from treadle.core.operation import ACQUIRE, GET, RELEASE, SIGNAL, TRY
from treadle.core.result import Step, Waiting
from treadle.report.explanation import Clash, cycle

# A replay knows one schedule only, of the program as it was.
SEARCH_AGAIN = "run the search again, not the replay"


def at(file: str, line: int, names: dict[str, str]) -> str:
    """A place in the source, as people read it."""
    return f"{names.get(file, file)}:{line}"


def repair(pair: Clash | None, waiting: Sequence[Waiting], steps: Sequence[Step], names: dict[str, str]) -> str:
    """One sentence of advice, or nothing."""
    ring = cycle(waiting)
    if ring:
        who = " and ".join(dict.fromkeys(one.strand for one in ring))
        wanted = " and ".join(dict.fromkeys(one.object for one in ring))
        return f"let {who} take {wanted} in the same order, or take one lock for all; then {SEARCH_AGAIN}"
    if waiting:
        return next(filter(None, (_let_go(one, steps, names) for one in waiting)), "")
    if pair is None:
        return ""
    found = [step for step in (pair.first, pair.between, pair.last) if step is not None and step.line]
    places = list(dict.fromkeys(at(step.file, step.line, names) for step in found))
    if not places:
        return ""
    one_sided = _held_by_some(found, steps, names)
    if one_sided:
        return one_sided
    who = " and ".join(sorted({step.strand for step in found}))
    caller = None if pair.last is None else _caller(pair.first, pair.last, names)
    if caller is not None:
        function, start, end = caller
        return (
            f"nothing keeps {who} apart between {start} and {end}, where {function} makes both of its accesses: hold "
            "one lock from the first to the last of them, wherever the object is used (one that is taken anew at "
            f"{' and at '.join(places)} does not help), or do not share it; then {SEARCH_AGAIN}"
        )
    return (
        f"nothing keeps {who} apart at {' and '.join(places)}: hold one lock around all that belongs together "
        f"there, wherever it is used, or do not share the object; then {SEARCH_AGAIN}"
    )


def _caller(first: Step, last: Step, names: dict[str, str]) -> tuple[str, str, str] | None:
    """The function from which two accesses of a strand part, and its two lines; None where they are lines of one
    function anyway."""
    for depth, (one, other) in enumerate(zip(reversed(first.stack), reversed(last.stack), strict=False), 1):
        if (one[0], one[2]) != (other[0], other[2]):
            return None
        if one[1] != other[1]:
            inside = depth == len(first.stack) == len(last.stack)
            return None if inside else (one[2], at(*one[:2], names), at(*other[:2], names))
    return None


def _held_by_some(found: Sequence[Step], steps: Sequence[Step], names: dict[str, str]) -> str:
    """A lock that some of the accesses that clash are made under, and the others not."""
    held = [_locks_at(step, steps) for step in found]
    for lock in sorted(set().union(*held)):
        places = [at(step.file, step.line, names) for step in found]
        inside = list(dict.fromkeys(at for at, locks in zip(places, held, strict=True) if lock in locks))
        outside = [at for at, locks in zip(places, held, strict=True) if lock not in locks and at not in inside]
        if outside and not any(step.performed[0] == TRY and step.object == lock for step in steps):
            where = f"{lock} is held at {' and '.join(inside)}, but not at {' and '.join(dict.fromkeys(outside))}"
            first, last = found[0], found[-1]
            if first.strand == last.strand and lock in held[-1] and lock not in held[0]:
                once = ", and once only: who takes it twice waits for itself" if label_of(lock) == "Lock" else ""
                return (
                    f"{where}: take it before {places[0]} already and keep it up to {places[-1]}{once}; or look again "
                    f"while holding it. Then {SEARCH_AGAIN}"
                )
            return f"{where}: hold it there, too. Then {SEARCH_AGAIN}"
    return ""


def _locks_at(step: Step, steps: Sequence[Step]) -> set[str]:
    """What a strand has acquired and not released when it makes a step."""
    locks: list[str] = []
    for one in steps:
        if one is step:
            break
        if one.strand == step.strand and one.performed[0] == ACQUIRE:
            locks.append(one.object)
        elif one.strand == step.strand and one.performed[0] == RELEASE and one.object in locks:
            locks.remove(one.object)
    return set(locks)


def _let_go(one: Waiting, steps: Sequence[Step], names: dict[str, str]) -> str:
    """What would let one strand go on that waits outside of any ring."""
    here = f"{one.strand} waits at {at(*one.stack[0][:2], names)}" if one.stack else f"{one.strand} waits"
    early = [step for step in steps if step.performed[0] == SIGNAL and step.object == one.object]
    if early and label_of(one.object) == "Condition":
        signal = at(early[-1].file, early[-1].line, names)
        return (
            f"{here} for a notify that came before it, at {signal}, and is not kept: ask for what is waited for, and "
            f"wait, while holding the lock of {one.object}: `while not ...: condition.wait()`; then {SEARCH_AGAIN}"
        )
    if one.wanted[0] == GET:
        return f"{here} and nobody is left who puts something into {one.object}: put an end mark for every reader"
    return ""
