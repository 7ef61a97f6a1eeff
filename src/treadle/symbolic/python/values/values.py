"""The values of a running Python program, where they are not plain Python values.

A known int, str, bool, float, None, class, function or module is itself. A tuple is a host tuple of values. Unknown
scalars are `Expr`; unknown references `UnknownRef`; mutable objects `Obj` (symbolic.heap). The rest is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment, Frame

# Any value of the program: plain, `Expr`, `UnknownRef`, `Obj` or `ProgramValue`; isinstance tells which.
PyValue = object


def _a_function() -> None:
    """What a function of the program looks like to Python's error messages."""


class ProgramValue:
    """A value of the program that the host has no object for."""

    __slots__: tuple[str, ...] = ()

    def shown(self) -> Any:
        """A real value of the same type: Python's error messages name the type only."""
        return _a_function

    def parts(self) -> tuple[Any, ...]:
        """The values that a value made of others is made of, as its constructor takes them."""
        return tuple(getattr(self, name) for name in self.__slots__)


@dataclass(slots=True, eq=False)
class FunctionValue(ProgramValue):
    """A Python function with its code: from a real function object, or made by the running program."""

    code: ir.CompiledFunction
    globals: dict[str, Any]
    outer: Environment | None = None
    defaults: tuple[Any, ...] = ()
    named_defaults: dict[str, Any] = field(default_factory=dict)
    owner: type | None = None  # for super()
    host: Any = None

    @property
    def name(self) -> str:
        return self.code.name


@dataclass(slots=True, eq=False)
class BoundMethod(ProgramValue):
    """A method bound to an object: a real function, a FunctionValue or any callable, with self."""

    function: Any
    self: Any

    def shown(self) -> Any:
        return ProgramValue().shown


@dataclass(slots=True, eq=False)
class BuiltinMethod(ProgramValue):
    """A method of a built-in type, bound: 'abc'.upper."""

    self: Any
    name: str

    def shown(self) -> Any:
        return "".upper


@dataclass(slots=True, eq=False)
class SuperValue(ProgramValue):
    after: type
    obj: Any

    def shown(self) -> Any:
        return super(int, 1)


@dataclass(slots=True, eq=False)
class RangeValue(ProgramValue):
    start: Any
    stop: Any
    step: int

    def shown(self) -> Any:
        return range(1)


@dataclass(slots=True, eq=False)
class SliceValue(ProgramValue):
    start: Any
    stop: Any
    step: Any

    def shown(self) -> Any:
        return slice(1)


@dataclass(slots=True, eq=False)
class DictView(ProgramValue):
    """dict.keys(), .values() or .items(), live on its dict."""

    source: Any
    kind: str

    def shown(self) -> Any:
        return getattr({}, self.kind)()


class IteratorValue(ProgramValue):
    """An iterator of the program: `step()` gives the next value or raises `Exhausted`.

    `bounded`: the number of rounds is known, so a loop over it ends by itself. `generator`: what it walks over, if
    that is a generator.
    """

    __slots__ = ("bounded", "generator", "step")

    def __init__(
        self, step: Callable[[], PyValue], bounded: Callable[[], bool], generator: GeneratorValue | None = None
    ) -> None:
        self.step = step
        self.bounded = bounded
        self.generator = generator

    def shown(self) -> Any:
        return iter([])


@dataclass(slots=True, eq=False)
class GeneratorValue(ProgramValue):
    """A generator: a frame that stops at each yield."""

    frame: Frame
    finished: bool = False
    started: bool = False
    returned: Any = None

    def shown(self) -> Any:
        return (nothing for nothing in [None])


@dataclass(slots=True, eq=False)
class PartialValue(ProgramValue):
    """functools.partial"""

    function: Any
    args: tuple[Any, ...]
    named: dict[str, Any]

    def shown(self) -> Any:
        return functools.partial(int)
