"""Tests of actors: `mailbox` names the queue of an actor that is a thread or a task of your own, and
`replay` runs an ABS model's tasks in a given order from a given state.

The tests that `treadle actor` writes call it; it may be called by hand just as well:

    run = replay("factorial.abs", "Fact.ft", arguments={"n": 3},
                 initial={"s0": {"class": "Fact", "fields": {"b": None, "mx": 1, "r": 1}}},
                 order=["s0.ft", "s0.wk", ...])
    assert run.final["s0"]["r"] == 6

Both are loaded when they are first used: a program that names its mailboxes needs nothing of ABS.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for editors and type checkers
    from treadle.doors.actor.given_order import replay as replay
    from treadle.messages.queues import mailbox as mailbox

_PUBLIC = {"mailbox": "treadle.messages.queues", "replay": "treadle.doors.actor.given_order"}

__all__ = ["mailbox", "replay"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)  # found at once from now on
        return value
    raise AttributeError(f"module 'treadle.actors' has no attribute {name!r}")
