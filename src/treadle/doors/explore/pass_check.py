"""A pass checks itself: is what an execution does decided by its class, as the search assumed?

Before a search may call a test passed, some of its executions are run again in other orders of their classes, and some
schedules are run without any reduction, with points where no operation is known (`threads.fine`). A failure is a
finding. A strand that reads something else than in an execution of the same class shows that something shared is not
seen: then the verdict is CUT, and the pair of lines whose order matters is named.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from treadle.core.dependency import HappensBefore
from treadle.core.operation import is_fine
from treadle.core.result import Finding, Step
from treadle.doors.explore.endless import repeats_itself
from treadle.doors.explore.failing import Revealed
from treadle.doors.explore.told import by_operation, same_failure
from treadle.search.other_orders import Reservoir, other_order, swaps
from treadle.search.preempt_once import PreemptOnce
from treadle.search.random_walk import RandomWalk
from treadle.search.replay import FollowSteps
from treadle.search.strategy import Strategy
from treadle.threads.execution import Execution
from treadle.threads.fine import fine_points, plain_points
from treadle.threads.loom import Loom
from treadle.threads.possible_switches import versions_that_can
from treadle.threads.watchdog import OutOfTime

# The share of the work, and the least number of executions, that a pass spends on checking itself.
SHARE = 5
LEAST = 32
# More operations than this are too many to be run again step by step.
_LONGEST = 2_000

# What each strand did, with the values that it read and wrote.
Seen = dict[str, list[str]]


class PassCheck:
    """The check of one search. `spent` counts executions it judged, `difference` says what it found to be unseen."""

    def __init__(
        self, loom: Loom, kept: Reservoir, executions: int, part: int = 0, wanted: Finding | None = None
    ) -> None:
        self.loom = loom
        self.kept = kept
        self.wanted = wanted  # other failures than this one are no more than ends of strands
        self.part = part  # when several check one pass: each draws other schedules
        self.budget = max(LEAST, executions // SHARE)
        self.spent = 0
        self.revealed = False
        self.long = False  # an execution came to the limit, and did not go round for ever
        self.difference = ""
        self.failed: tuple[Finding, Execution] | None = None
        self.chance = random.Random(part)

    def run(self) -> None:
        """Spend the budget, or stop at the first thing that is wrong."""
        self.loom.values = True
        try:
            self._run()
        finally:
            self.loom.values = False

    def _run(self) -> None:
        half = self.budget // 2
        for trace, guards, spawned in self.kept.kept:
            if self.over or self.spent >= half:
                break
            self._other_order(trace, guards, spawned)
        if not self.over:
            with fine_points(self.loom):
                self._finer()

    @property
    def over(self) -> bool:
        return bool(self.revealed or self.difference or self.failed)

    def _execute(self, strategy: Strategy, detail: bool = False) -> Execution | None:
        """One execution; None when it fails or shows that more is shared, and when no interpreter can do this."""
        strategy.begin()
        run = self.loom.run(strategy, detail)
        if run.revealed:
            self.revealed = True
            return None
        if run.stop_reason == "seconds":
            raise OutOfTime
        self.spent += 1
        findings = [one for one in self.loom.judge(run) if one.kind != "livelock" or self._is_endless(run)]
        if self.revealed:
            return None
        if not findings or (self.wanted is not None and not same_failure(findings[0], self.wanted)):
            return run
        if not self.loom.gil or versions_that_can(run) & self.loom.gil:
            self.failed = findings[0], run
        return None

    def _is_endless(self, run: Execution) -> bool:
        """With finer points an execution may come to the limit that is only long: asked until one was."""
        if run.stop_reason != "limit":
            return True
        try:
            self.long = self.long or not repeats_itself(self.loom, run)
        except Revealed:
            self.revealed = True
        return not self.long

    # ------------------------------------------------------------------ other orders of a class

    def _other_order(self, trace: list[Any], guards: list[int], spawned: dict[int, int]) -> None:
        if len(trace) > _LONGEST:
            return
        before = HappensBefore(trace, guards, spawned, self.loom.indexes).before
        order = other_order(before, self.chance)
        first = list(range(len(trace)))
        if order == first:
            return
        strands = self._names([index for index, _ in trace])
        one = self._execute(FollowSteps(strands))
        if one is None:
            return
        two = self._execute(FollowSteps([strands[event] for event in order]))
        if two is None or seen_in(one) == seen_in(two):
            return
        steps = self._steps(strands, one)
        way = list(swaps(first, order))
        low, high = 0, len(way)  # the way makes a difference somewhere in low..high
        while high - low > 1 and not self.over:
            middle = (low + high) // 2
            between = self._execute(FollowSteps([strands[event] for event in way[middle - 1][2]]))
            if between is not None and seen_in(between) == seen_in(one):
                low = middle
            else:
                high = middle
        event, other, _ = way[high - 1]
        self.failed = None
        self.difference = _pair(steps[event], steps[other]) if len(steps) == len(trace) else _SOMEWHERE

    def _steps(self, strands: list[str], run: Execution) -> list[Step]:
        """Each step of an execution, by its first operation."""
        sizes = run.performed or [1] * len(strands)
        shown = self._execute(FollowSteps(by_operation(strands, sizes)), detail=True)
        steps = [] if shown is None else list(shown.detail or ())
        return [steps[at] for at in itertools.accumulate([0, *sizes[:-1]])] if len(steps) == sum(sizes) else []

    def _names(self, indexes: list[int]) -> list[str]:
        names = {index: name for name, index in self.loom.indexes.items()}
        return [names[index] for index in indexes]

    # ------------------------------------------------------------------ finer points

    def _finer(self) -> None:
        for strategy in itertools.chain(self._interruptions(), self._walks()):
            if self.over or self.spent >= self.budget:
                return
            run = self._execute(strategy)
            if run is not None and not run.stop_reason and len(run.trace) <= _LONGEST:
                self._compare(run, strategy)

    def _interruptions(self) -> Iterator[Strategy]:
        """One interruption at each step in turn, spread over the schedule when there are too many for the budget."""
        plans: list[tuple[bool, int]] = []
        for youngest_first in (False, True):
            straight = PreemptOnce(youngest_first)
            yield straight
            plans += [(youngest_first, at) for at in straight.choices]
        room = max(1, (self.budget - self.spent) // 2)
        chosen = plans if len(plans) <= room else self.chance.sample(plans, room)
        for youngest_first, at in chosen:
            yield PreemptOnce(youngest_first, at)

    def _walks(self) -> Iterator[Strategy]:
        for seed in itertools.count(self.part << 32):
            yield RandomWalk(seed)

    def _compare(self, run: Execution, strategy: Strategy) -> None:
        """Run the same order of operations without the finer points: everybody must see the same."""
        coarse = self._coarse(run)
        if coarse is None or seen_in(coarse) == seen_in(run):
            return
        shown = self._coarse(run, coarse)
        self.difference = _SOMEWHERE if shown is None else _where(shown, run)
        if isinstance(strategy, PreemptOnce) and strategy.at >= 0 and not self.loom.gil:
            self._bisect(run, strategy)

    def _coarse(self, run: Execution, shown: Execution | None = None) -> Execution | None:
        """The same order without the finer points; with all its steps, when it was run so before."""
        names = self._names([index for index, op in run.trace if not is_fine(op)])
        if shown is not None:
            names = by_operation(names, shown.performed)
        with plain_points(self.loom):
            return self._execute(FollowSteps(names), detail=shown is not None)

    def _bisect(self, run: Execution, strategy: PreemptOnce) -> None:
        """Interrupt a little later, until it makes no difference: that line and what the other strand does matter."""
        interrupted = run.trace[strategy.at - 1][0] if strategy.at else -1
        for later in range(strategy.at + 1, strategy.at + 1 + LEAST):
            after = self._execute(PreemptOnce(strategy.youngest_first, later), detail=True)
            if after is None or len(after.trace) <= later or after.trace[later - 1][0] != interrupted:
                break
            coarse = self._coarse(after)
            if coarse is None or seen_in(coarse) == seen_in(after):
                steps = list(after.detail or ())
                self.difference = _pair(steps[later - 1], steps[later])
                break
        self.failed = None


# Nobody can say where.
_SOMEWHERE = "two executions of one class differ"


def seen_in(run: Execution) -> Seen:
    """What each strand saw, and how it ended."""
    seen = {name: [text for text, _ in values] for name, values in run.seen.items()}
    for strand in run.strands:
        seen.setdefault(strand.treadle_name, []).append(f"ends by {type(strand.exception).__name__}")
    return seen


def _pair(one: Step, other: Step) -> str:
    return (
        f"{one.strand} at {one.file}:{one.line} and {other.strand} at {other.file}:{other.line}: which of them comes "
        "first makes a difference"
    )


def _where(one: Execution, other: Execution) -> str:
    """The first step at which a strand saw something else."""
    first, second = seen_in(one), seen_in(other)
    for strand, values in first.items():
        for number, (mine, theirs) in enumerate(itertools.zip_longest(values, second.get(strand, []))):
            if mine != theirs:
                return f"{strand}{_place(one, strand, number)} does not see the same in two executions of one class"
    return _SOMEWHERE


def _place(run: Execution, strand: str, number: int) -> str:
    """Where a strand saw its n-th value, in words."""
    values = run.seen.get(strand, [])
    until = values[number][1] if number < len(values) else None
    own = [step for step in (run.detail or [])[:until] if step.strand == strand]
    return f" at {own[-1].file}:{own[-1].line}" if own else ""
