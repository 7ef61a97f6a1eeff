"""Orders chosen while the program runs: of the messages at hand, the one whose delivery brings the most new goals.

Algorithms 1 to 3 plan a schedule ahead, and have to leave out every event that the reordering may change: a planned
schedule of a large program reverses a few pairs and then stops. This chooses at each delivery instead, and so reorders
everything that comes: delivering a message now reaches the goals "it before what its actor has yet to receive", and
gives up the goals "those before it". What is known of earlier executions says which of them are possible and still
open. Every order chosen this way is feasible, since it is the one that was run.

What a message is worth is blurred by chance, and chance decides between messages of equal worth: without that, one
execution is like the other as soon as none of them reaches the open goals that are left.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from treadle.messages.criteria import Goals
from treadle.messages.follow import FollowSchedule
from treadle.messages.possible import Possible
from treadle.messages.receive import Receive

# A new pair of event types is worth many new pairs of receives: it is another thing that the program does.
_TYPES = 50
# The worth of a message is multiplied by a number between these.
_LEAST, _MOST = 0.5, 1.5


@dataclass(frozen=True)
class Reached:
    """What earlier executions reached, and what they leave open."""

    goals: dict[str, Goals]  # by criterion
    possible: Possible  # of PR
    types: bool = True  # are new pairs of event types worth more?


class Greedy(FollowSchedule):
    """One execution that reaches as many open goals as it can see: of PR, or of PCR with `in_a_row`.

    Every second execution for PCR chooses at random among the messages that are equally good.
    """

    name = "greedy"

    def __init__(self, known: Reached, seed: int, in_a_row: bool = False) -> None:
        super().__init__()
        self.goals, self.possible, self.types = known.goals["PR"], known.possible, known.types
        self.type_goals, self.types_in_a_row = known.goals["PETR"], known.goals["PCETR"]
        self.consecutive = known.goals["PCR"] if in_a_row else None
        self.by_chance = in_a_row and seed % 2 == 1
        self.chance = random.Random(seed)
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
        ready = [courier for courier in self._waiting.values() if run.can_go(courier)]
        if not ready:
            return None
        best = max(ready, key=lambda courier: self._worth(courier.message)) if len(ready) > 1 else ready[0]
        event = self._event(best.message)
        self.received |= 1 << self.goals.number_of(event)
        self.last[event.rec] = event
        return self._taken(best.message.event)

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

    def _worth(self, message: Any) -> tuple[int, float, float]:
        event = self._event(message)
        blur = self.chance.uniform(_LEAST, _MOST)
        following = 0 if self.consecutive is None else self._next(event, self.consecutive)
        return following, 0.0 if self.by_chance else self._pairs(event) * blur, blur

    def _pairs(self, event: Receive) -> int:
        """Goals that delivering it now reaches, less those that it gives up."""
        number = self.goals.number_of(event)
        later = self.possible.forth.get(number, 0) & ~self.received
        gain = (later & ~self.goals.forth[number]).bit_count()
        earlier = self.possible.back.get(number, 0) & ~self.received
        loss = (earlier & ~self.goals.back[number]).bit_count()
        return gain - loss + (_TYPES * self._new_types(event) if self.types else 0)

    def _new_types(self, event: Receive) -> int:
        last = self.last.get(event.rec)
        if last is None:
            return 0
        return int((last, event) not in self.types_in_a_row) + int((last, event) not in self.type_goals)

    def _next(self, event: Receive, goals: Goals) -> int:
        """Right after what the actor received last: a pair whose other order was seen is best, an old goal worst."""
        last = self.last.get(event.rec)
        if last is None:
            return 0
        if (last, event) in goals:
            return -1
        if (event, last) in goals:
            return 3
        return int(self.goals.number_of(event) in self.possible.forth)
