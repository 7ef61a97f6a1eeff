"""The part of a page about one function: its cases, each with the lines it passes and the heap before and after it.

Decides nothing: cases, tree and coverage are those of the suite. A heap is told as boxes; two places that hold the same
box hold the same object.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from treadle.doors.unit.console import PathBranch, grow, summary
from treadle.doors.unit.result import Suite
from treadle.doors.unit.shown import shown
from treadle.report import page
from treadle.symbolic.explore import End
from treadle.symbolic.path import Limit
from treadle.symbolic.python.contracts.conditions import as_written
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.explore import ExploredTarget


def suite_parts(suite: Suite) -> list[page.Part]:
    """A part for every function of the suite."""
    return [_function(suite, explored) for explored in suite.explored]


def _function(suite: Suite, explored: ExploredTarget) -> page.Part:
    target = explored.target
    broken = [case for case in explored.cases if case.violation is not None]
    whole = explored.seen.complete and suite.covers_explored
    bound = " WITHIN THE LOOP BOUND" if explored.seen.cut[Limit.LOOP] else ""
    bound = " WITHIN THE CRITERION" if explored.seen.cut[Limit.CRITERION] else bound
    said = "CONTRACT BROKEN" if broken else f"EVERY PATH{bound}" if whole else "SOME PATHS"
    cases, paths = len(explored.cases), explored.paths
    sentence = f"{paths} path{'s' * (paths != 1)}, {cases} case{'s' * (cases != 1)}"
    if suite.file and suite.tests:
        sentence += f"; tests in {suite.file}"
    found = page.part("unit", target.text, None, said, sentence)
    found["colour"] = "bad" if broken else "good" if whole else "warn"
    if not whole and not broken:
        found["advice"] = f"what keeps paths out: {'; '.join(suite.why_unreached())}"
    names = {id(case): name for case, name in zip(suite.cases, suite.names, strict=False)}
    found |= {
        "file": target.file,
        "span": list(target.span()),
        "cases": [_case(case, names.get(id(case), "")) for case in explored.cases],
        "hits": _hits(explored.cases),
        "missed": [[line, to] for file, line, to in suite.coverage.unreached if _same_file(file, target.file)],
        "cut": _cut(explored),
        "tree": _tree(grow(explored)),
        "summary": summary(suite),
    }
    walked = (file for case in explored.cases for file, _ in case.walk)
    page.add_sources(found, (target.file, *walked))
    return found


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _hits(cases: list[TestCase]) -> dict[int, int]:
    """Line -> how many cases pass it."""
    return dict(Counter(line for case in cases for line in set(case.lines)))


def _cut(explored: ExploredTarget) -> list[str]:
    """How many paths ended otherwise than with a case, and why."""
    ends = Counter(str(end) for _, end in explored.seen.ends if end.how not in (End.FINISHED, End.NOTHING))
    return [f"{number} path{'s' * (number != 1)}: {why}" for why, number in ends.items()]


def _tree(branch: PathBranch) -> dict[str, Any]:
    return {
        "ends": branch.ends,
        "below": [{"label": condition, **_tree(below)} for condition, below in branch.below.items()],
    }


def _case(case: TestCase, test: str) -> dict[str, Any]:
    outcome = case.outcome
    if outcome.raises is not None:
        ended = f"raises {outcome.raises.__name__}" + (f": {outcome.message}" if outcome.message else "")
    else:
        ended = f"returns {shown(outcome.value)}"
    before, after = _Boxes(), _Boxes(case.after)
    start = {name: before.cell(value) for name, value in case.arguments.items()}
    end = {name: after.cell(value) for name, value in case.arguments.items()}
    if outcome.raises is None:
        end["returned"] = after.cell(outcome.value)
    return {
        "test": test,
        "inputs": ", ".join(f"{name}={shown(value)}" for name, value in case.arguments.items()),
        "outcome": ended,
        "raises": outcome.raises is not None,
        "condition": case.conditions,
        "sampled": case.sampled,
        "violation": "" if case.violation is None else f"{case.violation.kind} {case.violation.condition}",
        "lines": list(case.lines),
        "walk": [list(place) for place in case.walk],
        "before": {"roots": start, "boxes": before.boxes},
        "after": {"roots": end, "boxes": after.boxes},
    }


class _Boxes:
    """The objects that some values reach; with `state`, those of it stand for themselves as they are then."""

    def __init__(self, state: dict[int, CaseObject] | None = None) -> None:
        self._state = state or {}
        self.boxes: dict[str, dict[str, Any]] = {}

    def cell(self, value: Any) -> dict[str, str]:
        """A value in a box: its text, or the box that it points to."""
        if not isinstance(value, CaseObject):
            if isinstance(value, tuple) and any(isinstance(item, CaseObject) for item in value):
                return self._tuple(value)
            return {"text": shown(value)}
        name = f"o{value.number}"
        if name not in self.boxes:
            now = self._state.get(value.number, value)
            box = self.boxes[name] = {"title": _title(now), "rows": []}
            box["rows"] = [[label, self.cell(held)] for label, held in _held(now)]
        return {"box": name}

    def _tuple(self, value: tuple[Any, ...]) -> dict[str, str]:
        name = f"t{len(self.boxes)}"
        box = self.boxes[name] = {"title": "tuple", "rows": []}
        box["rows"] = [[str(place), self.cell(item)] for place, item in enumerate(value)]
        return {"box": name}


def _title(value: CaseObject) -> str:
    return as_written(value.cls).__name__ if value.cls is not None else value.kind


def _held(value: CaseObject) -> list[tuple[str, Any]]:
    rows = [(str(place), item) for place, item in enumerate(value.items)]
    rows += [(shown(key), item) for key, item in value.entries]
    return rows + list(value.fields.items())
