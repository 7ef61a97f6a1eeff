"""What a campaign over a class is asked, and what it tells: options, faults, results, and the sentence for a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.classes.interleavings import Witness
from treadle.classes.sequences import PRUNINGS
from treadle.classes.subject import Subject
from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.core.result import ModelResult, Step, Verdict
from treadle.core.trail import Trail
from treadle.observe.recorded import RecordedUse


@dataclass
class Options:
    """What a campaign is asked to do."""

    methods: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)  # methods that would change the world, and how
    # calls that would, their methods, and how
    refused_calls: dict[str, tuple[str, str]] = field(default_factory=dict)
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
    switches: str = "free"  # the model: "free", "gil", or "auto" for one after the other
    allow_effects: bool = False  # may calls change files, start processes, use the network?
    share: tuple[int, int] = (0, 1)  # which of how many processes this is
    keep: Callable[[Any], None] | None = None  # is given the result so far whenever a fault is found
    alarm: Path | None = None  # a file that all processes look for: one of them has found a fault
    from_tests: str = ""  # the tests to record; empty: those of the project, if it has some
    recorded: RecordedUse | None = None  # how tests and examples use the class
    ignored: frozenset[frozenset[str]] = frozenset()  # pairs of methods that are not reported again


@dataclass
class Fault(JsonForm):
    """A fault, minimised: what happened, why no order of the calls explains it, and the execution that shows it."""

    kind: str
    what: str = field(metadata=in_json_as("message"))  # what the calls do, without their names
    methods: list[str]
    locations: list[str]
    witness: Witness = field(metadata=NOT_IN_JSON)
    explanation: str = field(default="", metadata=in_json_as("schedule"))
    steps: list[Step] = field(default_factory=list, metadata=NOT_IN_JSON)
    weak: bool = field(
        default=False, metadata=NOT_IN_JSON
    )  # is one of the calls only a walk through a container that the other changes?
    racy: bool = field(
        default=True, metadata=NOT_IN_JSON
    )  # does the execution hold two conflicting accesses without a common lock?
    found_after: float = field(default=0.0, metadata=NOT_IN_JSON)
    found_in_test: int = field(default=0, metadata=NOT_IN_JSON)
    trail: Trail | None = field(
        default=None, metadata=NOT_IN_JSON
    )  # the schedule, as it was found; its target is the class
    replay: str = ""
    on: str = ""  # on which builds of Python it can happen, in words
    on_every_build: bool = False
    test: str = ""
    unwritten: str = ""  # why there is no test that shows it

    blame: str = ""  # whose mistake it is, where locks tell
    # the functions whose accesses nothing protects: findings that have one in common are effects of one race
    race: frozenset[str] = field(default=frozenset(), metadata=NOT_IN_JSON)
    # what else the same race does, the gravest first
    effects: list[Fault] = field(default_factory=list, metadata=in_json_as("effects", if_any=True))

    @property
    def calls(self) -> str:
        """The calls that are made at once."""
        return calls_of(self.witness)

    @property
    def message(self) -> str:
        """Which calls, and what they do."""
        return f"{self.calls}: {self.what}"

    def to_json(self) -> dict[str, Any]:
        return {**JsonForm.to_json(self), "message": self.message}

    @property
    def all_effects(self) -> list[Fault]:
        """The fault itself, and what else the same race does."""
        return [self, *self.effects]

    @property
    def gravity(self) -> int:
        """Small is grave; a finding that is told as a warning comes last."""
        return self.witness.violation.gravity if self.kind != "serializability" else 3


@dataclass
class PairRuns:
    """What was run of two methods together: tests of one call each, and how many of them to their end."""

    tests: int = 0
    exhausted: int = 0


@dataclass
class CoverageMark(JsonForm):
    """How far a campaign had come at one moment."""

    executions: int
    traces: int  # method traces covered
    requirements: int  # problematic interleavings run
    seconds: float  # of work


@dataclass
class ClassResult(JsonForm):
    """What `treadle class` found out about one class."""

    target: str
    verdict: Verdict
    seconds: float = 0.0
    methods: int = 0
    sequences: int = 0
    tests_assembled: int = 0
    pairs: int = field(default=0, metadata=in_json_as("coverage.pairs"))
    interleavings_tried: int = 0
    traces: int = field(default=0, metadata=in_json_as("coverage.method_traces"))
    requirements: int = field(default=0, metadata=in_json_as("coverage.problematic_interleavings"))
    requirements_covered: int = field(default=0, metadata=in_json_as("coverage.problematic_interleavings_run"))
    exhausted_pairs: int = 0
    # tests with several calls in a thread
    longer_tests: int = field(default=0, metadata=in_json_as("coverage.longer_tests"))
    longer_exhausted: int = field(default=0, metadata=in_json_as("coverage.longer_tests_exhausted"))
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    unconfirmed: list[Fault] = field(default_factory=list)  # found, but every schedule of a test of its own passes
    not_called: dict[str, str] = field(default_factory=dict)  # methods that were not called, and why
    idle: set[str] = field(
        default_factory=set, metadata=NOT_IN_JSON
    )  # of these, those that were called and did nothing
    notes: list[str] = field(default_factory=list)  # what was not judged, and why
    reason: str = ""
    untried: bool = field(default=False, metadata=NOT_IN_JSON)  # is it because methods were not called, or did nothing?
    first_fault: float | None = field(default=None, metadata=in_json_as("first_fault_seconds"))
    subject: Subject | None = field(default=None, metadata=NOT_IN_JSON)
    written: str = field(default="", metadata=in_json_as("file"))  # the file with the tests
    interrupted: bool = False
    switches: str = ""  # the model of switches: "free", or "gil, CPython 3.12"
    models: list[ModelResult] = field(default_factory=list)  # of each model, when several were explored
    done: set[int] = field(
        default_factory=set, metadata=NOT_IN_JSON
    )  # tests of this process's share, when there are several
    left_to_others: set[int] = field(default_factory=set, metadata=NOT_IN_JSON)
    # the methods that are judged, what was run of each pair of them, and how coverage grew
    judged: list[str] = field(default_factory=list, metadata=NOT_IN_JSON)
    matrix: dict[tuple[str, str], PairRuns] = field(default_factory=dict, metadata=NOT_IN_JSON)
    growth: list[CoverageMark] = field(default_factory=list, metadata=in_json_as("coverage.growth"))
    # when the last method trace was covered that was not known, and where the work went, in seconds of it
    saturated_after: float = field(default=0.0, metadata=in_json_as("coverage.saturated_after"))
    work: dict[str, float] = field(default_factory=dict)
    finished: bool = field(default=False, metadata=NOT_IN_JSON)  # what a process answers at its end, not on its way


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Two methods, whichever is called first."""
    return (one, other) if one <= other else (other, one)


