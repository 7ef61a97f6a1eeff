"""What `treadle schedule` found out, as plain data: coverage, findings, and how both came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.core.result import Finding, Verdict
from treadle.messages.receive import Receive


@dataclass(slots=True)
class OrderFinding(Finding):
    """A failure, and the fewest orders of messages that bring it about."""

    order: list[str] = field(default_factory=list)  # "Flush before Write"; empty: it fails in the library's own order
    schedule: list[Receive] = field(default_factory=list)  # the receives of the failing execution
    passing: list[Receive] = field(default_factory=list)  # of the nearest execution that passes
    in_process: bool = True  # possible with queues inside one process: no message overtakes an earlier one
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        facts = Finding.to_json(self)
        facts["order"] = self.order
        facts["schedule"] = [f"{event.origin} -> {event.actor}: {event.label}" for event in self.schedule]
        facts["in_process"] = self.in_process
        return facts


@dataclass(slots=True)
class Coverage:
    """Ordering goals of one criterion: how many are covered, of how many that are known to be possible."""

    covered: int = 0
    known: int = 0

    def to_json(self) -> dict[str, int]:
        return {"covered": self.covered, "known": self.known}


@dataclass(slots=True)
class ScheduleResult:
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
    seconds_to_failure: float = 0.0  # until the first execution that fails; the rest is making it small
    reason: str = ""
    curve: list[dict[str, int]] = field(default_factory=list)  # goals covered after each execution, by criterion
    delivery: str = "promised"
    # so that a result of this door goes where those of `explore` go
    exhaustive: bool = False
    strategy: str = "schedule"
    bounds: dict[str, int] = field(default_factory=dict)
    atomic_modules: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.verdict is Verdict.FAILED

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "verdict": self.verdict.value,
            "events": self.events,
            "actors": self.actors,
            "schedules": self.schedules,
            "executions": self.executions,
            "goals": {name: coverage.to_json() for name, coverage in self.goals.items()},
            "infeasible": self.infeasible,
            "unfit": self.unfit,
            "findings": [finding.to_json() for finding in self.findings],
            "warnings": [finding.to_json() for finding in self.warnings],
            "seconds": round(self.seconds, 3),
            "delivery": self.delivery,
            "reason": self.reason,
            "coverage": self.curve,
        }
