"""Walking the tree of paths: depth first, one re-execution per path, until the tree or the time is used up.

Re-execution was chosen over copying states: a path of a unit is short, its solver questions are answered by the
trail, and the machine can be ordinary recursive code. What a bound cut off keeps its trail, so a later run with a
wider bound can start from there.
"""

from __future__ import annotations

import enum
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.path import (
    NOT_REPEATED,
    TERMINATION,
    Alternative,
    BoundReached,
    CannotFollow,
    Choices,
    CodePlace,
    Limit,
    Note,
    PathEnd,
    SymbolicPath,
    TooHard,
    unforced,
)
from treadle.symbolic.solve.solver import Solver

T = TypeVar("T")


class End(enum.Enum):
    """How a path ended."""

    FINISHED = "finished"
    CUT = "cut"
    UNSUPPORTED = "unsupported"
    # Treadle failed on it: neither the program nor its language is to blame
    INTERNAL_ERROR = "internal error"
    # where several ways were passed at once, which cannot be told: to be taken again with less passed at once
    TOO_HARD = "too hard"
    # its assumptions contradict each other, or nobody wants it: there is nothing to tell
    NOTHING = ""


@dataclass(frozen=True, slots=True)
class Ending:
    how: End
    bound: Limit | None = None
    what: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.how.value, self.bound or self.what) if part)


class MachineFault(PathEnd):
    """The machine itself failed on this path; the other paths do not suffer."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(slots=True)
class Exploration:
    """What a search saw besides the finished paths."""

    # paths that were run, to their end or not
    runs: int = 0
    cut: Counter[Limit] = field(default_factory=Counter)
    # where the loop bound cut: a wider bound goes on from there
    cut_at_loops: list[Choices] = field(default_factory=list)
    unsupported: list[CodePlace] = field(default_factory=list)
    internal_errors: list[CodePlace] = field(default_factory=list)
    sampled: list[CodePlace] = field(default_factory=list)
    gave_up: list[CodePlace] = field(default_factory=list)
    # every path that was run: what was decided on it, and how it ended
    ends: list[tuple[list[Expr | Note], Ending]] = field(default_factory=list)
    # (file, line) of every function that some path entered
    followed: set[tuple[str, int]] = field(default_factory=set)
    # function -> the branches of the tree in which it is called, each by the choices that lead there
    calls: dict[str, set[Choices]] = field(default_factory=dict)
    # paths left unexplored when the time or the number of paths ran out
    pending: list[Alternative] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Every path within the termination criterion was followed."""
        only_loops = not any(number for kind, number in self.cut.items() if kind not in TERMINATION)
        missed = self.unsupported or self.internal_errors or self.sampled or self.gave_up or self.pending
        return only_loops and not missed


@dataclass(frozen=True, slots=True)
class PathRun(Generic[T]):
    """One path that was run: how it ended, and what it left for later.

    Plain data, so that a path can be run in one process and booked in another.
    """

    end: Ending
    # forced ones included
    choices: Choices
    story: list[Expr | Note]
    alternatives: list[Alternative]
    place: CodePlace
    sampled: list[CodePlace]
    gave_up: list[CodePlace]
    followed: set[tuple[str, int]]
    calls: set[tuple[str, int]]
    result: T | None = None


def run_one(run: Callable[[SymbolicPath], T], path: SymbolicPath) -> PathRun[T]:
    """Run one path to its end, whatever that is."""
    end, result = Ending(End.NOTHING), None
    try:
        result = run(path)
    except BoundReached as cut:
        doubtful = cut.bound is Limit.LOOP and path.doubtful
        end = Ending(End.TOO_HARD) if doubtful else Ending(End.CUT, cut.bound)
    except CannotFollow as unsupported:
        end = Ending(End.UNSUPPORTED, what=unsupported.what)
    except MachineFault as fault:
        end = Ending(End.INTERNAL_ERROR, what=fault.what)
    except TooHard:
        end = Ending(End.TOO_HARD)
    except PathEnd:
        pass
    else:
        end = Ending(End.FINISHED)
    if path.replaying and (end.how is End.FINISHED or end.bound in (Limit.LOOP, Limit.DEPTH, Limit.CRITERION)):
        # the trail was longer than the path: it belongs to other code, or the code is not the same twice
        end, result = Ending(End.UNSUPPORTED, what=NOT_REPEATED), None
    return PathRun(
        end,
        path.start.choices if path.replaying else tuple(path.choices),
        path.story,
        path.alternatives,
        path.place,
        path.sampled,
        path.gave_up,
        path.followed,
        path.calls,
        result,
    )


def book(ran: PathRun[T], seen: Exploration) -> None:
    """Keep what a path says about the search as a whole."""
    end = ran.end
    seen.runs += 1
    if end.how is not End.NOTHING:
        seen.ends.append((ran.story, end))
    if end.bound is not None:
        seen.cut[end.bound] += 1
        if end.bound is Limit.TIME:
            seen.pending.append(Alternative(unforced(ran.choices), with_forced=False))
        elif end.bound is Limit.LOOP:
            seen.cut_at_loops.append(unforced(ran.choices))
    elif end.how in (End.UNSUPPORTED, End.INTERNAL_ERROR):
        found = seen.unsupported if end.how is End.UNSUPPORTED else seen.internal_errors
        place = CodePlace(ran.place.file, ran.place.line, end.what)
        if place not in found:
            found.append(place)
    elif end.how is End.FINISHED:
        seen.sampled.extend(p for p in ran.sampled if p not in seen.sampled)
    seen.gave_up.extend(p for p in ran.gave_up if p not in seen.gave_up)
    seen.followed |= ran.followed
    for name, choices in ran.calls:
        seen.calls.setdefault(name, set()).add(ran.choices[:choices])


def explore(
    run: Callable[[SymbolicPath], T],
    solver: Solver,
    seen: Exploration,
    *,
    seconds: float = float("inf"),
    full: Callable[[], bool] = lambda: False,
    words: tuple[str, ...] = (),
    start: Sequence[Alternative] = (Alternative(()),),
) -> Generator[PathRun[T], None, None]:
    """Run every path below the trails of `start`, the first one first; yields those that finish, books them all.

    The search ends when `full` says that there is no room for more. Whatever ends it early, Ctrl-C too, `seen.pending`
    then holds what is left.
    """
    deadline = time.monotonic() + seconds
    todo = list(reversed(start))
    try:
        while todo and not full() and time.monotonic() <= deadline:
            alternative = todo[-1]
            ran = run_one(run, SymbolicPath(solver, alternative, deadline, words=words))
            todo.pop()
            todo.extend(ran.alternatives)
            book(ran, seen)
            if ran.end.how is End.FINISHED:
                yield ran
    finally:
        seen.pending.extend(reversed(todo))
        if todo:
            seen.cut[Limit.PATHS if full() else Limit.TIME] += len(todo)
