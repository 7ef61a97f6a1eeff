"""What a search found out: findings, and the steps of an execution as a person reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.core.operation import NO_OPERATION, Operation
from treadle.core.verdict import Verdict as Verdict


@dataclass(slots=True)
class Step:
    """One operation of an execution, with where it stands in the source and what it read or wrote."""

    strand: str
    operation: str  # for people: "reads", "writes", "acquires", ...
    object: str  # for people: "Account#1.balance"
    file: str
    line: int
    function: str
    value: str = ""  # the value read or written, shortened
    stack: tuple[tuple[str, int, str], ...] = ()  # (file, line, function), innermost first
    performed: Operation = NO_OPERATION  # the operation itself, for everything that is decided by it

    def to_json(self) -> dict[str, Any]:
        return {
            "strand": self.strand,
            "operation": self.operation,
            "object": self.object,
            "file": self.file,
            "line": self.line,
        }


@dataclass(slots=True)
class Waiting:
    """A strand that cannot go on: what it wants, who has it, and what it keeps from others meanwhile."""

    strand: str
    operation: str  # "acquires", "gets from", "waits for"
    object: str  # "Lock#2"
    held_by: str = ""  # the strand that could let it go on, "" when there is none
    holds: list[str] = field(default_factory=list)
    stack: tuple[tuple[str, int, str], ...] = ()  # (file, line, function), innermost first
    note: str = ""  # the state of the object: "empty, 2 waiting"


@dataclass(slots=True)
class Finding:
    """Something wrong in one schedule: what, why, and how to see it again."""

    kind: str  # "exception", "assertion", "deadlock", "livelock", ...
    message: str
    replay: str = ""  # the string that `treadle replay` takes
    explanation: str = ""  # one column per strand, the lines around the switches, the conflicting pair
    exception: BaseException | None = None
    steps: list[Step] = field(default_factory=list)
    trail: Any = None  # treadle.core.trail.Trail
    waiting: list[Waiting] = field(default_factory=list)  # the strands of a deadlock
    notes: list[str] = field(default_factory=list)  # what else must be known: it could not be shrunk, or recorded
    replayed: str = ""  # where the replay was seen to fail: "a fresh process", "this process"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "message": self.message,
            "replay": self.replay,
            "replayed": self.replayed,
            "notes": self.notes,
            "operations": [step.to_json() for step in self.steps],
        }


@dataclass(slots=True)
class Result:
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
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.verdict is Verdict.FAILED

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "verdict": self.verdict.value,
            "exhaustive": self.exhaustive,
            "executions": self.executions,
            "seconds": round(self.seconds, 3),
            "strategy": self.strategy,
            "bounds": self.bounds,
            "reason": self.reason,
            "atomic_modules": self.atomic_modules,
            "findings": [finding.to_json() for finding in self.findings],
            "warnings": [finding.to_json() for finding in self.warnings],
            "statistics": self.statistics,
        }
