"""The values of a running Python program, where they are not plain Python values.

A known int, str, bool, float, None, class, function or module is itself. A tuple is a host tuple of values. Unknown
scalars are `Expr`; unknown references `UnknownRef`; mutable objects `Obj` (symbolic.heap). The rest is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment, Frame


@dataclass(slots=True, eq=False)
class FunctionValue:
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
class Bound:
    """A method bound to an object: a real function, a FunctionValue or any callable, with self."""

    function: Any
    self: Any


@dataclass(slots=True, eq=False)
class BuiltinMethod:
    """A method of a built-in type, bound: 'abc'.upper."""

    self: Any
    name: str


@dataclass(slots=True, eq=False)
class Super:
    after: type
    obj: Any


@dataclass(slots=True, eq=False)
class Range:
    start: Any
    stop: Any
    step: int


@dataclass(slots=True, eq=False)
class Slice:
    start: Any
    stop: Any
    step: Any


@dataclass(slots=True, eq=False)
class View:
    """dict.keys(), .values() or .items(), live on its dict."""

    source: Any
    kind: str


class Iterator_:
    """An iterator of the program: `step()` gives the next value or raises `Exhausted`.

    `bounded`: the number of rounds is known, so a loop over it ends by itself.
    """

    __slots__ = ("bounded", "step", "what")

    def __init__(self, step: Callable[[], Any], bounded: Callable[[], bool], what: str = "iterator") -> None:
        self.step = step
        self.bounded = bounded
        self.what = what


@dataclass(slots=True, eq=False)
class Generator:
    """A generator: a frame that stops at each yield."""

    frame: Frame
    finished: bool = False
    started: bool = False
    returned: Any = None


@dataclass(slots=True, eq=False)
class Partial:
    """functools.partial"""

    function: Any
    args: tuple[Any, ...]
    named: dict[str, Any]
