"""Variables that functions share: module globals and closure cells that are rebound; and the object of a `with`."""

from __future__ import annotations

import builtins
from typing import Any

from treadle.core.operation import READ, WRITE
from treadle.threads import shapes
from treadle.threads.adopt import adopt
from treadle.threads.hooks.points import found
from treadle.threads.names import publish
from treadle.threads.strands import STATE


def load_global(variables: dict[str, Any], name: str) -> Any:
    """A module variable that functions rebind."""
    strand = STATE.strand
    if strand is not None:
        strand.access(READ, variables["__name__"], name)
    try:
        value = variables[name]
    except KeyError:
        try:
            value = vars(builtins)[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined", name=name) from None
    return value if strand is None else found(strand, value, f"{variables['__name__']}.{name}")


def set_global(value: Any, variables: dict[str, Any], name: str) -> None:
    strand = STATE.strand
    if strand is not None:
        publish(strand, value)
        strand.access(WRITE, variables["__name__"], name)
        if strand.detail:
            strand.execution.saw(value)
    variables[name] = value


def del_global(variables: dict[str, Any], name: str) -> None:
    strand = STATE.strand
    if strand is not None:
        strand.access(WRITE, variables["__name__"], name)
    if name not in variables:
        raise NameError(f"name {name!r} is not defined", name=name)
    del variables[name]


def cell_read(label: str) -> None:
    """A variable shared by an outer and an inner function is about to be read."""
    strand = STATE.strand
    if strand is not None:
        strand.access(READ, label, None)


def cell_write(label: str) -> None:
    strand = STATE.strand
    if strand is not None:
        strand.access(WRITE, label, None)


def context(manager: Any) -> Any:
    """The object of a `with` statement."""
    if STATE.strand is not None and isinstance(manager, shapes.ADOPTABLE):
        return adopt(manager)
    return manager
