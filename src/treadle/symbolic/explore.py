"""Walking the tree of paths: depth first, one re-execution per path, until the tree or the time is used up.

Re-execution was chosen over copying states: a path of a unit is short, its solver questions are answered by the
trail, and the machine can be ordinary recursive code. What a bound cut off keeps its trail, so a later run with a
wider bound can start from there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.path import (
    Alternative,
    BoundReached,
    CannotFollow,
    CodePlace,
    PathEnd,
    SymbolicPath,
    TooHard,
    Trail,
)
from treadle.symbolic.solve.solver import Solver

T = TypeVar("T")

# Where several ways were passed at once, which cannot be told from here: to be taken again with less passed at once.
TOO_HARD = "too hard"


@dataclass(slots=True)
class Exploration:
    """What a search saw besides the finished paths."""

    # paths that were run, to their end or not
    runs: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    # where the loop bound cut: a wider bound goes on from there
    cut_trails: list[Trail] = field(default_factory=list)
    unsupported: list[CodePlace] = field(default_factory=list)
    sampled: list[CodePlace] = field(default_factory=list)
    gave_up: list[CodePlace] = field(default_factory=list)
    # every path that was run: what was decided on it, and how it ended
    ends: list[tuple[list[Expr | str], str]] = field(default_factory=list)
    # (file, line) of every function that some path entered
    followed: set[tuple[str, int]] = field(default_factory=set)
    # function -> the branches of the tree in which it is called, each by the choices that lead there
    calls: dict[str, set[Trail]] = field(default_factory=dict)
    # paths left unexplored when the time or the number of paths ran out
    pending: list[Alternative] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Every path within the loop bound was followed."""
        only_loops = not any(number for kind, number in self.cut.items() if kind != "loop")
        return only_loops and not (self.unsupported or self.sampled or self.gave_up or self.pending)


@dataclass(frozen=True, slots=True)
class PathRun(Generic[T]):
    """One path that was run: how it ended, and what it left for later.

    Plain data, so that a path can be run in one process and booked in another.
    """

    # 'finished', 'cut: loop', 'unsupported: ...', or '' where there is nothing to tell
    end: str
    trail: Trail
    story: list[Expr | str]
    alternatives: list[Alternative]
    place: CodePlace
    sampled: list[CodePlace]
    gave_up: list[CodePlace]
    followed: set[tuple[str, int]]
    calls: set[tuple[str, int]]
    result: T | None = None


def run_one(run: Callable[[SymbolicPath], T], path: SymbolicPath) -> PathRun[T]:
    """Run one path to its end, whatever that is."""
    end, result = "", None
    try:
        result = run(path)
    except BoundReached as cut:
        end = TOO_HARD if cut.kind == "loop" and path.doubtful else f"cut: {cut.kind}"
    except CannotFollow as unsupported:
        end = f"unsupported: {unsupported.what}"
    except TooHard:
        end = TOO_HARD
    except PathEnd:
        pass
    else:
        end = "finished"
    if path.replaying and end in ("finished", "cut: loop", "cut: depth"):
        # the trail was longer than the path: it belongs to other code, or the code is not the same twice
        end, result = "unsupported: the code does not repeat itself when it is run again", None
    trail = path.given if path.replaying else tuple(path.trail)
    return PathRun(
        end,
        trail,
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
    kind, _, what = ran.end.partition(": ")
    seen.runs += 1
    if kind:
        seen.ends.append((ran.story, ran.end))
    if kind == "cut":
        seen.cut[what] += 1
        if what == "time":
            seen.pending.append(Alternative(ran.trail, None))
        elif what == "loop":
            seen.cut_trails.append(ran.trail)
    elif kind == "unsupported":
        place = CodePlace(ran.place.file, ran.place.line, what)
        if place not in seen.unsupported:
            seen.unsupported.append(place)
    elif kind == "finished":
        seen.sampled.extend(p for p in ran.sampled if p not in seen.sampled)
    seen.gave_up.extend(p for p in ran.gave_up if p not in seen.gave_up)
    seen.followed |= ran.followed
    for name, choices in ran.calls:
        seen.calls.setdefault(name, set()).add(ran.trail[:choices])


def explore(
    run: Callable[[SymbolicPath], T],
    solver: Solver,
    seen: Exploration,
    *,
    seconds: float = float("inf"),
    full: Callable[[], bool] = lambda: False,
    words: tuple[str, ...] = (),
    start: Sequence[Alternative] = (Alternative((), None),),
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
            ran = run_one(run, SymbolicPath(solver, alternative.trail, alternative.model, deadline, words=words))
            todo.pop()
            todo.extend(ran.alternatives)
            book(ran, seen)
            if ran.end == "finished":
                yield ran
    finally:
        seen.pending.extend(reversed(todo))
        if todo:
            seen.cut["paths" if full() else "time"] += len(todo)
