"""The campaign over one class: the iterations of the paper's figure 3, and an honest account of what came out.

Each iteration generates one call sequence that improves sequential coverage, assembles it with the repository, and
explores the new pairs of calls. The campaign ends when the coverage is saturated and every pair was explored, when the
budget is used up, or some time after the first fault. A fault is reported only after it was made small and its
execution was run again with the same violation.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import time
import zlib
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from treadle.classes import choosing
from treadle.classes import pools as pools_module
from treadle.classes.assembler import Assembler, Pair
from treadle.classes.calls import MethodCall
from treadle.classes.choosing import Candidates
from treadle.classes.coverage import Trace
from treadle.classes.grown import Grower
from treadle.classes.interleavings import Explored, InterleavingExplorer, Witness
from treadle.classes.linearizability import Outcome, judge
from treadle.classes.longer import Longer
from treadle.classes.minimise import minimise
from treadle.classes.pools import Pools
from treadle.classes.result import ClassResult, CoverageMark, Fault, Options, PairRuns, message, pair_of, passed
from treadle.classes.sequences import Automaton, Delta, SequenceGenerator
from treadle.classes.serializability import races, walks
from treadle.classes.stage import EffectOfMethod, Stage, Test
from treadle.classes.subject import Subject, SubjectMethod
from treadle.core.choice import CallComes
from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import Verdict
from treadle.core.settings import did_you_mean
from treadle.core.trail import Trail
from treadle.doors.explore.interruptions import versions_that_switch_so
from treadle.report.explanation import clash, explain
from treadle.search.replay import FollowSteps, strand_runs
from treadle.search.shrink import shrink_schedule
from treadle.threads.execution import Diverged
from treadle.threads.switching import running, running_name

Progress = Callable[[int, float | None, str], None]

# Schedules of one pair of calls, round by round: first a little of everything, then more of what is left.
_ROUNDS = (60, 600, 3_000)
# Saturation levels. The paper starts at 3 and raises k until the time is up; here the first tests come sooner, and the
# campaign ends when these bring nothing.
_LEVELS = (1, 3, 5)
# The values of the first pools: a call with only these is not one with new values.
_PLAIN = frozenset((*pools_module.INTS, *pools_module.STRINGS, *pools_module.KEYS, *pools_module.BOOLS))

# Seconds of work: those in which the machine does something else do not count, so that what is found does not depend on
# how busy it is. Only the budget is by the clock.
# For one way to make the object before the next has its turn.
_TURN = 1.5
# For one iteration to look for a sequence.
_SLICE = 1.0
# After the first fault the campaign goes on for as long again, but at least this long: others are often near.
_AFTER_FAULT = 10.0
# Calls on a fresh object after which it is found out what can be asked.
_MOST_WAYS = 3
# For making one fault small.
_MINIMISE = 4.0

# Faults in one report: more are mostly the same mistake again.
_MOST_FAULTS = 20
# Tests with several calls in a thread, for one way to make the object; and the part of the time that is left for them
# while pairs of single calls are not exhausted.
_MOST_LONGER = 40
_PART_FOR_LONGER = 0.25


@dataclass
class _Root:
    """One way to make the object, with its own tree of sequences."""

    candidates: Candidates
    automaton: Automaton
    generator: SequenceGenerator
    assembler: Assembler
    covered: set[Trace] = field(default_factory=set)
    queue: list[tuple[float, int, Pair]] = field(default_factory=list)  # pairs that wait, the most promising first
    level: int = 0
    saturated: bool = False
    elsewhere: bool = False  # have pairs been looked for in the states beside the sequences?
    widened: bool = False  # have values of another seed been tried?

    def has_work(self) -> bool:
        return bool(not self.saturated or self.queue or self.assembler.spare or not (self.elsewhere and self.widened))


class ClassCampaign:
    """Runs the iterations for one subject."""

    def __init__(self, subject: Subject, options: Options, progress: Progress | None = None) -> None:
        self.subject = subject
        self.options = options
        self.progress = progress
        self.result = ClassResult(subject.target, Verdict.CUT, subject=subject)
        self.methods = _selected(subject, options)
        self.known_faults: set[Hashable] = set()
        self.blamed: set[Hashable] = {(pair,) for pair in options.ignored}
        self.unfinished: list[tuple[_Root, Pair]] = []
        self.started = time.perf_counter()
        self.deadline = self.started + options.budget
        self.work_began = time.process_time()
        self.enough = math.inf  # when it stops, some work after the first fault
        self.told = 0.0
        self.count = itertools.count()
        self.unstable: dict[str, dict[str, None]] = {}  # why results are not compared -> of which methods
        self.longer: Iterator[tuple[_Root, Test]] | None = None
        self.evicts: bool | None = None  # does the class drop entries to make room? Asked when it matters

    # ------------------------------------------------------------------ the iterations

    def run(self) -> ClassResult:
        gil = running() if self.options.switches == "gil" else 0
        self.result.switches = f"gil, {running_name()}" if gil else "free"
        options = self.options
        stage = Stage(
            self.subject, options.setup, options.seed, options.instrument, gil, allow_effects=options.allow_effects
        )
        interrupted = False
        finished = False
        with stage:
            self.stage = stage
            try:
                self._prepare()
                finished = self._random() if self.options.generator == "random" else self._iterate()
            except KeyboardInterrupt:
                interrupted = True
        self._conclude(finished, interrupted)
        return self.result

    def _prepare(self) -> None:
        self.pools = self._pools(self.options.seed)
        self.roots: list[_Root] = []
        self.explorer = InterleavingExplorer(self.stage, self.options.atomic_sets)
        judged = frozenset(method.name for method in self.methods if method.own)
        if not judged:
            raise UsageError(f"{self.subject.target} has no public method of its own to call")
        self.result.methods = len({method.name for method in self.methods if method.own})
        self.result.notes += self.subject.skipped
        self.judged = judged
        self.result.judged = sorted(judged)
        self.waiting = choosing.roots(self.stage, self.pools)
        while self.waiting and not self.roots:
            skipped = self._plant()
        if not self.roots:
            raise UsageError(
                f"no public method of {self.subject.target} accepts any value of the pools; give some with --values "
                f"NAME=EXPRESSION ({'; '.join(skipped[:3])})"
            )
        self.result.notes += skipped
        if self.options.recorded is not None:
            self.result.notes += [f"recording the tests: {one}" for one in self.options.recorded.problems]

    def _pools(self, seed: int) -> Pools:
        return Pools(self.subject, self.options.values, seed, Grower(self.stage), self.options.recorded)

    def _follow_orders(self, root: _Root) -> None:
        """Walk through the states that tests and examples bring an object into, and try their calls there."""
        for order in self.pools.orders_seen():
            delta = Delta(states=(root.automaton.initial,))
            for call in order:
                step = root.automaton.step(delta, call)
                pair = root.assembler.at(call, call, delta.state) if call.method in self.judged else None
                if pair is not None:
                    heapq.heappush(root.queue, (pair.weight, next(self.count), pair))
                if step.excp or step.state not in root.automaton.shortest:
                    break
                delta = Delta(root.automaton.shortest[step.state], states=(step.state,))

    def _plant(self) -> list[str]:
        """Take up the next way to make the object: find out which calls it accepts. Returns what it does not."""
        root = self.waiting.pop(0)
        calls, skipped = choosing.candidate_calls(self.stage, self.pools, root, self.methods)
        if calls:
            automaton = Automaton(self.stage, root)
            automaton.start()
            for call, made in calls.items():
                automaton.know(call, made)
            generator = SequenceGenerator(automaton, _interesting_first(list(calls), self.judged), self.options.prune)
            assembler = Assembler(automaton)
            for call in calls:
                assembler.siblings.setdefault(call.method, []).append(call)
            planted = _Root(Candidates(root, list(calls), self.judged), automaton, generator, assembler)
            self.roots.append(planted)
            self._choose_observers(planted)
            for pair in assembler.fresh(self.judged):
                heapq.heappush(planted.queue, (pair.weight, next(self.count), pair))
            self._follow_orders(planted)
        return skipped

    def _iterate(self) -> bool:
        """Turns over all roots, so that none keeps the others waiting. True when nothing is left to do."""
        while self._time_left():
            active = [root for root in self.roots if root.has_work()]
            if not active and not self.waiting:
                self._longer_tests(self._for(_PART_FOR_LONGER * (self.deadline - time.perf_counter())))
                finished = self._finish_pairs()
                self._longer_tests(self._time_left)
                return finished
            for root in active:
                self._turn(root)
            if self.waiting and self._time_left():
                self._plant()
        return False

    def _turn(self, root: _Root) -> None:
        """Explore pairs that wait; when there are none, generate a sequence and assemble it."""
        may_go_on, soon = self._for(_TURN), self._for(_TURN / 2)
        if not root.queue and not root.saturated:
            self._iteration(root)
        elif not root.queue and not root.assembler.spare:
            self._go_further(root)
        while may_go_on() and (root.queue or root.assembler.spare):
            if root.queue:
                waiting: Pair | None = heapq.heappop(root.queue)[-1]
            else:
                waiting = root.assembler.pair(*root.assembler.spare.popleft())
            if waiting is not None:
                self._explore(root, waiting, 0)
            elif not root.saturated and not root.queue and not soon():
                return

    def _go_further(self, root: _Root) -> None:
        """The sequences are used up: look at other states, then at other values, then that is all."""
        if not root.elsewhere:
            root.elsewhere = True
            for pair in root.assembler.elsewhere(root.candidates.judged):
                heapq.heappush(root.queue, (pair.weight, next(self.count), pair))
            return
        root.widened = True
        pools = self._pools(self.options.seed + 1)
        drawn, _ = choosing.candidate_calls(self.stage, pools, root.candidates.root, self.methods)
        known = set(root.candidates.calls)
        new = [call for call in drawn if call not in known and any(a.value not in _PLAIN for a in call.arguments)]
        if new:
            root.candidates.calls += new
            root.generator.calls += new
            for call in new:
                root.assembler.siblings.setdefault(call.method, []).append(call)
            root.saturated, root.level, root.elsewhere = False, 0, False

    def _iteration(self, root: _Root) -> None:
        """Generate a sequence, assemble it with the repository, and queue the new pairs."""
        root.generator.level = _LEVELS[root.level]
        beta = root.generator.generate(root.covered, self._for(_SLICE))
        if beta is None:
            root.level += 1
            root.saturated = root.level >= len(_LEVELS)
            return
        root.covered |= beta.improvement
        self.result.sequences += 1
        self._grew()
        if not self.options.atomic_sets:
            self.explorer.sets = root.automaton.written_together(self.subject.name)
        for assembled in root.assembler.assemble(beta):
            self.result.tests_assembled += 1
            for pair in root.assembler.pairs(assembled, root.candidates.judged):
                pair.test = self.result.tests_assembled
                heapq.heappush(root.queue, (pair.weight, next(self.count), pair))

    def _grew(self) -> None:
        traces = sum(len(root.covered) for root in self.roots)
        found = self.result
        now = CoverageMark(found.interleavings_tried, traces, found.requirements_covered)
        if not found.growth or (now.traces, now.requirements) > (
            found.growth[-1].traces,
            found.growth[-1].requirements,
        ):
            found.growth.append(now)

    def _choose_observers(self, root: _Root) -> None:
        """How to look at the object: asked when it is fresh, after single calls, and after some in a row."""
        chosen = root.candidates
        single = [way for way in root.automaton.shortest.values() if way and way[-1].method in self.judged]
        together = tuple(call for way in single[:_MOST_WAYS] for call in way)
        ways = list(dict.fromkeys([(), *single[:_MOST_WAYS], together]))
        calls = [call for call in root.candidates.calls if call not in root.automaton.unfit()]
        iterable = hasattr(self.subject.cls, "__iter__") and not hasattr(self.subject.cls, "__next__")
        chosen.omega = choosing.observers(self.stage, chosen.root, calls, ways, iterable)
        if not choosing.has_query(self.stage, chosen.root, chosen.omega, ways):
            chosen.fields = choosing.public_fields(self.stage, chosen.root, ways)
        unfit = root.automaton.unfit()
        later: dict[str, MethodCall] = {}
        for call in calls:
            if call not in unfit and call.method not in ("repr", "str", "iter"):
                later.setdefault(call.method, call)
        chosen.later = tuple(later.values())

    def _finish_pairs(self) -> bool:
        """Give the pairs that were not exhausted more schedules. True when none is left."""
        for number in range(1, len(_ROUNDS)):
            waiting, self.unfinished = self.unfinished, []
            for place, (root, pair) in enumerate(waiting):
                if not self._time_left():
                    self.unfinished += waiting[place:]
                    return False
                self._explore(root, pair, number)
        return True

    # ------------------------------------------------------------------ several calls in a thread

    def _longer_tests(self, may_go_on: Callable[[], bool]) -> None:
        """Run tests with several calls in a thread, as far as the time goes; called again, it goes on."""
        if self.longer is None:
            self.longer = self._assemble_longer()
        while may_go_on():
            root, test = next(self.longer, (None, None))
            if root is None or test is None:
                return
            blame = (frozenset(call.method for calls in test.threads for call in calls),)
            explored = self._run(test, _ROUNDS[0]) if self._is_mine(test) else None
            if explored is not None:
                self.result.longer_tests += 1
                self.result.longer_exhausted += explored.exhausted
                self._witnessed(explored, blame, self.result.tests_assembled)

    def _assemble_longer(self) -> Iterator[tuple[_Root, Test]]:
        """Turns over the roots. A test is not worth running when two methods in it are known to be at fault."""
        most = self.options.calls
        sources = [(root, Longer(root.assembler, root.candidates.judged, most).tests()) for root in self.roots]
        left = {id(root): _MOST_LONGER for root in self.roots}
        while most > 1 and sources:
            for root, source in list(sources):
                found = next((one for one in source if not self._blamed_within(one[1])), None)
                if found is None or not left[id(root)]:
                    sources.remove((root, source))
                    continue
                left[id(root)] -= 1
                chosen = root.candidates
                self.result.tests_assembled += 1
                yield root, Test(chosen.root, *found, chosen.omega, chosen.later, chosen.fields)

    def _blamed_within(self, threads: tuple[tuple[MethodCall, ...], ...]) -> bool:
        together = frozenset(call.method for calls in threads for call in calls)
        pairs = {(frozenset((one.method, other.method)),) for one in threads[0] for other in threads[1]}
        return (together,) in self.blamed or bool(pairs & self.blamed)

    # ------------------------------------------------------------------ one pair

    def _explore(self, root: _Root, pair: Pair, number: int) -> None:
        chosen = root.candidates
        blame = (frozenset((pair.one.method, pair.other.method)),)
        if blame in self.blamed:
            return
        test = Test(chosen.root, pair.alpha, ((pair.one,), (pair.other,)), chosen.omega, chosen.later, chosen.fields)
        if not self._is_mine(test):
            return
        explored = self._run(test, _ROUNDS[number])
        if explored is None:
            return
        runs = self.result.matrix.setdefault(pair_of(pair.one.method, pair.other.method), PairRuns())
        if number == 0:
            runs.tests += 1
            self.result.pairs += 1
            self.result.requirements += explored.requirements
            self.result.requirements_covered += explored.covered
            self._grew()
        reported = self._witnessed(explored, blame, pair.test)
        if not reported and not explored.exhausted and any(w.violation.is_fault for w in explored.witnesses):
            # what was found is not called a fault: look at the other schedules for one that is
            seen = len(explored.witnesses)
            explored = self._run(test, _ROUNDS[number], first_only=False) or explored
            explored.witnesses = [w for w in explored.witnesses[seen:] if w.violation.gravity == 0]
            reported = self._witnessed(explored, blame, pair.test)
        if explored.exhausted:
            runs.exhausted += 1
            self.result.exhausted_pairs += 1
        elif not reported and not explored.unstable:
            self.unfinished.append((root, pair))

    def _run(self, test: Test, most: int, first_only: bool = True) -> Explored | None:
        self._tell()
        before = self.stage.executions
        try:
            return self.explorer.explore(test, most, self._time_left, first_only)
        except Diverged as diverged:
            self._note(f"{test}: not deterministic ({diverged})")
            return None
        finally:
            self.result.interleavings_tried += self.stage.executions - before

    def _witnessed(self, explored: Explored, blame: Hashable, test: int) -> bool:
        """Make the violations of one pair small, confirm them, and report the gravest. True when one was a fault."""
        if explored.unstable:
            names = {call.method for calls in explored.test.threads for call in calls}
            self.unstable.setdefault(explored.unstable, {}).update(dict.fromkeys(sorted(names)))
        for witness in sorted(explored.witnesses, key=lambda one: one.violation.gravity):
            if not witness.violation.is_fault:
                self._warn(witness)
                continue
            when = time.perf_counter() - self.started
            small = minimise(self.explorer, witness, self._for(_MINIMISE, beyond_budget=True))
            fault = self._confirm(small)
            if fault is None:
                self._note(f"{witness.test}: {witness.violation.kind}, but the same schedule did not show it again")
            elif self._only_composite(fault):
                why = "one call walks through what the other changes" if fault.weak else "every step is locked"
                self._warn(fault.witness, f"{fault.message}; {why}, the whole is not atomic")
            elif self._only_forgets(fault):
                self._warn(fault.witness, fault.message + "; it is a class that forgets entries by design")
            else:
                self.blamed.add(blame)
                fault.found_after, fault.found_in_test = when, test
                self._report(fault)
                return True  # what else this pair does wrong is mostly the same mistake
        return False

    def _report(self, fault: Fault) -> None:
        """Keep a fault, unless one at the same places is known."""
        if fault.key in self.known_faults:
            return
        self.known_faults.add(fault.key)
        self.result.faults.append(fault)
        if self.options.keep is not None:
            self.options.keep(self.result)
        if self.result.first_fault is None:
            self.result.first_fault = fault.found_after
            if self.options.alarm is not None:
                self.options.alarm.touch()
            self._go_on_as_long_again()
        if len(self.result.faults) >= _MOST_FAULTS:
            self.deadline = 0.0

    def _only_composite(self, fault: Fault) -> bool:
        """Results that no order gives, while the object is as it should be, of a call that takes its lock several times
        on purpose (as one that runs callbacks does) or that only walks through a container (as `items` does)."""
        if fault.kind != "linearizability" or fault.witness.violation.where[0] != "result":
            return False
        return not fault.racy or fault.weak

    def _only_forgets(self, fault: Fault) -> bool:
        """An entry that neither call is about is gone, in a class that drops entries to make room: which one it drops
        is its own choice."""
        test, (kind, number, _) = fault.witness.test, fault.witness.violation.where
        if fault.kind != "linearizability" or kind != "observed" or not test.omega[number].arguments:
            return False
        asked = {str(argument.value) for argument in test.omega[number].arguments}
        given = {str(a.value) for calls in test.threads for call in calls for a in call.arguments}
        if asked & given or not choosing.absent(fault.witness.outcome.observed[number]):
            return False
        if self.evicts is None:
            self.evicts = any(choosing.evicts(self.stage, root.candidates) for root in self.roots)
        return self.evicts

    def _warn(self, witness: Witness, message: str = "") -> None:
        methods = sorted({call.method for calls in witness.test.threads for call in calls})
        if any(warning.methods == methods for warning in self.result.warnings):
            return
        said = message or witness.violation.message
        self.result.warnings.append(Fault("serializability", said, methods, [], witness))

    # ------------------------------------------------------------------ confirming

    def _confirm(self, witness: Witness) -> Fault | None:
        """Run the schedule again, with fewest preemptions, and keep it as the explanation."""
        test = witness.test
        orders = witness.orders

        def attempt(steps: list[str]) -> tuple[list[str], tuple[int, int, int]] | None:
            follow = FollowSteps(steps)
            follow.begin()
            outcome, run = self.stage.run_test(test, follow, detail=bool(self.stage.gil))
            if allowed and not versions_that_switch_so(run, follow, self.stage.loom) & allowed:
                return None
            return (follow.taken, follow.cost) if self._same(outcome, orders, witness) else None

        allowed = self.stage.gil
        first = attempt(witness.schedule)
        if first is None and allowed:  # the steps do not tell where it may switch: that is found out later
            allowed = 0
            first = attempt(witness.schedule)
        if first is None:
            return None
        steps, _ = shrink_schedule(first, attempt, most=150)
        follow = FollowSteps(steps)
        follow.begin()
        self.stage.tell = True
        try:
            outcome, run = self.stage.run_test(test, follow, detail=True)
            told = self.explorer.orders(test)
        finally:
            self.stage.tell = False
        if outcome is None or told is None or not self._same(outcome, orders, witness):
            return None
        witness.outcome, witness.orders, witness.schedule = outcome, told, steps
        names = self.stage.strand_names
        shown = [step for step in run.detail or [] if step.strand in names]
        pair = clash(shown)
        parts = [] if pair is None else [pair.first, pair.between, pair.last]
        locations = list(dict.fromkeys(f"{part.file}:{part.line}" for part in parts if part is not None))
        if run.stuck:
            locations = list(dict.fromkeys(f"{one.stack[0][0]}:{one.stack[0][1]}" for one in run.stuck if one.stack))
        methods = list(dict.fromkeys(call.method for calls in test.threads for call in calls))
        fault = Fault(
            witness.violation.kind, message(witness), methods, locations, witness, steps=list(run.detail or [])
        )
        settings: dict[str, Any] = {"instrument": list(self.subject.packages)}
        if self.stage.loom.seed:
            settings["seed"] = self.stage.loom.seed
        choices = (*_calls(test), *strand_runs(run, follow))
        fault.trail = Trail(self.subject.target, choices, "class", settings, kind=fault.kind, message=fault.message)
        traces = [[op for i, op in run.trace if i == run.indexes[name]] for name in names]
        fault.racy = races(traces[0], traces[1])
        fault.weak = any(walks(trace, name) for trace, name in zip(traces, names, strict=True))
        stuck = [one for one in run.stuck if one.strand in names]
        fault.explanation = explain(shown, fault.kind, fault.message, waiting=stuck)
        return fault

    def _same(self, outcome: Outcome | None, orders: list[Outcome], witness: Witness) -> bool:
        if outcome is None:
            return False
        found = judge(outcome, orders)
        return found is not None and found.kind == witness.violation.kind

    # ------------------------------------------------------------------ the baseline

    def _random(self) -> bool:
        """ConTeGe (Pradel, Gross, PLDI 2012): a random prefix, two random suffixes; the explorer is ours."""
        dice = random.Random(self.options.seed + 7919 * self.options.share[0])  # each process throws its own dice
        while self.waiting and self._time_left():
            self._plant()
        while self._time_left():
            root = dice.choice(self.roots)
            judged = [call for call in root.candidates.calls if call.method in root.candidates.judged]
            alpha = tuple(dice.choices(root.candidates.calls, k=dice.randint(0, 5)))
            threads = tuple(tuple(dice.choices(judged, k=dice.randint(1, 3))) for _ in range(2))
            self.result.tests_assembled += 1
            chosen = root.candidates
            test = Test(chosen.root, alpha, threads, chosen.omega, chosen.later, chosen.fields)
            blame = (frozenset(call.method for calls in threads for call in calls),)
            if blame in self.blamed:
                continue
            explored = self._run(test, _ROUNDS[0])
            if explored is not None:
                self.result.pairs += 1
                self.result.exhausted_pairs += explored.exhausted
                self._witnessed(explored, blame, self.result.tests_assembled)
        return False

    # ------------------------------------------------------------------ the end

    def _time_left(self) -> bool:
        if self.options.alarm is not None and self.enough == math.inf and self.options.alarm.exists():
            self._go_on_as_long_again()
        return time.perf_counter() < self.deadline and time.process_time() < self.enough

    def _go_on_as_long_again(self) -> None:
        now = time.process_time()
        self.enough = now + max(_AFTER_FAULT, now - self.work_began)

    def _for(self, seconds: float, beyond_budget: bool = False) -> Callable[[], bool]:
        """May a part of the campaign go on? For so many seconds of work, within the budget or as long beyond it."""
        until = time.process_time() + seconds
        if beyond_budget:
            latest = max(self.deadline, time.perf_counter() + seconds)
            return lambda: time.process_time() < until and time.perf_counter() < latest
        return lambda: time.process_time() < until and self._time_left()

    def _is_mine(self, test: Test) -> bool:
        """Does a test belong to this process? Found out from its text, so that all processes agree."""
        number, total = self.options.share
        if total == 1:
            return True
        text = f"{test.root} {'; '.join(map(str, test.alpha))} {test}"
        place = zlib.crc32(text.encode())
        mine = place % total == number
        (self.result.done if mine else self.result.left_to_others).add(place)
        return mine

    def _tell(self) -> None:
        now = time.perf_counter()
        if self.progress is not None and now - self.told > 0.1:
            self.told = now
            worked = (time.process_time() - self.work_began) / (self.enough - self.work_began)
            done = max(worked, (now - self.started) / max(self.deadline - self.started, 1e-9))
            said = f"{self.result.sequences} sequences, {self.result.pairs} pairs, {len(self.result.faults)} faults,"
            self.progress(self.stage.executions, self.stage.executions / done if done > 0 else None, said)

    def _note(self, text: str) -> None:
        if text not in self.result.notes:
            self.result.notes.append(text)

    def _conclude(self, finished: bool, interrupted: bool) -> None:
        result = self.result
        result.seconds = time.perf_counter() - self.started
        result.notes += [_unstable(self.methods, why, names) for why, names in self.unstable.items()]
        result.interrupted = interrupted
        roots = getattr(self, "roots", [])
        result.traces = sum(len(root.covered) for root in roots)
        if result.faults:
            result.verdict = Verdict.FAILED
            result.reason = f"{len(result.faults)} fault(s), each with a schedule that was run again"
        elif interrupted:
            result.reason = "interrupted: not a pass"
        elif not finished:
            result.reason = f"the budget of {self.options.budget:g} s ran out first: not a pass"
        elif not result.pairs:
            result.verdict = Verdict.NOTHING_TO_EXPLORE
            result.reason = "no two calls touch anything in common that one of them changes"
        elif result.exhausted_pairs < result.pairs:
            left = result.pairs - result.exhausted_pairs
            why = "cannot be judged in full" if not self.unfinished else "have more schedules than were run"
            result.reason = f"{left} of {result.pairs} pairs of calls {why}: not a pass"
        else:
            result.verdict = Verdict.PASSED_WITHIN_BOUNDS
            result.reason = passed(result, self.options.calls)


def _calls(test: Test) -> list[CallComes]:
    """What is called, in order: before the threads, then in each of them."""
    found = [CallComes(str(call)) for call in (test.root, *test.alpha)]
    return found + [CallComes(str(call), thread) for thread, calls in enumerate(test.threads, 1) for call in calls]


def _unstable(methods: list[SubjectMethod], why: str, names: Collection[str]) -> str:
    places = {method.name: f"{name} ({method.where})" for method in methods if (name := method.name) and method.where}
    return f"results not compared, {why}: {', '.join(places.get(name, name) for name in names)}"


def _selected(subject: Subject, options: Options) -> list[SubjectMethod]:
    """The methods to call: --methods and --skip must name methods that exist."""
    names = {method.name for method in subject.methods}
    for given in (*options.methods, *options.skip):
        if given not in names:
            raise UsageError(f"{subject.target} has no method '{given}'; {did_you_mean(given, sorted(names))}")
    for fields in options.atomic_sets:
        if len(fields) < 2:
            raise UsageError("--atomic-set needs at least two fields: --atomic-set head,tail")
    chosen = [method for method in subject.methods if method.name not in options.skip]
    if options.methods:
        # the others still build states and look at them, but are not judged
        return [m if m.name in options.methods else _only_helps(m) for m in chosen]
    loose = BULK_OF_CONTAINERS if hasattr(subject.cls, "__setitem__") else BULK
    for method in chosen:
        if method.own and method.name in loose:
            subject.skipped.append(f"{method.name}: many steps by its nature, judged only if --methods names it")
    return [_only_helps(m) if m.name in loose else m for m in chosen if m.name not in loose or m.name == "update"]


# Whole-object operations that no Python container promises to be atomic.
BULK = frozenset({"==", "repr", "iter", "reversed"})
BULK_OF_CONTAINERS = BULK | {"copy", "update", "|=", "+", "+="}


def _only_helps(method: SubjectMethod) -> SubjectMethod:
    return replace(method, own=False)


def _interesting_first(calls: list[MethodCall], judged: frozenset[str]) -> list[MethodCall]:
    return sorted(calls, key=lambda call: call.method not in judged)


def run_class(subject: Subject, options: Options, progress: Progress | None = None) -> ClassResult:
    """One campaign over one class; it starts again without a method that turns out to change the world."""
    notes: list[str] = []
    ends = time.perf_counter() + options.budget
    while True:
        try:
            result = ClassCampaign(subject, options, progress).run()
        except EffectOfMethod as refused:
            if not refused.method:
                raise Unsupported(f"the constructor of {subject.target} would {refused.what}; see --setup") from None
            notes.append(f"{refused.method}: it would {refused.what}; pass --allow-effects to let it")
            left = max(ends - time.perf_counter(), 1.0)
            kept = tuple(name for name in options.methods if name != refused.method)
            options = replace(options, skip=(*options.skip, refused.method), methods=kept, budget=left)
            continue
        result.notes += notes
        return result
