"""Which receives must happen before which others, inferred from one schedule (Bita, section IV-C).

Decides what may be reordered. `before[j]` and `after[i]` are bit sets over positions in the schedule: bit i of
`before[j]` is set when (r_i, r_j) is in mustHB. The relation is transitively closed by construction, in one pass over
the schedule in each direction, which keeps ten thousand events a matter of a second.

Two constraints come on top of the paper's: blocking communication (`needs`, which the paper leaves to its reference
[46]), and messages that must not overtake others of another sender (`behind`: the one that stops an actor; all of them
where delivery is causal).
"""

from __future__ import annotations

from collections.abc import Iterator

from treadle.messages.receive import Receive, Schedule


class MustHB:
    """mustHB(s), Definition 7: the transitive closure of causality and sender-receiver constraints."""

    __slots__ = ("after", "before", "number", "schedule")

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = list(schedule)
        self.number = {event.hash: place for place, event in enumerate(self.schedule)}
        links = _Links(self.schedule, self.number)
        self.before = _close_forward(self.schedule, links)
        self.after = _close_backward(self.schedule, links)

    def __contains__(self, pair: tuple[Receive, Receive]) -> bool:
        first, second = self.number[pair[0].hash], self.number[pair[1].hash]
        return bool(self.before[second] >> first & 1)


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Links:
    """The constraints that hold directly. A cause brings its whole past at the same actor with it: Definition 5 (3, 4).

    causes[j]    receives k that caused r_j: then everything up to k at the actor of k happens before r_j
    ahead[j]     receives that come before r_j for themselves alone: same sender and receiver, or `behind`
    previous[k]  the receive before k at the same actor, -1 for none
    """

    __slots__ = ("ahead", "causes", "previous")

    def __init__(self, schedule: list[Receive], number: dict[int, int]) -> None:
        sent_by = {message: place for place, event in enumerate(schedule) for message in event.sent}
        created_by = {actor: place for place, event in enumerate(schedule) for actor in event.created}
        received = {event.msg: place for place, event in enumerate(schedule)}
        last: dict[int, int] = {}
        last_of_pair: dict[tuple[int, int], int] = {}
        self.causes: list[list[int]] = []
        self.ahead: list[list[int]] = []
        self.previous: list[int] = []
        for place, event in enumerate(schedule):
            causes = [sent_by.get(event.msg), created_by.get(event.rec), *(number.get(need) for need in event.needs)]
            self.causes.append([cause for cause in causes if cause is not None and cause < place])
            pair = (event.sender, event.rec)
            ahead = [last_of_pair[pair]] if pair in last_of_pair else []
            earlier = (received.get(message) for message in event.behind)
            ahead += [other for other in earlier if other is not None and other < place]
            self.ahead.append(ahead)
            self.previous.append(last.get(event.rec, -1))
            last[event.rec] = last_of_pair[pair] = place


def _close_forward(schedule: list[Receive], links: _Links) -> list[int]:
    """before[j]; up_to[k] is everything that happens before k or an earlier receive of its actor, and these."""
    before: list[int] = []
    up_to: list[int] = []
    for place in range(len(schedule)):
        mask = 0
        for cause in links.causes[place]:
            mask |= up_to[cause]
        for other in links.ahead[place]:
            mask |= before[other] | 1 << other
        before.append(mask)
        previous = links.previous[place]
        up_to.append(mask | 1 << place | (up_to[previous] if previous >= 0 else 0))
    return before


def _close_backward(schedule: list[Receive], links: _Links) -> list[int]:
    """after[i], by the same links the other way round."""
    count = len(schedule)
    after = [0] * count
    from_here = [0] * count  # what is caused by this receive or by a later one of its actor
    for place in range(count - 1, -1, -1):
        after[place] |= from_here[place]
        reached = after[place] | 1 << place
        for cause in links.causes[place]:
            from_here[cause] |= reached
        for other in links.ahead[place]:
            after[other] |= reached
        previous = links.previous[place]
        if previous >= 0:
            from_here[previous] |= from_here[place]
    return after
