"""The choices that make an execution, as typed data: what was offered, what was taken, and whether it was forced.

One class per kind of choice. Its fields name what is decided and which way it went, in words that mean the same in
another process, on another Python version, and after edits elsewhere in the program:

    StrandRuns         a thread goes on until it is interrupted before a named operation (threads, tasks)
    MessageDelivered   an actor receives this message next (Bita's receives)
    TaskChosen         an actor runs this task next (ABS)
    ConditionGoes      a condition on unknown data is true or false (a branch of a symbolic path)
    WaysJoined         the ways of a condition or a call are passed at once, or one by one after all
    ReferenceAliases   an unknown reference is None, a new object, or one that is known already
    OptionDrawn        one of several values: a sampled value, the case of a stub, an example
    CallComes          a call comes next in a sequence (class)

Contract, for whoever makes choices:
- `offered` is how many ways there were. It is known while an execution runs, is not part of what a choice *is* (two
  choices are equal whatever was offered) and is not stored: replaying finds it out again.
- a choice with one way was `forced`. A trail leaves it out, so forced choices may be handed to it and cost nothing.
- fields hold text, numbers, truth values and tuples of them, `OptionDrawn.value` also bytes and fractions; anything
  else cannot be written down (`treadle.core.trail` says so).
- a new kind is a new class here and a line in `KINDS`; its letter is for ever.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

# what can be drawn and written down
Drawn: TypeAlias = "bool | int | float | str | bytes | Fraction | tuple[Drawn, ...] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice of an execution. `offered` is how many ways there were, 0 when nobody counted."""

    offered: int = field(default=0, compare=False, repr=False)

    @property
    def forced(self) -> bool:
        return self.offered == 1


@dataclass(frozen=True, slots=True)
class Stop:
    """The operation before which a strand is interrupted: what it does, to which object, in which function, and the
    how-manieth such operation of this strand it is."""

    operation: str
    object: str
    function: str
    occurrence: int = 1

    def __str__(self) -> str:
        nth = "" if self.occurrence == 1 else f" (time {self.occurrence})"
        return f"{self.operation} {self.object} in {self.function}{nth}".replace("  ", " ")


@dataclass(frozen=True, slots=True)
class StrandRuns(Choice):
    """A strand runs until it is interrupted, or, without a stop, until it cannot go on."""

    strand: str
    until: Stop | None = None

    def __str__(self) -> str:
        return f"{self.strand} runs" + (f" until it {self.until}" if self.until else "")


@dataclass(frozen=True, slots=True)
class MessageDelivered(Choice):
    """An actor receives a message. `event` is the hash of the receive: sender, receiver and message (Bita, III-B)."""

    event: int
    actor: str = ""
    message: str = ""

    def __str__(self) -> str:
        return f"message {self.message} to {self.actor}" if self.message else f"message {self.event:016x}"


@dataclass(frozen=True, slots=True)
class TaskChosen(Choice):
    """An actor runs a task up to where it lets go: the how-manieth task of that method to be made at that object.

    `picks` are the results of what happens by chance inside the step.
    """

    actor: str
    method: str
    number: int = 1
    picks: tuple[int, ...] = ()

    def __str__(self) -> str:
        """As a person gives it to `--order`: `fork1.grab#2`."""
        picks = f"[{','.join(map(str, self.picks))}]" if self.picks else ""
        return f"{self.actor}.{self.method}{f'#{self.number}' if self.number > 1 else ''}{picks}"

    @classmethod
    def parse(cls, label: str) -> TaskChosen:
        """From what `str` gives; ValueError for anything else."""
        found = _TASK.match(label)
        if found is None:
            raise ValueError(f"'{label}' names no task")
        actor, method, number, picks = found.groups()
        return cls(actor, method, int(number or 1), tuple(int(pick) for pick in (picks or "").split(",") if pick))


_TASK: Final = re.compile(r"^(\w+)\.(\w+)(?:#([0-9]{1,9}))?(?:\[((?:[0-9]{1,9},?)*)\])?$")


@dataclass(frozen=True, slots=True)
class ConditionGoes(Choice):
    """A condition on unknown data. `where` names it: the function or line, or the condition itself."""

    way: bool
    where: str = ""

    def __str__(self) -> str:
        return f"{self.where or 'a condition'} is {'true' if self.way else 'false'}"


@dataclass(frozen=True, slots=True)
class WaysJoined(Choice):
    """All ways of a condition, or of the n-th call, are passed at once (`joined`), or one by one after all."""

    joined: bool
    call: int | None = None
    where: str = ""

    def __str__(self) -> str:
        what = self.where or ("a condition" if self.call is None else f"call {self.call}")
        return f"the ways of {what} are {'passed at once' if self.joined else 'taken apart'}"


@dataclass(frozen=True, slots=True)
class ReferenceAliases(Choice):
    """An unknown reference (`a.next`) stands for an object: a known one by its name, `None`, or a new one."""

    reference: str
    object: str

    def __str__(self) -> str:
        return f"{self.reference} is {self.object}"


@dataclass(frozen=True, slots=True)
class OptionDrawn(Choice):
    """One of several values was drawn for `what`."""

    what: str
    value: Drawn

    def __str__(self) -> str:
        return f"{self.what} is {self.value!r}"


@dataclass(frozen=True, slots=True)
class CallComes(Choice):
    """A call comes next in a sequence: as source, in the thread of that number (0: before there are threads)."""

    call: str
    thread: int = 0

    def __str__(self) -> str:
        return f"{self.call}, in thread {self.thread}" if self.thread else self.call


# Every kind: the letter that stands for it in a trail's string, the word that does in JSON.
KINDS: Final[tuple[tuple[str, str, type[Choice]], ...]] = (
    ("s", "strand", StrandRuns),
    ("m", "message", MessageDelivered),
    ("t", "task", TaskChosen),
    ("c", "condition", ConditionGoes),
    ("w", "ways", WaysJoined),
    ("r", "reference", ReferenceAliases),
    ("o", "option", OptionDrawn),
    ("n", "call", CallComes),
)
