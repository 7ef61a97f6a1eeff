"""`treadle explore` at message granularity: which tests it is for, with which strategies, and how it differs.

Decides the default: a test whose module leads to an actor library, and which starts an actor when it runs, is explored
in steps of messages, which are few and tell most, and then in steps of accesses: threads beside the actors, and objects
that actors share, count as well. `--granularity messages` asks for messages only, `--granularity accesses`, naming a
package with --instrument, or a bound that only accesses know, for accesses only. A Thespian program has no memory that
its actors share (each is a process of its own), so that its messages are all there is.
"""

from __future__ import annotations

import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import Finding, Result, Verdict
from treadle.core.verdict import worst
from treadle.doors.explore.campaign import ScheduleSearch
from treadle.doors.explore.confirm import Confirmation, settings_of
from treadle.doors.explore.ending import Ended
from treadle.doors.explore.pass_check import Seen, seen_in
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.isolation import shared_objects
from treadle.messages.loom import LIBRARIES, MessageLoom, uses_actors
from treadle.search import strategies
from treadle.search.auto import Auto
from treadle.search.message_dpor import MessageDpor
from treadle.search.replay import FollowSteps
from treadle.search.strategy import Strategy
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom
from treadle.threads.watchdog import OutOfTime, ReallyBlocked

MESSAGES, ACCESSES = "messages", "accesses"
BOTH = "messages and accesses"
GRANULARITIES = (MESSAGES, ACCESSES)
# Seconds without a step after which the execution that looks for actors is given up.
_PATIENCE = 5.0
# Executions after which every object that strands share is known to be shared.
_ATTEMPTS = 20


def granularity_of(
    test: Callable[[], Any],
    source: Any,
    wanted: str | None,
    packages: Sequence[str],
    seed: int,
    seconds: float | None = None,
) -> str:
    """At which granularity a test is explored. Looking for actors takes no more than half of the seconds there are."""
    if wanted is not None:
        if wanted not in GRANULARITIES:
            raise UsageError(f"granularity must be 'messages' or 'accesses', not '{wanted}'")
        if wanted == MESSAGES and packages:
            raise UsageError("--instrument looks at the memory of a package: that is --granularity accesses")
        return wanted
    if packages or not uses_actors(source if source is not None else test):
        return ACCESSES
    with MessageLoom(test, source=source, seed=seed, patience=_PATIENCE) as loom:
        follow = FollowSchedule()
        follow.begin()
        loom.watch.deadline = None if seconds is None else time.monotonic() + seconds / 2
        try:
            run = loom.run(follow)
        except (ReallyBlocked, OutOfTime):  # a loop that waits for memory to change: not a program of messages alone
            return ACCESSES
        assert isinstance(run, MessageExecution)
        if not run.journal.actors:
            return ACCESSES
        return MESSAGES if any(actor.apart for actor in run.journal.actors) else BOTH


@contextmanager
def registries_kept() -> Iterator[None]:
    """Executions that look at accesses leave no actors behind for the next one."""
    if "pykka" not in sys.modules:
        yield
        return
    with importlib.import_module(LIBRARIES["pykka"]).registry_kept():
        yield


def check_both(
    messages: Callable[[int | None, float | None], Result],
    accesses: Callable[[int | None, float | None], Result],
    executions: int | None,
    seconds: float | None,
) -> Result:
    """Every order of messages, then every schedule of accesses with what is left of the budget."""
    started = time.perf_counter()
    first = messages(executions, seconds)
    executions_left = None if executions is None else executions - first.executions
    seconds_left = None if seconds is None else seconds - (time.perf_counter() - started)
    used_up = (executions_left is not None and executions_left <= 0) or (seconds_left is not None and seconds_left <= 0)
    if first.findings or first.cut_by == "interrupted":
        return first
    if used_up:
        first.verdict, first.exhaustive = Verdict.CUT, False
        first.reason = f"the budget went into orders of messages ({_counted(first)}): accesses were not looked at"
        first.cut_by = "seconds" if executions_left is None or executions_left > 0 else "executions"
        return first
    try:
        second = accesses(executions_left, seconds_left)
    except Unsupported as error:
        first.verdict, first.exhaustive = Verdict.CUT, False
        first.reason = f"accesses could not be explored ({error}); --granularity messages looks at messages only"
        first.cut_by = "incomplete"
        return first
    second.statistics["granularity"] = ACCESSES if second.findings else BOTH
    if second.findings:
        return second
    second.reason = f"{MESSAGES}: {first.reason}; {ACCESSES}: {second.reason}"
    second.verdict = _together(first.verdict, second.verdict)
    second.cut_by = second.cut_by or first.cut_by
    second.exhaustive = second.verdict is Verdict.PASSED_EXHAUSTIVE
    second.executions += first.executions
    second.bounds = first.bounds | second.bounds
    second.seconds = time.perf_counter() - started
    known = {warning.message for warning in first.warnings}
    second.warnings = [*first.warnings, *(warning for warning in second.warnings if warning.message not in known)]
    return second


