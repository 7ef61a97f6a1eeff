"""What a search found out: findings, and the steps of an execution as a person reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from treadle.core.builds import Builds
from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.core.operation import NO_OPERATION, Operation, location
from treadle.core.verdict import Verdict as Verdict

if TYPE_CHECKING:
    from treadle.core.trail import Trail


# What tasks do that is no operation: it is told as a step all the same.
BEGINS, GOES_ON, CHOOSES = "begins", "goes on after", "chooses"


@dataclass(slots=True)
class Step(JsonForm):
    """One operation of an execution, with where it stands in the source and what it read or wrote."""

    strand: str
    operation: str  # for people: "reads", "writes", "acquires", ...
    object: str  # for people: "Account#1.balance"
    file: str
    line: int
    function: str = field(metadata=NOT_IN_JSON)
    value: str = field(default="", metadata=NOT_IN_JSON)  # the value read or written, shortened
    # (file, line, function), innermost first
    stack: tuple[tuple[str, int, str], ...] = field(default=(), metadata=NOT_IN_JSON)
    performed: Operation = field(
        default=NO_OPERATION, metadata=NOT_IN_JSON
    )  # the operation itself, for everything that is decided by it
    # which versions can switch before it, in marked code (see threads/switching.py)
    checks: int = field(default=0, metadata=NOT_IN_JSON)


@dataclass(slots=True)
class Waiting:
    """A strand that cannot go on: what it wants, who has it, and what it keeps from others meanwhile."""

    strand: str
    wanted: Operation
    held_by: str = ""  # the strand that could let it go on, "" when there is none
    holds: list[str] = field(default_factory=list)
    stack: tuple[tuple[str, int, str], ...] = ()  # (file, line, function), innermost first
    note: str = ""  # the state of the object: "empty, 2 waiting"
    tasks: tuple[str, ...] = ()  # of a loop: its tasks, and what each waits for

    @property
    def object(self) -> str:
        """What it waits for, for people: `Lock#2`."""
        return location(self.wanted)


@dataclass(slots=True)
class Finding(JsonForm):
    """Something wrong in one schedule: what, why, and how to see it again."""

    kind: str  # "exception", "assertion", "deadlock", "livelock", ...
    message: str
    replay: str = ""  # the string that `treadle replay` takes
    explanation: str = field(
        default="", metadata=NOT_IN_JSON
    )  # one column per strand, the lines around the switches, the conflicting pair
    exception: BaseException | None = field(default=None, metadata=NOT_IN_JSON)
    steps: list[Step] = field(default_factory=list, metadata=in_json_as("operations"))
    trail: Trail | None = field(default=None, metadata=NOT_IN_JSON)
    waiting: list[Waiting] = field(default_factory=list, metadata=NOT_IN_JSON)  # the strands of a deadlock
    # strand -> the number of the step behind which it was started
    started: dict[str, int] = field(default_factory=dict, metadata=NOT_IN_JSON)
    # the steps of the nearest schedule that passes, where one was run
    nearest_pass: list[Step] = field(default_factory=list, metadata=NOT_IN_JSON)
    notes: list[str] = field(default_factory=list)  # what else must be known: it could not be shrunk, or recorded
    replayed: str = ""  # where the replay was seen to fail: "a fresh process", "this process"
    # the versions with a GIL that allow this very schedule, where that was recorded
    versions: int = field(default=0, metadata=NOT_IN_JSON)
    # does it need an order of steps that asyncio never chooses?
    out_of_order: bool = field(default=False, metadata=NOT_IN_JSON)
    # of an exception: did it end another strand than the first?
    in_thread: bool = field(default=False, metadata=NOT_IN_JSON)
    # was the exception raised in a callback of an event loop?
    in_callback: bool = field(default=False, metadata=NOT_IN_JSON)
    builds: Builds | None = None  # where it can happen; None where Python is not what runs


@dataclass(slots=True)
class ModelResult(JsonForm):
    """What came out under one of several models of switches."""

    switches: str
    verdict: Verdict
    executions: int
    reason: str


# Bounds of a pass that nobody asked for: what was taken for granted, and is named in its evidence.
ONE_STEP, ORDERS = "calls taken as one step", "orders of sets"
# The bound of a model that `--loop` raises.
LOOP_TURNS = "loop turns in one step"


@dataclass(slots=True)
class Evidence(JsonForm):
    """What the verdict of a search rests on."""

    classes: int  # executions that differ in the order of some dependent operations
    checked: int  # executions that looked whether something shared was not seen
    shared: list[str]  # what several strands touched
    races: list[str]  # what was also run the other way round: "Account#1.balance: reads, then writes"
    one_step: list[str]  # calls that were taken as one step each on shared objects
    # sleeps and time limits that a pass lets end only when nothing else can run: "test_pool.py:9"
    deadlines: list[str] = field(default_factory=list)
    # where hashes decided an order, and others were not tried: "test_pool.py:9"
    orders: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Result(JsonForm):
    """What `treadle.check` returns."""

    target: str
    verdict: Verdict
    executions: int
    exhaustive: bool
    strategy: str
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    atomic_modules: list[str] = field(default_factory=list)
    bounds: dict[str, int] = field(default_factory=dict)
    reason: str = ""  # one sentence on how the search ended
    # what ended a search that was cut: "seconds", "executions", "operations", "space", "unseen", "repeated",
    # "threads", "everywhere", "incomplete" or "interrupted"
    cut_by: str = ""
    statistics: dict[str, Any] = field(default_factory=dict)
    switches: str = ""  # the model of switches: "free", or "gil, CPython 3.12"; "" where strands do not switch
    models: list[ModelResult] = field(default_factory=list)  # of each model, when several were explored
    model: bool = field(default=False, metadata=NOT_IN_JSON)  # is the target a model in ABS with a main block?
    # of a failure: did no schedule pass, neither before it nor of those drawn afterwards?
    everywhere: bool = field(default=False, metadata=NOT_IN_JSON)
    evidence: Evidence | None = None  # what the verdict rests on, of a search through schedules

    # How a notebook shows a result; pages are made further up, and whoever makes them says so here.
    in_notebooks: ClassVar[Callable[[Result], str] | None] = None

    def _repr_html_(self) -> str | None:
        return None if Result.in_notebooks is None else Result.in_notebooks(self)

    @property
    def failed(self) -> bool:
        return self.verdict is Verdict.FAILED
