"""What a campaign over a class is asked, and what it tells: options, faults, results, and the sentence for a fault."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.classes.interleavings import Witness
from treadle.classes.sequences import PRUNINGS
from treadle.classes.subject import Subject
from treadle.core.result import Step, Verdict
from treadle.core.trail import Trail


@dataclass
class Options:
    """What a campaign is asked to do."""

    methods: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    values: dict[str, list[str]] = field(default_factory=dict)
    setup: Callable[[], Any] | None = None
    setup_folder: Path | None = None  # where the file of the factory lies, and how a test imports and calls it
    setup_import: str = ""
    setup_call: str = ""
    budget: float = 60.0
    seed: int = 0
    generator: str = "coverage"
    calls: int = 2  # calls in one thread, when single calls show nothing more
    prune: frozenset[str] = frozenset(PRUNINGS)
    atomic_sets: tuple[frozenset[str], ...] = ()
    instrument: tuple[str, ...] = ()
    share: tuple[int, int] = (0, 1)  # which of how many processes this is
    alarm: Any = None  # a number that all processes share: when the first fault was found
    ignored: frozenset[frozenset[str]] = frozenset()  # pairs of methods that are not reported again


@dataclass
class Fault:
    """A fault, minimised: what happened, why no order of the calls explains it, and the execution that shows it."""

    kind: str
    message: str
    methods: list[str]
    locations: list[str]
    witness: Witness
    explanation: str = ""
    steps: list[Step] = field(default_factory=list)
    weak: bool = False  # is one of the calls only a walk through a container that the other changes?
    racy: bool = True  # does the execution hold two conflicting accesses without a common lock?
    found_after: float = 0.0
    found_in_test: int = 0
    trail: Trail | None = None  # the calls and their schedule, as they were found; its target is the class
    replay: str = ""
    test: str = ""
    unwritten: str = ""  # why there is no test that shows it

    @property
    def key(self) -> Hashable:
        """Faults at the same places are one."""
        return self.kind == "deadlock", tuple(sorted(self.locations))

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "message": self.message,
            "methods": self.methods,
            "locations": self.locations,
            "replay": self.replay,
            "test": self.test,
            "unwritten": self.unwritten,
            "schedule": self.explanation,
        }


@dataclass
class ClassResult:
    """What `treadle class` found out about one class."""

    target: str
    verdict: Verdict
    seconds: float = 0.0
    methods: int = 0
    sequences: int = 0
    tests_assembled: int = 0
    pairs: int = 0
    interleavings_tried: int = 0
    traces: int = 0
    requirements: int = 0
    requirements_covered: int = 0
    exhausted_pairs: int = 0
    longer_tests: int = 0  # tests with several calls in a thread
    longer_exhausted: int = 0
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    unconfirmed: list[Fault] = field(default_factory=list)  # found, but every schedule of a test of its own passes
    notes: list[str] = field(default_factory=list)  # what was not called or not judged, and why
    reason: str = ""
    first_fault: float | None = None
    subject: Subject | None = None
    written: str = ""  # the file with the tests
    interrupted: bool = False
    done: set[int] = field(default_factory=set)  # tests of this process's share, when there are several
    left_to_others: set[int] = field(default_factory=set)

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "verdict": self.verdict.value,
            "seconds": round(self.seconds, 3),
            "sequences": self.sequences,
            "tests_assembled": self.tests_assembled,
            "interleavings_tried": self.interleavings_tried,
            "coverage": {
                "method_traces": self.traces,
                "pairs": self.pairs,
                "problematic_interleavings": self.requirements,
                "problematic_interleavings_run": self.requirements_covered,
                "longer_tests": self.longer_tests,
                "longer_tests_exhausted": self.longer_exhausted,
            },
            "faults": [fault.to_json() for fault in self.faults],
            "warnings": [warning.to_json() for warning in self.warnings],
            "unconfirmed": [fault.to_json() for fault in self.unconfirmed],
            "exhausted_pairs": self.exhausted_pairs,
            "methods": self.methods,
            "notes": self.notes,
            "reason": self.reason,
            "first_fault_seconds": None if self.first_fault is None else round(self.first_fault, 3),
        }


def message(witness: Witness) -> str:
    """What happened, in one sentence: `deposit || deposit: no order of the two calls gives balance == 1`."""
    test, violation, outcome = witness.test, witness.violation, witness.outcome
    head = " || ".join("; ".join(call.method for call in calls) for calls in test.threads)
    kind, number, extra = violation.where
    texts = outcome.texts
    if violation.kind == "exception" and kind == "result":
        return f"{head}: {test.threads[number][extra].source()} raises {violation.message}, as in no order of the calls"
    if kind == "field":
        return f"{head}: no order of the calls gives {test.fields[number]} == {texts.get(violation.where, '?')}"
    if kind == "observed":
        call = test.omega[number].source()
        if violation.kind == "broken state":
            return f"{head}: afterwards {call} raises {violation.message}, as after no order of the calls"
        return f"{head}: no order of the calls gives {call} == {texts.get(violation.where, '?')}"
    if kind == "later":
        return (
            f"{head}: afterwards {test.later[number].source()} raises {violation.message}, "
            "as after no order of the calls"
        )
    if kind == "result":
        given = [
            f"{call.source()} -> {texts.get(('result', thread, place), '?')}"
            for thread, calls in enumerate(test.threads)
            for place, call in enumerate(calls)
        ]
        handed_out = [place for place in outcome.same[: len(given)] if place >= 0]
        objects = "" if len(handed_out) < 2 else ", as one object" if len(set(handed_out)) == 1 else ", apart"
        return f"{head}: no order of the calls gives {' and '.join(given)}{objects}"
    return f"{head}: {violation.message}"


def passed(result: ClassResult, calls: int) -> str:
    """What a pass is about."""
    many = result.sequences != 1
    said = (
        f"every schedule of every pair of calls was run from the states that {result.sequences} "
        f"sequence{'s' * many} {'reach' if many else 'reaches'}"
    )
    if result.longer_tests:
        said += (
            f", and of {result.longer_exhausted} of {result.longer_tests} tests with up to {calls} calls in a thread"
        )
    return said
