"""`treadle unit --json`: what a suite is told as. The fields of these classes are the schema, see docs/json.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.core.json_form import JsonForm, in_json_as
from treadle.doors.unit.findings import sentence
from treadle.doors.unit.missing import OwnTests
from treadle.doors.unit.result import More, Suite
from treadle.doors.unit.selected import answers
from treadle.doors.unit.shown import plain
from treadle.symbolic.path import CodePlace, Limit
from treadle.symbolic.testcase import TestCase
from treadle.units.select import ALL_PATHS


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class CaseFacts(JsonForm):
    target: str
    # values of the program are told as they are, times alone are rounded
    inputs: Mapping[str, Any] = field(metadata=in_json_as("inputs", dict))
    outcome: Mapping[str, Any] = field(metadata=in_json_as("outcome", dict))
    condition: str
    sampled: bool


def case_facts(case: TestCase) -> CaseFacts:
    outcome: dict[str, Any]
    if case.outcome.raises is not None:
        outcome = {"raises": case.outcome.raises.__name__, "message": case.outcome.message}
    else:
        outcome = {"returns": plain(case.outcome.value)}
    return CaseFacts(case.target, _inputs(case), outcome, case.condition, case.sampled)


def _inputs(case: TestCase) -> dict[str, Any]:
    return {name: plain(value) for name, value in case.arguments.items()}


@dataclass(frozen=True, slots=True)
class ViolationFacts(JsonForm):
    """A contract that the code breaks."""

    target: str
    kind: str
    of: str
    condition: str
    file: str
    line: int
    inputs: Mapping[str, Any] = field(metadata=in_json_as("inputs", dict))
    result: Any = field(metadata=in_json_as("result", _as_it_is))
    raises: str | None
    message: str


def violation_facts(case: TestCase) -> ViolationFacts:
    violation = case.violation
    assert violation is not None
    return ViolationFacts(
        target=case.target,
        kind=violation.kind,
        of=violation.of,
        condition=violation.condition,
        file=violation.file,
        line=violation.line,
        inputs=_inputs(case),
        result=plain(violation.returned) if violation.own and violation.has_returned else None,
        raises=case.outcome.raises.__name__ if case.outcome.raises is not None else None,
        message=sentence(case),
    )


@dataclass(frozen=True, slots=True)
class GrowthFacts(JsonForm):
    """What --more has added."""

    from_k: int
    k: int
    new: int
    new_paths: int
    tests_in_file: int
    complete: bool


@dataclass(frozen=True, slots=True)
class OwnTestFacts(JsonForm):
    """What the project's own tests do (--missing)."""

    tests: str
    ran: int
    failed: Sequence[str]
    branches: float
    lines: float
    paths: int
    taken: int
    missing: int


@dataclass(frozen=True, slots=True)
class GoalFacts(JsonForm):
    goal: str
    file: str
    line: int
    verdict: str
    tests: Sequence[int]


@dataclass(frozen=True, slots=True)
class SelectionFacts(JsonForm):
    """What came of --select."""

    select: str
    satisfied: bool
    goals: Sequence[GoalFacts]
    cut_by: Sequence[str]


@dataclass(frozen=True, slots=True)
class SuiteFacts(JsonForm):
    target: str
    file: str | None
    tests: int
    paths: int
    # paths that were run, those included that were cut, given up or came to nothing
    explored: int
    cut: Mapping[str, int]
    unsupported: Sequence[Any]
    sampled: Sequence[Any]
    internal_errors: Sequence[Any]
    complete: bool
    stopped: bool
    coverage: Mapping[str, float]
    unreached: Mapping[str, Any]
    guesses: Sequence[str]
    cases: Sequence[CaseFacts]
    disagreements: Sequence[Any] = field(metadata=in_json_as("disagreements", list))
    stubs: Mapping[str, Any] = field(metadata=in_json_as("stubs", dict))
    summaries: Mapping[str, int]
    violations: Sequence[ViolationFacts]
    assumed: Sequence[str]
    inferred: Sequence[str]
    left_out: Sequence[str]
    # tests of calls that were tried, and why targets could only be tried
    probed: Sequence[str]
    unfollowed: Sequence[str]
    # tests that were left out of a long file (--select brief)
    untold: int
    # tests that set fields, because no calls were found that make such objects
    by_hand: int
    more: GrowthFacts | None
    warnings: Sequence[str]
    branches: Mapping[str, int]
    selection: SelectionFacts | None
    missing: OwnTestFacts | None


