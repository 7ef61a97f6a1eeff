"""One share of a search, run by a worker process: a piece of the tree, some samples, or a part of the check of a pass.

The worker only runs executions. It sends the schedules that somebody must look at (failures, limits, leftovers) by
the names of their strands, and the process that asked runs them again and judges: so that there is one place where a
verdict is decided, whoever ran what.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from treadle.core.errors import Unsupported
from treadle.core.operation import FINE, Operation, parts
from treadle.doors.explore.blame import not_deterministic
from treadle.doors.explore.pass_check import PassCheck
from treadle.search.few_preemptions import FewPreemptions
from treadle.search.other_orders import Reservoir
from treadle.search.pieces import Piece, PieceDpor, PieceResult
from treadle.search.random_walk import RandomWalk
from treadle.search.strategy import Strategy
from treadle.threads.diverged import Diverged
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom
from treadle.threads.watchdog import ReallyBlocked
from treadle.threads.without_gil import Note

# An execution that can be run again elsewhere: who did what, its guards, and who was made when.
SentTrace = tuple[tuple[tuple[str, Operation], ...], tuple[int, ...], tuple[tuple[str, int], ...]]


class RandomShare(NamedTuple):
    """Random schedules, as many as the time of a share allows, so many at most."""

    number: int
    seed: int
    executions: int
    length: int  # of long executions, which are sampled with few preemptions; 0: a random walk


class CheckShare(NamedTuple):
    """A part of the check of a pass."""

    number: int
    part: int
    kept: tuple[SentTrace, ...]
    executions: int


class Share(NamedTuple):
    """What a worker is asked to do, and what is known."""

    work: Piece | RandomShare | CheckShare
    shared: frozenset[str]
    most_steps: int
    most: int  # executions
    seconds: float


@dataclass
class ShareAnswer:
    """What came of a share."""

    result: PieceResult | None = None
    executions: int = 0
    impossible: int = 0
    checked: int = 0
    longest: int = 0
    looping: bool = False
    failing: tuple[str, ...] = ()  # the schedule of an execution that fails
    fine: bool = False  # and whether it needs the finer points
    over_limit: int = 0
    at_limit: tuple[str, ...] = ()  # the schedule of one of those
    leftovers: dict[str, tuple[str, ...]] = field(default_factory=dict)  # warnings, and a schedule that shows each
    difference: str = ""
    revealed: frozenset[str] = frozenset()
    atomic: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    in_steps: set[Note] = field(default_factory=set)
    deadlines: set[tuple[str, int]] = field(default_factory=set)
    hash_orders: set[tuple[str, int]] = field(default_factory=set)
    incomplete: str = ""
    kept: list[SentTrace] = field(default_factory=list)
    unsupported: str = ""


class ShareRunner:
    """Runs shares of one search in this process."""

    def __init__(self, loom: Loom) -> None:
        self.loom = loom

    def run(self, _: int, share: Share) -> ShareAnswer:
        loom = self.loom
        assert loom.shared is not None
        answer = ShareAnswer()
        try:
            while True:
                loom.shared |= share.shared
                loom.most_steps = share.most_steps
                imported = loom.rewritten
                answer = ShareAnswer()
                if isinstance(share.work, CheckShare):
                    self._check(share.work, answer)
                else:
                    self._search(share, answer)
                answer.revealed = frozenset(loom.shared - share.shared)
                if answer.revealed or loom.rewritten == imported:
                    break  # else it imported modules that are rewritten: the same once more
        except Diverged as diverged:
            answer.unsupported = f"the test is not deterministic: {not_deterministic(loom, diverged)}"
        except (Unsupported, ReallyBlocked) as error:
            answer.unsupported = str(error)
        answer.atomic, answer.assumed, answer.incomplete = set(loom.atomic), set(loom.assumed), loom.incomplete
        answer.deadlines, answer.hash_orders, answer.in_steps = (
            set(loom.deadlines),
            set(loom.hash_orders),
            set(loom.in_steps),
        )
        return answer

    def _search(self, share: Share, answer: ShareAnswer) -> None:
        loom, work = self.loom, share.work
        strategy = self._strategy(work)
        sampled = isinstance(work, RandomShare)
        most = min(share.most, work.executions) if isinstance(work, RandomShare) else share.most
        end = time.perf_counter() + share.seconds
        kept = Reservoir(1)
        done = False
        while answer.executions < most and (time.perf_counter() < end or not answer.executions):
            done = not strategy.begin()
            if done:
                break
            run = loom.run(strategy)
            if run.revealed:
                return
            strategy.end(run)
            answer.looping |= run.looping
            if run.stop_reason == "blocked":
                continue
            if not loom.possible(run):
                answer.impossible += 1
                continue
            answer.executions += 1
            answer.longest = max(answer.longest, len(run.trace))
            if not sampled:
                kept.offer(run.trace, run.guards, run.spawned)
            if run.ended_well:
                run.release()
            elif self._judge(run, answer):
                return
        answer.kept = [self._sent(*one) for one in kept.kept]
        if isinstance(strategy, PieceDpor):
            answer.result = strategy.result(done or strategy.exhausted or not strategy.begin())

    def _strategy(self, work: Any) -> Strategy:
        if isinstance(work, Piece):
            return PieceDpor(work, self.loom.indexes)
        if work.length:
            few = FewPreemptions(work.seed)
            few.length = work.length
            return few
        return RandomWalk(work.seed)

    def _judge(self, run: Execution, answer: ShareAnswer) -> bool:
        """Is this an execution that the search ends with?"""
        steps = self._steps(run)
        if run.stop_reason == "limit":
            answer.over_limit += 1
            answer.at_limit = answer.at_limit or steps
        elif self.loom.judge(run):
            answer.failing = steps
            return True
        for warning in self.loom.leftovers(run):
            answer.leftovers.setdefault(warning.message, steps)
        return False

    def _check(self, work: CheckShare, answer: ShareAnswer) -> None:
        kept = Reservoir(len(work.kept))
        for trace, guards, spawned in work.kept:
            kept.offer(
                [(self._index(strand), op) for strand, op in trace],
                list(guards),
                {self._index(strand): step for strand, step in spawned},
            )
        check = PassCheck(self.loom, kept, work.executions, work.part)
        check.run()
        answer.checked, answer.difference = check.spent, check.difference
        if check.failed is not None:
            run = check.failed[1]
            answer.failing = self._steps(run)
            answer.fine = any(FINE in parts(op) for _, op in run.trace)

    def _steps(self, run: Execution) -> tuple[str, ...]:
        names = {index: name for name, index in self.loom.indexes.items()}
        return tuple(names[index] for index, _ in run.trace)

    def _index(self, strand: str) -> int:
        return self.loom.indexes.setdefault(strand, len(self.loom.indexes))

    def _sent(self, trace: list[tuple[int, Operation]], guards: list[int], spawned: dict[int, int]) -> SentTrace:
        return sent_trace(self.loom, trace, guards, spawned)


def sent_trace(loom: Loom, trace: list[tuple[int, Operation]], guards: list[int], spawned: dict[int, int]) -> SentTrace:
    names = {index: name for name, index in loom.indexes.items()}
    return (
        tuple((names[strand], op) for strand, op in trace),
        tuple(guards),
        tuple((names[strand], step) for strand, step in spawned.items()),
    )


Runner = Callable[[int, Share], ShareAnswer]
