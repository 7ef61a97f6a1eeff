"""Orders of messages that a person asks for: `treadle.order("Flush before Write")`, enforced as in Setak.

Decides what the words mean. An event is named `Label`, `Actor.Label`, `Label#2` (the second message of that name, in
the order of sending), `int(5)` where the message is a built-in value, or `Label from Sender`, or by a name of your
own: `order("fl before w", fl="Writer.Flush", w="Writer.Write")`. `X before Y` holds back every message that Y names
until X has been received. An order that cannot be kept, because X does not come while everything else waits, is given
up and the test fails with `OrderNotKept`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from treadle.core.errors import TreadleError, UsageError
from treadle.core.verdict import exception_for
from treadle.messages.execution import MessageStrand
from treadle.messages.follow import FollowSchedule
from treadle.messages.journal import Message
from treadle.messages.loom import MessageLoom, uses_actors
from treadle.messages.oracles import judge
from treadle.threads.primitives.inside import here

_EVENT = re.compile(r"^(?P<what>.+?)(?:#(?P<nth>\d+))?(?: from (?P<sender>.+))?$")


class OrderNotKept(TreadleError):
    """The program cannot be run in the order that was asked for."""


@dataclass(frozen=True, slots=True)
class EventName:
    """What a person calls a receive."""

    what: str
    nth: int | None = None
    sender: str | None = None

    @classmethod
    def parse(cls, text: str) -> EventName:
        found = _EVENT.match(text.strip())
        if found is None:
            raise UsageError(f"'{text}' names no message; write Label, Actor.Label, Label#2 or Label from Sender")
        nth = found["nth"]
        return cls(found["what"], int(nth) if nth else None, found["sender"])

    def matches(self, message: Message) -> bool:
        """Without the number."""
        if self.sender is not None and message.sender.label != self.sender:
            return False
        actors = (message.to.label, message.to.kind)
        names = (message.label, message.called)
        return self.what in names or self.what in [f"{actor}.{name}" for actor in actors for name in names]

    def __str__(self) -> str:
        return self.what + (f"#{self.nth}" if self.nth else "") + (f" from {self.sender}" if self.sender else "")


class Before:
    """`X before Y` in one execution."""

    def __init__(self, first: EventName, then: EventName) -> None:
        self.first, self.then = first, then
        self.kept = False  # X has been received
        self.given_up = False
        self._counts = {0: 0, 1: 0}
        self._chosen: dict[int, list[Message]] = {0: [], 1: []}

    def sent(self, message: Message) -> None:
        for side, name in enumerate((self.first, self.then)):
            if name.matches(message):
                self._counts[side] += 1
                if name.nth is None or name.nth == self._counts[side]:
                    self._chosen[side].append(message)

    def received(self, message: Message) -> None:
        if message in self._chosen[0]:
            self.kept = True

    def holds(self, message: Message) -> bool:
        return not self.kept and not self.given_up and message in self._chosen[1] and message not in self._chosen[0]

    def __str__(self) -> str:
        return f"{self.first} before {self.then}"


class BeforeEvents:
    """The same for two receives that are known by their hashes."""

    def __init__(self, first: int, then: int) -> None:
        self.first, self.then = first, then
        self.kept = self.given_up = False

    def sent(self, message: Message) -> None:
        """Hashes need no counting."""

    def received(self, message: Message) -> None:
        if message.event == self.first:
            self.kept = True

    def holds(self, message: Message) -> bool:
        return not self.kept and not self.given_up and message.event == self.then


def parse(texts: Iterable[str], names: dict[str, str]) -> list[tuple[EventName, EventName]]:
    """`"X before Y"`, and `"X before Y before Z"` for several in a row."""
    pairs: list[tuple[EventName, EventName]] = []
    for text in texts:
        parts = [part.strip() for part in re.split(r"\s+before\s+", text)]
        if len(parts) < 2 or not all(parts):
            raise UsageError(f"'{text}' is no order; write 'X before Y', for example 'Flush before Write'")
        events = [EventName.parse(names.get(part, part)) for part in parts]
        pairs += pairwise(events)
    if not pairs:
        raise UsageError("an order needs at least one 'X before Y'")
    return pairs


class Order:
    """What `treadle.order(...)` gives: a decorator for a test, or in force at once inside an execution."""

    def __init__(self, pairs: list[tuple[EventName, EventName]]) -> None:
        self.pairs = pairs

    def enforce(self, run: Any) -> list[Before]:
        made = [Before(first, then) for first, then in self.pairs]
        run.orders.extend(made)
        return made

    def __call__(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """Run the test once, with its messages in this order."""

        @functools.wraps(test)
        def ordered(*args: Any, **kwargs: Any) -> None:
            run_ordered(lambda: test(*args, **kwargs), self, source=test)

        return ordered

    def __enter__(self) -> Order:
        if not isinstance(here(), MessageStrand):
            raise UsageError(
                "treadle.order(...) can only be kept in a test that Treadle runs: put it above the test as a decorator"
            )
        return self

    def __exit__(self, *error: object) -> None:
        """The order stays in force until the test ends."""


def order(*texts: str, **names: str) -> Order:
    """Run the messages of an actor test in this order: `@treadle.order("Flush before Write")`."""
    made = Order(parse(texts, names))
    strand = here()
    if isinstance(strand, MessageStrand):
        made.enforce(strand.execution)
    return made


def run_ordered(test: Callable[[], Any], wanted: Order, *, source: Any = None) -> None:
    """One execution in the wanted order; raises what fails in it."""
    __tracebackhide__ = True
    kept: list[Before] = []

    def body() -> None:
        strand = here()
        assert isinstance(strand, MessageStrand)
        kept.extend(wanted.enforce(strand.execution))
        test()

    subject = source if source is not None else test
    with MessageLoom(body, source=subject, queues=not uses_actors(subject)) as loom:
        follow = FollowSchedule()
        follow.begin()
        run = loom.run(follow)
        findings = judge(run)
    lost = [str(one) for one in kept if one.given_up]
    if lost:
        raise OrderNotKept(f"'{lost[0]}' cannot be kept: the first of the two does not come while the other is held")
    for finding in findings:
        if finding.exception is not None:
            finding.exception.add_note(f"in the order: {', '.join(str(one) for one in kept)}")
            raise finding.exception
        raise exception_for(finding.kind, finding.message)
