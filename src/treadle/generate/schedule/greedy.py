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
from treadle.generate.schedule.must_hb import MustHB, bits
from treadle.model.receive import Receive

# A new pair of event types is worth many new pairs of receives: it is another thing that the program does.
_TYPES = 50


class Possible:
    """Which orders of known receives no execution has ruled out: `forth[i]` has bit j when r_i may come before r_j."""

    def __init__(self, goals: Goals) -> None:
        self.goals = goals
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def are_open(self) -> bool:
        """Is there a possible order that no execution has shown?"""
        return any(mask & ~self.goals.forth[number] for number, mask in self.forth.items())

    def add(self, schedule: list[Receive], must_hb: MustHB) -> None:
        by_actor: dict[int, list[int]] = {}
        for place, event in enumerate(schedule):
            by_actor.setdefault(event.rec, []).append(place)
        for places in by_actor.values():
            numbers = {place: self.goals.number_of(schedule[place]) for place in places}
            mask = sum(1 << place for place in places)
            for place in places:
                free = mask & ~must_hb.before[place] & ~(1 << place)
                for other in bits(free):
                    self.forth[numbers[place]] = self.forth.get(numbers[place], 0) | 1 << numbers[other]
                    self.back[numbers[other]] = self.back.get(numbers[other], 0) | 1 << numbers[place]


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
