"""A failing schedule in the fewest words: which messages must come before which others for the failure to show.

Decides what is left out: every order that the library's own order of delivery brings about anyway, then, by delta
debugging, every one without which the execution fails in the same way. What remains is a
list of `X before Y` that `treadle.order` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from treadle.messages.journal import Message
from treadle.messages.order import Before, BeforeEvents, EventName
from treadle.search.shrink import delta_debug

Pair = tuple[int, int]  # hashes of two receives of one actor: the first comes first
Constraint = Before | BeforeEvents
# runs with these constraints; the execution when it fails as before, else None
Attempt = Callable[[Sequence[Constraint]], Any]

_MOST_ATTEMPTS = 300
_MOST_KINDS = 40  # pairs of kinds of messages that are tried alone


def fewest_orders(failing: Any, attempt: Attempt) -> tuple[list[Pair], Any] | None:
    """The constraints that still make it fail, and the execution that shows it. None: constraints alone do not."""
    budget = [_MOST_ATTEMPTS]

    def fails(pairs: Sequence[Pair]) -> Any:
        if budget[0] <= 0:
            return None
        budget[0] -= 1
        return attempt([BeforeEvents(first, then) for first, then in pairs])

    run = fails([])
    if run is not None:
        return [], run
    for pairs in (_against_sending(failing), _whole_order(failing)):
        run = fails(pairs)
        if run is not None:
            return delta_debug(pairs, run, fails)
    return None


def one_order(failing: Any, attempt: Attempt) -> tuple[list[str], Any] | None:
    """A single `X before Y` between kinds of messages that brings the failure about: most often there is one."""
    messages = {message.event: message for message in failing.journal.messages}
    tried: dict[tuple[EventName, EventName], None] = {}
    for first, then in reversed(_against_sending(failing)):
        pair = name_of(messages[first], failing, numbered=False), name_of(messages[then], failing, numbered=False)
        if pair[0] != pair[1]:
            tried[pair] = None
    for pair in list(tried)[:_MOST_KINDS]:
        shown = attempt([Before(*pair)])
        if shown is not None:
            return [f"{pair[0]} before {pair[1]}"], shown
    return None


def _against_sending(run: Any) -> list[Pair]:
    """Pairs of which the one that was sent later came first."""
    pairs = []
    for messages in _by_actor(run).values():
        for place, late in enumerate(messages):
            for early in messages[:place]:
                if early.number > late.number:
                    pairs.append((early.event, late.event))
    return pairs


def _whole_order(run: Any) -> list[Pair]:
    return [(first.event, then.event) for messages in _by_actor(run).values() for first, then in pairwise(messages)]


def _by_actor(run: Any) -> dict[int, list[Message]]:
    """The messages of each actor: as received, then those that were never received."""
    found: dict[int, list[Message]] = {}
    for handling in run.journal.handlings:
        if handling.message is not None:
            found.setdefault(handling.actor.hash, []).append(handling.message)
    for message in run.journal.messages:
        if message.handling is None and message.to.hash in found:
            found[message.to.hash].append(message)
    return found


# ---------------------------------------------------------------------- in words


def in_words(pairs: Sequence[Pair], run: Any, attempt: Attempt) -> tuple[list[str], Any] | None:
    """The constraints by name, and the execution they lead to; None when names do not tell the messages apart."""
    messages = {message.event: message for message in run.journal.messages}
    if not all(first in messages and then in messages for first, then in pairs):
        return None
    for numbered, by_value in ((False, True), (True, True), (True, False)):  # a value may change after it was sent
        named = [
            (name_of(messages[first], run, numbered, by_value), name_of(messages[then], run, numbered, by_value))
            for first, then in pairs
        ]
        named = list(dict.fromkeys(named))
        shown = attempt([Before(*pair) for pair in named])
        if shown is not None:
            named, shown = delta_debug(named, shown, lambda some: attempt([Before(*pair) for pair in some]))
            return [f"{first} before {then}" for first, then in named], shown
    return None


def name_of(message: Message, run: Any, numbered: bool = True, by_value: bool = True) -> EventName:
    """The shortest name that means this message alone; with its actor where other actors get the like."""
    alike = [other for other in run.journal.messages if other.label == message.label]
    what = message.called if by_value else message.label
    what = what if all(other.to is message.to for other in alike) else f"{message.to.label}.{what}"
    name = EventName(what)
    same = [other for other in run.journal.messages if name.matches(other)]
    if len(same) == 1 or not numbered:
        return name
    return EventName(what, same.index(message) + 1)
