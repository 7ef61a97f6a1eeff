"""From a failing test to one that a person reads: fewer calls before it, plainer arguments, only what shows the fault.

Keeps: whatever is dropped, the smaller test was explored again and fails in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from treadle.generate.class_.calls import Argument, Call
from treadle.generate.class_.interleavings import Explorer, Witness
from treadle.generate.class_.stage import Test

# Schedules of one candidate: the fault is known to be near.
_MOST = 400


def minimise(explorer: Explorer, witness: Witness, deadline: float) -> Witness:
    """The smallest failing test found before the deadline."""
    witness = _only_what_shows(explorer, witness, deadline)
    improved = True
    while improved and time.perf_counter() < deadline:
        improved = False
        for candidate in _smaller(witness.test):
            found = _fails_alike(explorer, candidate, witness, deadline)
            if found is not None:
                witness, improved = found, True
                break
            if time.perf_counter() > deadline:
                break
    return witness


def _only_what_shows(explorer: Explorer, witness: Witness, deadline: float) -> Witness:
    """Leave out every look at the object but the one that shows the violation."""
    test, (kind, number, _) = witness.test, witness.violation.where
    bare = test.but(omega=(), later=(), fields=())
    candidates = [bare]
    if kind == "observed":
        candidates.append(bare.but(omega=(test.omega[number],)))
    elif kind == "field":
        candidates.append(bare.but(fields=(test.fields[number],)))
    elif kind == "later":
        candidates.append(bare.but(later=(test.later[number],)))
        candidates.append(bare.but(later=test.later[: number + 1]))
    for candidate in candidates:
        found = _fails_alike(explorer, candidate, witness, deadline)
        if found is not None:
            return found
    return _fewer_looks(explorer, witness, deadline)


def _fewer_looks(explorer: Explorer, witness: Witness, deadline: float) -> Witness:
    """Several looks together show it: leave out one after the other."""
    for kind in ("later", "omega", "fields"):
        for look in reversed(getattr(witness.test, kind)):
            fewer = tuple(one for one in getattr(witness.test, kind) if one != look)
            witness = _fails_alike(explorer, witness.test.but(**{kind: fewer}), witness, deadline) or witness
    return witness


def _smaller(test: Test) -> Iterator[Test]:
    """Tests with less before them, fewer calls in them, or plainer arguments."""
    if test.alpha:
        yield test.but(alpha=())
        for place in range(len(test.alpha)):
            yield test.but(alpha=test.alpha[:place] + test.alpha[place + 1 :])
    for thread, calls in enumerate(test.threads):
        if len(calls) > 1:
            for place in range(len(calls)):
                fewer = calls[:place] + calls[place + 1 :]
                yield test.but(threads=tuple(fewer if n == thread else c for n, c in enumerate(test.threads)))
        for place, call in enumerate(calls):
            for plainer in _plainer(call):
                changed = (*calls[:place], plainer, *calls[place + 1 :])
                yield test.but(threads=tuple(changed if n == thread else c for n, c in enumerate(test.threads)))


def _plainer(call: Call) -> Iterator[Call]:
    """The same call without its optional arguments."""
    for place, argument in enumerate(call.arguments):
        if argument.name:
            fewer: tuple[Argument, ...] = call.arguments[:place] + call.arguments[place + 1 :]
            yield Call(call.method, call.form, fewer, call.expression, call.needs)


def _fails_alike(explorer: Explorer, test: Test, witness: Witness, deadline: float) -> Witness | None:
    explored = explorer.explore(test, _MOST, deadline)
    for found in explored.witnesses:
        if found.violation.is_fault and found.violation.kind == witness.violation.kind:
            return found
    return None
