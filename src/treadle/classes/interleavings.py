"""The interleaving explorer: two calls from the same state, under the schedules that can matter (section 4.4).

First the interleavings that predictive trace analysis calls problematic, each driven by active testing; then, if the
pair is small, all schedules by optimal DPOR, after which the pair is exhausted and the report says so. Every outcome
is judged against all orders of the calls.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from treadle.classes.linearizability import LIMIT, Outcome, Violation, all_ended, judge, returned
from treadle.classes.orders import Background, CallOrders
from treadle.classes.serializability import Interleaving, problematic
from treadle.classes.stage import Stage, Test
from treadle.core.operation import READ, Operation
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.fair import Fair
from treadle.search.step_dpor import StepDpor
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy
from treadle.threads.diverged import Diverged
from treadle.threads.execution import Execution
from treadle.threads.primitives import chance
from treadle.threads.primitives.clock import CLOCK

_T = TypeVar("_T")

# Far from any seed that a user would give.
_OTHER_SEED = 7919
# Orders of the calls of one test: more would take longer than they are worth.
_MOST_ORDERS = 300
# Orders in which an object's own threads go on at any moment: so many are drawn.
_BACKGROUND_ORDERS = 24
# An execution that is so many times as long as the calls are alone goes round in a loop.
_LOOPS = 3
# More operations than an execution has.
_ALL = 1_000_000


class Drive(Strategy):
    """Active testing: runs the threads so that given accesses come in a given order.

    Each part of the plan is (thread, accesses it has performed when it gives way, the operation it then stands
    before); a thread that cannot go on gives way early. `reached` says whether the order came about.
    """

    name = "drive"

    def __init__(self, stage: Stage, plan: list[tuple[int, int]]) -> None:
        super().__init__()
        self.stage = stage
        self.plan = []
        self.parts = plan
        self.position = 0
        self.performed: dict[str, int] = {}
        self.reached = True

    def begin(self) -> bool:
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = {strand.treadle_name: strand for strand in run.enabled()}
        if not enabled:
            return None
        if not self.stage.together:
            return enabled.get("main") or next(iter(enabled.values()))
        names = self.stage.strand_names
        while self.position < len(self.parts):
            thread, until = self.parts[self.position]
            name = names[thread]
            if self.performed.get(name, 0) >= until:
                self.position += 1
                continue
            strand = enabled.get(name)
            if strand is None:
                self.reached = False
                self.position += 1
                continue
            self.performed[name] = self.performed.get(name, 0) + 1
            return strand
        for name in (names[self.parts[0][0]], *names):
            if name in enabled:
                return enabled[name]
        return next(iter(enabled.values()))


def plan_of(interleaving: Interleaving) -> list[tuple[int, int]]:
    """The schedule that brings the accesses of an interleaving into their order: run each thread through its access,
    and stop it before the next one of its own."""
    plan: list[tuple[int, int]] = []
    for number, (thread, place) in enumerate(interleaving.order):
        later = [p for t, p in interleaving.order[number + 1 :] if t == thread]
        others = [t for t, _ in interleaving.order[number + 1 : number + 2]]
        until = later[0] if later and others and others[0] != thread else place + 1
        plan.append((thread, until))
    return plan


Effect = tuple[str, str, str, str]


@dataclass
class Witness:
    """A violation, the test that shows it, and the execution: strand names in the order in which they went."""

    test: Test
    violation: Violation
    outcome: Outcome
    orders: list[Outcome]
    schedule: list[str]
    preemptions: int = 0

    @property
    def effect(self) -> Effect:
        """What sort of thing goes wrong: the kind, which call raises what and at which line, or what shows it."""
        violation, (kind, thread, number) = self.violation, self.violation.where
        if violation.kind == "exception" and kind == "result":
            return violation.kind, violation.error, self.test.threads[thread][number].method, violation.place
        return violation.kind, violation.error if violation.kind in ("exception", "broken state") else kind, "", ""


@dataclass
class Explored:
    """What exploring one test gave."""

    test: Test
    witnesses: list[Witness] = field(default_factory=list)
    exhausted: bool = False
    executions: int = 0
    requirements: int = 0
    covered: int = 0
    unstable: str = ""  # why the test cannot be judged


def _is_enough(witness: Witness, effect: Effect | None) -> bool:
    """Is it what is looked for? Results alone that do not fit may be those of a call made of several locked steps: a
    graver fault is looked for."""
    if effect is not None:
        return witness.effect == effect
    return witness.violation.is_fault and witness.effect[:2] != ("linearizability", "result")


def _is_sound(outcome: Outcome, orders: list[Outcome]) -> bool:
    """Does nothing go wrong that goes wrong in no order, but that a call is cancelled?"""
    found = judge(outcome, orders, values=False)
    return found is None or (found.kind == "exception" and found.error == CancelledError.__name__)


def _with(threads: tuple[_T, ...], number: int, one: _T) -> tuple[_T, ...]:
    """The threads of a test, with this in the place of one."""
    return (*threads[:number], one, *threads[number + 1 :])


def _alike(orders: list[Outcome], again: list[Outcome]) -> bool:
    return len(orders) == len(again) and all(
        one.visible() == other.visible() and one.state == other.state for one, other in zip(orders, again, strict=True)
    )


class _Surviving(Strategy):
    """Survives a program that does something else in the same place."""

    lost = False  # a strand that was to run had already ended: the program is not deterministic

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        strand = super().pick(run)
        if strand is not None and strand.finished:
            self.lost = True
            run.stop_reason = "blocked"
            return None
        return strand


class _Search(_Surviving, Dpor):
    """Optimal DPOR over the accesses of threads."""


class _StepSearch(_Surviving, StepDpor):
    """One execution per class of orders of the steps of tasks."""


class InterleavingExplorer:
    """Explores tests on one stage."""

    def __init__(self, stage: Stage, sets: Sequence[frozenset[str]] = ()) -> None:
        self.stage = stage
        self.sets = sets
        self.drew = False  # did anybody draw a random number in the orders that were run last?

    def orders(self, test: Test) -> list[Outcome] | None:
        """The outcomes of all orders of the calls; None when there are too many.

        Where a call waits for threads or tasks of the object's own, another may be made meanwhile and see that there is
        work to do; and where a call has been woken by another, a third may be made before it goes on. Such orders count
        as well, but excuse nothing that goes wrong in them, except that a call is cancelled by one that is made
        meanwhile (`close`): somebody wrote that down.
        """
        self.drew = False
        found, kept_waiting = self._outcomes(test, may_begin=False)
        if found is None or not kept_waiting:
            return found
        meanwhile, _ = self._outcomes(test, may_begin=True)
        if meanwhile is None:
            return None
        return [*found, *(one for one in meanwhile if not one.ending and _is_sound(one, found))]

    def _outcomes(self, test: Test, may_begin: bool) -> tuple[list[Outcome] | None, bool]:
        """Those of all orders, None when there are too many; and whether a call waited for threads of the object's."""
        strategy = CallOrders(self.stage, may_begin)
        found: list[Outcome] = []
        while strategy.begin():
            outcome, run = self.stage.run_at_every_point(test.but(cancels=False), strategy)
            if run.revealed:  # it does not count, and none may be missing
                return self._outcomes(test, may_begin)
            self.drew = self.drew or chance.drawn()
            if outcome is not None:
                found.append(outcome)
            if len(found) > _MOST_ORDERS:
                return None, strategy.kept_waiting
        return found, strategy.kept_waiting

    def orders_when_cancelled(self, test: Test, orders: list[Outcome]) -> list[Outcome]:
        """The outcomes of all orders of the calls, and of those without one of them: a call that is cancelled has been
        made, or it has not."""
        found = list(orders)
        for thread, calls in enumerate(test.threads):
            for place in range(len(calls)):
                left = calls[:place] + calls[place + 1 :]
                for order in self.orders(test.but(threads=_with(test.threads, thread, left))) or []:
                    made = order.threads[thread]
                    result = (*made[:place], returned("cancelled"), *made[place:])
                    found.append(replace(order, threads=_with(order.threads, thread, result)))
        return found

    def elsewise(self, test: Test, number: int = 1) -> list[Outcome]:
        """The outcomes of all orders when random numbers come out differently."""
        loom = self.stage.loom
        kept = loom.seed
        loom.seed = kept + _OTHER_SEED * number
        try:
            return self.orders(test) or []
        finally:
            loom.seed = kept

    def with_background(self, test: Test) -> list[Outcome]:
        """Outcomes of orders in which the object's own threads are not kept waiting: what they change meanwhile, no
        two calls at once are needed for."""
        found = []
        for seed in range(_BACKGROUND_ORDERS):
            strategy = Background(self.stage, seed)
            strategy.begin()
            outcome, _ = self.stage.run_at_every_point(test, strategy)
            if outcome is not None:
                found.append(outcome)
        return found

    def solo(self, test: Test) -> tuple[list[Operation], list[Operation]]:
        """What each thread does when the other does nothing, from the same state."""
        traces = []
        for thread in (0, 1):
            alone = tuple(calls if number in (thread, 2) else () for number, calls in enumerate(test.threads))
            _, run = self.stage.run_at_every_point(test.but(threads=alone, omega=(), later=()), _Alone(self.stage))
            index = run.indexes.get(self.stage.strand_names[thread], -1)
            traces.append([operation for strand, operation in run.trace if strand == index])
        return traces[0], traces[1]

    def looks_at_a_clock(self, test: Test) -> bool:
        """Does a call of a test beside which time passes look at a clock?"""
        return any(operation[:2] == (READ, CLOCK) for trace in self.solo(test) for operation in trace)

    def explore(
        self,
        test: Test,
        most: int,
        may_go_on: Callable[[], bool],
        more: int = 0,
        effect: Effect | None = None,
    ) -> Explored:
        """Run a test under its schedules until it fails, with this effect if one is given, and so many executions more:
        a race has more than one effect."""
        test, orders = self._lookable(test)
        result = Explored(test)
        if not orders:
            result.unstable = "the calls have too many orders"
            return result
        # Whether they do the same again is found out at once where chance or other threads play a part, and otherwise
        # before anything is called wrong.
        values = not self.stage.subject.draws
        settled = self.drew or self.stage.subject.in_tasks or any(order.background for order in orders)
        if settled and values:
            orders, values = self._settle(result, orders)
        effects: set[Effect] = set()
        left: int | None = None  # executions, once it has failed
        cancelled = False  # are calls cancelled from now on?
        for outcome, run in self._executions(test, result, most, may_go_on):
            if self.stage.test is not None and self.stage.test.cancels and not cancelled:
                test, cancelled = self.stage.test, True
                orders = self.orders_when_cancelled(test, orders)
                if any(order.ending for order in orders):
                    break  # a call that waits for another one by design may do so when that one is cancelled
            violation = judge(outcome, orders, values=values and not cancelled)
            if violation is not None and values and not settled:
                settled = True
                orders, values = self._settle(result, orders)
                violation = judge(outcome, orders, values=values)
            witness = None if violation is None else Witness(test, violation, outcome, orders, self._schedule(run))
            if witness is not None and witness.effect not in effects:
                effects.add(witness.effect)
                result.witnesses.append(witness)
                if left is None and _is_enough(witness, effect):
                    left = more
            if left is not None:
                if left <= 0:
                    break
                left -= 1
        if not all_ended(orders):
            result.unstable = "one after the other, they go on for longer than an execution may"
            result.exhausted = False
        return result

    def _lookable(self, test: Test) -> tuple[Test, list[Outcome] | None]:
        """A test without what looks at the object afterwards and, after some order of its calls, never comes back: that
        says nothing about others, and would keep them from being compared. And the outcomes of its orders."""
        while True:
            orders = self.orders(test)
            endless = {order.looking for order in orders or () if order.late}
            left = test.but(
                omega=tuple(call for call in test.omega if call not in endless),
                later=tuple(call for call in test.later if call not in endless),
            )
            if left == test:
                return test, orders
            test = left

    def _settle(self, result: Explored, orders: list[Outcome]) -> tuple[list[Outcome], bool]:
        """All that the calls may do one after the other, and whether results and states can be compared: not where they
        are others when random numbers come out differently, or when the object's own threads go on meanwhile."""
        test = result.test
        stable = _alike(orders, self.elsewise(test))
        if any(order.background for order in orders):
            beside = self.with_background(test)
            known = {order.visible() for order in orders}
            stable = stable and all(order.visible() in known for order in beside)
            orders = orders + beside
        if not stable:
            result.unstable = "what the calls do depends on more than the state of the object and the schedule"
            orders = orders + [order for number in range(1, 5) for order in self.elsewise(test, number)]
        return orders, stable

    def _schedule(self, run: Execution) -> list[str]:
        """The strands in the order in which they went, operation by operation: a step may have several."""
        names = {index: name for name, index in self.stage.loom.indexes.items()}
        sizes = run.performed or [1] * len(run.trace)
        steps = zip((names[index] for index, _ in run.trace), sizes, strict=False)
        return [strand for strand, size in steps for _ in range(size)]

    def _executions(
        self, test: Test, result: Explored, most: int, may_go_on: Callable[[], bool]
    ) -> Iterator[tuple[Outcome, Execution]]:
        """Driven executions first, then a systematic search of at most so many. What is driven to single accesses goes
        where a GIL does not."""
        first, second = self.solo(test)
        for interleaving in problematic(first, second, self.sets) if not self.stage.gil else ():
            if result.requirements >= most or not may_go_on():
                break
            result.requirements += 1
            drive = Drive(self.stage, plan_of(interleaving))
            outcome, run = self.stage.run_test(test, drive)
            result.executions += 1
            result.covered += drive.reached
            if outcome is not None:
                yield outcome, run
        if self.stage.background and not self.stage.gil:
            yield from self._switched_once(test, result, (len(first), len(second)), may_go_on)
        if test.cancels:
            yield from self._cancelled(test, result, most, may_go_on)
            return
        search = self._search()
        count = 0
        endless = False  # did an execution reach its limit?
        usual = _LOOPS * (len(first) + len(second) + _LOOPS)
        looked = False
        while count < most and may_go_on():
            if not search.begin():
                result.exhausted = not search.lost and not endless
                if self.stage.subject.in_tasks and not result.witnesses:
                    yield from self._cancelled(test.but(cancels=True), result, most, may_go_on)
                break
            try:
                outcome, run = self.stage.run_test(test, search)
            except Diverged as diverged:
                result.unstable = str(diverged)
                return
            if run.revealed:  # what was taken for a constant is written: the steps are others
                search = self._search()
                continue
            search.end(run)
            count += 1
            result.executions += 1
            if outcome is not None:
                yield outcome, run
            endless = endless or (outcome is not None and outcome.ending == LIMIT)
            if len(run.trace) > usual and not looked:
                looked = True
                yield from self._fair(test, result)

    def _switched_once(
        self, test: Test, result: Explored, lengths: tuple[int, int], may_go_on: Callable[[], bool]
    ) -> Iterator[tuple[Outcome, Execution]]:
        """The calls of one thread in the middle of those of the other, at each place there is: where an object has
        threads of its own, the search that follows is soon busy with what these do when the calls have ended."""
        for thread, length in enumerate(lengths):
            for until in range(1, length):
                if not may_go_on():
                    return
                outcome, run = self.stage.run_test(test, Drive(self.stage, [(thread, until), (1 - thread, _ALL)]))
                result.executions += 1
                if outcome is not None:
                    yield outcome, run

    def _cancelled(
        self, test: Test, result: Explored, most: int, may_go_on: Callable[[], bool]
    ) -> Iterator[tuple[Outcome, Execution]]:
        """Every schedule in which one of the calls is cancelled at one of its awaits, or none is."""
        search = Dfs()
        count = 0
        while search.begin():
            if count >= most or not may_go_on():
                result.exhausted = False
                return
            outcome, run = self.stage.run_test(test, search)
            search.end(run)
            count += 1
            result.executions += 1
            if outcome is not None:
                yield outcome, run

    def _search(self) -> _Search | _StepSearch:
        return _StepSearch() if self.stage.subject.in_tasks else _Search()

    def _fair(self, test: Test, result: Explored) -> Iterator[tuple[Outcome, Execution]]:
        """Executions in which everybody has a turn: a loop that goes on there is a livelock."""
        fair = Fair()
        while fair.begin():
            outcome, run = self.stage.run_test(test, fair)
            result.executions += 1
            if outcome is not None:
                yield outcome, run


class _Alone(Strategy):
    """Runs the threads one after the other."""

    name = "alone"

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage

    def begin(self) -> bool:
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not self.stage.together:
            main = next((strand for strand in enabled if strand.treadle_name == "main"), None)
            if main is not None:
                return main
        return next((s for s in enabled if s.treadle_name != "main"), next(iter(enabled), None))
