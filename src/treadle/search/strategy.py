"""What a search strategy is: three methods, and a plan.

    begin()   prepares the next execution: sets `plan` (the strands to follow), `trace` and `guards` (what is known of
              those steps); False when there is nothing left to try
    pick(run) chooses a strand that can go on, beyond the plan; None when no strand can, or to give the execution up
              (then it sets run.stop_reason)
    end(run)  learns from the finished execution

Each strategy is one small file, cites its paper and says where it departs from it.
"""

from __future__ import annotations

from typing import Any, Protocol

from mypy_extensions import mypyc_attr

from treadle.core.operation import Operation


class StrandView(Protocol):
    """What a strategy may know of a strand."""

    index: int
    pending: Operation
    guard: Any
    deadline: float | None


class Run(Protocol):
    """What a strategy may know of an execution."""

    step: int
    trace: list[tuple[int, Operation]]
    guards: list[int]
    spawned: dict[int, int]
    stop_reason: str

    @property
    def live(self) -> list[Any]: ...

    def enabled(self) -> list[Any]: ...


@mypyc_attr(allow_interpreted_subclasses=True)
class Strategy:
    """Base of all strategies. `exhausted` is true only when every schedule it stands for has been run."""

    name = ""

    def __init__(self) -> None:
        self.plan: list[int] = []
        self.trace: list[tuple[int, Operation]] = []
        self.guards: list[int] = []
        self.exhausted = False
        self.bounded = False  # did a bound keep something from being run?
        self.blocked = 0  # executions that were given up as redundant

    def begin(self) -> bool:
        raise NotImplementedError

    def pick(self, run: Any) -> Any:
        raise NotImplementedError

    def end(self, run: Any) -> None:
        """Learn from the execution that just ended."""

    def progress(self) -> float:
        """The share of the space that is done, 0 when nobody can say."""
        return 0.0
