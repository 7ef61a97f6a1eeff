"""Sampling for long executions: one strand goes on as long as it can, but for a few preemptions at random moments.

Most bugs need one or two preemptions at the right moments (Musuvathi, Qadeer 2007). A random walk through thousands of
operations switches all the time and hits none of them; a systematic search only changes the end of so long a schedule.
As PCT does (Burckhardt et al. 2010), the moments are drawn over the length of the executions seen so far; unlike there,
strands have no priorities: who goes on is drawn anew at each switch, and nobody goes on for ever. A test that takes
many thousand operations does the same again and again: three of four executions have their moments among the first
WINDOW of them, and what comes after the last moment needs no points (`coast_after`).
"""

from __future__ import annotations

import random

from mypy_extensions import mypyc_attr

from treadle.core.operation import YIELD
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

# Preemptions of an execution: 1, 2, 3, and then from the beginning.
_MOST = 3
# Operations after which another strand has a turn anyway: one that polls must not keep those away that it waits for.
_LONGEST_TURN = 5_000
# An execution of so many operations is long.
LONG = 2_000
# Operations, from the one on at which a second strand runs.
WINDOW = 5_000


@mypyc_attr(allow_interpreted_subclasses=True)
class FewPreemptions(Strategy):
    """Random schedules with one to three preemptions; never exhausted."""

    name = "few preemptions"

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.length = 0  # of the longest execution so far
        self.first = 0  # operations before a second strand is made
        self.number = 0
        self.moments: set[int] = set()
        self.current = -1
        self.since = 0  # the step at which the current strand had its turn

    def begin(self) -> bool:
        self.trace, self.guards, self.plan = [], [], []
        few = 1 + self.number % _MOST
        until = self.length if self.number % 4 == 3 else min(self.length, self.first + WINDOW)
        drawn = [self.random.randrange(self.first, until) for _ in range(few)] if until > self.first else []
        self.moments = set(drawn)
        self.coast_after = max(drawn, default=self.first) - self.first if self.length > LONG else -1
        self.number += 1
        self.current, self.since = -1, 0
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not enabled:
            return None
        step = len(run.trace)
        gives_way = step in self.moments or step - self.since >= _LONGEST_TURN
        for strand in enabled:
            if strand.index == self.current and not gives_way and strand.pending[0] != YIELD:
                return strand
        others = [strand for strand in enabled if strand.index != self.current]
        chosen = self.random.choice(others or enabled)
        self.current, self.since = chosen.index, step
        return chosen

    def end(self, run: ExecutionSeen) -> None:
        self.length = max(self.length, len(run.trace))
        self.first = min((step for step in run.spawned.values() if step > 0), default=self.first)