def _together(one: Verdict, other: Verdict) -> Verdict:
    """A pass of one and one schedule of the other is a pass; what was cut stays so."""
    if Verdict.NOTHING_TO_EXPLORE in (one, other) and Verdict.CUT not in (one, other):
        return one if other is Verdict.NOTHING_TO_EXPLORE else other
    return worst((one, other))


def _counted(result: Result) -> str:
    return f"{result.executions} execution{'s' if result.executions != 1 else ''}"


def make_strategy(name: str, *, seed: int = 0, preemptions: int | None = None, delays: int | None = None) -> Strategy:
    """The strategy of that name for messages."""
    if preemptions is not None or delays is not None:
        raise UsageError("a handler is never interrupted at message granularity: there are no preemptions to bound")
    if name == "source-dpor":
        raise UsageError("strategy 'source-dpor' is for accesses; at message granularity use 'dpor'")
    if name == "dpor":
        return MessageDpor()
    if name == "auto":
        auto = Auto(seed)
        auto.dpor = auto.phase = MessageDpor()
        auto.sample_after_surprise = False  # an order that is asked for holds actors back, which nobody foretells
        return auto
    return strategies.make(name, seed=seed)


def check_messages(
    test: Callable[[], Any],
    *,
    strategy: str,
    executions: int | None,
    seconds: float | None,
    preemptions: int | None,
    delays: int | None,
    timeouts: str,
    clock: str,
    seed: int,
    delivery: str,
    progress: Any,
    target: str,
    source: Any,
    extra: dict[str, Any],
    alone: bool,
) -> Result:
    """`treadle.check` at message granularity; `alone` when nobody looks at accesses afterwards."""
    make = functools.partial(make_strategy, strategy, seed=seed, preemptions=preemptions, delays=delays)
    make()
    loom = MessageLoom(test, source=source, timeouts=timeouts, clock=clock, seed=seed, delivery=delivery, holding=False)
    settings = settings_of(loom) | extra
    with loom:
        search = _Messages(loom, make, target, settings, executions, seconds, progress, strategy)
        search.alone = alone
        result = search.run()
    result.statistics["granularity"] = "messages"
    return result


def shared_by_actors(loom: Loom, source: Any) -> list[Finding]:
    """The objects that two actors share, seen in one execution that looks at every access."""
    if "pykka" not in sys.modules or not uses_actors(source):
        return []
    from treadle.messages.pykka import noting_actors

    for _ in range(_ATTEMPTS):
        follow = FollowSteps([])
        follow.begin()
        actors: dict[int, str] = {}
        with noting_actors(actors):
            run = loom.run(follow)
        if not run.revealed:
            return shared_objects(run, actors)
    return []


def loom_for(settings: dict[str, Any], test: Callable[[], Any], source: Any) -> MessageLoom:
    """The loom that runs what a trail of this granularity describes."""
    return MessageLoom(
        test,
        source=source,
        timeouts=settings.get("timeouts", "idle"),
        clock=settings.get("clock", "still"),
        seed=settings.get("seed", 0),
        delivery=settings.get("delivery", "promised"),
        queues=settings.get("queues", False),
    )


class _Messages(ScheduleSearch):
    """A search over orders of messages."""

    alone = True

    def _to_be_checked(self, verdict: Verdict) -> bool:
        return self.alone and super()._to_be_checked(verdict)  # a pass of accesses says more, and checks itself

    def _confirm(self, finding: Finding, run: Any) -> Finding:
        assert isinstance(self.loom, MessageLoom)
        return Confirmation(self.loom, self.target, self.failures.settings).confirm(finding, run)

    def seen(self, run: Execution) -> Seen:
        """What each actor received, and how its strand ended."""
        assert isinstance(run, MessageExecution)
        seen = seen_in(run)
        for receive in run.journal.receives():
            seen.setdefault(receive.actor, []).append(f"{receive.label} {receive.told} from {receive.origin}")
        return seen

    def _livelock(self) -> Finding | None:
        self.looked_for_livelock = True
        return None  # a step is a whole message here: loops of single operations are not looked at

    def sentence(self, verdict: Verdict, reason: Ended) -> str:
        count = f"{self.executions} execution{'s' if self.executions != 1 else ''}"
        if verdict is Verdict.PASSED_EXHAUSTIVE:
            return f"every order of messages was run, up to equivalence: {count}"
        if verdict is Verdict.NOTHING_TO_EXPLORE:
            return "no actor receives two messages that could change places: there was one order to run"
        return super().sentence(verdict, reason)
