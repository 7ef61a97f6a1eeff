"""Which methods a campaign calls, which of them it judges, and what it says of those that it does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from treadle.classes.result import ClassResult, Options
from treadle.classes.sequences import LONGEST_CALL
from treadle.classes.subject import Subject, SubjectMethod
from treadle.core.errors import UsageError
from treadle.core.words import choices
from treadle.doors.class_.roots import Root

# Whole-object operations that no Python container promises to be atomic.
BULK = frozenset({"==", "repr", "iter", "reversed"})
BULK_OF_CONTAINERS = BULK | {"copy", "update", "|=", "+", "+="}


def selected(subject: Subject, options: Options) -> list[SubjectMethod]:
    """The methods to call: --methods and --skip must name methods that exist."""
    names = {method.name for method in subject.methods}
    for given in (*options.methods, *options.skip):
        if given not in names:
            raise UsageError(f"{subject.target} has no method '{given}'{choices(given, sorted(names))}")
    for fields in options.atomic_sets:
        if len(fields) < 2:
            raise UsageError("--atomic-set needs at least two fields: --atomic-set head,tail")
    left_out = {*options.skip, *options.refused}
    chosen = [method for method in subject.methods if method.name not in left_out]
    if options.methods:
        # the others still build states and look at them, but are not judged
        return [m if m.name in options.methods else _only_helps(m) for m in chosen]
    loose = BULK_OF_CONTAINERS if hasattr(subject.cls, "__setitem__") else BULK
    for method in chosen:
        if method.own and method.name in loose - {"update"}:  # which still builds states
            subject.skipped[method.name] = "many steps by its nature, judged only if --methods names it"
    return [_only_helps(m) if m.name in loose else m for m in chosen if m.name not in loose or m.name == "update"]


def _only_helps(method: SubjectMethod) -> SubjectMethod:
    return replace(method, own=False)


def untried(subject: Subject, options: Options, not_called: Collection[str]) -> list[str]:
    """Methods that change the object and were not called although nobody said so: without them there is no pass."""
    left_out = set(options.skip) | BULK_OF_CONTAINERS
    wanted = set(options.methods) or subject.changing
    return sorted(subject.changing & wanted & set(not_called) - left_out)


def never_at_work(roots: Collection[Root], names: Collection[str]) -> dict[str, str]:
    """Of these methods, those that were called and no call of which could be run beside another, with the reason."""
    found: dict[str, str] = {}
    at_work: set[str] = set()
    for root in roots:
        for (before, call), step in root.automaton.transitions.items():
            how, *what = step.ran.happened
            endless = how == "pending" and not step.ran.operations
            if call.method not in names:
                continue
            if endless or len(step.ran.operations) > LONGEST_CALL:
                found.setdefault(call.method, "no call of it came to an end within the operations that one may have")
            elif how == "raised" and step.state == before:
                found.setdefault(call.method, f"every call of it raised {what[0]}")
            else:
                at_work.add(call.method)
    return {name: why for name, why in found.items() if name not in at_work}


def too_long(roots: Collection[Root], result: ClassResult) -> str:
    """Two methods that were never run at once because they touch the same things too often; empty if there are none."""
    pairs = {pair for root in roots for pair in root.assembler.too_long} - set(result.matrix)
    return " || ".join(min(pairs)) if pairs else ""


def not_compared(methods: list[SubjectMethod], why: str, names: Collection[str]) -> str:
    """A note: why the results of these methods are not compared."""
    places = {method.name: f"{name} ({method.where})" for method in methods if (name := method.name) and method.where}
    return f"results not compared, {why}: {', '.join(places.get(name, name) for name in names)}"
