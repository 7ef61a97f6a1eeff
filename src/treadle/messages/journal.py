"""What happened to the messages of one execution: who sent what, who received it when, and what came of it.

Decides what is recorded for the schedule door (sections III-B and IV-C of the Bita paper): hashes, sends, creations,
changes of handlers, blocking waits; and what the oracles need: failures of actors, messages that nobody handled.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import Any

from treadle.messages.receive import ENTRY, Receive, actor_hash, message_hash, stable_hash
from treadle.threads.detail import short

# A dictionary message is named after the first of these keys that it has: {"command": "flush"} is "flush".
_TAGS = ("type", "kind", "command", "cmd", "msg", "message", "action", "event", "op", "name")
_LONGEST = 32
# Built-in types whose name says nothing about a message: its value does.
_PLAIN = (int, float, complex, bool, bytes, type(None), tuple, list, dict, set, frozenset)


@dataclass(slots=True, eq=False)
class Actor:
    """An actor, a thread that sends messages, or the entry point: who messages come from and go to."""

    hash: int
    kind: str
    label: str
    instance: Any = None
    daemon: bool = False
    outside: bool = False  # no actor: the test, a thread, the world outside
    apart: bool = False  # a process of its own, where the library runs it: it shares no memory


@dataclass(slots=True, eq=False)
class Handling:
    """One receive while it is going on. The code of a thread that is no actor is one long handling, too."""

    actor: Actor
    hash: int
    message: Message | None = None
    sent: list[int] = field(default_factory=list)
    created: list[int] = field(default_factory=list)
    sends: int = 0
    creations: int = 0
    cmh: bool = False
    awaits: dict[int, None] = field(default_factory=dict)  # receives whose outcome was waited for
    frontier: dict[int, None] = field(default_factory=dict)  # those of them that no other one implies
    credit: Handling | None = None  # the code of `on_start` counts, as a cause, for the receive that made the actor

    def wait_for(self, other: Handling) -> None:
        """The handler goes on only because the other receive has happened, and what that one waited for."""
        for hash_ in (*other.awaits, other.hash):
            if hash_ != ENTRY and hash_ != self.hash:
                self.awaits[hash_] = None
                self.frontier[hash_] = None
        if other.message is not None:
            for implied in other.message.needs:
                self.frontier.pop(implied, None)


@dataclass(slots=True, eq=False)
class Message:
    """A message on its way, or received."""

    number: int  # in the order of sending
    hash: int
    label: str
    body: Any
    sender: Actor
    to: Actor
    needs: tuple[int, ...]
    known: int  # mask of the numbers of the messages whose sending happened before
    behind: tuple[int, ...] = ()
    channel: str = ""  # the strand that sent it: its messages to one receiver keep their order
    in_turn: bool = False  # does not overtake any message whose sending it knows of
    puts: int = (
        0  # mask of the messages that were put into their mailboxes before it, as far as receives have settled it
    )
    stops: bool = False
    handling: Handling | None = None
    dropped: bool = False
    event: int = field(init=False)  # the hash of the receive of this message

    def __post_init__(self) -> None:
        self.event = stable_hash("receive", self.sender.hash, self.to.hash, self.hash)

    @property
    def called(self) -> str:
        """What a person calls it: its label, with the value where that is a built-in one: `int(5)`."""
        body = _content(self)
        if type(body) not in _PLAIN or self.label != type(body).__name__:
            return self.label
        value = short(body)
        told = value[1:-1].rstrip(",") if type(body) is tuple else value
        readable = len(told) <= _LONGEST and not re.search(r"#| from | before ", told)
        return f"{self.label}({told})" if readable else self.label


@dataclass(slots=True)
class HandlerFailure:
    """An exception that ended an actor's handling of a message, and that nobody was told about."""

    actor: Actor
    error: BaseException
    message: Message | None
    handled: bool  # the actor, or the one that sent the message, has code for it
    told: Message | None = None  # the message that tells the sender

    @property
    def known(self) -> bool:
        """Has the program taken notice of it?"""
        return self.handled or (self.told is not None and self.told.to.outside and self.told.handling is not None)


