"""The default: an optimal search while the space may be small, sampling when it turns out to be large or long.

In a long execution the systematic search and the sampling take turns from the start; one that is too long to be
compared is let go on unseen to its end, and the test is only sampled from then on.

A systematic search changes the end of a schedule first and may spend all its time there, so from its ALONE-th execution
on one of BESIDE is drawn. These are no part of the space that is exhausted, and of no pass's count.
"""

from __future__ import annotations

from treadle.core.operation import accesses
from treadle.search.dpor import Dpor
from treadle.search.few_preemptions import LONG, FewPreemptions
from treadle.search.random_walk import RandomWalk
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

# Enough for most tests written by people to be exhausted in a second or two; counted in executions and operations, not
# in seconds, so that the same test takes the same course everywhere.
SYSTEMATIC = 20_000
SAMPLED = 5_000
# Small spaces are over before anything is drawn; what is drawn must cost a search that ends little.
_ALONE = 32
_BESIDE = 8
_MOST_OPERATIONS = 10_000_000
# With so many operations, three of four executions are drawn.
_VERY_LONG = 5_000
# Accesses of one execution whose races are looked for: that takes time with their square.
_MOST_COMPARED = 10_000


class Auto(Strategy):
    """dpor with samples between, until it has had its share or meets what it cannot explain, then random; `exhausted`
    only if dpor ended."""

    name = "auto"

    def __init__(
        self, seed: int = 0, systematic: int = SYSTEMATIC, sampled: int = SAMPLED, reduced: Strategy | None = None
    ) -> None:
        super().__init__()
        self.dpor: Strategy = Dpor() if reduced is None else reduced
        self.reversed = self.dpor.reversed
        self.random = RandomWalk(seed)
        self.few = FewPreemptions(seed)
        self.left = {"dpor": systematic, "random": sampled}  # executions
        self.operations = {"dpor": _MOST_OPERATIONS, "random": _MOST_OPERATIONS}  # that are left
        self.conflicts = 0
        self.turns = 0
        self.kind = "dpor"
        self.phase: Strategy = self.dpor
        self.sample_after_surprise = True

    def begin(self) -> bool:
        self.kind = self._next()
        if not self.kind:
            return False
        self.left[self.kind] -= 1
        self.turns += 1
        self.beside = self.kind == "random" and self.left["dpor"] > 0
        if self.kind == "dpor":
            self.phase = self.dpor
        else:
            self.phase = self.few if self.is_long else self.random
        self.reads_footprints = self.phase.reads_footprints
        self.bits = self.phase.bits
        going_on = self.phase.begin()
        self.exhausted = self.dpor.exhausted
        self.draws_only = self.left["dpor"] <= 0 and self.kind == "random"
        self.coast_after = _MOST_COMPARED if self.phase is self.dpor else self.phase.coast_after
        self.plan, self.trace, self.guards = self.phase.plan, self.phase.trace, self.phase.guards
        self.drawn = self.phase.drawn
        return going_on

    def _next(self) -> str:
        """Which of the two has its turn; empty when both have spent all they had."""
        if self.sample_after_surprise and self.dpor.surprise is not None:
            self.left["dpor"] = 0
        drawn = self.turns >= _ALONE and self.turns % _BESIDE == 0
        if self.is_long:
            drawn = self.turns % (2 if self.few.length < _VERY_LONG else 4) != 0
        order = ("random", "dpor") if drawn else ("dpor", "random")
        return next((kind for kind in order if self.left[kind] > 0 and self.operations[kind] > 0), "")

    @property
    def is_long(self) -> bool:
        return self.few.length >= LONG and self.conflicts > 0  # without a conflict one execution is all of them

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        return self.phase.pick(run)

    def end(self, run: ExecutionSeen) -> None:
        if self.phase is self.dpor and (run.coasted_from >= 0 or _too_long(run)):
            self.left["dpor"] = 0
            self.dpor.conflicts = 1  # nobody has looked, and one execution proves nothing
        else:
            self.phase.end(run)
        if self.phase is not self.few:
            self.few.end(run)  # it knows how long executions are
        self.operations[self.kind] -= len(run.trace)
        self.blocked, self.conflicts, self.surprise = self.dpor.blocked, self.dpor.conflicts, self.dpor.surprise

    def progress(self) -> float:
        return self.dpor.progress() if self.phase is self.dpor else 0.0


def _too_long(run: ExecutionSeen) -> bool:
    return accesses(op for _, op in run.trace) > _MOST_COMPARED
