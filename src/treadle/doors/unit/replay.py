"""`treadle replay` of a path: the choices of a written test lead along the same path again, to the same case.

A trail of the unit door holds the choices of a path and, behind them, those of its aliasing; what the inputs are
follows by solving canonically, as when the test was written. A trail that the code no longer takes is a UsageError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.core.errors import InternalError, UsageError
from treadle.core.trail import Trail
from treadle.core.verdict import exit_code_of
from treadle.doors.unit.result_json import case_facts
from treadle.doors.unit.shown import shown
from treadle.symbolic.explore import MachineFault
from treadle.symbolic.heap.aliasings import Aliasing, aliasings
from treadle.symbolic.path import Alternative, Choices, PathEnd, SymbolicPath, named, unforced
from treadle.symbolic.testcase import TestCase
from treadle.units.cases import Concrete
from treadle.units.explore import FinishedPath, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve


def trail_of(case: TestCase, options: UnitOptions) -> Trail:
    """What is written beside the test of a case."""
    broken = case.violation
    return Trail(
        case.target,
        case.trail,
        door="unit",
        settings=options.to_settings(),
        kind=broken.kind if broken is not None else "",
        message=ends_with(case),
    )


def ends_with(case: TestCase) -> str:
    """How the call of a case ends, in few words."""
    if case.outcome.raises is not None:
        return f"raises {case.outcome.raises.__name__}"
    return f"returns {shown(case.outcome.value)}"


def replay_case(trail: Trail) -> TestCase:
    """The case of a trail, by running its path again; UsageError when the code takes another one now."""
    found = resolve(trail.target)
    if len(found) != 1:
        raise UsageError(f"this trail belongs to '{trail.target}', which is no single function")
    session = Session(found[0], UnitOptions.from_settings(trail.settings))
    try:
        run, aliasing = run_again(session, trail.choices)
        case = Concrete(session.target, run, aliasing, session.options.domain, session.words).case()
        if case is None:
            raise Changed("no values are found for it")
    except MachineFault as fault:
        raise InternalError(fault.what) from fault
    except Changed as changed:
        raise UsageError(
            f"{trail.target} no longer takes the path of this trail: {changed}; "
            f"run treadle unit {trail.target} for the paths that it has now"
        ) from None
    return case


class Changed(Exception):
    """The code does not take a path any more that it took."""


def run_again(session: Session, choices: Choices, made: Choices = ()) -> tuple[FinishedPath, Aliasing]:
    """A path by its choices, and its aliasing by those behind them. Raises Changed.

    With `made`, those of this very process with forced ones, no solver is asked which ways are open.
    """
    start = Alternative(made) if made else Alternative(choices, with_forced=False)
    path = SymbolicPath(session.solver(), start, words=session.samples)
    try:
        run = session.run_path(path)
    except MachineFault as fault:
        raise MachineFault(f"{path.place.file}:{path.place.line}: {fault.what}") from fault
    except PathEnd as end:
        raise Changed(f"the path ends early ({end or type(end).__name__})") from None
    if path.alternatives:
        raise Changed("there are choices now that it does not make")
    known = len(unforced(path.choices))
    rest = choices[known:]
    for aliasing in aliasings(run.vm.heap, path, session.aliasing_solver):
        if aliasing.chosen == rest:
            if named(path) != choices[:known]:
                raise Changed("its conditions are in other places")
            return run, aliasing
    raise Changed("it makes choices that are no longer there")


@dataclass(frozen=True, slots=True)
class ReplayedCase:
    """The case of a trail, for a person and as JSON."""

    trail: Trail
    case: TestCase

    @property
    def exit_code(self) -> int:
        """As of the command that found it: 1 when the code breaks a contract."""
        return exit_code_of(failed=self.case.violation is not None)

    def to_json(self) -> dict[str, Any]:
        return case_facts(self.case).to_json()

    def __str__(self) -> str:
        case, before = self.case, self.trail.message
        same = "as before" if ends_with(case).startswith(before) else f"before: {before}"
        inputs = ", ".join(f"{name}={shown(value)}" for name, value in case.arguments.items()) or "none"
        return "\n".join(
            [
                f"{case.target}: the same path again",
                f"  path condition  {case.condition}",
                f"  inputs          {inputs}",
                f"  outcome         {ends_with(case)} ({same})",
            ]
        )


def replay_trail(trail: Trail, run_test: object) -> ReplayedCase:
    """As `treadle.doors.replay` asks for it; there is no test to be run."""
    return ReplayedCase(trail, replay_case(trail))
