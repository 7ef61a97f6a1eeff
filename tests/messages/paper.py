"""The running example of the Bita paper, Listing 1, as events: Fig. 1 with one action and section IV-D with two."""

from __future__ import annotations

from treadle.messages.receive import Receive, stable_hash


def event(name: str, sender: str, rec: str, sent: tuple[str, ...] = (), cmh: bool = False) -> Receive:
    return Receive(
        stable_hash(sender),
        stable_hash(rec),
        stable_hash(name),
        tuple(stable_hash(message) for message in sent),
        cmh=cmh,
        label=name,
        actor=rec,
        type=f"{rec}.{name.rstrip('0123456789')}",
    )


# Fig. 1: one action
ex = event("ex", "main", "action", ("w", "ad"))
w = event("w", "action", "writer")
ad = event("ad", "action", "terminator", ("fl",))
fl = event("fl", "terminator", "writer", ("fd",))
fd = event("fd", "writer", "terminator")
FIGURE_1 = [ex, w, ad, fl, fd]

# two actions
ex1 = event("ex1", "main", "action1", ("w1", "ad1"))
ex2 = event("ex2", "main", "action2", ("w2", "ad2"))
w1 = event("w1", "action1", "writer")
w2 = event("w2", "action2", "writer")
ad1 = event("ad1", "action1", "terminator")
ad2 = event("ad2", "action2", "terminator", ("flush",))
flush = event("flush", "terminator", "writer", ("fd2",), cmh=True)
fd2 = event("fd2", "writer", "terminator")
TWO_ACTIONS = [ex1, w1, ex2, w2, ad1, ad2, flush, fd2]


def names(schedule: list[Receive]) -> list[str]:
    return [event.label for event in schedule]
