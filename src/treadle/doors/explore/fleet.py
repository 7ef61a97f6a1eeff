"""A search by several worker processes: the same verdict and the same findings, sooner.

The process that a person started begins alone; what is not over in a second is handed over: a reduced search in pieces
(`search.pieces`), samples by their seeds, the check of a pass in parts. This process gives
work, keeps what comes back, and runs every schedule again that somebody must judge: verdicts are decided here.

A search that is cut, by a budget, by Ctrl-C or because the workers have gone, is saved as it stands: what was being run
counts as not begun. `--resume` goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from treadle.core.errors import Unsupported
from treadle.core.result import Finding, Result, Verdict
from treadle.core.saved import SavedCampaign
from treadle.doors.explore.campaign import ScheduleSearch
from treadle.doors.explore.ending import RESUMABLE, Ended
from treadle.doors.explore.failing import Revealed
from treadle.doors.explore.pass_check import LEAST, SHARE
from treadle.doors.explore.pieces import CheckShare, RandomShare, SentTrace, Share, ShareAnswer, sent_trace
from treadle.search.auto import Auto
from treadle.search.dpor import Dpor
from treadle.search.pieces import SharedTree
from treadle.search.random_walk import RandomWalk
from treadle.search.replay import FollowSteps
from treadle.search.workers import AnyPool, gone
from treadle.threads.execution import Execution
from treadle.threads.fine import fine_points
from treadle.threads.watchdog import OutOfTime

# Random schedules that a share has at most; its time ends it earlier, or how many are wanted.
_SAMPLES = 10_000
# Seconds that this process waits for news.
_PATIENCE = 0.2
# No end: of a budget that nobody gave.
_NO_END = 1 << 60


_OF_SEARCH = ("executions", "spent", "longest", "usual", "over_limit", "impossible", "measured", "looping")
_OF_LOOM = ("most_steps", "atomic", "assumed", "deadlines", "hash_orders", "incomplete", "in_steps")


class StoppedSearch:
    """A search as it stands: what a later one needs to go on."""

    def __init__(self) -> None:
        self.tree = SharedTree()
        self.sampling = False
        self.executions = 0
        self.shared: frozenset[str] = frozenset()
        self.kept: list[SentTrace] = []
        self.warnings: list[tuple[str, str]] = []
        self.of_search: dict[str, Any] = {}
        self.of_loom: dict[str, Any] = {}

    def take_from(self, search: ScheduleSearch, kept: list[SentTrace]) -> None:
        for number in list(self.tree.running):
            self.tree.lose(number)
        self.executions = search.executions
        self.shared = frozenset(search.loom.shared or ())
        self.kept = kept
        self.warnings = [(one.kind, one.message) for one in search.warnings.values()]
        self.of_search = {name: getattr(search, name) for name in _OF_SEARCH}
        self.of_loom = {name: getattr(search.loom, name) for name in _OF_LOOM}

    def put_back(self, search: ScheduleSearch) -> None:
        assert search.loom.shared is not None
        search.loom.shared |= self.shared
        for name, value in self.of_search.items():
            setattr(search, name, value)
        for name, value in self.of_loom.items():
            setattr(search.loom, name, value)
        for kind, message in self.warnings:
            search.warnings.setdefault(message, Finding(kind, message))


class WorkerFleet:
    """The workers of one test, started when a search turns out to be long. Use as a context manager."""

    def __init__(
        self,
        open_pool: Callable[[], AnyPool],
        seconds: float,
        saved: SavedCampaign,
        at_once: bool = False,
        resume: bool = False,
    ) -> None:
        self._open = open_pool
        self._saved = saved
        self._stopped: StoppedSearch | None = saved.load() if resume else None
        self._state: StoppedSearch | None = None  # of the search that is under way
        self.resumed = 0  # executions of the search that it goes on with
        self._pool: AnyPool | None = None
        self._at_once = at_once
        self.seconds = seconds  # of a share
        self.used = False
        self.gone = ""
        self.numbers = 0
        self.pieces = 0
        self.answered = 0
        self.kept: list[SentTrace] = []

    def __enter__(self) -> WorkerFleet:
        if self._at_once:
            self._pool = self._open().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.__exit__(None, None, None)

    @property
    def pool(self) -> AnyPool:
        if self._pool is None:
            self._pool = self._open().__enter__()
        return self._pool

    def hurries(self) -> bool:
        """Is there a search to go on with?"""
        return self._stopped is not None

    def takes(self, search: ScheduleSearch) -> bool:
        loom = search.loom
        if loom.gil or getattr(loom, "looped", False):
            return False
        return _reduced(search) is not None or type(search.search) is RandomWalk

    # ------------------------------------------------------------------ a search

    def go_on(self, search: ScheduleSearch) -> Ended | Finding:
        self.used = True
        state, self._stopped = self._stopped or StoppedSearch(), None
        known = frozenset(search.loom.shared or ())
        if state.executions and state.shared >= known:
            state.put_back(search)
            self.kept, self.numbers, self.resumed = state.kept, state.tree.numbers, state.executions
        else:  # of nothing, or of a search that did not know all that is shared
            state = StoppedSearch()
        self._state = state
        try:
            return self._all_of(search, state)
        except Unsupported:
            if self.pool.coming or not self.answered:  # workers that never came up have told why
                raise
            self.gone = gone(self.pool)
            return "workers"

    def settle(self, search: ScheduleSearch, result: Result) -> None:
        """The verdict is there: keep a search that can go on, forget one that is over."""
        if result.verdict is not Verdict.CUT:
            self._saved.remove()
        elif self._state is not None and result.cut_by in RESUMABLE:
            self._state.take_from(search, self.kept)
            self._saved.save(self._state)

    def _all_of(self, search: ScheduleSearch, state: StoppedSearch) -> Ended | Finding:
        strategy = search.search
        reduced = _reduced(search)
        if reduced is not None and not state.sampling:
            ended = self._in_pieces(search, reduced, state)
            if not isinstance(strategy, Auto) or isinstance(ended, Finding) or ended in ("seconds", "executions"):
                return ended
            if strategy.exhausted:
                return ended
        most = strategy.left["random"] if isinstance(strategy, Auto) else _NO_END
        state.sampling = True
        return self._samples(search, most)

    def _in_pieces(self, search: ScheduleSearch, reduced: Dpor, state: StoppedSearch) -> Ended | Finding:
        """All of a reduced search, from the beginning: what an optimal search has dropped depends on its order."""
        auto = search.search if isinstance(search.search, Auto) else None
        if not state.executions:
            search.executions = 0
        search.beside = 0
        tree = state.tree
        tree.numbers = max(tree.numbers, self.numbers)
        most = _NO_END if auto is None else auto.left["dpor"] - search.executions

        def enough() -> bool:  # for a search that goes on by sampling
            return auto is not None and (most <= 0 or tree.surprise is not None)

        def work(wanted: int) -> Iterator[Any]:
            tree.prepare(wanted)
            while not enough():
                piece = tree.give()
                if piece is None:
                    return
                self.pieces += 1
                yield piece

        while tree.running if enough() else not tree.done:
            for number, answer in self._turn(search, work, most):
                if number not in tree.running:
                    continue  # of a search that had to start again
                if answer is None:
                    tree.lose(number)
                    continue
                finding = self._absorb(search, answer)
                if finding is not None:
                    return finding
                most -= answer.executions
                if answer.result is not None:
                    tree.take(answer.result)
            if _over(search):
                break
        self.numbers = tree.numbers
        reduced.exhausted = tree.done
        reduced.conflicts = max(reduced.conflicts, tree.conflicts)
        reduced.blocked = tree.blocked
        reduced.reversed |= tree.reversed
        reduced.surprise = reduced.surprise or tree.surprise
        if auto is not None:
            auto.exhausted, auto.conflicts, auto.blocked = reduced.exhausted, reduced.conflicts, reduced.blocked
            auto.surprise = reduced.surprise
        return "end" if tree.done else _over(search) or "end"

    def _samples(self, search: ScheduleSearch, most: int) -> Ended | Finding:
        """Random schedules, each share with a seed of its own."""
        length = search.longest if isinstance(search.search, Auto) and search.search.is_long else 0
        left = most if search.most is None else min(most, search.most - search.spent)  # to be given
        running: dict[int, int] = {}

        def work(wanted: int) -> Iterator[RandomShare]:
            nonlocal left
            while left > 0:
                self.numbers += 1
                count = running[self.numbers] = min(_SAMPLES, -(-left // (2 * self.pool.size)))
                left -= count
                yield RandomShare(self.numbers, self.numbers, count, length)

        while left > 0 or running:
            for number, answer in self._turn(search, work, most):
                if number not in running:
                    continue
                count = running.pop(number)
                left += count - (answer.executions if answer is not None else 0)  # others are drawn for the rest
                finding = self._absorb(search, answer) if answer is not None else None
                if finding is not None:
                    return finding
            reason = _over(search)
            if reason:
                return reason
        return "end"

    def _turn(
        self, search: ScheduleSearch, work: Callable[[int], Iterator[Any]], most: int
    ) -> Iterator[tuple[int, ShareAnswer | None]]:
        """Give work to who has none, and hear what came of other work; None: its worker died."""
        pool, loom = self.pool, search.loom
        left = _NO_END if search.most is None else search.most - search.spent
        idle = [worker for worker in pool.ready if not worker.tasks]
        if idle:
            share = max(1, min(most, left) // max(1, len(idle)))
            for worker, task in zip(idle, work(len(idle)), strict=False):
                known = frozenset(loom.shared or ())
                pool.give(worker, task.number, Share(task, known, loom.most_steps, share, self.seconds))
        for _, message in pool.news(_PATIENCE):
            if message[0] == "done":
                self.answered += 1
                yield message[1], message[2]
            elif message[0] == "died":
                for number in message[1]:
                    yield number, None
        if not pool.coming:
            raise Unsupported(f"{gone(pool)}; run it without workers")
        if search.progress is not None:
            search.progress(search.executions, None, f"{search.search.name}, {len(pool.ready)} workers")

    def _absorb(self, search: ScheduleSearch, answer: ShareAnswer) -> Finding | None:
        """Keep what an answer says; the finding, if one of its executions fails."""
        loom = search.loom
        loom.atomic |= answer.atomic
        loom.assumed |= answer.assumed
        loom.in_steps |= answer.in_steps
        loom.deadlines |= answer.deadlines
        loom.hash_orders |= answer.hash_orders
        loom.incomplete = loom.incomplete or answer.incomplete
        if answer.unsupported:
            raise Unsupported(answer.unsupported)
        if answer.revealed:
            assert loom.shared is not None
            loom.shared |= answer.revealed
            raise Revealed
        search.looping |= answer.looping
        search.impossible += answer.impossible
        search.executions += answer.executions
        search.spent += answer.executions + answer.impossible
        self.kept += answer.kept
        livelock = search.measure(answer.longest)
        if livelock is not None:
            return livelock
        if answer.failing:
            return self._judged(search, answer)
        if answer.at_limit:
            found = search.look_at(_again(search, answer.at_limit))
            search.over_limit += answer.over_limit - 1
            if found is not None:
                return found
        for message, steps in answer.leftovers.items():
            if message not in search.warnings:
                search.look_at(_again(search, steps))
        return None

    def _judged(self, search: ScheduleSearch, answer: ShareAnswer) -> Finding:
        finding = search.look_at(_again(search, answer.failing))
        if finding is None:
            raise Unsupported(
                "the test failed in a worker process, and the same schedule passed here: it depends on something that "
                "the scheduler does not control (real time, addresses, files, other processes)"
            )
        return finding

    # ------------------------------------------------------------------ the check of a pass

    def checks(self, search: ScheduleSearch) -> SharedCheck:
        return SharedCheck(self, search)


class SharedCheck:
    """The check of a pass, in as many parts as there are workers."""

    def __init__(self, fleet: WorkerFleet, search: ScheduleSearch) -> None:
        self.fleet = fleet
        self.search = search
        self.spent = 0
        self.revealed = False
        self.difference = ""
        self.failed: tuple[Finding, Execution] | None = None

    def run(self) -> None:
        fleet, search = self.fleet, self.search
        kept = fleet.kept + [sent_trace(search.loom, *one) for one in search.kept.kept]
        parts = max(1, min(len(fleet.pool.ready), search.executions // (SHARE * LEAST)))
        waiting = list(range(parts))
        running: dict[int, int] = {}

        def work(wanted: int) -> Iterator[CheckShare]:
            while waiting:
                part = waiting.pop(0)
                fleet.numbers += 1
                running[fleet.numbers] = part
                yield CheckShare(fleet.numbers, part, tuple(kept[part::parts][:_KEPT]), search.executions // parts)

        while waiting or running:
            for number, answer in fleet._turn(search, work, _NO_END):
                part = running.pop(number, None)
                if part is None:
                    continue
                if answer is None:
                    waiting.append(part)
                    continue
                self._keep(answer)
            if self.revealed or self.difference or self.failed:
                return
            if _over(search) == "seconds":  # a pass that was not checked to the end is none
                raise OutOfTime

    def _keep(self, answer: ShareAnswer) -> None:
        loom = self.search.loom
        if answer.unsupported:
            raise Unsupported(answer.unsupported)
        self.spent += answer.checked
        self.difference = self.difference or answer.difference
        if answer.revealed:
            assert loom.shared is not None
            loom.shared |= answer.revealed
            self.revealed = True
        if answer.failing:
            with fine_points(loom) if answer.fine else nullcontext():
                run = _again(self.search, answer.failing)
                findings = loom.judge(run)
            if findings:
                self.failed = findings[0], run
            else:
                self.difference = self.difference or "an execution failed in a worker process, and does not fail here"


# Executions that a part of a check runs again in other orders.
_KEPT = 8


def _reduced(search: ScheduleSearch) -> Dpor | None:
    """The optimal search that is under way."""
    strategy = search.search
    if type(strategy) is Auto and strategy.kind == "dpor":
        strategy = strategy.dpor
    return strategy if type(strategy) is Dpor else None


def _again(search: ScheduleSearch, steps: tuple[str, ...]) -> Execution:
    """An execution that a worker has seen, in this process."""
    follow = FollowSteps(list(steps))
    follow.begin()
    run = search.loom.run(follow)
    if run.revealed:
        raise Revealed
    return run


def _over(search: ScheduleSearch) -> Ended | None:
    """Which budget is used up."""
    if search.seconds is not None and time.perf_counter() - search.started >= search.seconds:
        return "seconds"
    if search.most is not None and search.spent >= search.most:
        return "executions"
    return None
