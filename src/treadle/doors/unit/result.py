"""What a run of `treadle unit` found, wrote and measured, as an object and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treadle.doors.unit.check import CodeCoverage
from treadle.doors.unit.explore import ExploredTarget
from treadle.doors.unit.pytest_values import Imports, NotWritable, text
from treadle.doors.unit.select import ALL_PATHS
from treadle.symbolic.path import CodePlace, Limit
from treadle.symbolic.python.contracts.conditions import as_written
from treadle.symbolic.testcase import CaseObject, Opaque, TestCase

if TYPE_CHECKING:
    from treadle.doors.unit.missing import OwnTests


@dataclass(slots=True)
class More:
    """How a suite has grown; of several targets, the least bound before and the greatest after."""

    from_k: int
    k: int
    paths: int = 0
    tests: int = 0
    # its file is gone: tests that were made earlier and are written again
    again: int = 0
    in_file: int = 0
    # there was nothing to go on from: no bound had cut anything
    complete: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "from_k": self.from_k,
            "k": self.k,
            "new": self.tests,
            "new_paths": self.paths,
            "tests_in_file": self.in_file,
            "complete": self.complete,
        }


@dataclass(slots=True)
class Suite:
    """What `treadle unit` found, wrote and measured."""

    target: str
    # the criterion: which paths get a test
    select: str = ALL_PATHS
    file: str | None = None
    # the tests of this run, and the file with them
    source: str = ""
    content: str = ""
    cases: list[TestCase] = field(default_factory=list)
    # the test of each case
    names: list[str] = field(default_factory=list)
    paths: int = 0
    cut: Counter[Limit] = field(default_factory=Counter)
    unsupported: list[CodePlace] = field(default_factory=list)
    sampled: list[CodePlace] = field(default_factory=list)
    # where Treadle itself failed on a path: neither the code nor its language is to blame
    internal_errors: list[CodePlace] = field(default_factory=list)
    # cases whose real run contradicts the prediction: bugs of Treadle, never written
    disagreements: list[tuple[TestCase, str]] = field(default_factory=list)
    # cases that rest on a stub which the real run contradicts: never written
    wrong_stubs: list[tuple[TestCase, str]] = field(default_factory=list)
    stub_files: tuple[str, ...] = ()
    # targets of a module that were left out, and why
    left_out: list[str] = field(default_factory=list)
    coverage: CodeCoverage = field(default_factory=CodeCoverage)
    explored: list[ExploredTarget] = field(default_factory=list)
    # what the project's own tests do (--missing)
    own_tests: OwnTests | None = None
    # of a suite that was added to (--more)
    more: More | None = None
    # disagreements of the runs before this one
    wrong_before: int = 0
    # things that went wrong beside the tests
    warnings: list[str] = field(default_factory=list)
    # what the inputs were assumed to fulfil: there are no tests for others
    assumed: list[str] = field(default_factory=list)
    # types that were guessed: other values have no tests
    guesses: list[str] = field(default_factory=list)
    # heap assumptions that follow from the code, and why
    inferred: list[str] = field(default_factory=list)

    @property
    def tests(self) -> int:
        return len(self.cases)

    @property
    def stopped(self) -> bool:
        """Ctrl-C ended the exploration: what was found until then was kept."""
        return any(explored.stopped for explored in self.explored)

    @property
    def complete(self) -> bool:
        """Every path within the loop bound has its test, in every function that was asked for."""
        return self.covers_explored and not self.left_out

    @property
    def covers_explored(self) -> bool:
        """The same for the functions that were explored; a selection of paths never claims that."""
        if self.select != ALL_PATHS or self.guesses:
            return False
        if self.own_tests is None and self.tests and not self.coverage.is_full:
            return False
        only_loops = not any(number for kind, number in self.cut.items() if kind is not Limit.LOOP)
        return only_loops and not (
            self.unsupported
            or self.internal_errors
            or self.sampled
            or self.disagreements
            or self.wrong_stubs
            or self.wrong_before
        )

    def why_unreached(self) -> list[str]:
        """What may keep lines and branches from being reached."""
        reasons = {
            "the loop bound (-k)": self.cut[Limit.LOOP],
            "paths that are too deep": self.cut[Limit.DEPTH],
            "the time limit (--seconds)": self.cut[Limit.TIME],
            "the limit on paths (--paths)": self.cut[Limit.PATHS] + self.cut[Limit.LOST],
            "unsupported code": len(self.unsupported),
            "an internal error": len(self.internal_errors) + len(self.disagreements),
            "values that were picked": len(self.sampled),
            "types that were guessed": len(self.guesses),
            "what was assumed": len(self.assumed) + len(self.inferred),
        }
        return [why for why, number in reasons.items() if number] or ["no input leads there, as far as is known"]

    @property
    def summaries(self) -> Counter[str]:
        """How many summaries were made and reused, and how many calls they answered."""
        return sum((e.summaries for e in self.explored), Counter())

    @property
    def branches(self) -> Counter[str]:
        """Function of the target's own file -> in how many branches of the tree of paths it is called."""
        return sum((Counter({n: len(at) for n, at in e.seen.calls.items()}) for e in self.explored), Counter())

    @property
    def violations(self) -> list[TestCase]:
        """Cases in which the code broke its own contract."""
        return [c for c in self.cases if c.violation is not None]

    def to_json(self) -> dict[str, Any]:
        from treadle.doors.unit.findings import as_json as finding  # its words are made of this module's
        from treadle.doors.unit.selected import as_json as selection

        return {
            "target": self.target,
            "file": self.file,
            "tests": self.tests,
            "paths": self.paths,
            # paths that were run, those included that were cut, given up or came to nothing
            "explored": sum(explored.seen.runs for explored in self.explored),
            "cut": {
                **{limit: self.cut[limit] for limit in (Limit.LOOP, Limit.DEPTH, Limit.TIME)},
                **{limit: self.cut[limit] for limit in (Limit.PATHS, Limit.LOST) if self.cut[limit]},
            },
            **{
                name: [{"file": p.file, "line": p.line, "what": p.what} for p in places]
                for name, places in (
                    ("unsupported", self.unsupported),
                    ("sampled", self.sampled),
                    ("internal_errors", self.internal_errors),
                )
            },
            "complete": self.complete,
            "stopped": self.stopped,
            "coverage": {"lines": self.coverage.percent("lines"), "branches": self.coverage.percent("branches")},
            "unreached": {
                "places": [{"file": file, "line": line, "to": to} for file, line, to in self.coverage.unreached],
                "why": self.why_unreached(),
            },
            "guesses": self.guesses,
            "cases": [case_json(c) for c in self.cases],
            "disagreements": [{**case_json(c), "why": why} for c, why in self.disagreements],
            "stubs": {
                "files": list(self.stub_files),
                "used": sorted({stub for case in self.cases for stub in case.stubs}),
                "wrong": [{**case_json(c), "stubs": list(c.stubs), "why": why} for c, why in self.wrong_stubs],
            },
            "summaries": {kind: self.summaries[kind] for kind in ("computed", "reused", "composed")},
            "violations": [finding(c) for c in self.violations],
            "assumed": self.assumed,
            "inferred": self.inferred,
            "left_out": self.left_out,
            "more": self.more.to_json() if self.more is not None else None,
            "warnings": self.warnings,
            "branches": {name: self.branches[name] for name in sorted(self.branches)},
            "selection": selection(self),
            "missing": self.own_tests.to_json() if self.own_tests is not None else None,
        }


