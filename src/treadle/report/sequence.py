"""A run of actors as a page shows it: who sends what to whom, step by step, and what waits in every queue meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.messages.receive import Receive


def told(event: Receive) -> str:
    """A message with what is in it."""
    if not event.told or event.told.startswith(event.label):
        return event.told or event.label
    return f"{event.label} {event.told}"


def sequence(receives: Sequence[Receive], marked: int | None = None, note: str = "") -> dict[str, Any]:
    """An execution as steps of receiving; the queues are those of messages that are received later on."""
    columns = list(dict.fromkeys(name for event in receives for name in (event.origin, event.actor)))
    return {
        "note": note,
        "columns": [{"name": name, "label": name} for name in columns],
        "marked": marked,
        "steps": [
            {
                "actor": event.actor,
                "task": event.label,
                "title": f"{event.actor} receives {told(event)} from {event.origin}",
                "arrows": [{"from": event.origin, "to": event.actor, "label": told(event), "new": False}],
                "queues": queues,
            }
            for event, queues in zip(receives, _queues(receives), strict=True)
        ],
        "waiting": {},
        "deadlock": False,
    }


def _queues(receives: Sequence[Receive]) -> list[dict[str, list[str]]]:
    """For each step, what waits in the queue of each actor behind it: sent, and received in a later step."""
    sent_at: dict[int, int] = {}  # message -> the step that sent it; those of the entry point are there from the start
    for number, event in enumerate(receives):
        for message in event.sent:
            sent_at[message] = number
    found = []
    for number in range(len(receives)):
        waiting: dict[str, list[str]] = {}
        for event in receives[number + 1 :]:
            if sent_at.get(event.msg, -1) <= number:
                waiting.setdefault(event.actor, []).append(told(event))
        found.append(waiting)
    return found
