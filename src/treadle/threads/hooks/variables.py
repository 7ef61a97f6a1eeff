"""Variables that functions share: module globals and closure cells that are rebound; and the object of a `with`."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import shapes
from treadle.threads.adopt import adopt
from treadle.threads.hooks import reach
from treadle.threads.hooks.calls import atomic_method
from treadle.threads.hooks.points import found, perform
from treadle.threads.names import publish
from treadle.threads.strands import STATE
from treadle.threads.unasked import home_of
from treadle.threads.unwinding import Asks


def load_global(variables: dict[str, Any], name: str) -> Any:
    """A module variable that functions rebind."""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return value_of(variables, name)
    strand.access(READ, variables["__name__"], name)
    return found(strand, value_of(variables, name), f"{variables['__name__']}.{name}")


def value_of(variables: dict[str, Any], name: str) -> Any:
    try:
        return variables[name]
    except KeyError:
        try:
            return vars(builtins)[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined", name=name) from None


def constant(variables: dict[str, Any], name: str) -> Any:
    """A module variable that no function of its module rebinds: reading it is an operation once somebody else does."""
    strand = STATE.strand
    if strand is None or not strand.execution.rebound:
        return value_of(variables, name)
    if f"{variables['__name__']}.{name}" in strand.execution.rebound:
        return load_global(variables, name)
    return value_of(variables, name)


def unbound(variables: dict[str, Any], name: str) -> None:
    """A name is about to be read that its module does not bind: an operation once a strand binds it there or takes it
    away, or among the built-in ones."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        for module in (variables["__name__"], "builtins"):
            if f"{module}.{name}" in strand.execution.rebound:
                strand.access(READ, module, name)


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
    strand = STATE.strand
    if strand is None:
        return manager
    if isinstance(manager, shapes.ADOPTABLE):
        return adopt(manager)
    kind = type(manager)
    if kind is contextlib._GeneratorContextManager and reach.is_foreign(manager.gen):
        return _Stepping(manager)
    if reach.kind_of(kind) in (reach.OBJECT, reach.WINDOW) and home_of(kind) not in _TRANSPARENT:
        return _Foreign(manager)
    return manager


class _Foreign:
    """A context manager that is not rewritten: entering and leaving it are operations on it."""

    __slots__ = ("_manager",)

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return atomic_method(self._manager, "__enter__")

    def __exit__(self, *error: Any) -> Any:
        return atomic_method(self._manager, "__exit__", *error)


class _Stepping:
    """A context manager made of a generator that is not rewritten: entering and leaving it are steps of that."""

    __slots__ = ("_manager",)

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        self._point()
        return self._manager.__enter__()

    def __exit__(self, *error: Any) -> Any:
        self._point()
        return self._manager.__exit__(*error)

    def _point(self) -> None:
        strand = STATE.strand
        if strand is not None and not STATE.coasting:
            operations: list[Operation] = []
            reach.advance(strand, operations, self._manager.gen)
            perform(strand, operations)


_TRANSPARENT = frozenset({"contextlib", "_pytest.python_api", "_pytest.raises", "_pytest.recwarn", "unittest.case"})


def called() -> None:
    """A function of the program begins: a point when native code that works on shared objects has called it."""
    strand = STATE.strand
    if strand is not None:
        if strand.answers is not None:
            if STATE.coasting:
                raise Asks
            strand.answers = None  # they were for the native call
        if strand.held:
            strand.callback()


def give(value: Any) -> Any:
    """A generator gives a value, perhaps to native code that works on shared objects."""
    strand = STATE.strand
    if strand is not None and strand.held:
        strand.callback()
    return value


def unseen(what: str, value: Any) -> Any:
    """Code that cannot be rewritten is about to run."""
    strand = STATE.strand
    if strand is not None:
        strand.execution.assumed.add(f"{what}, whose code is not seen")
    return value


def exposed(*variables: Any) -> tuple[Any, ...]:
    """The variables that such code is given: it may do anything to what they lead to."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        operations: list[Operation] = []
        for one in variables:
            reach.everything(strand, operations, one, WRITE)
        perform(strand, operations)
    return variables
