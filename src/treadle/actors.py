"""Tests of actors: `mailbox` names the queue of an actor that is a thread or a task of your own, and
`replay` runs an ABS model's tasks in a given order from a given state.

The tests that `treadle actor` writes call it; it may be called by hand just as well:

    run = replay("factorial.abs", "Fact.ft", arguments={"n": 3},
                 initial={"s0": {"class": "Fact", "fields": {"b": None, "mx": 1, "r": 1}}},
                 order=["s0.ft", "s0.wk", ...])
    assert run.final["s0"]["r"] == 6
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treadle.core.errors import UsageError

if TYPE_CHECKING:
    from treadle.abs.explore.replaying import Replayed

__all__ = ["mailbox", "replay"]


def mailbox(queue: Any, owner: Any) -> Any:
    """Say that a `queue.Queue` or `asyncio.Queue` is the mailbox of `owner`: a name, or the object that reads it.

    Then `treadle explore` and `treadle schedule` see what is put into it as messages. Returns the queue; in a program
    that Treadle does not run it does nothing else.
    """
    from treadle.messages.queues import mailbox as name_mailbox

    return name_mailbox(queue, owner)


def replay(
    model: str | Path,
    method: str = "",
    *,
    initial: Mapping[str, Mapping[str, Any]] | None = None,
    arguments: Mapping[str, Any] | None = None,
    queue: Sequence[Mapping[str, Any]] = (),
    order: Sequence[str] = (),
) -> Replayed:
    """Run `Class.method` of an ABS model (or, without a method, its main block), its tasks in the given order.

    `initial` names the objects that exist, the receiver first; values are int, bool, None for null, or ABS text:
    "s1" is an object, "list[1, 2]" a list, '"text"' a string. The result has `final` (fields by object), `result`,
    `outcome` ("completed", "waiting", "deadlock", "failed", or "unfinished" if tasks could still run), `failures`,
    `waiting` and `deadlocked`. A step that cannot be taken is an error that says what could run instead.
    """
    from treadle.abs.explore.replaying import as_objects, follow, follow_main, known_machine, known_root
    from treadle.abs.machine.system import find_method
    from treadle.doors.actor.models import AbsModel

    path = Path(model)
    if not path.is_file():
        raise UsageError(f"there is no file '{model}'")
    loaded = AbsModel.load_once(path)
    machine = known_machine(loaded.image)
    if not method:
        return follow_main(machine, loaded.program, order)
    cls, found = find_method(loaded.program, method)
    waiting = [(item["method"], item.get("arguments", {})) for item in queue]
    root, names = known_root(machine, cls, found.name, arguments or {}, as_objects(initial or {}), waiting)
    return follow(machine, root, names, order)
