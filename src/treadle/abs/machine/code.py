"""Compiled methods: lists of small closures, one per statement part, with explicit places to stop and go on.

An instruction gets the running macro-step and the variables and returns the number of the next one, or one of the three
negative numbers below. Expressions are closures that return a value; they may branch (by asking the macro-step to
choose) but never stop, so a task can only be suspended between instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treadle.abs.language.errors import AbsPlace
from treadle.abs.language.model import Class
from treadle.abs.language.types import AnyType
from treadle.abs.machine.policies import TaskPolicy

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep

Env = list[Any]
Exp = Callable[["MacroStep", Env], Any]
Instruction = Callable[["MacroStep", Env], int]

ENDED, SUSPENDED, BLOCKED = -1, -2, -3


@dataclass(eq=False, slots=True)
class TaskWait:
    """What a suspended task waits for: futures that must be filled and conditions that must hold."""

    claims: list[Exp]
    claim_slots: list[int] | None  # where the futures are, when all are local variables
    conditions: list[Exp]
    until: int | None = None  # where the time is at which a delay ends
    stacked: bool = False  # its own actor works for it: it goes on as soon as that is done


@dataclass(frozen=True, slots=True)
class WaitsFor:
    """What a place waits for: a method of an interface or class, or, of a future, only the type of its result."""

    target: Any = None
    method: str = ""
    result: AnyType | None = None


@dataclass(eq=False, slots=True)
class Code:
    """A method (or initialisation block, or main block) ready to run. Slot 0 of its variables is `this`."""

    name: str
    cls: Class | None
    params: list[tuple[str, AnyType]]
    file: str = ""
    slots: int = 1
    instructions: list[Instruction] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    uses_destiny: bool = False  # it can hand on its own future, so that is filled although the caller dropped it
    # pc -> where an exception raised there goes on; the exception lands in the given slot
    handlers: dict[int, tuple[int, int]] = field(default_factory=dict)
    waits: dict[int, WaitsFor] = field(default_factory=dict)  # the places that wait for a future or a condition
    forks: list[int] = field(default_factory=list)  # the branches of statements
    policies: set[TaskPolicy] = field(default_factory=set)  # of the objects it makes, where `new` names one
    makes_local: set[Class] = field(default_factory=set)  # classes of objects made in the same group
    loops: dict[int, AbsPlace] = field(default_factory=dict)  # where each `while` begins: pc, place in the text
    deciding: dict[int, list[int]] = field(default_factory=dict)  # of loops: the slots on which its turns depend
    counters: set[int] = field(default_factory=set)  # the slots that count their turns
    effects: list[Any] = field(default_factory=list)  # effects.Effect of each instruction
    after: dict[int, Any] = field(default_factory=dict)  # pc -> effects.Effect of everything from there on

    @property
    def label(self) -> str:
        return f"{self.cls.name}.{self.name}" if self.cls is not None else self.name

    def place(self, pc: int) -> str:
        return f"{self.label}, line {self.lines[pc]}"


@dataclass(eq=False, slots=True)
class FunctionCode:
    """A pure function ready to run."""

    slots: int = 0
    body: Exp | None = None
