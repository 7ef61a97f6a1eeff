"""What `treadle schedule` found out, as plain data: coverage, findings, and how both came about."""

from __future__ import annotations

from dataclasses import dataclass, field

from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.core.result import Finding, Verdict
from treadle.messages.receive import Receive


def _told(schedule: list[Receive]) -> list[str]:
    return [f"{event.origin} -> {event.actor}: {event.label}" for event in schedule]


@dataclass(slots=True)
class OrderFinding(Finding):
    """A failure, and the fewest orders of messages that bring it about."""

    order: list[str] = field(default_factory=list)  # "Flush before Write"; empty: it fails in the library's own order
    # the receives of the failing execution
    schedule: list[Receive] = field(default_factory=list, metadata=in_json_as("schedule", _told))
    passing: list[Receive] = field(default_factory=list, metadata=NOT_IN_JSON)  # of the nearest execution that passes
    in_process: bool = True  # possible with queues inside one process: no message overtakes an earlier one
    note: str = field(default="", metadata=NOT_IN_JSON)


@dataclass(slots=True)
class Coverage(JsonForm):
    """Ordering goals of one criterion: how many are covered, of how many that are known to be possible."""

    covered: int = 0
    known: int = 0


@dataclass(slots=True)
class OrderRun:
    """One execution: what was received in which order, and how it ended."""

    receives: list[Receive]
    ended: str  # "passed", or the kind of its failure


# Executions that a result remembers, for the page.
MOST_RUNS = 300


@dataclass(slots=True)
class ScheduleResult(JsonForm):
    """The result of a schedule campaign."""

    target: str
    verdict: Verdict
    events: int = 0  # receives that were seen in any execution
    actors: int = 0
    schedules: int = 0  # generated
    executions: int = 0
    goals: dict[str, Coverage] = field(default_factory=dict)
    infeasible: int = 0  # schedules whose next event did not come
    unfit: list[str] = field(default_factory=list)  # why they were
    findings: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    seconds_to_failure: float = field(
        default=0.0, metadata=NOT_IN_JSON
    )  # until the first execution that fails; the rest is making it small
    reason: str = ""
    cut_by: str = ""  # what ended a search that was cut: "seconds", "executions", "operations" or "interrupted"
    curve: list[dict[str, int]] = field(
        default_factory=list, metadata=in_json_as("coverage")
    )  # goals covered after each execution, by criterion
    delivery: str = "mailbox"
    runs: list[OrderRun] = field(default_factory=list, metadata=NOT_IN_JSON)  # the first executions
    # so that a result of this door goes where those of `explore` go
    exhaustive: bool = field(default=False, metadata=NOT_IN_JSON)
    strategy: str = field(default="schedule", metadata=NOT_IN_JSON)
    switches: str = field(default="", metadata=NOT_IN_JSON)
    bounds: dict[str, int] = field(default_factory=dict, metadata=NOT_IN_JSON)
    evidence: None = field(default=None, metadata=NOT_IN_JSON)
    atomic_modules: list[str] = field(default_factory=list, metadata=NOT_IN_JSON)
    model: bool = field(default=False, metadata=NOT_IN_JSON)

    @property
    def failed(self) -> bool:
        return self.verdict is Verdict.FAILED
