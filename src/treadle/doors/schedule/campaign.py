"""The schedule door: run a test once, generate schedules that reach new ordering goals, run them, tell what came out.

Decides the order of work (section VI of the Bita paper, and beyond): PETR, PR, PMR where handlers change, PCR, TRIPLE.
Executions that bring events nobody had seen become initial schedules themselves, until nothing new comes or the budget
is used up. Of several schedules at hand those go first that bring the most new pairs of event types. Between them go
executions that choose their order as they run (`greedy`), while those reach anything new; where PETR is not among the
criteria, coverage is what was asked for, and they go first. A failure is reported after it was replayed, with the
fewest orders of messages that bring it about. Workers run ahead (`ahead`); what comes out is the same without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import Finding, Verdict
from treadle.core.saved import SavedCampaign, nothing_saved
from treadle.doors.explore.check import target_of
from treadle.doors.explore.confirm import Confirmation, settings_of
from treadle.doors.explore.told import same_failure
from treadle.doors.schedule.ahead import OrderSeen, RunAhead, finding_of, key_of, seen_in, setup_of
from treadle.messages.algorithms import Generation, generate_schedules, generate_triples
from treadle.messages.criteria import CRITERIA, PCETR, PETR, PMR, PR, Goals
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.greedy import Greedy, Reached
from treadle.messages.loom import DELIVERIES, MessageLoom, uses_actors
from treadle.messages.must_hb import MustHB
from treadle.messages.oracles import judge, warnings
from treadle.messages.possible import Possible
from treadle.messages.receive import Receive
from treadle.messages.result import MOST_RUNS, Coverage, OrderFinding, OrderRun, ScheduleResult
from treadle.search.cluster import ALONE, Workforce, pool_of
from treadle.search.strategy import Strategy
from treadle.search.workers import AnyPool
from treadle.threads.watchdog import OutOfTime, ReallyBlocked

Progress = Callable[[int, float | None, str], None]

MOST_EXECUTIONS = 500
TRIPLE = "TRIPLE"
NAMES = (*CRITERIA, TRIPLE)
# Pairs of event types first: few schedules, and most bugs need no more. Triples last: there may be very many.
DEFAULT = ("PETR", "PR", "PMR", "PCR", TRIPLE)
# Schedules generated ahead, among which the most promising goes first. More would delay the first execution.
_AHEAD = 16
# Executions before the first one that chooses its order as it runs: planned schedules change less at a time, and what
# they find is told in fewer words.
_PLANNED = 5
# Executions in a row that may choose their order as they run and reach nothing: then there are planned ones only.
_MOST_BARREN = 3
# Receives of an execution up to which every one is looked at for goals that are possible, not only the first.
_MOST_COMPARED = 2_000
# Initial schedules that one campaign starts from: the first, and those of executions with new events.
_MOST_BASES = 40
# What runs schedules in a worker process: pytest collects the test there.
_SERVER = "treadle.cli.share_worker:serve_orders"


def check_schedules(
    test: Callable[[], Any],
    *,
    criteria: Sequence[str] = DEFAULT,
    executions: int | None = None,
    seconds: float | None = None,
    delivery: str = "mailbox",
    behaviours: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
    target: str | None = None,
    source: Any = None,
    first: bool = True,
    initial: Strategy | None = None,
    observe: Callable[[list[Receive]], None] | None = None,
    workforce: Workforce = ALONE,
    resume: bool = False,
) -> ScheduleResult:
    """Run `test` under schedules that raise ordering coverage. With `first`, stop at the first failure.

    `initial` chooses the order of the first execution, which is the library's own otherwise; `observe` is told the
    receives of every execution. A campaign that is cut is saved; with `resume`, the next one goes on from there.
    """
    check_options(criteria, executions, seconds, delivery)
    name = target if target is not None else target_of(source if source is not None else test)
    queues = not uses_actors(source if source is not None else test)
    loom = MessageLoom(test, source=source, seed=seed, delivery=delivery, behaviours=tuple(behaviours), queues=queues)

    def open_pool() -> AnyPool:
        return pool_of(workforce, _SERVER, (name, setup_of(loom)), f"schedule {name}")

    ahead = RunAhead(open_pool if workforce.several else None, at_once=workforce.cluster is not None)
    saved = SavedCampaign("schedule", name, list(criteria), sorted(setup_of(loom).items()))
    if resume:
        stopped = saved.load()
        if stopped is None:
            raise UsageError(nothing_saved(name))
        ahead.passed = stopped
    with ahead, loom:
        campaign = ScheduleCampaign(
            loom, name, criteria, executions or MOST_EXECUTIONS, seconds, delivery, progress, first, ahead
        )
        campaign.initial, campaign.observe = initial, observe
        result = campaign.run()
    if result.verdict is Verdict.CUT and (workforce.several or resume):
        saved.save(ahead.passed)
        result.reason += "; --resume goes on from here"
    elif result.verdict is not Verdict.CUT:
        saved.remove()
    return result


def check_options(criteria: Sequence[str], executions: int | None, seconds: float | None, delivery: str) -> None:
    """Refuse what makes no sense before anything runs."""
    for name in criteria:
        if name not in NAMES:
            raise UsageError(f"there is no criterion '{name}'; there are: {', '.join(NAMES)}")
    if not criteria:
        raise UsageError(f"name at least one criterion; there are: {', '.join(NAMES)}")
    for option, budget in (("executions", executions), ("seconds", seconds)):
        if budget is not None and not budget > 0:
            raise UsageError(f"a budget of {budget:g} {option} leaves nothing to run; give more than 0")
    if delivery not in DELIVERIES:
        raise UsageError(f"delivery must be {' or '.join(map(repr, DELIVERIES))}, not '{delivery}'")


class _Over(Exception):
    """The budget is used up: which part of it, and in a sentence."""

    def __init__(self, cut_by: str, reason: str) -> None:
        super().__init__(reason)
        self.cut_by, self.reason = cut_by, reason


class ScheduleCampaign:
    """One run of `treadle schedule`."""

    def __init__(
        self,
        loom: MessageLoom,
        target: str,
        criteria: Sequence[str],
        executions: int,
        seconds: float | None,
        delivery: str,
        progress: Progress | None,
        first: bool,
        ahead: RunAhead,
    ) -> None:
        self.loom = loom
        self.criteria = list(criteria)
        self.most = executions
        self.seconds = seconds
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.progress = progress
        self.first = first
        self.ahead = ahead
        self.barren = dict.fromkeys(NAMES, 0)  # greedy executions in a row that reached nothing, by criterion
        self.initial: Strategy | None = None
        self.observe: Callable[[list[Receive]], None] | None = None
        self.result = ScheduleResult(target, Verdict.CUT, delivery=delivery)
        self.started = time.perf_counter()
        self.goals = {criterion.name: Goals(criterion) for criterion in CRITERIA.values()}
        self.possible = {name: Possible(self.goals[name]) for name in ("PR", "PCR", "PMR")}
        self.events: set[int] = set()
        self.actors: set[int] = set()
        self.bases: list[list[Receive]] = []
        self.passing: list[list[Receive]] = []
        self.ran: set[tuple[int, ...]] = set()
        self.now = ""  # the criterion at work
        self.completed: list[str] = []  # criteria of which every goal was tried
        self.last: list[Receive] = []  # the receives of the last execution

    # ------------------------------------------------------------------ the work

    def run(self) -> ScheduleResult:
        result = self.result
        try:
            saturated = self._search()
        except _Over as over:
            saturated = False
            result.reason, result.cut_by = over.reason, over.cut_by
        except KeyboardInterrupt:
            saturated = False
            result.reason, result.cut_by = f"interrupted after {self._count()}: not a pass", "interrupted"
        except ReallyBlocked as blocked:
            raise Unsupported(str(blocked)) from None
        self._conclude(saturated)
        return result

    def _search(self) -> bool:
        """True when every goal that is known to be possible was tried; False when a failure ended it."""
        if self._execute([]):
            return False
        if not self.bases:
            return True
        for name in self.criteria:
            self.now = name
            for base in _growing(self.bases):
                failed = self._try_types(base) if name == "PETR" else self._try(name, base)
                if failed:
                    return False
            self.completed.append(name)
        return True

    def _try(self, name: str, base: list[Receive]) -> bool:
        """Run what one criterion generates from one initial schedule; True when that ends the campaign."""
        generation = self._generated(name, base)
        if self._greedy_until_barren(name):
            return True
        for schedule in self._promising(iter(generation)):
            if self._greedy_may_go(name):
                if self._execute_greedily(name):
                    return True
                if isinstance(generation, Generation):
                    generation.learn(self.last)
            if not self._brings_something(schedule):
                continue  # executions since it was generated have reached its goals by chance
            if self._execute(schedule):
                return True
            if isinstance(generation, Generation):
                generation.learn(self.last)
        return False

    def _greedy_until_barren(self, name: str) -> bool:
        """Where coverage is all that was asked for: first what reaches many goals at once, then what is planned."""
        while "PETR" not in self.criteria and name in ("PR", "PCR") and self._greedy_may_go(name):
            if self._execute_greedily(name):
                return True
        return False

    def _try_types(self, base: list[Receive]) -> bool:
        """Of what several criteria generate, run what brings new pairs of event types, the most promising first."""
        must_hb = MustHB(base)
        generations = [
            generate_schedules(base, criterion, known=self.goals[criterion.name], must_hb=must_hb)
            for criterion in (PETR, PCETR, PR)
        ]
        sources = [iter(generation) for generation in generations]
        pool: list[list[Receive]] = []
        while True:
            for source in sources:
                more = list(islice(source, _AHEAD - len(pool) // len(sources)))
                self.result.schedules += len(more)
                pool += more
            pool = [schedule for schedule in pool if self._promise(schedule)[0]]
            if pool:
                ranked = sorted(pool, key=self._promise, reverse=True)
                self.ahead.likely(ranked)
                best = ranked[0]
                pool.remove(best)
                if self._execute(best):
                    return True
                self._tell(generations)
            if self._greedy_may_go("PR"):
                if self._execute_greedily("PR"):
                    return True
                self._tell(generations)
            if not pool and not self._greedy_may_go("PR"):
                return False

    def _tell(self, generations: list[Generation]) -> None:
        for generation in generations:
            generation.learn(self.last)

    def _generated(self, name: str, base: list[Receive]) -> Iterable[list[Receive]]:
        must_hb = MustHB(base)
        if name == TRIPLE:
            return generate_triples(base, reached=self.passing, must_hb=must_hb)
        criterion = CRITERIA[name]
        if criterion is PMR and not any(event.cmh for event in base):
            return ()
        return generate_schedules(base, criterion, known=self.goals[name], must_hb=must_hb)

    def _promising(self, generated: Iterator[list[Receive]]) -> Iterator[list[Receive]]:
        """Schedules in small batches, those first that bring the most new pairs of event types."""
        while True:
            batch = list(islice(generated, _AHEAD))
            if not batch:
                return
            self.result.schedules += len(batch)
            while batch:
                ranked = sorted(batch, key=self._promise, reverse=True)
                self.ahead.likely([schedule for schedule in ranked if self._brings_something(schedule)])
                batch.remove(ranked[0])
                yield ranked[0]

    def _promise(self, schedule: list[Receive]) -> tuple[int, int]:
        """New pairs of event types, in a row or not, then new pairs of receives."""
        types = self.goals["PETR"].new_goals(schedule) + self.goals["PCETR"].new_goals(schedule)
        return types, self.goals["PR"].new_goals(schedule)

    def _brings_something(self, schedule: list[Receive]) -> bool:
        return self.now == TRIPLE or bool(self.goals[self.now].new_goals(schedule))

    def _execute(self, schedule: list[Receive]) -> bool:
        """One execution along a schedule; True when it fails and that ends the campaign."""
        key = key_of(schedule)
        if key in self.ran:
            return False
        self.ran.add(key)
        self._check_budget()
        seen = self.ahead.answer(schedule)
        if seen is not None:
            self.result.executions += 1
            self._note_pass(seen)
            return False
        follow = FollowSchedule(schedule)
        return self._run(follow, follow if self.initial is None or self.result.executions else self.initial)

    def _greedy_may_go(self, name: str) -> bool:
        """Executions that choose their order as they run wait for a few planned ones, unless coverage is all that was
        asked for, and end when they bring nothing."""
        measure = name if name in self.possible else "PR"
        if self.barren[measure] >= _MOST_BARREN:
            return False
        return "PETR" not in self.criteria or (self.result.executions >= _PLANNED and self.possible[measure].are_open())

    def _execute_greedily(self, name: str) -> bool:
        """One execution that reaches what open goals it can."""
        measure = name if name in self.possible else "PR"
        before = len(self.goals[measure])
        known = Reached(self.goals, self.possible["PR"], types="PETR" in self.criteria)
        follow = Greedy(known, self.loom.seed + self.result.executions, in_a_row=name == "PCR")
        self.result.schedules += 1
        failed = self._run(follow, follow)
        self.barren[measure] = 0 if len(self.goals[measure]) > before else self.barren[measure] + 1
        return failed

    def _run(self, follow: FollowSchedule, strategy: Strategy) -> bool:
        self._check_budget()
        strategy.begin()
        self.loom.watch.deadline = self.deadline
        try:
            run = self.loom.run(strategy)
        except OutOfTime:
            raise _Over("seconds", f"time ran out inside an execution, after {self._count()}: not a pass") from None
        finally:
            self.loom.watch.deadline = None
        assert isinstance(run, MessageExecution)
        self.result.executions += 1
        if run.stop_reason == "seconds":  # whatever it was in the middle of
            raise _Over("seconds", f"time ran out inside an execution, after {self._count()}: not a pass")
        if run.stop_reason == "limit" and not judge(run):  # too long to be learned from, let alone to be reordered
            raise _Over(
                "operations", f"an execution was stopped after {run.step} operations, without an end: not a pass"
            )
        seen = seen_in(run, follow)
        if seen is not None:
            if type(follow) is FollowSchedule:
                self.ahead.keep(follow.planned, seen)
            self._note_pass(seen)
            return False
        receives = run.journal.receives()
        found = judge(run)
        self._learn(receives, run.journal.dropped(), {actor.hash for actor in run.journal.actors}, warnings(run))
        if len(self.result.runs) < MOST_RUNS:
            self.result.runs.append(OrderRun(receives, found[0].kind if found else "passed"))
        if not found:
            self._note_unfit(follow.missing, follow.held_back)
            self.passing.append(receives)
            return False
        if not self.result.findings:
            self.result.seconds_to_failure = time.perf_counter() - self.started
        finding = self._confirm(found[0], run)
        if not any(same_failure(finding, other) and finding.message == other.message for other in self.result.findings):
            self.result.findings.append(finding)
        return self.first

    def _note_pass(self, seen: OrderSeen) -> None:
        self._learn(seen.receives, seen.dropped, seen.actors, [finding_of(told) for told in seen.warnings])
        if len(self.result.runs) < MOST_RUNS:
            self.result.runs.append(OrderRun(seen.receives, "passed"))
        self._note_unfit(seen.missing, seen.held_back)
        self.passing.append(seen.receives)

    def _note_unfit(self, missing: Receive | None, held_back: bool) -> None:
        """In an execution that fails, what is missing is a consequence; here it is not."""
        if missing is not None and not held_back:
            self.result.infeasible += 1
            self.result.unfit.append(_did_not_come(missing))

    def _check_budget(self) -> None:
        if self.result.executions >= self.most:
            raise _Over("executions", f"the budget of {self._count()} is used up: not a pass")
        if self.seconds is not None and time.perf_counter() - self.started >= self.seconds and self.result.executions:
            raise _Over("seconds", f"time ran out after {self._count()}: not a pass")
        if self.progress is not None:
            self.progress(self.result.executions, None, f"schedule {self.now}".strip())

    def _learn(
        self, receives: list[Receive], dropped: list[Receive], actors: Collection[int], warned: list[Finding]
    ) -> None:
        """Add what an execution reached; one with new events is an initial schedule for more.

        A message that its receiver dropped is an event that came too late: in an initial schedule it is the last one.
        """
        self.last = receives
        if self.observe is not None:
            self.observe(receives)
        for goals in self.goals.values():
            goals.add(receives)
        base = receives + dropped
        new = {event.hash for event in base} - self.events
        self.events |= new
        self.actors |= set(actors)
        if new and len(self.bases) < _MOST_BASES:
            self.bases.append(base)
            if len(self.bases) == 1 or len(base) <= _MOST_COMPARED:
                must_hb = MustHB(base)
                for possible in self.possible.values():
                    possible.add(base, must_hb)
        self.result.curve.append({name: len(goals) for name, goals in self.goals.items()})
        known = {warning.message for warning in self.result.warnings}
        self.result.warnings += [warning for warning in warned if warning.message not in known]

    # ------------------------------------------------------------------ a failure

    def _confirm(self, finding: Finding, failing: MessageExecution) -> OrderFinding:
        settings = settings_of(self.loom)
        return Confirmation(self.loom, self.result.target, settings, "schedule").confirm(finding, failing, self.passing)

    # ------------------------------------------------------------------ the end

    def _count(self) -> str:
        count = self.result.executions
        return f"{count} execution{'s' if count != 1 else ''}"

    def _conclude(self, saturated: bool) -> None:
        result = self.result
        result.seconds = time.perf_counter() - self.started
        result.events, result.actors = len(self.events), len(self.actors)
        for name, possible in self.possible.items():
            result.goals[name] = Coverage(len(self.goals[name]), possible.count())
        if result.findings:
            result.verdict = Verdict.FAILED
            result.reason = result.reason or f"failed in execution {result.executions}"
        elif not self.events and not result.reason:
            result.verdict = Verdict.NOTHING_TO_EXPLORE
            result.reason = "no actor received a message: there is no order to change"
        elif saturated and result.executions == 1:
            result.verdict = Verdict.NOTHING_TO_EXPLORE
            result.reason = "no two messages of one actor can change places: there is one order"
        elif saturated or (self.completed and set(self.criteria) - set(self.completed) == {TRIPLE}):
            result.verdict = Verdict.PASSED_WITHIN_BOUNDS
            goals = f"every ordering goal of {', '.join(self.completed)} that could be tried was tried"
            result.reason = goals if saturated else f"{goals}, and of {TRIPLE} as many as the budget allowed"
        else:
            result.verdict = Verdict.CUT
        if result.verdict is not Verdict.CUT:
            result.cut_by = ""


def _growing(bases: list[list[Receive]]) -> Iterator[list[Receive]]:
    """The list, which grows meanwhile."""
    place = 0
    while place < len(bases):
        yield bases[place]
        place += 1


def _did_not_come(missing: Receive) -> str:
    return (
        f"{missing} (from {missing.origin}) did not come: besides the order of messages something else decides what "
        "the program sends (shared memory, time, randomness)"
    )
