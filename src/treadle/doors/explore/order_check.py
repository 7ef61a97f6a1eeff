"""A pass over steps that nobody interrupts checks itself: tasks in any order, and messages.

There are no finer points inside such a step. Instead executions are drawn without any reduction, and each is run again
in another order of its class. One that fails is a finding. One of a class that the search never ran, or in which
somebody sees something else than in an execution of the same class, shows that steps have something in common that is
not seen: then the verdict is CUT.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from treadle.core.result import Finding
from treadle.doors.explore.pass_check import LEAST, SHARE, Seen
from treadle.search.auto import Auto
from treadle.search.message_dpor import MessageDpor
from treadle.search.other_orders import other_order
from treadle.search.random_walk import RandomWalk
from treadle.search.replay import FollowSteps
from treadle.search.step_dpor import StepDpor
from treadle.search.strategy import Strategy
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom


def reduction_of(search: Strategy) -> StepDpor | MessageDpor | None:
    """What leaves out orders of steps for this search; None when nothing does."""
    reduced = search.dpor if isinstance(search, Auto) else search
    return reduced if isinstance(reduced, (StepDpor, MessageDpor)) else None


class OrderCheck:
    """The check of one search. `spent` counts its executions, `difference` says what it found to be unseen."""

    def __init__(
        self, loom: Loom, executions: int, reduction: StepDpor | MessageDpor, seen: Callable[[Execution], Seen]
    ) -> None:
        self.loom = loom
        self.budget = max(LEAST, executions // SHARE)
        self.reduction = reduction
        self.seen = seen  # what each task or actor saw in an execution
        self.spent = 0
        self.revealed = False
        self.difference = ""
        self.failed: tuple[Finding, Execution] | None = None
        self.met: dict[int, Seen] = {}  # class -> what was seen when it was run

    def run(self) -> None:
        """Spend the budget, or stop at the first thing that is wrong."""
        chance = random.Random(0)
        self.loom.values = True
        try:
            for seed in itertools.count():
                drawn = self._look_at(RandomWalk(seed))
                if drawn is not None:
                    order = other_order(drawn.ordered, chance)
                    names = {index: name for name, index in self.loom.indexes.items()}
                    self._look_at(FollowSteps([names[drawn.trace[event][0]] for event in order]))
                if self.spent >= self.budget or self.revealed or self.difference or self.failed:
                    return
        finally:
            self.loom.values = False

    def _look_at(self, strategy: Strategy) -> StepDpor | MessageDpor | None:
        """Run it; what is known of its class, None when it cannot be or shows that something is wrong."""
        self.spent += 1
        strategy.reads_footprints, strategy.bits = True, None
        strategy.begin()
        run = self.loom.run(strategy)
        if run.revealed:
            self.revealed = True
        if run.revealed or not self.loom.possible(run):
            return None
        findings = self.loom.judge(run)
        if findings:
            self.failed = findings[0], run
            return None
        reader = type(self.reduction)()
        reader.read(run)
        if reader.ran not in self.reduction.classes:
            self.difference = "an order of steps came out otherwise than every one that was searched"
        else:
            seen = self.seen(run)
            before = self.met.setdefault(reader.ran, seen)
            who = next((one for one in (*before, *seen) if before.get(one) != seen.get(one)), None)
            if who is not None:
                self.difference = f"{who} does not see the same in two executions of one class"
        return None if self.difference else reader