class Journal:
    """The messages of one execution."""

    def __init__(self) -> None:
        self.entry = Handling(Actor(ENTRY, "main", "main", outside=True), ENTRY)
        self.actors: list[Actor] = []
        self.messages: list[Message] = []
        self.handlings: list[Handling] = []  # receives, in the order in which they happened
        self.failures: list[HandlerFailure] = []
        self._labels: dict[str, int] = {}

    def create(self, kind: str, by: Handling, instance: Any = None, *, apart: bool = False) -> Actor:
        """A new actor, created while `by` was handled."""
        hash_ = actor_hash(kind, by.hash, by.creations)
        by.creations += 1
        (by.credit or by).created.append(hash_)
        number = self._labels[kind] = self._labels.get(kind, 0) + 1
        actor = Actor(hash_, kind, kind if number == 1 else f"{kind}#{number}", instance, apart=apart)
        self.actors.append(actor)
        return actor

    def send(self, body: Any, to: Actor, by: Handling, known: int, label: str = "") -> Message:
        """A new message, sent while `by` was handled."""
        label = label or label_of(body)
        message = Message(
            number=len(self.messages),
            hash=message_hash(label, by.hash, by.sends),
            label=label,
            body=body,
            sender=by.actor,
            to=to,
            needs=tuple(by.frontier),
            known=known,
        )
        by.sends += 1
        (by.credit or by).sent.append(message.hash)
        self.messages.append(message)
        return message

    def receive(self, message: Message) -> Handling:
        """An actor starts to handle a message."""
        handling = Handling(message.to, message.event, message)
        message.handling = handling
        self.handlings.append(handling)
        return handling

    def receives(self) -> list[Receive]:
        """The schedule of this execution."""
        return [_receive(one.message, one) for one in self.handlings if one.message is not None]

    def dropped(self) -> list[Receive]:
        """The receives that did not happen because the actor took no more messages: it stopped, or its code ended."""
        return [
            _receive(message, Handling(message.to, message.event))
            for message in self.messages
            if message.handling is None and not message.to.outside
        ]

    def overtakings(self) -> list[tuple[Message, Message]]:
        """Pairs (late, early): `early` was received first although `late` was sent before it, in the causal order.

        Queues inside one process never do that; messages between processes or over a network may.
        """
        found = []
        waiting: dict[int, list[Message]] = {}
        for message in self.messages:
            waiting.setdefault(message.to.hash, []).append(message)
        for handling in self.handlings:
            early = handling.message
            if early is None:
                continue
            mine = waiting[early.to.hash]
            mine.remove(early)
            found += [(late, early) for late in mine if early.known >> late.number & 1]
        return found


def _receive(message: Message, handling: Handling) -> Receive:
    return Receive(
        hash=message.event,
        sender=message.sender.hash,
        rec=message.to.hash,
        msg=message.hash,
        sent=tuple(handling.sent),
        created=tuple(handling.created),
        cmh=handling.cmh,
        stops=message.stops,
        awaits=tuple(handling.awaits),
        needs=message.needs,
        behind=message.behind,
        label=message.called,
        actor=message.to.label,
        origin=message.sender.label,
        told=_told(message) if message.called == message.label else "",
        type=f"{message.to.kind}.{message.label}",
    )


def _content(message: Message) -> Any:
    """What the program put into a message, without what its library puts around it."""
    body = message.body
    if type(body).__name__ == "Envelope":  # of Pykka
        return body.message
    if type(body) is tuple and len(body) == 2 and type(body[0]).__name__ == "ThespianActor":
        return body[1]
    return body


def _told(message: Message) -> str:
    """What is in a message, in a few characters; "" where its label says all. Nothing of the program runs for it."""
    body = _content(message)
    if type(body).__name__ == "ProxyCall":
        given = [short(one) for one in body.args] + [f"{name}={short(one)}" for name, one in body.kwargs.items()]
        return f"{message.label}({', '.join(given)})"
    if type(body).__name__ == "ProxySetAttr":
        return f"{message.label} = {short(body.value)}"
    text = short(body)
    return "" if message.stops or text.strip("'<>") == message.label else text


def label_of(body: Any) -> str:
    """What a person calls a message: its type, or the word in it that says what it is about."""
    if isinstance(body, str):
        return body if len(body) <= _LONGEST else body[: _LONGEST - 1] + "…"
    if isinstance(body, enum.Enum):
        return str(body.name)
    if isinstance(body, type):
        return body.__name__
    if isinstance(body, dict):
        for tag in _TAGS:
            if isinstance(body.get(tag), (str, enum.Enum)):
                return label_of(body[tag])
    if type(body) in (tuple, list) and body and isinstance(body[0], (str, enum.Enum, type)):
        return label_of(body[0])
    return type(body).__name__


# ---------------------------------------------------------------------- changes of message handlers

HANDLERS = ("on_receive", "receiveMessage")


def behaviour(instance: Any, named: tuple[str, ...] = ()) -> tuple[object, ...]:
    """What decides how an actor handles its next message: compared before and after a receive.

    Handlers assigned to the instance, its class, the attributes that the user names, and the state of a state machine
    (the `transitions` and `python-statemachine` packages).
    """
    state = getattr(instance, "__dict__", {})
    found: list[object] = [type(instance), *(state.get(name) for name in HANDLERS)]
    found += [getattr(instance, name, None) for name in named]
    for value in state.values():
        package = type(value).__module__.partition(".")[0]
        if package == "transitions":
            found.append(state.get("state"))
            found.append(getattr(value, "state", None))
        elif package == "statemachine":
            found.append(getattr(value, "current_state_value", None))
    for base in type(instance).__mro__:
        if base.__module__.partition(".")[0] == "statemachine":
            found.append(getattr(instance, "current_state_value", None))
            break
    return tuple(found)
