"""The explore door: run a test under every schedule.

Checks what it is asked, sets the loom up, and leaves the search to `campaign`.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.result import Result, Verdict
from treadle.core.settings import check_values
from treadle.doors.explore import messages
from treadle.doors.explore.campaign import Progress
from treadle.doors.explore.models import OpenLoom, SearchSetup, explore
from treadle.messages.loom import uses_actors
from treadle.report.notebook import notebook_html
from treadle.search import strategies
from treadle.search.cluster import Workforce
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.step_dpor import StepDpor
from treadle.search.strategy import Strategy
from treadle.threads.loom import Loom
from treadle.threads.switching import MODELS

Result.in_notebooks = notebook_html

# Executions of a search by sampling that nobody gave a budget.
SAMPLES = 10_000


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
    clock: str = "still",
    operations: int | None = None,
    any_order: bool = False,
    cancel: str = "never",
    seed: int = 0,
    granularity: str | None = None,
    delivery: str = "mailbox",
    switches: str = "free",
    workers: int = 1,
    cluster: str = "",
    ship: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    target: str | None = None,
    source: Any = None,
    example: str = "",
    builds: bool = True,
    kept: OpenLoom | None = None,
) -> Result:
    """Run `test` under its schedules and return what was found.

    `example` is what the trail says of the arguments that Hypothesis drew; without `builds`, nobody finds out on which
    builds a failure can happen; `kept` is a loom for several searches of the same test.
    `source` is the function whose module is rewritten when `test` itself only wraps it; `target` is how the trail
    names the test. `operations` is where an execution is stopped; without it, the length of fair executions
    decides. With `clock="ticking"` each reading of a clock moves it on, where it stands still otherwise.
    `workers` processes take over a search that is not over in a second; those of a Dask cluster, when `cluster` is the
    address of its scheduler (`ship` sends the project there). With `resume` they go on with a search that was stopped.
    `any_order` also permutes the steps of asyncio tasks that are ready, whose order asyncio promises;
    `cancel="at-await"` cancels a task at one of its awaits, once per execution, "at-await:NAME,NAME" one of these.
    """
    given = {
        "strategy": strategy,
        "executions": executions,
        "seconds": seconds,
        "preemptions": preemptions,
        "delays": delays,
        "instrument": instrument,
        "operations": operations,
        "any_order": any_order,
        "seed": seed,
        "workers": workers,
        "resume": resume,
    }
    check_values(given, "check")
    _check_options(test, executions, seconds, operations, switches)
    workforce = Workforce.asked(workers, cluster, ship)
    if workforce.several:
        _check_can_be_split(strategy, any_order)
    elif resume:
        raise UsageError("resume goes on with what workers were doing: give their number, or a cluster, as well")
    packages = (instrument,) if isinstance(instrument, str) else tuple(instrument)
    reduced = _reduced(any_order, cancel, timeouts)
    make = functools.partial(
        strategies.make, strategy, seed=seed, preemptions=preemptions, delays=delays, reduced=reduced
    )
    drawn = {"example": example} if example else {}
    make()  # wrong options are told before anything is set up
    if strategy == "random" and executions is None and seconds is None:
        executions = SAMPLES  # sampling has no end of its own
    name = target if target is not None else target_of(source if source is not None else test)
    step = messages.ACCESSES
    if not inspect.iscoroutinefunction(test):
        only = strategy == "source-dpor" or preemptions is not None or delays is not None  # messages know none of these
        wanted = granularity or (messages.ACCESSES if only else None)
        began = time.perf_counter()
        step = messages.granularity_of(test, source, wanted, packages, seed, seconds)
        if seconds is not None:
            seconds = max(seconds - (time.perf_counter() - began), seconds / 4)

    def in_messages(executions: int | None, seconds: float | None) -> Result:
        return messages.check_messages(
            test,
            strategy=strategy,
            executions=executions,
            seconds=seconds,
            preemptions=preemptions,
            delays=delays,
            timeouts=timeouts,
            clock=clock,
            seed=seed,
            delivery=delivery,
            progress=progress,
            target=name,
            source=source,
            extra=drawn,
            alone=step == messages.MESSAGES,
        )

    def in_accesses(executions: int | None, seconds: float | None) -> Result:
        settings = _settings(packages, timeouts, clock, seed) | tasks_settings(any_order, cancel) | drawn
        search = SearchSetup(
            test,
            source,
            packages,
            timeouts,
            seed,
            make,
            name,
            settings,
            progress,
            strategy,
            any_order,
            cancel,
            functools.partial(make, reduced=Dfs),
            operations,
            workforce,
            resume=resume,
            builds=builds,
            clock=clock,
            kept=None if uses_actors(source if source is not None else test) else kept,
        )
        if granularity == messages.ACCESSES:
            search.afterwards = functools.partial(_look_at_actors, source if source is not None else test)
        with messages.registries_kept():
            return explore(search, switches, executions, seconds)

    if step == messages.BOTH:
        return messages.check_both(in_messages, in_accesses, executions, seconds)
    return (in_messages if step == messages.MESSAGES else in_accesses)(executions, seconds)


def _look_at_actors(source: Any, loom: Loom, found: Result) -> None:
    """Actors that share an object are a finding, whatever their schedules."""
    if found.findings:
        return
    found.findings = messages.shared_by_actors(loom, source)
    if found.findings:
        found.verdict, found.exhaustive = Verdict.FAILED, False
        found.reason = "actors share an object"


def _check_options(
    test: Any, executions: int | None, seconds: float | None, operations: int | None, switches: str
) -> None:
    if switches not in MODELS:
        raise UsageError(f"switches must be 'free', 'gil' or 'auto', not {switches!r}")
    if not callable(test):
        raise UsageError(f"check needs a function to run, not {type(test).__name__}")
    if executions is not None and executions <= 0:
        raise UsageError(f"executions must be 1 or more, not {executions}: a search of nothing finds nothing")
    if operations is not None and operations <= 0:
        raise UsageError(f"operations must be 1 or more, not {operations}: an execution of nothing finds nothing")
    if seconds is not None and seconds <= 0:
        raise UsageError(f"seconds must be more than 0, not {seconds:g}: a search of nothing finds nothing")


def _check_can_be_split(strategy: str, any_order: bool) -> None:
    """What cannot be split is told, not run by one process in silence."""
    if strategy not in ("auto", "dpor", "random"):
        raise UsageError(f"strategy '{strategy}' is not split among workers; use auto, dpor or random")
    if any_order:
        raise UsageError("any_order is not split among workers; leave out one of the two")


def _settings(packages: tuple[str, ...], timeouts: str, clock: str, seed: int) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if packages:
        settings["instrument"] = list(packages)
    if timeouts != "idle":
        settings["timeouts"] = timeouts
    if clock != "still":
        settings["clock"] = clock
    if seed:
        settings["seed"] = seed
    return settings


def _reduced(any_order: bool, cancel: str, timeouts: str) -> Callable[[], Strategy]:
    """What runs one execution per class, or every schedule where nobody knows the classes: what the world does to a
    loop between two steps depends on all steps before it."""
    if not any_order:
        return Dpor
    return StepDpor if cancel == "never" and timeouts == "idle" else Dfs


def tasks_settings(any_order: bool, cancel: str) -> dict[str, Any]:
    """What a trail must know of how tasks were treated, where that is not the default."""
    return ({"any_order": True} if any_order else {}) | ({"cancel": cancel} if cancel != "never" else {})


def target_of(test: Any) -> str:
    """How a trail names a test: path::function relative to where we are, or module:function."""
    plain = inspect.unwrap(test) if callable(test) else test
    name = getattr(plain, "__qualname__", type(plain).__name__)
    try:
        file = Path(inspect.getsourcefile(plain) or "").resolve().relative_to(Path.cwd())
    except (TypeError, ValueError):
        return f"{getattr(plain, '__module__', '?')}:{name}"
    return f"{file.as_posix()}::{name}"
