"""Fair schedules: everybody who can go on has a turn of a few operations, one after the other.

A search that goes on with the same strand as long as it can never shows a livelock, in which strands keep each other
busy: its long executions are those in which one strand loops while another one, which would end the loop, is not let
on. Where executions reach the limit, a few fair ones tell the two apart.
"""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

# Operations in one turn. Two loops of the same shape meet in step; loops of different lengths need longer turns.
TURNS = (1, 2, 3, 4, 6)


@mypyc_attr(allow_interpreted_subclasses=True)
class Fair(Strategy):
    """One execution for each length of turns."""

    name = "fair"

    def __init__(self) -> None:
        super().__init__()
        self.number = -1

    def begin(self) -> bool:
        self.trace, self.guards, self.plan = [], [], []
        self.number += 1
        self.current = -1
        self.left = 0
        return self.number < len(TURNS)

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not enabled:
            return None
        self.left -= 1
        if self.left >= 0:
            for strand in enabled:
                if strand.index == self.current:
                    return strand
        later = [strand for strand in enabled if strand.index > self.current]
        chosen = later[0] if later else enabled[0]
        self.current = chosen.index
        self.left = TURNS[self.number] - 1
        return chosen
