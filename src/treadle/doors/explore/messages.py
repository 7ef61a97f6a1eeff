"""`treadle explore` at message granularity: which tests it is for, with which strategies, and how it differs.

Decides the default: a test whose module leads to an actor library, and which starts an actor when it runs, is explored
in steps of messages; `--granularity accesses` looks at memory as well, and naming a package with --instrument asks for
that, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result, Verdict
from treadle.doors.explore.campaign import ScheduleSearch
from treadle.doors.explore.confirm import Confirmation
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.isolation import shared_objects
from treadle.messages.loom import LIBRARIES, MessageLoom, own_modules
from treadle.search import strategies
from treadle.search.auto import Auto
from treadle.search.message_dpor import MessageDpor
from treadle.search.replay import FollowSteps
from treadle.search.strategy import Strategy
from treadle.threads.instrument.selection import ModuleSelection, module_of
from treadle.threads.loom import Loom
from treadle.threads.watchdog import ReallyBlocked

GRANULARITIES = ("messages", "accesses")
# Seconds without a step after which the execution that looks for actors is given up.
_PATIENCE = 5.0
# Executions after which every object that strands share is known to be shared.
_ATTEMPTS = 20


def granularity_of(test: Callable[[], Any], source: Any, wanted: str | None, packages: Sequence[str], seed: int) -> str:
    """At which granularity a test is explored."""
    if wanted is not None:
        if wanted not in GRANULARITIES:
            raise UsageError(f"granularity must be 'messages' or 'accesses', not '{wanted}'")
        if wanted == "messages" and packages:
            raise UsageError("--instrument looks at the memory of a package: that is --granularity accesses")
        return wanted
    if packages or not uses_actors(source if source is not None else test):
        return "accesses"
    with MessageLoom(test, source=source, seed=seed, patience=_PATIENCE) as loom:
        follow = FollowSchedule()
        follow.begin()
        try:
            run = loom.run(follow)
        except ReallyBlocked:  # a loop that waits for memory to change: not a program of messages alone
            return "accesses"
        assert isinstance(run, MessageExecution)
        return "messages" if run.journal.actors else "accesses"


def uses_actors(source: Any) -> bool:
    """Does the module of a test lead to an actor library that is imported, or to mailboxes?"""
    libraries = {name for name in (*LIBRARIES, "treadle.actors") if name in sys.modules}
    for module in own_modules(module_of(source), ModuleSelection.for_test(source)):
        for value in list(vars(module).values()):
            if isinstance(value, FunctionType) and "mailbox" in value.__code__.co_names:
                return True
            names = [getattr(value, "__name__", ""), getattr(value, "__module__", ""), type(value).__module__]
            if isinstance(value, type):
                names += [base.__module__ for base in value.__mro__]
            for name in names:
                if isinstance(name, str) and any(name == one or name.startswith(f"{one}.") for one in libraries):
                    return True
    return False


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
    seed: int,
    delivery: str,
    progress: Any,
    target: str,
    source: Any,
) -> Result:
    """`treadle.check` at message granularity."""
    if delivery not in ("promised", "causal"):
        raise UsageError(f"delivery must be 'promised' or 'causal', not '{delivery}'")
    make = functools.partial(make_strategy, strategy, seed=seed, preemptions=preemptions, delays=delays)
    make()
    loom = MessageLoom(test, source=source, timeouts=timeouts, seed=seed, causal=delivery == "causal")
    settings = settings_for(delivery, timeouts, seed)
    with loom:
        result = _Messages(loom, make, target, settings, executions, seconds, progress, strategy).run()
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


def settings_for(delivery: str, timeouts: str, seed: int) -> dict[str, Any]:
    settings: dict[str, Any] = {"granularity": "messages"}
    if delivery != "promised":
        settings["delivery"] = delivery
    if timeouts != "idle":
        settings["timeouts"] = timeouts
    if seed:
        settings["seed"] = seed
    return settings


def loom_for(settings: dict[str, Any], test: Callable[[], Any], source: Any) -> MessageLoom:
    """The loom that runs what a trail of this granularity describes."""
    return MessageLoom(
        test,
        source=source,
        timeouts=settings.get("timeouts", "idle"),
        seed=settings.get("seed", 0),
        causal=settings.get("delivery") == "causal",
    )


class _Messages(ScheduleSearch):
    """A search over orders of messages."""

    def _confirm(self, finding: Finding, run: Any) -> Finding:
        assert isinstance(self.loom, MessageLoom)
        return Confirmation(self.loom, self.target, self.settings).confirm(finding, run)

    def _to_be_checked(self, verdict: Verdict) -> bool:
        return False  # a step is a whole message: what handlers share is not looked at

    def _livelock(self) -> Finding | None:
        self.looked_for_livelock = True
        return None  # a step is a whole message here: loops of single operations are not looked at

    def _sentence(self, verdict: Verdict, reason: str) -> str:
        count = f"{self.executions} execution{'s' if self.executions != 1 else ''}"
        if verdict is Verdict.PASSED_EXHAUSTIVE:
            return f"every order of messages was run, up to equivalence: {count}"
        if verdict is Verdict.NOTHING_TO_EXPLORE:
            return "no actor receives two messages that could change places: there was one order to run"
        return super()._sentence(verdict, reason)
