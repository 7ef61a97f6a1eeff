"""The explore door: run a test under every schedule, and say honestly how far that went.

A search ends as one of the verdicts of `treadle.model.result`. A failure is reported only after it was shrunk and its
trail was replayed; a search that a budget cut is never a pass.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from treadle.model.errors import DeadlockError, InternalError, LivelockError, NothingToExplore, Unsupported, UsageError
from treadle.model.operation import WAIT, location, word
from treadle.model.result import Finding, Result, Verdict
from treadle.model.trail import Segment, Stop, Trail
from treadle.oracles import message_sequence
from treadle.oracles.explanation import explain
from treadle.oracles.outcome import judge, leftovers
from treadle.runtime.detail import hide_own_frames
from treadle.runtime.execution import SAME_READS, Diverged, Execution
from treadle.runtime.loom import Loom
from treadle.runtime.names import announce
from treadle.runtime.strands import STATE, StrandEnd, current
from treadle.runtime.watchdog import ReallyBlocked
from treadle.search import strategies
from treadle.search.replay import FollowSteps, FollowTrail
from treadle.search.shrink import shrink
from treadle.search.strategy import Strategy

Progress = Callable[[int, float | None, str], None]

# Operations that shrinking may spend, over all its attempts.
_MOST_SHRINKING = 200_000

# Seconds between two calls of the progress function.
_TELL_EVERY = 0.1


def check(
    test: Callable[[], Any],
    *,
    strategy: str = "auto",
    executions: int | None = None,
    seconds: float | None = None,
    preemptions: int | None = None,
    delays: int | None = None,
    instrument: Sequence[str] | str = (),
    timeouts: str = "idle",
    seed: int = 0,
    granularity: str | None = None,
    delivery: str = "promised",
    progress: Progress | None = None,
    target: str | None = None,
    source: Any = None,
) -> Result:
    """Run `test` under its schedules and return what was found.

    `source` is the function whose module is rewritten when `test` itself only wraps it; `target` is how the trail
    names the test.
    """
    _check_options(test, executions, seconds)
    packages = (instrument,) if isinstance(instrument, str) else tuple(instrument)
    make = functools.partial(strategies.make, strategy, seed=seed, preemptions=preemptions, delays=delays)
    make()  # wrong options are told before anything is set up
    name = target if target is not None else target_of(source if source is not None else test)
    if granularity != "accesses" and not inspect.iscoroutinefunction(test):
        from treadle.generate.schedule import explore_messages

        if explore_messages.granularity_of(test, source, granularity, packages, seed) == "messages":
            result: Result = explore_messages.check_messages(
                test,
                strategy=strategy,
                executions=executions,
                seconds=seconds,
                preemptions=preemptions,
                delays=delays,
                timeouts=timeouts,
                seed=seed,
                delivery=delivery,
                progress=progress,
                target=name,
                source=source,
            )
            return result
    loom = Loom(test, source=source, instrument=packages, timeouts=timeouts, seed=seed, skip_private=True)
    settings = _settings(packages, timeouts, seed)
    with loom:
        return _Campaign(loom, make, name, settings, executions, seconds, progress, strategy).run()


def _check_options(test: Any, executions: int | None, seconds: float | None) -> None:
    if not callable(test):
        raise UsageError(f"check needs a function to run, not {type(test).__name__}")
    if executions is not None and executions <= 0:
        raise UsageError(f"executions must be 1 or more, not {executions}: a search of nothing finds nothing")
    if seconds is not None and seconds <= 0:
        raise UsageError(f"seconds must be more than 0, not {seconds:g}: a search of nothing finds nothing")


def _settings(packages: tuple[str, ...], timeouts: str, seed: int) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if packages:
        settings["instrument"] = list(packages)
    if timeouts != "idle":
        settings["timeouts"] = timeouts
    if seed:
        settings["seed"] = seed
    return settings


def target_of(test: Any) -> str:
    """How a trail names a test: path::function relative to where we are, or module:function."""
    plain = inspect.unwrap(test) if callable(test) else test
    name = getattr(plain, "__qualname__", type(plain).__name__)
    try:
        file = Path(inspect.getsourcefile(plain) or "").resolve().relative_to(Path.cwd())
    except (TypeError, ValueError):
        return f"{getattr(plain, '__module__', '?')}:{name}"
    return f"{file.as_posix()}::{name}"


class _Campaign:
    """One search: executions until a failure, the end of the space, or the end of the budget."""

    def __init__(
        self,
        loom: Loom,
        make: Callable[[], Strategy],
        target: str,
        settings: dict[str, Any],
        executions: int | None,
        seconds: float | None,
        progress: Progress | None,
        strategy: str,
    ) -> None:
        self.loom = loom
        self.make = make
        self.search = make()
        self.target = target
        self.settings = settings
        self.most = executions
        self.seconds = seconds
        self.progress = progress
        self.strategy = strategy
        self.executions = 0
        self.longest = 0
        self.over_limit = 0
        self.looping = False
        self.warnings: dict[str, Finding] = {}
        self.started = time.perf_counter()

    def run(self) -> Result:
        try:
            reason = self._search()
        except KeyboardInterrupt:
            reason = "interrupted"
        except ReallyBlocked as blocked:
            raise Unsupported(str(blocked)) from None
        if isinstance(reason, Finding):
            return self._result(Verdict.FAILED, [reason], "")
        return self._result(*self._verdict(reason), reason)

    def _search(self) -> str | Finding:
        """Run executions; the finding of the first that fails, or why the search ended."""
        search, loom = self.search, self.loom
        told = self.started
        while True:
            if self.most is not None and self.executions >= self.most:
                return "executions"
            now = time.perf_counter()
            if self.seconds is not None and now - self.started >= self.seconds and self.executions:
                return "seconds"
            if self.progress is not None and now - told >= _TELL_EVERY:
                told = now
                self.progress(self.executions, self._estimate(), search.name)
            if not search.begin():
                return "end"
            try:
                run = loom.run(search)
            except Diverged as diverged:
                self._locate(diverged)
                raise Unsupported(_not_deterministic(diverged)) from None
            if run.revealed:  # more is shared than was known: the search starts again, with points there
                self.search = search = self.make()
                continue
            search.end(run)
            if run.stop_reason == "blocked":
                continue
            self.executions += 1
            if len(run.trace) > self.longest:
                self.longest = len(run.trace)
                self.looping |= run.looping
            if not run.stop_reason and not run.unfinished and not run.held and not run.troubled:
                continue  # as almost always: everybody came to an end, and nobody raised
            self._note(run)
            findings = judge(run)
            if findings:
                try:
                    return self._confirm(findings[0], run)
                except _Revealed:
                    self.search = search = self.make()

    def _note(self, run: Execution) -> None:
        if run.stop_reason == "limit":
            self.over_limit += 1
        for warning in leftovers(run):
            self.warnings.setdefault(warning.message, warning)

    def _locate(self, diverged: Diverged) -> None:
        """Find where the operation stands that was expected: a few more runs may show it again."""
        wanted = (diverged.strand, word(diverged.expected[0]), location(diverged.expected))
        for _ in range(5):
            follow = FollowSteps([])
            follow.begin()
            run = self.loom.run(follow, detail=True)
            for step in run.detail or ():
                if (step.strand, step.operation, step.object) == wanted:
                    diverged.expected_place = f"{step.file}:{step.line}"
                    return

    # ------------------------------------------------------------------ a failure

    def _confirm(self, finding: Finding, run: Execution) -> Finding:
        """Shrink the failing schedule, replay it, and explain it."""
        names = {index: name for name, index in self.loom.indexes.items()}
        steps = [names[index] for index, _ in run.trace]

        def attempt(candidate: list[str]) -> tuple[list[str], tuple[int, int, int]] | None:
            follow = FollowSteps(candidate)
            follow.begin()
            tried = self.loom.run(follow)
            if tried.revealed:
                raise _Revealed
            found = judge(tried)
            if not found or not same_failure(found[0], finding):
                return None
            return follow.taken, follow.cost

        first = attempt(steps)
        if first is None:
            raise Unsupported(
                f"the test failed ({finding.message}) but the same schedule passed when it was run again: it depends "
                "on something that the scheduler does not control (real time, addresses, files, other processes)"
            )
        steps, _ = shrink(*first, attempt, most=max(2, min(400, _MOST_SHRINKING // max(1, len(steps)))))
        shown = FollowSteps(steps)
        shown.begin()
        final = self.loom.run(shown, detail=True)
        found = judge(final)
        if not found:
            raise InternalError("a shrunk schedule failed, and did not fail when it was recorded")
        return self._finished(found[0], final, shown)

    def _finished(self, finding: Finding, run: Execution, shown: FollowSteps) -> Finding:
        trail = Trail(
            self.target, segments(run, shown), self.settings, {"kind": finding.kind, "message": finding.message}
        )
        again = FollowTrail(trail.segments)
        again.begin()
        replayed = judge(self.loom.run(again, detail=True))
        if not replayed or again.mismatch or not same_failure(replayed[0], finding):
            raise InternalError(f"the trail of a failure does not replay it ({again.mismatch or finding.message})")
        finding.trail = trail
        finding.replay = str(trail)
        return complete(finding, run)

    # ------------------------------------------------------------------ the end

    def _verdict(self, reason: str) -> tuple[Verdict, list[Finding]]:
        if reason == "end" and self.search.exhausted and not self.over_limit:
            conflicts = getattr(self.search, "conflicts", 1)
            if self.executions == 1 and not conflicts:
                return Verdict.NOTHING_TO_EXPLORE, []
            bounded = self.search.bounded or self.looping
            return (Verdict.PASSED_WITHIN_BOUNDS if bounded else Verdict.PASSED_EXHAUSTIVE), []
        return Verdict.CUT, []

    def _estimate(self) -> float | None:
        share = self.search.progress()
        return self.executions / share if share > 0 else None

    def _result(self, verdict: Verdict, findings: list[Finding], reason: str) -> Result:
        seconds = time.perf_counter() - self.started
        bounds = self._bounds()
        return Result(
            target=self.target,
            verdict=verdict,
            executions=self.executions,
            exhaustive=verdict is Verdict.PASSED_EXHAUSTIVE,
            strategy=self.strategy,
            seconds=seconds,
            findings=findings,
            warnings=list(self.warnings.values()),
            atomic_modules=sorted(self.loom.atomic),
            bounds=bounds,
            reason=self._sentence(verdict, reason),
            statistics={
                "strands": len(self.loom.indexes),
                "longest": self.longest,
                "blocked": self.search.blocked,
                "total_runs": self.loom.executions,
                "estimate": self._estimate(),
            },
        )

    def _bounds(self) -> dict[str, int]:
        bounds = dict(getattr(self.search, "bounds", {})) if self.search.bounded else {}
        if self.looping:
            bounds["reads of a waiting loop"] = SAME_READS
        return bounds

    def _sentence(self, verdict: Verdict, reason: str) -> str:
        count = f"{self.executions} execution{'s' if self.executions != 1 else ''}"
        if verdict is Verdict.FAILED:
            return f"failed in execution {self.executions}"
        if verdict is Verdict.PASSED_EXHAUSTIVE:
            return f"every schedule was run, up to equivalence: {count}"
        if verdict is Verdict.PASSED_WITHIN_BOUNDS:
            bounds = ", ".join(f"{name} {value}" for name, value in self._bounds().items())
            return f"every schedule within the bounds ({bounds}) was run: {count}"
        if verdict is Verdict.NOTHING_TO_EXPLORE:
            if len(self.loom.indexes) == 1:
                return "the test starts no thread that Treadle controls: there was one schedule to run"
            return "the threads share nothing that Treadle sees: there was one schedule to run"
        if self.over_limit:
            return f"{self.over_limit} of {count} were stopped after {self.loom.most_steps} operations: not a pass"
        if reason == "interrupted":
            return f"interrupted after {count}: not a pass"
        if reason == "seconds":
            return f"time ran out after {count}: not a pass"
        if reason == "executions":
            return f"the budget of {count} is used up: not a pass"
        return f"the space is too large to be exhausted: {count} were run, the last ones sampled: not a pass"


class _Revealed(Exception):
    """An object turned out to be shared while a failure was being shrunk: schedules from before no longer fit."""


def same_failure(one: Finding, other: Finding) -> bool:
    """Do two executions fail in the same way?"""
    return one.kind == other.kind and type(one.exception) is type(other.exception)


def complete(finding: Finding, run: Execution) -> Finding:
    """Add the steps and the explanation of the execution that shows a finding."""
    finding.steps = list(run.detail or [])
    if finding.exception is not None:
        hide_own_frames(finding.exception)
    journal = getattr(run, "journal", None)
    if journal is not None:  # an actor program: its messages tell more than its operations
        finding.explanation = message_sequence.text(journal.receives())
        return finding
    finding.explanation = explain(finding.steps, finding.kind, finding.message, waiting=run.stuck)
    return finding


def segments(run: Execution, shown: FollowSteps) -> list[Segment]:
    """The trail of a recorded execution: each run of one strand, and what it was interrupted before."""
    steps = run.detail or []
    found: list[Segment] = []
    counts: dict[tuple[str, str, str, str], int] = {}
    for number, step in enumerate(steps):
        key = (step.strand, step.operation, step.object, step.function)
        counts[key] = counts.get(key, 0) + 1
        if number + 1 == len(steps) or steps[number + 1].strand == step.strand:
            continue
        found.append(Segment(step.strand, _interrupted(run, shown, number, counts)))
    if steps:
        found.append(Segment(steps[-1].strand))
    return found


def _interrupted(
    run: Execution, shown: FollowSteps, number: int, counts: dict[tuple[str, str, str, str], int]
) -> Stop | None:
    """What the strand of this step would have done next, if it could have gone on."""
    steps = run.detail or []
    strand = steps[number].strand
    if number + 1 not in shown.preempted:
        return None
    later = next((step for step in steps[number + 1 :] if step.strand == strand), None)
    if later is None:
        pending = next((s.step for s in run.strands if s.treadle_name == strand), None)
        if pending is None:
            return None
        later = pending
    nth = counts.get((strand, later.operation, later.object, later.function), 0) + 1
    return Stop(later.operation, later.object, later.function, nth)


def _not_deterministic(diverged: Diverged) -> str:
    return (
        f"the test is not deterministic: {diverged}; something besides the schedule decides what it does "
        "(real time, addresses, hash order, files): make that fixed in the test"
    )


# ---------------------------------------------------------------------- replay


def replay(trail: Trail | str, test: Callable[[], Any], *, source: Any = None) -> Result:
    """Run the execution that a trail describes. The result is FAILED when it shows the failure again."""
    if isinstance(trail, str):
        trail = Trail.parse(trail)
    settings = trail.settings
    loom = _loom_of(settings, test, source)
    started = time.perf_counter()
    with loom:
        follow = FollowTrail(trail.segments)
        follow.begin()
        run = loom.run(follow, detail=True)
        if follow.mismatch:
            raise UsageError(
                f"the trail no longer fits {trail.target}: {follow.mismatch}; the code on its way has changed since, "
                "explore the test again"
            )
        findings = judge(run)
        for finding in findings[:1]:
            finding.trail, finding.replay = trail, str(trail)
            complete(finding, run)
    return Result(
        target=trail.target,
        verdict=Verdict.FAILED if findings else Verdict.CUT,
        executions=1,
        exhaustive=False,
        strategy="replay",
        seconds=time.perf_counter() - started,
        findings=findings[:1],
        atomic_modules=sorted(loom.atomic),
        reason="the trail fails as recorded" if findings else "the trail runs to its end and no longer fails",
    )


def _loom_of(settings: dict[str, Any], test: Callable[[], Any], source: Any) -> Loom:
    """The loom under which a trail was recorded."""
    if settings.get("granularity") == "messages":
        from treadle.generate.schedule import explore_messages

        return explore_messages.loom_for(settings, test, source)
    return Loom(
        test,
        source=source,
        instrument=tuple(settings.get("instrument", ())),
        timeouts=settings.get("timeouts", "idle"),
        seed=settings.get("seed", 0),
    )


# ---------------------------------------------------------------------- in a test suite


def explore(test: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a test to be run under every schedule: `@treadle.explore()` or `@treadle.explore(strategy="dpor")`.

    Under pytest the plugin explores it; called directly, without arguments, it explores itself and raises.
    """
    _check_names(options)

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def explored(*args: Any, **kwargs: Any) -> None:
            raise_for(check(lambda: function(*args, **kwargs), source=function, **options))

        explored.treadle_options = options  # type: ignore[attr-defined]
        return explored

    return mark if test is None else mark(test)


