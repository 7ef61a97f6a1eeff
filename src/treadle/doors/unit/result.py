"""What a run of `treadle unit` found, wrote and measured; `result_json` tells it to machines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treadle.doors.unit.check import CodeCoverage
from treadle.symbolic.path import TERMINATION, CodePlace, Limit
from treadle.symbolic.testcase import TestCase
from treadle.units.explore import ExploredTarget
from treadle.units.select import ALL_PATHS

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
    # tests that a file did not have before (--append); None for one that was written anew
    added: int | None = None
    # disagreements of the runs before this one
    wrong_before: int = 0
    # things that went wrong beside the tests
    warnings: list[str] = field(default_factory=list)
    # what the inputs were assumed to fulfil: there are no tests for others
    assumed: list[str] = field(default_factory=list)
    # what was guessed about the inputs: others have no tests
    guesses: list[str] = field(default_factory=list)
    # heap assumptions that follow from the code, and why
    inferred: list[str] = field(default_factory=list)
    # tests of calls that were tried, for what could not be followed, and their targets
    probed: dict[str, str] = field(default_factory=dict)
    # tests that show nothing new, and were left out of a long file
    untold: int = 0
    # why targets could not be followed at all, and were only tried
    unfollowed: list[str] = field(default_factory=list)

    @property
    def tests(self) -> int:
        return len(self.cases) + len(self.probed)

    @property
    def by_hand(self) -> int:
        """Tests that set fields of objects, because no calls were found that make them so."""
        return sum(bool(case.by_hand) for case in self.cases)

    @property
    def stopped(self) -> bool:
        """Ctrl-C ended the exploration: what was found until then was kept."""
        return any(explored.stopped for explored in self.explored)

    @property
    def complete(self) -> bool:
        """Every path within the termination criterion has its test, in every function that was asked for."""
        return self.covers_explored and not self.left_out

    @property
    def covers_explored(self) -> bool:
        """The same for the functions that were explored; a selection of paths never claims that."""
        if self.select != ALL_PATHS or self.guesses or self.probed or self.unfollowed or self.untold:
            return False
        if self.own_tests is None and self.tests and not self.coverage.is_full:
            return False
        only_loops = not any(number for kind, number in self.cut.items() if kind not in TERMINATION)
        return only_loops and not (
            self.unsupported
            or self.internal_errors
            or self.sampled
            or self.disagreements
            or self.wrong_stubs
            or self.wrong_before
        )

    @property
    def has_gaps(self) -> bool:
        """Something is not reached by any test."""
        return not self.coverage.is_full

    def why_unreached(self) -> list[str]:
        """What may keep lines and branches from being reached."""
        reasons = {
            "the loop bound (-k)": self.cut[Limit.LOOP],
            "the termination criterion (--terminate)": self.cut[Limit.CRITERION],
            "paths that are too deep": self.cut[Limit.DEPTH],
            "the time limit (--seconds)": self.cut[Limit.TIME],
            "the limit on paths (--paths)": self.cut[Limit.PATHS] + self.cut[Limit.LOST],
            "unsupported code": len(self.unsupported) + len(self.unfollowed),
            "an internal error": len(self.internal_errors) + len(self.disagreements),
            "values that were picked": len(self.sampled),
            "what was guessed": len(self.guesses),
            "what was assumed": len(self.assumed) + len(self.inferred),
        }
        known = [why for why, number in reasons.items() if number]
        return known or ["no input that fits the hints leads there, as far as is known"]

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