def case_json(case: TestCase) -> dict[str, Any]:
    outcome: dict[str, Any]
    if case.outcome.raises is not None:
        outcome = {"raises": case.outcome.raises.__name__, "message": case.outcome.message}
    else:
        outcome = {"returns": plain(case.outcome.value)}
    return {
        "target": case.target,
        "inputs": {name: plain(value) for name, value in case.arguments.items()},
        "outcome": outcome,
        "condition": case.condition,
        "sampled": case.sampled,
    }


def plain(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A value for JSON and tables: JSON's own values as they are, objects as readable text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return shown(value, seen)


def shown(value: Any, seen: tuple[int, ...] = ()) -> str:
    if isinstance(value, CaseObject):
        if value.number in seen:
            return "..."
        seen = (*seen, value.number)
        if value.kind == "function":
            return f"<function: {', '.join(shown(v, seen) for v in value.items)}>"
        if value.kind == "list":
            return f"[{', '.join(shown(v, seen) for v in value.items)}]"
        if value.kind == "dict":
            return "{" + ", ".join(f"{shown(k, seen)}: {shown(v, seen)}" for k, v in value.entries) + "}"
        if value.kind in ("set", "frozenset"):
            return "{" + ", ".join(shown(k, seen) for k, _ in value.entries) + "}" if value.entries else "set()"
        name = as_written(value.cls).__name__ if value.cls else "object"
        inner = [shown(v, seen) for v in value.items] + [f"{k}={shown(v, seen)}" for k, v in value.fields.items()]
        return f"{name}({', '.join(inner)})"
    if isinstance(value, tuple):
        inner_text = ", ".join(shown(v, seen) for v in value)
        return f"({inner_text},)" if len(value) == 1 else f"({inner_text})"
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    try:
        return text(value, Imports(), {})
    except NotWritable:
        return repr(value)
