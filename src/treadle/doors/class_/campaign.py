"""The campaign over one class: the iterations of the paper's figure 3, and an honest account of what came out.

Each iteration generates one call sequence that improves sequential coverage, assembles it with the repository, and
explores the new pairs of calls. The campaign ends when the coverage is saturated and every pair was explored, when the
budget is used up, or some time after the first fault. A fault is reported only after it was made small and its
execution was run again with the same violation.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from treadle.classes import choosing
from treadle.classes import pools as pools_module
from treadle.classes.assembler import MOST_SHARED, Assembler, Pair
from treadle.classes.calls import SOUT, MethodCall
from treadle.classes.choosing import Candidates
from treadle.classes.grown import Grower
from treadle.classes.in_tasks import stage_of
from treadle.classes.interleavings import Explored, InterleavingExplorer
from treadle.classes.longer import Longer
from treadle.classes.pools import Pools
from treadle.classes.races import grouped, reason_of
from treadle.classes.result import ClassResult, CoverageMark, Options, PairRuns, pair_of, passed
from treadle.classes.sequences import Automaton, Delta, SequenceGenerator
from treadle.classes.stage import EffectOfMethod, Test
from treadle.classes.subject import CLASS_ITSELF, PASSING, TIME_PASSES, Subject
from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.doors.class_.findings import Findings
from treadle.doors.class_.roots import Root
from treadle.doors.class_.selection import never_at_work, not_compared, selected, too_long, untried
from treadle.doors.class_.work_clock import WorkClock
from treadle.threads.diverged import Diverged
from treadle.threads.switching import running, running_name

Progress = Callable[[int, float | None, str], None]

# Schedules of one pair of calls, round by round: first a little of everything, then more of what is left.
_ROUNDS = (60, 600, 3_000)
# Saturation levels. The paper starts at 3 and raises k until the time is up; here the first tests come sooner, and the
# campaign ends when these bring nothing.
_LEVELS = (1, 3, 5)
# The values of the first pools: a call with only these is not one with new values.
_PLAIN = frozenset((*pools_module.INTS, *pools_module.STRINGS, *pools_module.KEYS, *pools_module.BOOLS))

# Seconds of work for one way to make the object before the next has its turn.
_TURN = 1.5
# The part of the work on pairs that goes into sequences meanwhile: a class with many methods has hundreds of pairs that
# can be run at once, and its faults may need a state that none of them starts from.
_PART_FOR_SEQUENCES = 0.2
# Seconds of work for one iteration to look for a sequence.
_SLICE = 1.0
# Calls on a fresh object after which it is found out what can be asked.
_MOST_WAYS = 3
# Executions of a pair after it has failed: a race has more than one effect.
_MORE = 60
# By how much a pair of methods that is known to break waits behind others.
_PUT_OFF = 60.0
# Tests with several calls in a thread, for one way to make the object; and the part of the time that is left for them
# while pairs of single calls are not exhausted.
_MOST_LONGER = 40
_PART_FOR_LONGER = 0.25


class ClassCampaign:
    """Runs the iterations for one subject."""

    def __init__(self, subject: Subject, options: Options, progress: Progress | None = None) -> None:
        self.subject = subject
        self.options = options
        self.progress = progress
        self.result = ClassResult(subject.target, Verdict.CUT, subject=subject)
        self.methods = selected(subject, options)
        self.clocks = not subject.in_tasks and any(method.name == PASSING for method in subject.methods)
        self.blamed: set[frozenset[str]] = set()  # methods that were seen to break together
        self.unfinished: list[tuple[Root, Pair]] = []
        self.clock = WorkClock(options.budget, self.result.work, options.alarm)
        self.told = 0.0
        self.count = itertools.count()
        self.unstable: dict[str, dict[str, None]] = {}  # why results are not compared -> of which methods
        self.longer: Iterator[tuple[Root, Test]] | None = None
        self.not_called: dict[str, str] = {}  # methods that some way to make the object does not let in, and why
        self.called: set[str] = set()
        self.roots: list[Root] = []

    # ------------------------------------------------------------------ the iterations

    def run(self) -> ClassResult:
        gil = running() if self.options.switches == "gil" and not self.subject.in_tasks else 0
        self.result.switches = f"gil, {running_name()}" if gil else "free"
        options = self.options
        stage = stage_of(
            self.subject, options.setup, options.seed, options.instrument, gil, allow_effects=options.allow_effects
        )
        interrupted = finished = False
        with stage:
            self.stage = stage
            try:
                self._prepare()
                finished = self._random() if self.options.generator == "random" else self._iterate()
            except KeyboardInterrupt:
                interrupted = True
            except EffectOfMethod as refused:
                if not self.result.faults:
                    raise  # and begin again without it; what was found stays found
                self._note(f"{refused.call} would {refused.what}: the campaign ended there")
        self._conclude(finished, interrupted)
        return self.result

    def _prepare(self) -> None:
        self.pools = self._pools(self.options.seed)
        self.explorer = InterleavingExplorer(self.stage, self.options.atomic_sets)
        self.findings = Findings(
            self.stage,
            self.explorer,
            self.result,
            lambda: [root.candidates for root in self.roots],
            self.clock.may_go_on_beyond,
            self._found,
        )
        self.result.notes += self.subject.notes
        if self.subject.approximate:
            names = ", ".join(sorted(self.subject.approximate))
            self.result.notes.append(f"results not compared, the documentation calls them approximate: {names}")
        self.waiting = choosing.roots(self.stage, self.pools, self.clock.time_left)
        while self.waiting and not self.roots and self.clock.time_left():
            self._plant()
        if not self.judged:
            raise UsageError(f"{self.subject.target} has no public method of its own to call")
        if not self.roots and self.clock.time_left():
            why = "; ".join(f"{name}: {reason}" for name, reason in list(self.not_called.items())[:3])
            raise UsageError(
                f"no public method of {self.subject.target} accepts any value of the pools; give some with --values "
                f"NAME=EXPRESSION ({why})"
            )
        if self.options.recorded is not None:
            self.result.notes += [f"recording the tests: {one}" for one in self.options.recorded.problems]

    @property
    def judged(self) -> frozenset[str]:
        """The methods that count; some show only when others have been called."""
        return frozenset(method.name for method in self.methods if method.own)

    def _pools(self, seed: int) -> Pools:
        return Pools(self.subject, self.options.values, seed, Grower(self.stage), self.options.recorded)

    def _follow_orders(self, root: Root) -> None:
        """Walk through the states that tests and examples bring an object into, and try their calls there."""
        for order in self.pools.orders_seen():
            delta = Delta(states=(root.automaton.initial,))
            for call in itertools.takewhile(lambda one: str(one) not in self.options.refused_calls, order):
                step = root.automaton.step(delta, call)
                pair = root.assembler.at(call, call, delta.state) if call.method in self.judged else None
                if pair is not None:
                    heapq.heappush(root.queue, (pair.weight, next(self.count), pair))
                if step.excp or step.state not in root.automaton.shortest:
                    break
                delta = Delta(root.automaton.shortest[step.state], states=(step.state,))

    def _plant(self) -> None:
        """Take up the next way to make the object: find out which calls it accepts."""
        with self.clock.at_work_on("calls"):
            self._plant_one(self.waiting.pop(0))

    def _plant_one(self, root: MethodCall) -> None:
        methods = self.methods if root.method != CLASS_ITSELF else [m for m in self.methods if SOUT not in m.form]
        calls, skipped = choosing.candidate_calls(self.stage, self.pools, root, methods, self.clock.time_left)
        self.result.judged = sorted(self.judged)
        self.result.methods = len(self.judged)
        for name, reason in skipped.items():
            self.not_called.setdefault(name, reason)
        for method, what in self.options.refused_calls.values():
            self.not_called.setdefault(method, f"it would {what}; pass --allow-effects to let it")
        calls = {call: made for call, made in calls.items() if str(call) not in self.options.refused_calls}
        self.called |= {call.method for call in calls}
        if calls:
            automaton = Automaton(self.stage, root)
            automaton.start()
            for call, made in calls.items():
                automaton.know(call, made)
            own_first = sorted(calls, key=lambda call: call.method not in self.judged)
            generator = SequenceGenerator(automaton, own_first, self.options.prune)
            assembler = Assembler(automaton)
            for call in calls:
                assembler.siblings.setdefault(call.method, []).append(call)
            planted = Root(Candidates(root, list(calls), self.judged), automaton, generator, assembler)
            self.roots.append(planted)
            self._choose_observers(planted)
            for pair in assembler.fresh(self.judged):
                heapq.heappush(planted.queue, (pair.weight, next(self.count), pair))
            self._follow_orders(planted)

    def _iterate(self) -> bool:
        """Turns over all roots, so that none keeps the others waiting. True when nothing is left to do."""
        while self.clock.time_left():
            active = [root for root in self.roots if root.has_work()]
            if not active and not self.waiting:
                self._longer_tests(self.clock.may_go_on_for(_PART_FOR_LONGER * self.clock.left))
                finished = self._finish_pairs()
                self._longer_tests(self.clock.time_left)
                return finished
            for root in active:
                try:
                    self._turn(root)
                except EffectOfMethod as refused:
                    if not self._drop(refused):
                        raise
            work = self.result.work
            dear = work.get("calls", 0.0) > work.get("interleavings", 0.0)  # what is planted has its share first
            if self.waiting and self.clock.time_left() and not (active and dear):
                self._plant()
        return False

    def _turn(self, root: Root) -> None:
        """Explore pairs that wait; when there are none, or they have had their share, generate a sequence and assemble
        it."""
        may_go_on, soon = self.clock.may_go_on_for(_TURN), self.clock.may_go_on_for(_TURN / 2)
        work = self.result.work
        due = not root.queue or work.get("sequences", 0.0) < _PART_FOR_SEQUENCES * work.get("interleavings", 0.0)
        if due and not root.saturated:
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

    def _go_further(self, root: Root) -> None:
        """The sequences are used up: let time pass beside the pairs, look at other states, then at other values, then
        that is all."""
        if root.timed:
            root.queue, root.timed = root.timed, []
            heapq.heapify(root.queue)
            return
        if not root.elsewhere:
            root.elsewhere = True
            for pair in root.assembler.elsewhere(root.candidates.judged):
                heapq.heappush(root.queue, (pair.weight, next(self.count), pair))
            return
        root.widened = True
        pools = self._pools(self.options.seed + 1)
        drawn, _ = choosing.candidate_calls(self.stage, pools, root.candidates.root, self.methods, self.clock.time_left)
        known = {*root.candidates.calls, *(call for call in drawn if str(call) in self.options.refused_calls)}
        new = [call for call in drawn if call not in known and any(a.value not in _PLAIN for a in call.arguments)]
        if new:
            root.candidates.calls += new
            root.generator.calls += new
            for call in new:
                root.assembler.siblings.setdefault(call.method, []).append(call)
            root.saturated, root.level, root.elsewhere = False, 0, False

    def _iteration(self, root: Root) -> None:
        """Generate a sequence, assemble it with the repository, and queue the new pairs."""
        root.generator.level = _LEVELS[root.level]
        with self.clock.at_work_on("sequences"):
            beta = root.generator.generate(root.covered, self.clock.may_go_on_for(_SLICE))
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
        worked = round(self.clock.worked, 3)
        now = CoverageMark(found.interleavings_tried, traces, found.requirements_covered, worked)
        if traces > (found.growth[-1].traces if found.growth else 0):
            found.saturated_after = now.seconds
        if not found.growth or (now.traces, now.requirements) > (
            found.growth[-1].traces,
            found.growth[-1].requirements,
        ):
            found.growth.append(now)

    def _choose_observers(self, root: Root) -> None:
        """How to look at the object: asked when it is fresh, after single calls, and after some in a row."""
        chosen = root.candidates
        single = [way for way in root.automaton.shortest.values() if way and way[-1].method in self.judged]
        together = tuple(call for way in single[:_MOST_WAYS] for call in way)
        ways = list(dict.fromkeys([(), *single[:_MOST_WAYS], together]))
        approximate = self.subject.approximate
        calls = [c for c in root.candidates.calls if c not in root.automaton.unfit() and c.method not in approximate]
        iterable = hasattr(self.subject.cls, "__iter__") and not hasattr(self.subject.cls, "__next__")
        chosen.omega = choosing.observers(self.stage, chosen.root, calls, ways, iterable)
        if not choosing.has_query(self.stage, chosen.root, chosen.omega, ways):
            chosen.fields = choosing.public_fields(self.stage, chosen.root, ways)
        unfit = root.automaton.unfit()
        later: dict[str, MethodCall] = {}
        for call in calls:
            if call not in unfit and call.method not in ("repr", "str", "iter", PASSING):
                later.setdefault(call.method, call)
        chosen.later = tuple(later.values())

    def _finish_pairs(self) -> bool:
        """Give the pairs that were not exhausted more schedules. True when none is left."""
        for number in range(1, len(_ROUNDS)):
            waiting, self.unfinished = self.unfinished, []
            for place, (root, pair) in enumerate(waiting):
                if not self.clock.time_left():
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
            blame = frozenset(call.method for calls in test.threads for call in calls)
            explored = self._run(test, _ROUNDS[0]) if self._is_mine(test) else None
            if explored is not None:
                self.result.longer_tests += 1
                self.result.longer_exhausted += explored.exhausted
                self._witnessed(explored, blame, self.result.tests_assembled)

    def _assemble_longer(self) -> Iterator[tuple[Root, Test]]:
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
        pairs = {frozenset((one.method, other.method)) for one in threads[0] for other in threads[1]}
        return bool((pairs | {together}) & (self.blamed | self.options.ignored))

    # ------------------------------------------------------------------ one pair

    def _explore(self, root: Root, pair: Pair, number: int) -> None:
        chosen = root.candidates
        blame = frozenset((pair.one.method, pair.other.method))
        if blame in self.options.ignored or {str(pair.one), str(pair.other)} & self.options.refused_calls.keys():
            return
        if blame in self.blamed and not pair.put_off:
            pair.put_off = True  # what else these two do wrong is mostly the same mistake: others come first
            heapq.heappush(root.queue, (pair.weight + _PUT_OFF, next(self.count), pair))
            return
        threads = ((pair.one,), (pair.other,), (TIME_PASSES,))[: 2 + pair.passes]
        test = Test(chosen.root, pair.alpha, threads, chosen.omega, chosen.later, chosen.fields)
        if not self._is_mine(test) or (pair.passes and not self.explorer.looks_at_a_clock(test)):
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
            explored = self._run(test, _ROUNDS[number], more=_ROUNDS[number]) or explored
            explored.witnesses = [w for w in explored.witnesses if w.violation.gravity == 0]
            reported = self._witnessed(explored, blame, pair.test)
        if explored.exhausted:
            runs.exhausted += 1
            self.result.exhausted_pairs += 1
        elif not reported and not explored.unstable:
            self.unfinished.append((root, pair))
        if self.clocks and not reported and number == 0 and not pair.passes:
            root.timed.append((pair.weight, next(self.count), replace(pair, passes=True)))

    def _run(self, test: Test, most: int, more: int = _MORE) -> Explored | None:
        self._tell()
        before = self.stage.executions
        try:
            with self.clock.at_work_on("interleavings"):
                return self.explorer.explore(test, most, self.clock.time_left, more)
        except Diverged as diverged:
            self._note(f"{test}: not deterministic ({diverged})")
            return None
        except EffectOfMethod as refused:
            if self._drop(refused):
                return None
            raise
        finally:
            self.result.interleavings_tried += self.stage.executions - before

    def _drop(self, refused: EffectOfMethod) -> bool:
        """Go on without a call that would change the world in some state, if its method has others."""
        if not refused.call or not all(root.drop(refused.method, refused.call) for root in self.roots):
            return False
        self.options.refused_calls[refused.call] = refused.method, refused.what
        return True

    def _witnessed(self, explored: Explored, blame: frozenset[str], test: int) -> bool:
        """Hand over what was found. True when it was a fault."""
        if explored.unstable:
            names = {call.method for calls in explored.test.threads for call in calls}
            self.unstable.setdefault(explored.unstable, {}).update(dict.fromkeys(sorted(names)))
        with self.clock.at_work_on("findings"):
            reported = self.findings.take(explored, test)
        if not reported:
            return False
        self.blamed.add(blame)
        return True

    def _found(self) -> None:
        """A fault was reported."""
        if self.options.keep is not None:
            self.options.keep(self.result)
        if self.result.first_fault is None:
            self.result.first_fault = self.result.faults[-1].found_after
            self.clock.fault_found()
        if self.findings.full:
            self.clock.stop()

    # ------------------------------------------------------------------ the baseline

    def _random(self) -> bool:
        """ConTeGe (Pradel, Gross, PLDI 2012): a random prefix, two random suffixes; the explorer is ours."""
        dice = random.Random(self.options.seed + 7919 * self.options.share[0])  # each process throws its own dice
        while self.waiting and self.clock.time_left():
            self._plant()
        while self.clock.time_left():
            root = dice.choice(self.roots)
            judged = [call for call in root.candidates.calls if call.method in root.candidates.judged]
            alpha = tuple(dice.choices(root.candidates.calls, k=dice.randint(0, 5)))
            threads = tuple(tuple(dice.choices(judged, k=dice.randint(1, 3))) for _ in range(2))
            chosen = root.candidates
            test = Test(chosen.root, alpha, threads, chosen.omega, chosen.later, chosen.fields)
            blame = frozenset(call.method for calls in threads for call in calls)
            if blame in self.blamed | self.options.ignored:
                continue
            self.result.tests_assembled += 1
            explored = self._run(test, _ROUNDS[0])
            if explored is not None:
                self.result.pairs += 1
                self.result.exhausted_pairs += explored.exhausted
                self.result.requirements += explored.requirements
                self.result.requirements_covered += explored.covered
                self._cover(root, alpha, threads)
                self._witnessed(explored, blame, self.result.tests_assembled)
        return False

    def _cover(self, root: Root, alpha: tuple[MethodCall, ...], threads: tuple[tuple[MethodCall, ...], ...]) -> None:
        """The method traces of a random test, as the sequences of the other generator have them."""
        for calls in threads:
            delta = Delta(states=(root.automaton.initial,))
            for call in (*alpha, *calls):
                step = root.automaton.step(delta, call)
                root.covered.add(step.trace)
                if step.state not in root.automaton.shortest:
                    break
                delta = Delta(root.automaton.shortest[step.state], states=(step.state,))
        self._grew()

    # ------------------------------------------------------------------ the end

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
            done = self.clock.part_done
            faults = len(grouped(self.result.faults))
            said = f"{self.result.sequences} sequences, {self.result.pairs} pairs, {faults} faults,"
            self.progress(self.stage.executions, self.stage.executions / done if done > 0 else None, said)

    def _note(self, text: str) -> None:
        if text not in self.result.notes:
            self.result.notes.append(text)

    def _never_called(self) -> dict[str, str]:
        """Every method that was not called in any way, with the reason."""
        found = dict(self.subject.skipped)
        found |= dict.fromkeys(self.options.skip, "--skip names it") | self.options.refused
        for method in self.methods:
            if method.name not in self.called and method.name != PASSING:
                found[method.name] = self.not_called.get(method.name, "the budget ran out first")
        return found

    def _conclude(self, finished: bool, interrupted: bool) -> None:
        result = self.result
        result.seconds = self.clock.passed
        result.notes += [not_compared(self.methods, why, names) for why, names in self.unstable.items()]
        if self.stage.offline:
            names, ways = ", ".join(self.stage.offline), "; ".join(dict.fromkeys(self.stage.offline.values()))
            result.notes.append(f"called as if there were no network: {names} would {ways}; see --allow-effects")
        for call, (_, what) in self.options.refused_calls.items():
            self._note(f"not called: {call}, which would {what} in some state; see --allow-effects")
        result.interrupted = interrupted
        never = self._never_called()
        idle = never_at_work(self.roots, self.subject.changing & self.judged)
        result.not_called, result.idle = never | {name: f"called, but {why}" for name, why in idle.items()}, set(idle)
        result.traces = sum(len(root.covered) for root in self.roots)
        if result.faults:
            result.verdict = Verdict.FAILED
            result.reason = reason_of(len(grouped(result.faults)))
        elif interrupted:
            result.reason = "interrupted: not a pass"
        elif not finished:
            result.reason = f"the budget of {self.options.budget:g} s ran out first: not a pass"
        elif pair := too_long(self.roots, result):
            result.reason = f"{pair} touch the same things more than {MOST_SHARED} times: not run at once, not a pass"
        elif not result.pairs:
            result.verdict = Verdict.NOTHING_TO_EXPLORE
            result.reason = "no two calls touch anything in common that one of them changes"
        elif unused := untried(self.subject, self.options, never):
            result.reason = f"{', '.join(unused)} {'was' if len(unused) == 1 else 'were'} never called: not a pass"
            result.untried = True
        elif unused := untried(self.subject, self.options, idle):
            said = "; ".join(f"{name}: {idle[name]}" for name in unused)
            result.reason = f"not every method that changes the object was seen at work ({said}): not a pass"
            result.untried = True
        elif result.exhausted_pairs < result.pairs:
            left = result.pairs - result.exhausted_pairs
            why = "cannot be judged in full" if not self.unfinished else "have more schedules than were run"
            result.reason = f"{left} of {result.pairs} pairs of calls {why}: not a pass"
        else:
            result.verdict = Verdict.PASSED_WITHIN_BOUNDS
            result.reason = passed(result, self.options.calls)
