"""Walking the tree of paths: depth first, one re-execution per path, until the tree or the time is used up.

Re-execution was chosen over copying states: a path of a unit is short, its solver questions are answered by the
trail, and the machine can be ordinary recursive code. What a bound cut off keeps its trail, so a later run with a
wider bound can start from there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from treadle.symbolic.expr import Expr
from treadle.symbolic.path import Alternative, Cut, Impossible, Path, PathEnd, Place, Trail, Unsupported
from treadle.symbolic.solver import Solver

T = TypeVar("T")


@dataclass(slots=True)
class Exploration:
    """What a search saw besides the finished paths."""

    cut: Counter[str] = field(default_factory=Counter)
    cut_trails: list[Trail] = field(default_factory=list)
    unsupported: list[Place] = field(default_factory=list)
    sampled: list[Place] = field(default_factory=list)
    gave_up: list[Place] = field(default_factory=list)
    # every path that was run: what was decided on it, and how it ended
    ends: list[tuple[list[Expr | str], str]] = field(default_factory=list)
    # paths left unexplored when the time or the number of paths ran out
    pending: list[Alternative] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Every path within the loop bound was followed."""
        only_loops = not any(self.cut[kind] for kind in ("depth", "time", "paths"))
        return only_loops and not (self.unsupported or self.sampled or self.gave_up or self.pending)


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    path: Path
    result: T


def explore(
    run: Callable[[Path], T],
    solver: Solver,
    seen: Exploration,
    *,
    seconds: float = float("inf"),
    most: int = 100_000,
    words: tuple[str, ...] = (),
    start: Trail = (),
) -> Iterator[Finished[T]]:
    """Run every path; yields those that finish, and books the others in `seen`."""
    deadline = time.monotonic() + seconds
    todo = [Alternative(start, None)]
    finished = 0
    while todo:
        if time.monotonic() > deadline or finished >= most:
            seen.cut["time" if finished < most else "paths"] += len(todo)
            seen.pending.extend(todo)
            return
        alternative = todo.pop()
        path = Path(solver, alternative.trail, alternative.model, deadline, words=words)
        try:
            result = run(path)
        except Impossible:
            pass
        except Cut as cut:
            seen.cut[cut.kind] += 1
            seen.ends.append((path.story, f"cut: {cut.kind}"))
            seen.cut_trails.append(tuple(path.trail))
        except Unsupported as unsupported:
            place = Place(path.place.file, path.place.line, unsupported.what)
            seen.ends.append((path.story, f"unsupported: {unsupported.what}"))
            if place not in seen.unsupported:
                seen.unsupported.append(place)
        except PathEnd:
            pass
        else:
            finished += 1
            seen.ends.append((path.story, "finished"))
            seen.sampled.extend(p for p in path.sampled if p not in seen.sampled)
            yield Finished(path, result)
        seen.gave_up.extend(p for p in path.gave_up if p not in seen.gave_up)
        todo.extend(path.alternatives)
