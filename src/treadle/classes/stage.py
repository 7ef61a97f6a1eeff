"""The stage: runs call sequences and concurrent tests under control, each time from a fresh object.

A test is t = alpha . (beta || gamma) . omega: alpha builds the shared object and brings it into a state, beta and gamma
run in two threads, omega looks at what they left. `Stage` holds one loom for the class; what is run is set before
each execution.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, ClassVar

from treadle.classes.calls import MethodCall, Namespace, Ready
from treadle.classes.compared import as_compared, literal, same_objects, told
from treadle.classes.linearizability import DEADLOCK, LIMIT, LIVELOCK, PENDING, Happened, Outcome, raised, returned
from treadle.classes.looked import state_key, untold_before
from treadle.classes.records import Begun, CallRecord, Sequence, on_new_object, pending
from treadle.classes.subject import PASSING, Subject, invariant_of
from treadle.core.errors import Unsupported
from treadle.core.operation import SPIN
from treadle.core.result import Step
from treadle.observe.effects import EffectGuard, WorldEffect, scratch_folder
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy
from treadle.threads.detail import short, undescribed
from treadle.threads.execution import Execution
from treadle.threads.fingerprint import attributes_of, fingerprint, inner_state
from treadle.threads.instrument.selection import INSTALLED_FOLDERS as INSTALLED
from treadle.threads.instrument.selection import ModuleSelection
from treadle.threads.loom import Loom
from treadle.threads.names import publish
from treadle.threads.outcome import endless
from treadle.threads.primitives.clock import CLOCK
from treadle.threads.strands import STATE
from treadle.threads.switching import ALL
from treadle.threads.unwinding import StrandEnd
from treadle.threads.watchdog import ReallyBlocked

# Operations of one execution; a single call on a small object takes a few dozen.
_MOST_STEPS = 8_000
# Seconds without an operation before a call is taken to block for real.
_PATIENCE = 5.0

# Ways to a state of which it is remembered what the object says.
_MOST_WAYS = 200

# Virtual seconds in which the object's own threads come to rest: time passes only when nobody can go on.
REST = 0.001


# What looking at an object says: its invariant, its observers, which answers are one object, later
# calls; and whether an observer has met a network that is not there.
_Said = tuple[Happened | None, tuple[Happened, ...], tuple[int, ...], tuple[Happened, ...], bool]

# The calls of one thread, with their arguments.
Work = list[tuple[Ready, tuple[Any, ...]]]


@dataclass(frozen=True)
class Test:
    """A concurrent test: t = alpha . (beta || gamma) . omega."""

    __test__: ClassVar[bool] = False  # not one for pytest to collect

    root: MethodCall
    alpha: tuple[MethodCall, ...]
    threads: tuple[tuple[MethodCall, ...], ...]
    omega: tuple[MethodCall, ...] = ()
    later: tuple[MethodCall, ...] = ()  # calls that must not fail afterwards; their results do not count
    fields: tuple[str, ...] = ()  # public attributes that are looked at afterwards
    cancels: bool = False  # may one of the calls be cancelled, where calls are tasks?

    def but(self, **changes: Any) -> Test:
        return replace(self, **changes)

    @property
    def passes(self) -> bool:
        """Does time pass beside the calls?"""
        return any(call.method == PASSING for calls in self.threads for call in calls)

    def __str__(self) -> str:
        return " || ".join("; ".join(map(str, calls)) for calls in self.threads)


class EffectOfMethod(Exception):
    """In a state that no trial of it met, a method would change the world."""

    def __init__(self, method: str, what: str, call: str = "") -> None:
        self.method, self.what, self.call = method, what, call
        super().__init__(f"{method or 'the constructor'} would {what}")


class NotPlayed(Exception):
    """What a test does around its calls has failed, such as making the object; the cause is what was raised."""


class First(Strategy):
    """Lets whoever can go on do so, oldest first: for executions that leave nothing to choose."""

    name = "first"

    def begin(self) -> bool:
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        return next(iter(run.enabled()), None)


class Stage:
    """Runs sequences and tests of one subject. A context manager, like the loom it holds."""

    def __init__(
        self,
        subject: Subject,
        setup: Callable[[], Any] | None = None,
        seed: int = 0,
        extra_packages: Iterable[str] = (),
        gil: int = 0,
        allow_effects: bool = False,
    ) -> None:
        self.allow_effects = allow_effects
        self.scratch = ""  # where calls may write
        self.refused: list[WorldEffect] = []  # what the last execution would have done to the world
        self.refused_in = ""  # the method that would have
        self.refused_call = ""  # and the call of it
        self.offline: dict[str, str] = {}  # methods that have met a network that is not there, and how
        self.probing = False  # is it being found out which calls are accepted?
        self._stack = ExitStack()
        self.subject = subject
        self.setup = setup
        self.namespace = Namespace()
        self.namespace.names["between_parts"] = self._between_parts
        self.without = subject.tallies
        self.executions = 0
        self.test: Test | None = None
        self.sequence: tuple[MethodCall, ...] = ()
        self.root: MethodCall | None = None
        self.last_sout: Any = None
        self.last_happened: tuple[str, Any] = ("returned", None)  # what the last call of a sequence did
        self.tell = False  # keep values as a person reads them?
        self.background = False  # did the object have threads of its own in the last execution?
        self._ready: dict[MethodCall, Ready] = {}
        self._said: dict[Hashable, dict[Hashable, _Said]] = {}  # what looking at the object said, by way and state
        packages = tuple(dict.fromkeys((*subject.packages, *extra_packages)))
        source: Any = subject.cls
        self.loom = self._new_loom(
            source=source,
            instrument=packages,
            seed=seed,
            most_steps=_MOST_STEPS,
            patience=_PATIENCE,
            gil=gil,
        )
        self.gil = gil  # tests switch only where one of these versions can; 0: everywhere
        self.loom.selection = _selection(source, packages)

    def _new_loom(self, **options: Any) -> Loom:
        return Loom(self._play, **options)

    def __enter__(self) -> Stage:
        if not self.allow_effects:
            self.scratch = self._stack.enter_context(scratch_folder())
        self._stack.enter_context(self.loom)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def ready(self, call: MethodCall) -> Ready:
        made = self._ready.get(call)
        if made is None:
            made = self._ready[call] = Ready(call, self.namespace)
        return made

    # ------------------------------------------------------------------ sequences

    def run_sequence(self, root: MethodCall, calls: tuple[MethodCall, ...]) -> Sequence:
        """Run a sequence alone, recording what each call does."""
        self.root, self.sequence, self.test = root, calls, None
        self.made: list[CallRecord] = []
        self.failed: BaseException | None = None
        self.built = False
        self.begun_at: Begun | None = None  # where the call that is being made began
        self.background = False
        for call in (root, *calls):
            self.ready(call)
        run = self._execute(First(), detail=True)
        ending = _ending(run) or ("refused effect" if self.refused and not self.only_offline else "")
        if ending and len(self.made) < len(calls) and self.built:
            self.made.append(pending(run, self.begun_at))
        return Sequence(self.made, self.failed, ending, self.built, len(run.strands))

    def _execute(self, strategy: Strategy, detail: bool = False) -> Execution:
        self.executions += 1
        clocks = self.loom.shared if self.loom.shared is not None else self.loom.rebound
        if self.test is not None and self.test.passes:
            clocks.add(CLOCK)  # a look at a clock is an operation
        else:
            clocks.discard(CLOCK)
        guard = self._guard = EffectGuard(self.scratch)
        self.refused_in = self.refused_call = ""
        try:
            with nullcontext() if self.allow_effects else guard:
                return self.loom.run(strategy, detail)
        except ReallyBlocked as blocked:
            raise Unsupported(str(blocked)) from None
        finally:
            self.refused = guard.refused
            if self.refused and not self.probing and not self.only_offline:
                raise EffectOfMethod(self.refused_in, str(self.refused[0]), self.refused_call)

    @property
    def only_offline(self) -> bool:
        """Was nothing refused but the network, and that in calls? They meet it as programs do where there is none: an
        OSError is an outcome like any other."""
        return bool(self.refused_in) and all(effect.network for effect in self.refused)

    def _play(self) -> None:
        """What the main strand of every execution does. Threads that the object has started end with it."""
        try:
            if self.test is None:
                self._play_sequence()
            else:
                self._play_test(self.test)
        finally:
            leave_threads()

    def _build(self, root: MethodCall, setup: Any) -> Any:
        if setup is not None:
            sout = setup()
        else:
            ready = self.ready(root)
            sout = ready.invoke(None, *ready.make(None))
        strand = STATE.strand
        if strand is not None and not self.subject.is_module:
            publish(strand, sout)
        self._rest()
        return sout

    def _rest(self) -> None:
        """Let the threads that the object has started come to rest: its state counts then."""
        if STATE.strand is not None and len(STATE.strand.execution.live) > 1:
            self.background = True
            time.sleep(REST)

    def _play_sequence(self) -> None:
        assert self.root is not None
        execution = STATE.strand.execution  # type: ignore[union-attr]
        trace = execution.trace
        detail = execution.detail if execution.detail is not None else []
        if not self.subject.in_tasks:
            execution.detail = None  # how the last call does it is looked at, and looking takes as long again
        try:
            sout = self._build(self.root, self.setup)
        except StrandEnd:
            raise
        except BaseException as error:
            self.failed = error
            return
        self.built = True
        self.last_sout = sout
        passed: tuple[str, ...] = ()
        for number, call in enumerate(self.sequence):
            ready = self.ready(call)
            arguments = ready.make(sout)
            if number == len(self.sequence) - 1 and execution.detail is None:
                execution.detail = detail
                for strand in execution.live:
                    strand.step = undescribed(strand) if strand is not STATE.strand else None
            start, described = len(trace), len(detail)
            named = dict(STATE.strand.encounters)  # type: ignore[union-attr]
            self.begun_at = (start, described, named)
            happened = self._invoke(ready, sout, arguments)
            self.begun_at, self.last_happened = None, happened
            self._rest()
            ran = CallRecord(self._settle(happened, sout))
            if self.tell:
                ran.literal = happened[0] == "raised" or literal(happened[1]) is not None
            ran.steps = detail[described:]
            ran.operations = [op for who, op in trace[start:] if who == 0 and not on_new_object(op, named)]
            ran.state = self._state(sout)
            passed += (str(call),) if call.method == PASSING else ()
            if passed:
                ran.state = (ran.state, passed)  # what it will do is another thing from now on
            self.made.append(ran)

    def _invoke(self, ready: Ready, sout: Any, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        before = len(self._guard.refused)
        try:
            return "returned", ready.invoke(sout, *arguments)
        except (StrandEnd, ReallyBlocked):
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and self.loom.watch.interrupted:
                raise
            return "raised", error
        finally:
            if len(self._guard.refused) > before:
                if not before:
                    self.refused_in, self.refused_call = ready.call.method, str(ready.call)
                if self.test is None and self._guard.refused[-1].network:  # of two at once, either may be the one
                    self.offline.setdefault(ready.call.method, str(self._guard.refused[-1]))

    def _settle(self, happened: tuple[str, Any], sout: Any) -> Happened:
        """A result as plain data."""
        how, value = happened
        return raised(value) if how == "raised" else returned(as_compared(value, sout, self.without))

    def _state(self, sout: Any) -> Hashable:
        return inner_state(sout, self.without)

    # ------------------------------------------------------------------ tests

    def run_at_every_point(self, test: Test, strategy: Strategy) -> tuple[Outcome | None, Execution]:
        """One execution of a test whose strands may switch everywhere, whatever the model."""
        self.loom.gil = 0
        try:
            return self.run_test(test, strategy)
        finally:
            self.loom.gil = self.gil

    def run_test(self, test: Test, strategy: Strategy, detail: bool = False) -> tuple[Outcome | None, Execution]:
        """One execution of a test. The outcome is None when the execution was given up as redundant."""
        self.test = test
        for call in (test.root, *test.alpha, *(c for calls in test.threads for c in calls), *test.omega, *test.later):
            self.ready(call)
        self.results: list[list[tuple[str, Any]]] = [[] for _ in test.threads]
        self.called = [0] * len(test.threads)  # calls begun, per thread
        self.parted = [0] * len(test.threads)  # calls that are made of two and were seen between them
        self.strand_names: list[str] = [""] * len(test.threads)
        self.outcome: Outcome | None = None
        self.sout: Any = None
        self.together = False  # have both threads been started?
        self.passing = ""  # the strand that lets time pass
        self.looking: MethodCall | None = None  # the call by which the object is looked at afterwards
        self.background = False
        run = self._execute(strategy, detail)
        if run.stop_reason in ("blocked", "unfit") or run.revealed:
            return None, run
        return self._conclude(run), run

    def calls_begun(self, thread: int) -> int:
        """How far a thread that waits at a point has come: it is in the call of that number, or before it."""
        return self.called[thread] + self.parted[thread]

    def _between_parts(self, value: Any = None) -> Any:
        """A call that is made of two is between them: as good as between two calls."""
        name = STATE.strand.treadle_name if STATE.strand is not None else ""
        if self.test is not None and name in self.strand_names:
            self.parted[self.strand_names.index(name)] += 1
        return value

    def steps_of(self, run: Execution) -> list[Step]:
        """What the threads of a test did in an execution that recorded its details, access by access."""
        return [step for step in run.detail or () if step.strand in self.strand_names]

    def told_besides(self, run: Execution) -> str:
        """What else happened in an execution that recorded its details: a line for a person."""
        return ""

    def _conclude(self, run: Execution) -> Outcome:
        ending = _ending(run)
        outcome = self.outcome
        if outcome is None:  # the threads, or what looks at the object afterwards, did not come to an end
            threads = tuple(
                tuple(self._settle_late(result) for result in results) + ((PENDING,) if len(results) < count else ())
                for results, count in zip(self.results, self.called, strict=True)
            )
            outcome = Outcome(threads, ending=ending)
            done = all(len(r) == len(calls) for r, calls in zip(self.results, self.test.threads, strict=True))  # type: ignore[union-attr]
            outcome.late = done and bool(ending)
            outcome.looking = self.looking
            outcome.offline = bool(self.refused)
        outcome.ending = ending
        outcome.background = self.background
        others = {"main", *self.strand_names}
        outcome.crashed = tuple(
            type(strand.exception).__name__
            for strand in run.strands
            if strand.exception is not None and strand.treadle_name not in others
        )
        main = run.strands[0].exception
        if main is not None and not isinstance(main, StrandEnd):
            raise NotPlayed(type(main).__name__) from main
        return outcome

    def _settle_late(self, happened: tuple[str, Any]) -> Happened:
        try:
            return self._settle(happened, self.sout)
        except Exception:
            return returned(("unreadable",))

    def _play_test(self, test: Test) -> None:
        sout = self.sout = self._build(test.root, self.setup)
        for call in test.alpha:
            ready = self.ready(call)
            self._invoke(ready, sout, ready.make(sout))
            self._rest()
        strand = STATE.strand
        work: list[Work] = []
        for calls in test.threads:
            prepared = []
            for call in calls:
                ready = self.ready(call)
                arguments = ready.make(sout)
                for argument in arguments:
                    publish(strand, argument)  # type: ignore[arg-type]
                prepared.append((ready, arguments))
            work.append(prepared)
        before = untold_before(sout)
        given = [argument for part in work for _, arguments in part for argument in arguments]
        self._run_together(sout, work)
        self._rest()
        self.outcome = self._look(test, sout, before, given)

    def _run_together(self, sout: Any, work: list[Work]) -> None:
        """The calls of each thread, at once."""
        threads = [threading.Thread(target=self._thread, args=(number, sout, part)) for number, part in enumerate(work)]
        for thread in threads:
            thread.start()
        self.together = True
        for thread in threads:
            thread.join()

    def _thread(self, number: int, sout: Any, work: Work) -> None:
        self.strand_names[number] = STATE.strand.treadle_name  # type: ignore[union-attr]
        if work and work[0][0].call.method == PASSING:
            self.passing = self.strand_names[number]
        for ready, arguments in work:
            self.called[number] += 1
            STATE.strand.checks = ALL  # type: ignore[union-attr]  # a method that is Python code is entered with a look
            self.results[number].append(self._invoke(ready, sout, arguments))

    def _look(self, test: Test, sout: Any, before: frozenset[int], given: list[Any]) -> Outcome:
        """What the threads left behind, seen through the class's own methods and through its state."""
        threads = tuple(
            tuple(
                ("returned", "not compared")
                if call.method in self.subject.not_compared and happened[0] == "returned"
                else self._settle(happened, sout)
                for call, happened in zip(calls, results, strict=True)
            )
            for calls, results in zip(test.threads, self.results, strict=True)
        )
        outcome = Outcome(threads, state=self._state(sout))
        offline = bool(self._guard.refused)
        kept = attributes_of(sout) if test.fields else {}
        outcome.fields = tuple((name, fingerprint(kept.get(name), self.without)) for name in test.fields)
        outcome.tallies = self._tallies(sout)
        key = self._state_key(test, sout, before, given)
        known = self._known(test) if key is not None else {}
        said = known.get(key)
        if said is None:
            said = known[key] = self._ask(test, sout, outcome)
        outcome.invariant, outcome.observed, outcome.same, outcome.later, asked_offline = said
        outcome.offline = offline or asked_offline
        return outcome

    def _state_key(self, test: Test, sout: Any, before: frozenset[int], given: list[Any]) -> Hashable | None:
        """The state by which it is remembered what the object says; None where it is not."""
        execution = STATE.strand.execution  # type: ignore[union-attr]
        if self.tell or self.subject.in_tasks or execution.detail is not None:
            return None
        return state_key(execution, sout, self._handed_out(test) + given, before)

    def _known(self, test: Test) -> dict[Hashable, _Said]:
        """What objects said that were made and brought into a state as this one was."""
        way = (test.root, test.alpha, test.omega, test.later, self.loom.seed)
        if way not in self._said and len(self._said) >= _MOST_WAYS:
            self._said.clear()
        return self._said.setdefault(way, {})

    def _ask(self, test: Test, sout: Any, outcome: Outcome) -> _Said:
        """Call what looks at the object, and what must not fail afterwards."""
        invariant = self._invariant(sout)
        seen: list[Happened] = []
        looked: list[tuple[str, Any]] = []
        for call in test.omega:
            self.looking = call
            ready = self.ready(call)
            looked.append(self._invoke(ready, sout, ready.make(sout)))
            seen.append(self._settle(looked[-1], sout))
        same = same_objects(self._handed_out(test) + [v if how == "returned" else None for how, v in looked])
        offline = bool(self._guard.refused)  # later calls are not compared, but for their failing
        failures: list[Happened] = []
        for call in test.later:
            self.looking = call
            ready = self.ready(call)
            how, value = self._invoke(ready, sout, ready.make(sout))
            failures.append(raised(value) if how == "raised" else returned(None))
        if self.tell:
            self._tell(outcome, test, sout, looked)
        return invariant, tuple(seen), same, tuple(failures), offline

    def _handed_out(self, test: Test) -> list[Any]:
        """What the calls of the threads returned, in their order; None for what is not compared."""
        return [
            value if how == "returned" and call.method not in self.subject.not_compared else None
            for calls, results in zip(test.threads, self.results, strict=True)
            for call, (how, value) in zip(calls, results, strict=True)
        ]

    def _tallies(self, sout: Any) -> tuple[tuple[str, Any], ...]:
        if not self.without:
            return ()
        kept = attributes_of(sout)
        return tuple((name, kept[name]) for name in sorted(self.without) if isinstance(kept.get(name), int))

    def _tell(self, outcome: Outcome, test: Test, sout: Any, looked: list[tuple[str, Any]]) -> None:
        """Keep the values themselves, for the message and the written test."""
        places: list[tuple[tuple[str, int, int], tuple[str, Any]]] = []
        for thread, results in enumerate(self.results):
            places += [(("result", thread, number), happened) for number, happened in enumerate(results)]
        places += [(("observed", number, 0), happened) for number, happened in enumerate(looked)]
        places += [
            (("field", number, 0), ("returned", getattr(sout, name, None))) for number, name in enumerate(test.fields)
        ]
        for place, (how, value) in places:
            outcome.texts[place] = f"{type(value).__name__}" if how == "raised" else short(value)
            name = type(value).__name__
            outcome.values[place] = (how, name if how == "raised" else literal(value))
            outcome.told[place] = repr(name) if how == "raised" else told(value, sout, self.without)

    def _invariant(self, sout: Any) -> Happened | None:
        """A user's own check of the object, if there is one."""
        name = invariant_of(type(sout))
        if not name:
            return None
        try:
            holds = getattr(type(sout), name)(sout)
        except Exception as error:
            return raised(error)
        return returned(holds is None or bool(holds))


def _selection(source: Any, packages: tuple[str, ...]) -> ModuleSelection:
    """The class's own packages, and the project it belongs to; an installed package has no project around it."""
    selection = ModuleSelection.for_test(source, packages)
    root = selection.project_root
    if root is not None and INSTALLED & set(root.parts):
        return replace(selection, project_root=None)
    return selection


def leave_threads() -> None:
    """Nobody waits for the threads that are still there: they end with the execution."""
    strand = STATE.strand
    for other in strand.execution.live if strand is not None else ():
        if other is not strand and not other.daemon:
            other.daemon = True
            other.execution.running_foreground -= 1


def _ending(run: Execution) -> str:
    if run.stop_reason == "stuck":
        spins = bool(run.stuck) and all(one.wanted[0] == SPIN for one in run.stuck)
        return LIVELOCK if spins else DEADLOCK
    if run.stop_reason == "limit":
        return LIVELOCK if endless(run) else LIMIT
    return ""
