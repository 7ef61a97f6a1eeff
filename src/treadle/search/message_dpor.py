"""Optimal DPOR over messages: `dpor`, told what executions at message granularity know beyond their operations.

Only deliveries to one actor (and looks at whether it is alive) conflict. Two more things order events there:

    run.follows    a courier delivers after the couriers that it follows (same sender and receiver): such a pair is no
                   race, it can never go the other way round
    run.enablers   a step that waited came after the steps that signalled what it waited for, which are no operations
"""

from __future__ import annotations

from typing import Protocol, cast

from treadle.core.dependency import HappensBefore
from treadle.search.dpor import Dpor
from treadle.search.other_orders import class_of
from treadle.search.strategy import ExecutionSeen


class MessagesSeen(Protocol):
    """What executions at message granularity know besides."""

    @property
    def follows(self) -> dict[int, list[int]]: ...

    @property
    def enablers(self) -> dict[int, list[int]]: ...


class MessageDpor(Dpor):
    """One execution per set of orders in which actors receive their messages."""

    def __init__(self) -> None:
        super().__init__()
        self.follows: dict[int, list[int]] = {}
        self.enablers: dict[int, list[int]] = {}
        self.classes: set[int] = set()  # those that were run
        self.ran = 0  # that of the last execution

    @property
    def ordered(self) -> list[int]:
        """Per event of the last execution, what comes before it."""
        return self.before

    def end(self, run: ExecutionSeen) -> None:
        messages = cast(MessagesSeen, run)
        self.follows, self.enablers = messages.follows, messages.enablers
        super().end(run)
        if run.stop_reason != "blocked":
            # by what depends on what alone: who enables a delivery is no more than one of those that do
            order = HappensBefore(run.trace, run.guards, run.spawned, run.indexes)
            self.ran = class_of(run.trace, order.before)
            self.classes.add(self.ran)

    def _own_past(self, strand: int, spawned: dict[int, int]) -> int:
        past = super()._own_past(strand, spawned)
        for other in self.follows.get(strand, ()):
            steps = self.by_strand.get(other)
            if steps:
                past |= self.before[steps[-1]]
            else:  # it waits for one that was not delivered either: nothing races with it
                return (1 << len(self.before)) - 1
        return past

    def _link(self, number: int, run: ExecutionSeen, races: list[tuple[int, int]]) -> None:
        super()._link(number, run, races)
        for earlier in self.enablers.get(number, ()):
            if earlier < number:
                self.before[number] |= self.before[earlier]
                self.forced[number] |= self.before[earlier]
