"""Built-in functions that do what an expression does, and so are seen as that: getattr, setattr, vars, next, id, ..."""

from __future__ import annotations

from typing import Any

from treadle.threads import containers
from treadle.threads.hooks.attributes import delete, load, store
from treadle.threads.hooks.calls import STAND_INS
from treadle.threads.hooks.iteration import next_item
from treadle.threads.names import PLAIN, meet
from treadle.threads.strands import AFTER_EXECUTION, STATE, SyncObject


def _getattr(obj: Any, name: str, *default: Any) -> Any:
    if not default:
        return load(obj, name)
    try:
        return load(obj, name)
    except AttributeError:
        return default[0]


def _hasattr(obj: Any, name: str) -> bool:
    try:
        load(obj, name)
    except AttributeError:
        return False
    return True


def _setattr(obj: Any, name: str, value: Any) -> None:
    store(value, obj, name)


def _vars(*args: Any) -> Any:
    return load(args[0], "__dict__") if args else vars()


def _id(obj: Any) -> int:
    """An address may become the key of a dictionary, and there means the object, in every execution."""
    strand = STATE.strand
    if strand is not None:
        kind = type(obj)
        if kind not in PLAIN:
            name = getattr(obj, "treadle_name", "") if isinstance(obj, SyncObject) else meet(strand, obj).name
        else:
            name = getattr(obj, "__qualname__", "") or repr(obj)[:60] if kind is not tuple else ""
        containers.ADDRESSES[id(obj)] = f"id of {name or strand.fresh(kind.__name__)}"
    return id(obj)


AFTER_EXECUTION.append(containers.ADDRESSES.clear)

STAND_INS.update(
    {
        getattr: _getattr,
        hasattr: _hasattr,
        setattr: _setattr,
        delattr: delete,
        vars: _vars,
        next: next_item,
        id: _id,
    }
)