def add_matrix(into: ClassResult, other: ClassResult) -> None:
    """Add what another campaign over the same class has run."""
    for pair, runs in other.matrix.items():
        mine = into.matrix.setdefault(pair, PairRuns())
        mine.tests += runs.tests
        mine.exhausted += runs.exhausted
    into.judged = sorted({*into.judged, *other.judged})
    if len(other.growth) > len(into.growth):
        into.growth, into.saturated_after = other.growth, other.saturated_after
    into.work = {part: into.work.get(part, 0.0) + other.work.get(part, 0.0) for part in {**into.work, **other.work}}


def calls_of(witness: Witness) -> str:
    """Which calls are made at once: `deposit || deposit`."""
    return " || ".join("; ".join(call.method for call in calls) for calls in witness.test.threads)


def message(witness: Witness) -> str:
    """What happened, in one sentence: `deposit || deposit: no order of the two calls gives balance == 1`."""
    return f"{calls_of(witness)}: {what_happened(witness)}"


def what_happened(witness: Witness) -> str:
    """The sentence without the calls."""
    test, violation, outcome = witness.test, witness.violation, witness.outcome
    kind, number, extra = violation.where
    texts = outcome.texts
    if violation.kind == "exception" and kind == "result":
        at = f" ({violation.place})" if violation.place else ""
        call = test.threads[number][extra].source()
        return f"{call} raises {violation.message}{at}, as in no order of the calls"
    if kind == "field":
        return f"no order of the calls gives {test.fields[number]} == {texts.get(violation.where, '?')}"
    if kind == "observed":
        call = test.omega[number].source()
        if violation.kind == "broken state":
            return f"afterwards {call} raises {violation.message}, as after no order of the calls"
        return f"no order of the calls gives {call} == {texts.get(violation.where, '?')}"
    if kind == "later":
        call = test.later[number].source()
        return f"afterwards {call} raises {violation.message}, as after no order of the calls"
    if kind == "result":
        given = [
            f"{call.source()} -> {texts.get(('result', thread, place), '?')}"
            for thread, calls in enumerate(test.threads)
            for place, call in enumerate(calls)
        ]
        handed_out = [place for place in outcome.same[: len(given)] if place >= 0]
        objects = "" if len(handed_out) < 2 else ", as one object" if len(set(handed_out)) == 1 else ", apart"
        return f"no order of the calls gives {' and '.join(given)}{objects}"
    return violation.message


# Pairs that a sentence can hold; all of them are on the page and in --json.
_MOST_PAIRS = 8


def passed(result: ClassResult, calls: int) -> str:
    """What a pass is about."""
    many = result.sequences != 1
    pairs = [" || ".join(pair) for pair, runs in sorted(result.matrix.items()) if runs.tests]
    more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
    said = (
        f"every schedule of every pair of calls ({', '.join(pairs[:_MOST_PAIRS])}{more}) was run "
        f"from the states that {result.sequences} "
        f"sequence{'s' * many} {'reach' if many else 'reaches'}"
    )
    if result.longer_tests:
        said += (
            f", and of {result.longer_exhausted} of {result.longer_tests} tests with up to {calls} calls in a thread"
        )
    if result.subject is not None and result.subject.in_tasks:
        said += ", in two tasks of one event loop, because of its coroutines: nothing is said about threads"
    return said
