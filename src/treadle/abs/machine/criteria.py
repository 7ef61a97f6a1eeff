"""Where exploration stops (seed criteria loop-k, task level, actor number, queue) and how the next task is picked.

A cut ends one branch and is counted under its letter: L (a loop or recursion beyond k), T (an actor beyond its task
switches), O (a program point beyond its actors). None means unlimited.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from treadle.abs.language.errors import AbsError, AbsPlace
from treadle.abs.machine.policies import TaskPolicy
from treadle.core.json_form import NOT_IN_JSON, JsonForm

ReductionName = Literal["none", "stable", "independent", "exact", "paper-stable", "paper"]
ObjectSelection = Literal["all", "round-robin", "likeliest"]
OBJECT_SELECTIONS: tuple[ObjectSelection, ...] = ("all", "round-robin", "likeliest")
SelfCalls = Literal["at-once", "awaited"]
SELF_CALLS: tuple[SelfCalls, ...] = ("at-once", "awaited")
# the "paper" ones look for references as Theorem 1 is printed, which can lose orders: never exhaustive
SOUND_REDUCTIONS: tuple[ReductionName, ...] = ("none", "stable", "independent", "exact")
REDUCTIONS: tuple[ReductionName, ...] = (*SOUND_REDUCTIONS, "paper-stable", "paper")


@dataclass(frozen=True, slots=True)
class Bounds(JsonForm):
    """The limits of one exploration."""

    loop: int | None = 2
    tasks: int | None = 10
    actors: int | None = 2
    queue: int = 0
    # loop iterations in one macro-step, so that a known endless loop ends too
    steps: int | None = field(default=100_000, metadata=NOT_IN_JSON)


@dataclass(frozen=True, slots=True)
class OrderSelection(JsonForm):
    """Which orders are tried."""

    objects: ObjectSelection = field(default="all", metadata=NOT_IN_JSON)
    tasks: TaskPolicy = field(default="all", metadata=NOT_IN_JSON)
    reduce: ReductionName = "independent"
    alias: bool = False
    # a call of an actor on itself: run at once, as the ABS tools do, or waited for while others may come between
    self_calls: SelfCalls = field(default="at-once", metadata=NOT_IN_JSON)
    # the order of tasks for actors of these classes, whatever holds for the others
    of_class: tuple[tuple[str, TaskPolicy], ...] = field(default=(), metadata=NOT_IN_JSON)


@dataclass(slots=True)
class Cuts(JsonForm):
    loop: int = 0
    task: int = 0
    actor: int = 0

    def add(self, kind: str) -> None:
        setattr(self, kind, getattr(self, kind) + 1)

    def total(self) -> int:
        return self.loop + self.task + self.actor


class CriterionReached(Exception):
    """This branch goes beyond a limit."""

    def __init__(self, kind: Literal["loop", "task", "actor"]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.place = ""  # where the task was, in words
        self.at = ""  # the same as file and line
        self.picks: tuple[int, ...] = ()  # what `random` gave in this step before


class EndlessLoop(CriterionReached):
    """A loop that can never be left: all that it can see is as it was before, and nobody else runs meanwhile."""

    def __init__(self, at: AbsPlace) -> None:
        super().__init__("loop")
        self.loop = at

    @property
    def error(self) -> AbsError:
        return AbsError(ENDLESS, self.loop)


ENDLESS = (
    "this loop never ends: all that decides about another turn is as it was before, and no other task runs meanwhile; "
    "change what its condition reads, or let others run with `await` or `suspend`"
)


@dataclass(slots=True)
class TreeProgress:
    """What an exploration has done so far; shown while it runs."""

    states: int = 0
    tests: int = 0
    deadlocks: int = 0
    cuts: Cuts = field(default_factory=Cuts)
