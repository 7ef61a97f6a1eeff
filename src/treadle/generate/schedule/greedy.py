"""Orders chosen while the program runs: of the messages at hand, the one whose delivery brings the most new goals.

Algorithms 1 to 3 plan a schedule ahead, and have to leave out every event that the reordering may change. This chooses
at each delivery instead, and so reorders everything that comes: delivering a message now reaches the goals "it before
what its actor has yet to receive", and gives up the goals "those before it". What is known of earlier executions says
which of them are possible and still open. Every order chosen this way is feasible, since it is the one that was run.
"""

from __future__ import annotations

from typing import Any

from treadle.generate.schedule.criteria import PR, Goals
from treadle.generate.schedule.follow import FollowSchedule
from treadle.generate.schedule.possible import Possible
from treadle.model.receive import Receive

# A new pair of event types is worth many new pairs of receives: it is another thing that the program does.
_TYPES = 50


class Greedy(FollowSchedule):
    """One execution that reaches as many open goals as it can see."""

    name = "greedy"

    def __init__(self, goals: Goals, types: Goals, in_a_row: Goals, possible: Possible) -> None:
        super().__init__()
        assert goals.criterion is PR
        self.goals, self.types, self.in_a_row, self.possible = goals, types, in_a_row, possible
        self.received = 0
        self.last: dict[int, Receive] = {}  # actor -> what it received last
        self.known: dict[int, Receive] = {}  # number of a message -> its receive, as far as it is known before

    def pick(self, run: Any) -> Any:
        person = self._person(run)
        if person is not None:
            return person
        for courier in run.couriers[self._seen :]:
            self._waiting[courier.message.event] = courier
        self._seen = len(run.couriers)
        best, worth = None, (0, 0)
        for courier in self._waiting.values():
            if run.can_go(courier):
                value = self._worth(courier.message), -courier.message.number
                if best is None or value > worth:
                    best, worth = courier, value
        if best is not None:
            event = self._event(best.message)
            self.received |= 1 << self.goals.number_of(event)
            self.last[event.rec] = event
            self._taken(best.message.event)
        return best

    def _event(self, message: Any) -> Receive:
        event = self.known.get(message.number)
        if event is None:
            event = self.known[message.number] = Receive(
                message.sender.hash,
                message.to.hash,
                message.hash,
                hash=message.event,
                type=f"{message.to.kind}.{message.label}",
            )
        return event

    def _worth(self, message: Any) -> int:
        """Goals that delivering it now reaches, less those that it gives up."""
        event = self._event(message)
        number = self.goals.number_of(event)
        later = self.possible.forth.get(number, 0) & ~self.received
        gain = (later & ~self.goals.forth[number]).bit_count()
        earlier = self.possible.back.get(number, 0) & ~self.received
        loss = (earlier & ~self.goals.back[number]).bit_count()
        return gain - loss + _TYPES * self._new_types(event)

    def _new_types(self, event: Receive) -> int:
        last = self.last.get(event.rec)
        return 0 if last is None else int((last, event) not in self.in_a_row) + int((last, event) not in self.types)
