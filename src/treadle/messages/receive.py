"""A receive: an actor takes one message from its mailbox and handles it. The schedule of an actor program is a sequence
of receives (Tasharofi, Pradel, Lin, Johnson, "Bita: Coverage-Guided, Automatic Testing of Actor Programs", ASE 2013).

Decides how receives are recognised in another execution, section III-B: by hashes of sender, receiver and message. The
hash of an actor comes from its type, the receive that created it and how many that receive had created before; the hash
of a message from its type, the receive that sent it and how many that receive had sent before. The entry point of the
program is a receive of hash zero, so every other hash follows. The hashes are the same in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

# The program's entry point: the receive that makes the first actors and sends the first messages.
ENTRY = 0


def stable_hash(*parts: object) -> int:
    """A number that depends on the parts alone, not on the process."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") or 1


def actor_hash(kind: str, creator: int, created_before: int) -> int:
    """Of an actor: its type, the receive that created it, and how many actors that receive had created before."""
    return stable_hash("actor", kind, creator, created_before)


def message_hash(kind: str, sending: int, sent_before: int) -> int:
    """Of a message: its type, the receive that sent it, and how many messages that receive had sent before."""
    return stable_hash("message", kind, sending, sent_before)


@dataclass(frozen=True, slots=True, eq=False)
class Receive:
    """One receive event, with the paper's names. Two are equal when sender, receiver and message are."""

    sender: int
    rec: int
    msg: int
    sent: tuple[int, ...] = ()  # hashes of the messages that handling it sent
    created: tuple[int, ...] = ()  # hashes of the actors that handling it created
    cmh: bool = False  # handling it changed the actor's message handlers
    stops: bool = False  # it stops the actor, which receives nothing afterwards
    awaits: tuple[int, ...] = ()  # hashes of the receives whose replies its handler waited for
    needs: tuple[int, ...] = ()  # hashes of the receives that its sender had waited for before sending
    behind: tuple[int, ...] = ()  # hashes of messages to the same actor that this one does not overtake
    label: str = ""  # for people: "Flush"
    actor: str = ""  # for people: "Writer"
    origin: str = ""  # for people: who sent it, "Terminator"
    told: str = ""  # for people: what is in the message, "('logon', 'anna')"
    type: str = ""  # what PETR tells apart: "Writer.Flush"
    hash: int = 0  # of sender, receiver and message; found out when it is not given

    def __post_init__(self) -> None:
        if not self.hash:
            object.__setattr__(self, "hash", stable_hash("receive", self.sender, self.rec, self.msg))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Receive) and self.hash == other.hash

    def __hash__(self) -> int:
        return self.hash

    def __str__(self) -> str:
        return f"{self.actor} receives {self.label}" if self.label else f"{self.hash:016x}"


Schedule: TypeAlias = Sequence[Receive]
