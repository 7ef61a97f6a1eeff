"""One strand is interrupted once: the schedules next to one that interrupts nobody.

Most bugs need one or two interruptions (Musuvathi and Qadeer, "Iterative Context Bounding", PLDI 2007). Here it checks
a pass: run with finer points than the search had, it interrupts strands where no operation is known.
"""

from __future__ import annotations

from treadle.search.strategy import ExecutionSeen, OneExecution, StrandSeen


class PreemptOnce(OneExecution):
    """Lets strands run to their end, the oldest or the youngest first; at one step another strand goes on instead."""

    name = "preempt-once"

    def __init__(self, youngest_first: bool, at: int = -1) -> None:
        super().__init__()
        self.youngest_first = youngest_first
        self.at = at
        self.last = -1
        self.choices: list[int] = []  # the steps at which somebody else could have gone on

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = list(run.enabled())
        if not enabled:
            return None
        if self.youngest_first:
            enabled.reverse()
        current = next((strand for strand in enabled if strand.index == self.last), None)
        chosen = current or enabled[0]
        step = len(run.trace)
        if current is not None and len(enabled) > 1:
            self.choices.append(step)
            if step == self.at:
                chosen = next(strand for strand in enabled if strand is not current)
        self.last = chosen.index
        return chosen
