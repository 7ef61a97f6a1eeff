"""Which ordering goals are possible, as far as is known: what no execution has ruled out.

Decides what "known" means in the report: the goals between receives that were seen in one execution and that mustHB
does not forbid, and those that were reached.
"""

from __future__ import annotations

from treadle.messages.criteria import PCR, Goals
from treadle.messages.must_hb import MustHB, bits
from treadle.messages.receive import Receive


class Possible:
    """Over the numbers of `goals`: `forth[i]` has bit j when the goal r_i -> r_j may be possible."""

    def __init__(self, goals: Goals) -> None:
        self.goals = goals
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def count(self) -> int:
        """Goals that are possible or were reached."""
        reached = self.goals.forth
        return sum((mask | self.forth.get(number, 0)).bit_count() for number, mask in enumerate(reached))

    def are_open(self) -> bool:
        """Is there a possible order that no execution has shown?"""
        return any(mask & ~self.goals.forth[number] for number, mask in self.forth.items())

    def add(self, schedule: list[Receive], must_hb: MustHB) -> None:
        """Learn from one execution."""
        by_actor: dict[int, list[int]] = {}
        for place, event in enumerate(schedule):
            by_actor.setdefault(event.rec, []).append(place)
        for places in by_actor.values():
            self._add_actor(schedule, must_hb, places)

    def _add_actor(self, schedule: list[Receive], must_hb: MustHB, places: list[int]) -> None:
        criterion = self.goals.criterion
        bit = {place: 1 << self.goals.number_of(schedule[place]) for place in places}
        mask = sum(1 << place for place in places)
        apart = 0  # receives that must not come between the two of a goal
        if criterion.consecutive:
            apart = sum(1 << place for place in places if criterion is PCR or schedule[place].cmh)
        for place in places:
            number = self.goals.number_of(schedule[place])
            forth = 0
            for other in bits(mask & ~must_hb.before[place] & ~(1 << place)):
                if apart and must_hb.after[place] & must_hb.before[other] & apart:
                    continue
                if criterion.is_related(schedule[place], schedule[other]):
                    forth |= bit[other]
                    there = self.goals.number_of(schedule[other])
                    self.back[there] = self.back.get(there, 0) | bit[place]
            self.forth[number] = self.forth.get(number, 0) | forth