def _check_names(options: Iterable[str]) -> None:
    known = set(inspect.signature(check).parameters) - {"test", "progress", "target", "source"}
    for name in options:
        if name not in known:
            raise UsageError(f"explore has no option {name!r}; there are: {', '.join(sorted(known))}")


def raise_for(result: Result) -> None:
    """Turn a result into what a test does: return when it passed, raise what the failing schedule raised."""
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        raise NothingToExplore(result.reason)
    if not result.findings:
        return
    finding = result.findings[0]
    error: BaseException
    if finding.exception is not None:
        error = finding.exception
    elif finding.kind == "deadlock":
        error = DeadlockError(finding.message)
    else:
        error = LivelockError(finding.message)
    error.add_note(f"{finding.explanation}\n\n{result.reason}\nreplay: treadle replay '{finding.replay}'")
    raise error


def parallel(*callables: Callable[..., Any], args: Sequence[Any] = ()) -> list[Any]:
    """Run callables in threads of their own, wait for all of them, and raise the first exception among them."""
    calls = [_Call(function, args) for function in callables]
    strand = current()
    if strand is not None:  # the same as below, without the Thread objects that nobody asks for
        spawn = strand.execution.spawn
        for call in calls:
            announce(strand, call.function)
            announce(strand, tuple(args))
        for started in [spawn(None, call) for call in calls]:
            strand.point(WAIT, started)
    else:
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for call in calls:
        if call.error is not None:
            raise call.error
    return [call.result for call in calls]


class _Call:
    """One call of `parallel`, and what came of it."""

    __slots__ = ("args", "error", "function", "result")

    def __init__(self, function: Callable[..., Any], args: Sequence[Any]) -> None:
        self.function = function
        self.args = args
        self.result: Any = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.result = STATE.visible(self.function)(*self.args)
        except StrandEnd:
            raise
        except BaseException as error:
            self.error = error
