"""`treadle.choose(options)`: a choice of the program that is part of the trail, explored and replayed like a schedule.

Each option is a strand without code whose single operation makes the choice; so every strategy explores it, and a
trail names it (`choice#1=2`), without knowing what a choice is. The options of one choice exclude each other: their
operations are on one object, which takes one of them.

Outside an execution the first option is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from treadle.core.errors import UsageError
from treadle.core.operation import PUT, WAIT
from treadle.core.result import CHOOSES, Step
from treadle.threads.detail import short, stack_of
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand, SyncObject

if TYPE_CHECKING:
    from treadle.tasks.execution import TaskExecution

T = TypeVar("T")
Stack = tuple[tuple[str, int, str], ...]


class OpenChoice(SyncObject):
    """Takes one option; whoever chooses waits for that."""

    __slots__ = ("options", "places", "taken")
    label = "choice"

    def __init__(self) -> None:
        self.options: list[Option] = []
        self.taken: int | None = None
        self.places: Sequence[Stack] = ()  # of each option: where it strikes, if not where it is chosen

    def ready(self, kind: int, strand: Strand) -> bool:
        return (self.taken is None) == (kind == PUT)

    def guards(self) -> int:
        return 1 << PUT if self.taken is None else 1 << WAIT


class Option(Strand):
    """One way to choose. Has no code of its own: choosing it makes the choice."""

    def __init__(self, run: TaskExecution, index: int, choice: OpenChoice, number: int, text: str) -> None:
        super().__init__(run, index, f"{choice.treadle_name}={number}", None, None, False)
        self.choice = choice
        self.number = number
        self.guard = self.touched = choice
        self.waits = PUT
        self.pending = (PUT, choice.treadle_name, None)
        self.greenlet = SimpleNamespace(gr_frame=None)  # type: ignore[assignment]
        if self.detail:
            stack = choice.places[number] if choice.places else stack_of(sys._getframe(3))
            file, line, function = stack[0] if stack else ("", 0, "")
            self.step = Step(self.treadle_name, CHOOSES, text, file, line, function, "", stack)


def choose(options: Sequence[T]) -> T:
    """One of the options: each of them is explored."""
    if not options:
        raise UsageError("choose needs at least one option")
    strand = here()
    if strand is None or len(options) == 1:
        return options[0]
    return options[decide(strand, [short(option) for option in options])]


def decide(strand: Strand, texts: list[str], label: str = "choice", places: Sequence[Stack] = ()) -> int:
    """The number of the option that the search takes."""
    run: Any = strand.execution
    if run.ending or not hasattr(run, "offer"):
        return 0
    choice = OpenChoice()
    choice.treadle_name, choice.places = strand.fresh(label), places
    run.offer(choice, texts)
    strand.point(WAIT, choice)
    assert choice.taken is not None
    return choice.taken
