"""The run-time scheduler of Bita, section V: holds messages back and releases them along a schedule.

Decides who goes next in an execution at message granularity: strands that can go on without a message first (senders
are never blocked), then the message whose receive is the head of the schedule; every other message is held until the
schedule is through, then they come in the order of sending, which is the library's own. A schedule that does not fit,
because its next event does not come, is given up there: `missing` is that event, and the execution goes on freely.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from treadle.core.choice import Choice, MessageDelivered
from treadle.core.operation import SLEEP
from treadle.messages.execution import Courier, MessageExecution
from treadle.messages.receive import Receive
from treadle.search.replay import FollowSteps, FollowTrail, strand_runs
from treadle.search.strategy import ExecutionSeen, OneExecution, StrandSeen
from treadle.threads.strands import Strand


class FollowSchedule(OneExecution):
    """One execution along a schedule; without one, in the library's own order."""

    name = "schedule"

    def __init__(self, schedule: Sequence[Receive] = ()) -> None:
        super().__init__()
        self.planned = tuple(schedule)
        self.schedule = list(schedule)
        self.head = 0
        self.missing: Receive | None = None  # the event that did not come
        self.held_back = False  # it was sent, but no order of puts allows it here, or nobody takes it any more
        self._waiting: dict[int, Courier] = {}  # receive -> courier of its message, in the order of sending
        self._seen = 0
        self._last: Strand | None = None

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        assert isinstance(run, MessageExecution)
        person = self._person(run)
        if person is not None:
            return person
        for new in run.couriers[self._seen :]:
            self._waiting[new.message.event] = new
        self._seen = len(run.couriers)
        while self.head < len(self.schedule):
            wanted = self.schedule[self.head]
            courier = self._waiting.get(wanted.hash)
            if courier is not None and run.can_go(courier):
                self.head += 1
                return self._taken(wanted.hash)
            if self._time_may_pass(run):
                return None  # the clock moves on, and somebody wakes up
            self.missing = wanted
            self.held_back = courier is not None
            self.schedule = []
        for event, courier in self._waiting.items():
            if run.can_go(courier):
                return self._taken(event)
        return None

    def _taken(self, event: int) -> Courier:
        return self._waiting.pop(event)

    def _person(self, run: MessageExecution) -> Strand | None:
        """A strand that is no message, and can go on: the one that went last, or the next in turn."""
        last = self._last
        if last is not None and not last.finished and run.can_go(last):
            return last
        gone = 0
        for strand in run.people:
            if strand.finished:
                gone += 1
            elif run.can_go(strand):
                self._last = strand
                return strand
        if gone > len(run.people) // 2:
            run.people = [strand for strand in run.people if not strand.finished]
        return None

    @staticmethod
    def _time_may_pass(run: MessageExecution) -> bool:
        """Is somebody asleep, or a timer set, whose time comes before any wait with a timeout is given up?"""
        timed = [strand for strand in run.people if not strand.finished and strand.deadline is not None]
        if not timed:
            return False
        first = min(timed, key=lambda strand: strand.deadline or 0.0)
        return first.pending[0] == SLEEP or isinstance(first.thread, threading.Timer)


class FollowMessageTrail(FollowTrail):
    """Runs along a trail of strands and messages. (Version 1 named the couriers of messages as strands.)"""

    def __init__(self, turns: Sequence[Choice]) -> None:
        super().__init__(turns)
        self._couriers: dict[int, str] = {}  # receive -> the courier of its message
        self._seen_couriers = 0

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        assert isinstance(run, MessageExecution)
        for courier in run.couriers[self._seen_couriers :]:
            self._couriers[courier.message.event] = courier.treadle_name
        self._seen_couriers = len(run.couriers)
        return super().pick(run)

    def _strand_of(self, turn: Choice) -> str:
        if isinstance(turn, MessageDelivered):
            return self._couriers.get(turn.event, "")
        return super()._strand_of(turn)


def message_choices(run: MessageExecution, shown: FollowSteps) -> tuple[Choice, ...]:
    """The choices of a recorded execution: which strand goes on, and which message is delivered."""
    couriers = {courier.treadle_name: courier.message for courier in run.couriers}
    return tuple(
        MessageDelivered(couriers[turn.strand].event, couriers[turn.strand].to.label, couriers[turn.strand].label)
        if turn.strand in couriers
        else turn
        for turn in strand_runs(run, shown)
    )
