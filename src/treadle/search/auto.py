"""The default: an optimal search while the space may be small, sampling when it turns out to be large."""

from __future__ import annotations

from treadle.search.dpor import Dpor
from treadle.search.random_walk import RandomWalk
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

# Enough for most tests written by people to be exhausted in a second or two; counted in executions, not in seconds,
# so that the same test takes the same course everywhere.
SYSTEMATIC = 20_000
SAMPLED = 5_000


class Auto(Strategy):
    """dpor for a while, or until it meets what it cannot explain, then random; `exhausted` only if dpor ended."""

    name = "auto"

    def __init__(
        self, seed: int = 0, systematic: int = SYSTEMATIC, sampled: int = SAMPLED, reduced: Strategy | None = None
    ) -> None:
        super().__init__()
        self.systematic = systematic
        self.sampled = sampled
        self.dpor: Strategy = Dpor() if reduced is None else reduced
        self.reversed = self.dpor.reversed
        self.random = RandomWalk(seed)
        self.conflicts = 0
        self.phase: Strategy = self.dpor
        self.sample_after_surprise = True
        self.count = 0

    def begin(self) -> bool:
        if self.phase is self.dpor and (self.count >= self.systematic or self._lost()):
            self.phase, self.count = self.random, 0
        if self.phase is self.random and self.count >= self.sampled:
            return False
        self.count += 1
        going_on = self.phase.begin()
        self.exhausted = self.dpor.exhausted
        self.plan, self.trace, self.guards = self.phase.plan, self.phase.trace, self.phase.guards
        return going_on

    def _lost(self) -> bool:
        return self.sample_after_surprise and self.dpor.surprise is not None

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        return self.phase.pick(run)

    def end(self, run: ExecutionSeen) -> None:
        self.phase.end(run)
        self.blocked, self.conflicts, self.surprise = self.dpor.blocked, self.dpor.conflicts, self.dpor.surprise

    def progress(self) -> float:
        return self.dpor.progress() if self.phase is self.dpor else 0.0
