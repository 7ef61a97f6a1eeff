"""Random actor programs and the actor model itself, in a few lines: what the algorithms are checked against.

What an actor does with a message depends on everything it received before. Messages of one sender to one receiver
keep their order; nothing else is promised.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from treadle.messages.receive import ENTRY, Receive, Schedule, actor_hash, message_hash, stable_hash


def satisfies(run: Schedule, schedule: Schedule) -> bool:
    """Does an execution satisfy a schedule? All its events occur, in its order (section IV)."""
    wanted = {event.hash for event in schedule}
    return [event for event in run if event.hash in wanted] == list(schedule)


@dataclass
class Program:
    """An actor program given by a seed; `most` bounds the receives of an execution."""

    seed: int
    actors: int = 3
    most: int = 14

    def reaction(self, actor: int, history: tuple[int, ...]) -> random.Random:
        return random.Random(stable_hash(self.seed, actor, *history))


@dataclass
class Message:
    sender: int
    rec: int
    hash: int
    depth: int


@dataclass
class Recorded:
    message: Message
    sent: list[int] = field(default_factory=list)
    created: list[int] = field(default_factory=list)
    cmh: bool = False


def run(program: Program, wanted: list[Receive] | None = None) -> list[Recorded]:
    """Run in order of sending; with `wanted`, messages are held until the schedule is through, as in section V."""
    actors = [actor_hash("A", ENTRY, number) for number in range(program.actors)]
    pool: list[Message] = []
    history: dict[int, tuple[int, ...]] = {}
    recorded: list[Recorded] = []
    entry = random.Random(program.seed)
    for number in range(3 + entry.randrange(3)):
        pool.append(Message(0, entry.choice(actors), message_hash("m", ENTRY, number), 0))
    order = [event.msg for event in wanted or []]
    while pool and len(recorded) < 200:
        heads = [m for n, m in enumerate(pool) if not any(p.sender == m.sender and p.rec == m.rec for p in pool[:n])]
        if order:
            chosen = next((m for m in heads if m.hash == order[0]), None)
            assert chosen is not None, f"event {len(recorded)} did not come"
            order.pop(0)
        else:
            chosen = heads[0]
        pool.remove(chosen)
        recorded.append(_receive(program, chosen, actors, history, pool))
    assert not order, "the end of the schedule did not come"
    return recorded


def _receive(
    program: Program, message: Message, actors: list[int], history: dict[int, tuple[int, ...]], pool: list[Message]
) -> Recorded:
    done = Recorded(message)
    past = history[message.rec] = (*history.get(message.rec, ()), message.hash)
    draw = program.reaction(message.rec, past)
    event = Receive(message.sender, message.rec, message.hash).hash
    known = actors[:]
    done.cmh = draw.random() < 0.3
    if draw.random() < 0.2 and message.depth < 2:
        made = actor_hash("B", event, 0)
        done.created.append(made)
        known = [*actors, made, made]
    for number in range(draw.choice((0, 0, 1, 1, 2)) if message.depth < 3 else 0):
        sent = Message(message.rec, draw.choice(known), message_hash("m", event, number), message.depth + 1)
        pool.append(sent)
        done.sent.append(sent.hash)
    return done


def events_of(recorded: list[Recorded]) -> list[Receive]:
    return [
        Receive(one.message.sender, one.message.rec, one.message.hash, tuple(one.sent), tuple(one.created), one.cmh)
        for one in recorded
    ]
