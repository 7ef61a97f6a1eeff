"""Which cases land in the file: render, run, drop what does not hold, run again.

A case whose real run contradicts its prediction is a bug of ours: it is reported as such and never written. Two
reasons are not: rounding of floats, and an order that changes from run to run.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from pathlib import Path

from treadle.core.words import without_addresses
from treadle.doors.unit.check import Checked, PassedBefore, check
from treadle.doors.unit.files import appended, folders, names_in
from treadle.doors.unit.findings import broken_for_real
from treadle.doors.unit.pytest_suite import RenderedSuite, write
from treadle.doors.unit.replay import trail_of
from treadle.doors.unit.result import Suite
from treadle.doors.unit.shown import shown
from treadle.doors.unit.states import undo
from treadle.observe.effects import EffectGuard
from treadle.report.fresh_process import SECONDS, FreshOutcome
from treadle.symbolic.path import CodePlace, Limit
from treadle.symbolic.testcase import TestCase
from treadle.units.options import UnitOptions
from treadle.units.target import UnitTarget

# Rounds in which a test that fails may be written in another way, or is taken for a wrong prediction; the second only
# meets tests that fail together, not alone. Whatever fails after that is not the same every time, and goes at once.
_ROUNDS = 6
_LAST_ROUNDS = 20
_LEAST_SECONDS = 5.0
_NOT_RUN = FreshOutcome("failed", "the test did not run")


class SteadyTests:
    """Tests that passed in an earlier round, by what they say: alone, and with other orders of sets."""

    def __init__(self) -> None:
        self._alone: set[str] = set()
        self._orders: set[str] = set()

    def among(self, written: RenderedSuite) -> PassedBefore:
        alone = frozenset(r.test for r in written.rendered if r.says in self._alone)
        orders = frozenset(r.test for r in written.rendered if r.says in self._orders)
        return PassedBefore(alone, orders, all_alone=len(alone) == len(written.rendered))

    def learn(self, written: RenderedSuite, checked: Checked) -> None:
        passed = {r.says for r in written.rendered if r.test in checked.passed}
        self._alone |= passed
        self._orders |= passed if checked.orders else set()


def run_and_keep(
    suite: Suite,
    path: Path,
    options: UnitOptions,
    existing: str | None = None,
    measured: Sequence[UnitTarget] = (),
    ends: float = math.inf,
    steady: SteadyTests | None = None,
) -> None:
    """Render, run, drop what fails, until everything that is left passes.

    With `existing`, the tests are going to be added to that: they get other names than those in there, and the
    coverage is that of both, of the functions in `measured`. Tests that have not run when the time `ends` are cut.
    What is `steady` has passed as it is, and is run only with the others.
    """
    steady = SteadyTests() if steady is None else steady
    taken = names_in(existing) if existing is not None else frozenset()
    groups = [(e.target, list(e.cases)) for e in suite.explored]
    used = {e.target.text: e.options for e in suite.explored}

    def trail(case: TestCase) -> str:
        wanted = options.trails or case.violation is not None
        return str(trail_of(case, used[case.target])) if wanted else ""

    approximate: set[int] = set()
    plainly: set[int] = set()
    late = 0
    for number in range(_ROUNDS + _LAST_ROUNDS):
        groups = [(target, cases) for target, cases in groups if cases]
        if not groups:
            suite.cases = []
            return
        promises = frozenset(plainly) if options.contracts else None
        with contextlib.nullcontext() if options.allow_effects else EffectGuard():  # constructors are run
            written = write(groups, frozenset(approximate), taken, promises, trail)
        for case, why in written.skipped:
            _drop(groups, case)
            _unsupported(suite, case, f"a test cannot be written: {without_addresses(why)}")
        for case, why in written.broken:
            _drop(groups, case)
            _note(suite, case, f"a test cannot be written: {without_addresses(why)}", suite.internal_errors)
        if not written.rendered:
            return
        written.folders = folders(path, [t for t, _ in groups])
        written.guesses = suite.guesses
        source = written.source()
        both = appended(existing, source) if existing is not None else source
        targets = list(measured) or [e.target for e in suite.explored]
        checked = check(
            source,
            targets,
            allow_effects=options.allow_effects,
            whole=both,
            at_once=options.processes,
            seconds=_left(ends),
            unordered=any(case.fragile for _, cases in groups for case in cases),
            before=steady.among(written),
        )
        steady.learn(written, checked)
        if not checked.failed and len(checked.passed) == len(written.rendered):
            suite.source, suite.content = source, both
            suite.coverage = checked.coverage
            suite.cases = [r.case for r in written.rendered]
            suite.names = [r.test for r in written.rendered]
            return
        passed = set(checked.passed)
        unrun = [r.case for r in written.rendered if r.test not in passed and r.test not in checked.failed]
        if unrun and time.monotonic() > ends - _LEAST_SECONDS:
            suite.cut[Limit.TIME] += len(unrun)
            for case in unrun:
                _drop(groups, case)
            late += 1
            if late > 2:
                suite.cases = []
                return
            continue
        if number < _ROUNDS:
            _judge(suite, written, checked, groups, approximate, plainly, options.contracts)
        else:
            _drop_unsteady(suite, [r.case for r in written.rendered if r.test not in passed], groups)
    suite.cases = []
    _drop_unsteady(suite, [case for _, cases in groups for case in cases], groups)


def _left(ends: float) -> float:
    """Seconds for running tests: a few are always given, since a test that was not run is not written."""
    return min(max(ends - time.monotonic(), _LEAST_SECONDS), SECONDS)


def _drop_unsteady(suite: Suite, unsteady: Sequence[TestCase], groups: list[tuple[UnitTarget, list[TestCase]]]) -> None:
    for case in unsteady:
        _drop(groups, case)
        call = f"{case.target.partition(':')[2]}({', '.join(f'{n}={shown(v)}' for n, v in case.arguments.items())})"
        _unsupported(suite, case, f"a test does not pass every time, or not with the others: {call}")


def _judge(
    suite: Suite,
    written: RenderedSuite,
    checked: Checked,
    groups: list[tuple[UnitTarget, list[TestCase]]],
    approximate: set[int],
    plainly: set[int],
    contracts: bool,
) -> None:
    for rendered in written.rendered:
        if rendered.test in checked.passed:
            continue
        case = rendered.case
        ended = checked.failed.get(rendered.test, _NOT_RUN)
        why = ended.why
        target = next(e.target for e in suite.explored if e.target.text == case.target)
        if broken_for_real(case, ended, target, contracts):
            continue  # the prediction left it open, the real run has decided
        if rendered.promised and id(case) not in plainly:
            plainly.add(id(case))
            continue
        if undo(case):
            continue  # the calls have done something else than was seen: its fields are set
        if case.has_floats and id(case) not in approximate and case.outcome.raises is None:
            approximate.add(id(case))
            continue
        _drop(groups, case)
        if ended.ended == "refused":
            _unsupported(suite, case, why)
        elif ended.ended == "endless":
            _unsupported(suite, case, "a test does not come to its end every time")
        elif case.fragile or rendered.test in checked.unordered:
            _unsupported(suite, case, "the outcome depends on the order of a set")
        elif case.has_floats:
            _unsupported(suite, case, "rounding of floats takes the real run another way")
        elif case.stubs:
            suite.wrong_stubs.append((case, why))
        else:
            suite.disagreements.append((case, why))


def _drop(groups: list[tuple[UnitTarget, list[TestCase]]], case: TestCase) -> None:
    for _, cases in groups:
        cases[:] = [c for c in cases if c is not case]


def _unsupported(suite: Suite, case: TestCase, what: str) -> None:
    _note(suite, case, what, suite.unsupported)


def _note(suite: Suite, case: TestCase, what: str, places: list[CodePlace]) -> None:
    explored = next(e for e in suite.explored if e.target.text == case.target)
    place = CodePlace(explored.target.file, explored.target.line, what)
    explored.unwritten.append(place)
    if place not in places:
        places.append(place)