def suite_facts(suite: Suite) -> SuiteFacts:
    return SuiteFacts(
        target=suite.target,
        file=suite.file,
        tests=suite.tests,
        paths=suite.paths,
        explored=sum(explored.seen.runs for explored in suite.explored),
        cut={
            **{limit: suite.cut[limit] for limit in (Limit.LOOP, Limit.DEPTH, Limit.TIME)},
            **{limit: suite.cut[limit] for limit in (Limit.PATHS, Limit.LOST, Limit.CRITERION) if suite.cut[limit]},
        },
        unsupported=_places(suite.unsupported),
        sampled=_places(suite.sampled),
        internal_errors=_places(suite.internal_errors),
        complete=suite.complete,
        stopped=suite.stopped,
        coverage={"lines": suite.coverage.percent("lines"), "branches": suite.coverage.percent("branches")},
        unreached={
            "places": [{"file": file, "line": line, "to": to} for file, line, to in suite.coverage.unreached],
            "why": suite.why_unreached(),
        },
        guesses=suite.guesses,
        cases=[case_facts(c) for c in suite.cases],
        disagreements=[{**case_facts(c).to_json(), "why": why} for c, why in suite.disagreements],
        stubs={
            "files": list(suite.stub_files),
            "used": sorted({stub for case in suite.cases for stub in case.stubs}),
            "wrong": [{**case_facts(c).to_json(), "stubs": list(c.stubs), "why": why} for c, why in suite.wrong_stubs],
        },
        summaries={kind: suite.summaries[kind] for kind in ("computed", "reused", "composed")},
        violations=[violation_facts(c) for c in suite.violations],
        assumed=suite.assumed,
        inferred=suite.inferred,
        left_out=suite.left_out,
        probed=list(suite.probed),
        unfollowed=suite.unfollowed,
        untold=suite.untold,
        by_hand=suite.by_hand,
        more=_growth(suite.more) if suite.more is not None else None,
        warnings=suite.warnings,
        branches={name: suite.branches[name] for name in sorted(suite.branches)},
        selection=_selection(suite) if suite.select != ALL_PATHS else None,
        missing=_own_tests(suite.own_tests) if suite.own_tests is not None else None,
    )


def _places(places: Sequence[CodePlace]) -> list[dict[str, Any]]:
    return [{"file": place.file, "line": place.line, "what": place.what} for place in places]


def _growth(more: More) -> GrowthFacts:
    return GrowthFacts(more.from_k, more.k, more.tests, more.paths, more.in_file, more.complete)


def _own_tests(own: OwnTests) -> OwnTestFacts:
    branches, lines = own.coverage.percent("branches"), own.coverage.percent("lines")
    missing = own.paths - own.taken
    return OwnTestFacts(own.where, own.ran, own.failed, branches, lines, own.paths, own.taken, missing)


def _selection(suite: Suite) -> SelectionFacts:
    found = answers(suite)
    doubts = list(dict.fromkeys(d for e in suite.explored if e.selection is not None for d in e.selection.doubts))
    satisfied = not doubts if suite.select == "local-paths" else all(a.verdict == "reached" for a in found)
    goals = [GoalFacts(a.goal.text, a.goal.file, a.goal.line, a.verdict, a.tests) for a in found]
    return SelectionFacts(suite.select, satisfied, goals, doubts)
