"""What the calls of a sequence did that was run alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from treadle.classes.linearizability import PENDING, Happened
from treadle.core.names import label_and_number
from treadle.core.operation import MULTI, Operation
from treadle.core.result import Step
from treadle.threads.execution import Execution

# Where a call began: in the trace, in the steps, and how many objects there were of each kind.
Begun = tuple[int, int, dict[Any, int]]


@dataclass
class CallRecord:
    """One call of a sequence that was run alone: what it gave, did, and left."""

    happened: Happened
    steps: list[Step] = field(default_factory=list)  # of the last call alone
    operations: list[Operation] = field(default_factory=list)
    state: Hashable = None
    literal: bool = True  # can its result be written into a test? Found out when values are told


@dataclass
class Sequence:
    """A sequence that was run: its calls, and how it ended."""

    calls: list[CallRecord]
    failed: BaseException | None  # the constructor raised this
    ending: str
    built: bool
    strands: int

    @property
    def last(self) -> CallRecord | None:
        return self.calls[-1] if self.calls else None


def pending(run: Execution, begun: Begun | None) -> CallRecord:
    """A call that does not come back: what it has done, and what it waits for. Another one may let it go on. One that
    goes round and round has more operations than anybody could use."""
    found = CallRecord(PENDING)
    if begun is not None and run.stop_reason == "stuck":
        start, described, named = begun
        waits = [operation for strand, operation in run.unfinished if strand is run.strands[0]]
        done = [operation for who, operation in run.trace[start:] if who == 0]
        found.operations = [op for op in dict.fromkeys((*done, *waits)) if not on_new_object(op, named)]
        found.steps = (run.detail or [])[described:]
    return found


def on_new_object(operation: Operation, named: dict[Any, int]) -> bool:
    """Does an operation work only on objects that the call itself made? `named` counts the objects before it."""
    kind, name, key = operation
    if kind == MULTI:
        return all(on_new_object(part, named) for part in key)
    made = label_and_number(name) if isinstance(name, str) else None
    return made is not None and made[1] > named.get(made[0], 0)
