"""Depth-first enumeration of every schedule, without reduction: what the other searches are checked against.

Waiting for the end of a strand is not a choice: it is performed as soon as it can be. That loses nothing unless some
strand looks whether another is alive; then the ends of strands are points, and waiting for them is a choice as well.
"""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from treadle.core.operation import WAIT
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy


@mypyc_attr(allow_interpreted_subclasses=True)
class Dfs(Strategy):
    """All interleavings, the oldest strand first at every point."""

    name = "dfs"

    def __init__(self) -> None:
        super().__init__()
        self.choices: list[list[int]] = []  # per step: the strands still to be tried there, the current one first
        self.totals: list[int] = []
        self.started = False

    def begin(self) -> bool:
        if self.started:
            while self.choices:
                self.choices[-1].pop(0)
                if self.choices[-1]:
                    break
                self.choices.pop()
                self.totals.pop()
            if not self.choices:
                self.exhausted = True
                return False
            depth = len(self.choices) - 1
            self.trace = self.trace[:depth]
            self.guards = self.guards[:depth]
            self.plan = [strand for strand, _ in self.trace]
        self.started = True
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        depth = len(run.trace)
        if depth < len(self.choices):
            return run.by_index[self.choices[depth][0]]
        enabled = run.enabled()
        if not enabled:
            self.choices.append([-1])  # a time-out: nothing to choose
            self.totals.append(1)
            return None
        if not run.ends_are_points:
            joining = [s for s in enabled if s.pending[0] == WAIT and s.pending[1] in run.indexes]
            enabled = joining[:1] or enabled
        self.choices.append([strand.index for strand in enabled])
        self.totals.append(len(enabled))
        return enabled[0]

    def end(self, run: ExecutionSeen) -> None:
        self.trace, self.guards = run.trace, run.guards
        del self.choices[len(self.trace) :]
        del self.totals[len(self.trace) :]

    def progress(self) -> float:
        """The share of the tree that is done, as if all subtrees of a node were of one size."""
        done, weight = 0.0, 1.0
        for left, total in zip(self.choices, self.totals, strict=True):
            weight /= total
            done += weight * (total - len(left))
        return done
