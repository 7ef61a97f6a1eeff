"""`treadle.actors.replay`: an ABS model's tasks in a given order from a given state, as written tests ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treadle.abs.explore.replaying import Replayed, as_objects, follow, follow_main, known_machine, known_root
from treadle.abs.machine.system import find_method
from treadle.core.errors import UsageError
from treadle.doors.actor.loaded import AbsModel


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
