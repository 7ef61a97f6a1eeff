"""The pytest plugin: a test that is decorated with `@treadle.explore()` runs under every schedule.

Decides which tests are explored, with which options, and how a verdict looks in pytest:

- decorated tests always, tests marked `@pytest.mark.treadle` when pytest is given `--treadle`;
- settings of the project, then of the decorator or marker, then of the command line: the last one holds;
- a failing schedule fails the test with its own exception, the explanation and the replay command as notes;
- a search that was cut is reported as `cut`, never as passed; a test with one schedule only fails.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from treadle.core.errors import NothingToExplore, TreadleError, UsageError
from treadle.core.settings import KEYS, did_you_mean, read_settings
from treadle.core.verdict import exception_for
from treadle.report import store

if TYPE_CHECKING:
    from treadle.core.result import Finding, Result

ProgressLine = Callable[..., None]


@dataclass
class Campaign:
    """What a run of pytest explores, and what came out. `treadle explore` makes its own."""

    options: dict[str, Any] = field(default_factory=dict)  # from the command line
    marked: bool = False  # explore marked tests
    every: bool = False  # explore all tests, marked or not
    replay: str = ""  # run this one schedule instead of searching
    saves: bool = False  # keep failing executions as files; a command does that itself
    search: Callable[..., Any] | None = None  # what another door does with each test instead of exploring it
    settings: dict[str, Any] = field(default_factory=dict)  # of the project
    results: list[Result] = field(default_factory=list)
    errors: list[tuple[str, BaseException]] = field(default_factory=list)
    progress: Callable[[str], AbstractContextManager[ProgressLine | None]] = field(default=lambda _: nullcontext())


# Executions of a sampling strategy that was given no budget.
SAMPLED = 10_000

CAMPAIGN = pytest.StashKey[Campaign]()
RESULT = pytest.StashKey["Result"]()


# ---------------------------------------------------------------------- hooks of pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("treadle", "exploring the schedules of concurrent tests").addoption(
        "--treadle",
        nargs="?",
        const="",
        default=None,
        metavar="STRATEGY",
        help="explore the tests marked with @pytest.mark.treadle, optionally with this strategy",
    )


def pytest_load_initial_conftests(args: list[str]) -> None:
    """`pytest --treadle tests/` must not take the folder for a strategy: only `--treadle=NAME` names one."""
    args[:] = ["--treadle=" if word == "--treadle" else word for word in args]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "treadle(**options): explore every schedule when pytest is run with --treadle")
    if CAMPAIGN in config.stash:
        return
    strategy = config.getoption("treadle")
    campaign = config.stash[CAMPAIGN] = Campaign(marked=strategy is not None, saves=True)
    try:
        campaign.settings = read_settings(Path(config.rootpath))
        if strategy:
            from treadle.search import strategies

            strategies.make(strategy)
            campaign.options["strategy"] = strategy
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and is_explored(item):
        # per item, because pytest has no hook between setting up the fixtures and calling the test
        for name, action in (("setup", set_up), ("runtest", explore_item)):
            setattr(item, name, partial(action, item))
        item.repr_failure = partial(_repr_failure, item, item.repr_failure)  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    result = item.stash.get(RESULT, None)
    if call.when == "call" and result is not None:
        # a plain dictionary, because pytest-xdist sends reports between processes
        report.treadle = {  # type: ignore[attr-defined]
            "verdict": result.verdict.value,
            "executions": result.executions,
            "bounds": result.bounds,
            "sentence": _sentence(result),
        }
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    facts = getattr(report, "treadle", None)
    if facts is None or report.when != "call" or not report.passed or hasattr(report, "wasxfail"):
        return None
    if facts["verdict"] == "CUT":
        return "cut", "c", ("CUT", {"yellow": True})
    if facts["verdict"] == "PASSED-WITHIN-BOUNDS":
        bounds = ", ".join(f"{name} <= {value}" for name, value in facts["bounds"].items())
        return "passed", ".", f"PASSED (within {bounds}, {facts['executions']} executions)"
    return "passed", ".", f"PASSED (every schedule, {facts['executions']} executions)"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = terminalreporter.stats.get("cut", [])
    if reports:
        terminalreporter.section("searches that were cut: no failure so far, and no pass")
        for report in reports:
            terminalreporter.line(f"{report.nodeid}: {report.treadle['sentence']}")


# ---------------------------------------------------------------------- exploring one test


def is_explored(item: pytest.Function) -> bool:
    """Will this test run under every schedule rather than once?"""
    campaign = item.config.stash[CAMPAIGN]
    if campaign.every or _decoration(item) is not None:
        return True
    return campaign.marked and item.get_closest_marker("treadle") is not None


def is_marked(item: pytest.Function) -> bool:
    """Did its author say that this test is to be explored?"""
    return _decoration(item) is not None or item.get_closest_marker("treadle") is not None


def _decoration(item: pytest.Function) -> dict[str, Any] | None:
    options = getattr(item.obj, "treadle_options", None)
    return options if isinstance(options, dict) else None


def options_of(item: pytest.Function) -> dict[str, Any]:
    """The options that hold for one test: the project's, then its own, then those of the command line."""
    campaign = item.config.stash[CAMPAIGN]
    options = dict(campaign.settings)
    for marker in reversed(list(item.iter_markers("treadle"))):
        if marker.args:
            raise UsageError(f"{item.nodeid}: @pytest.mark.treadle takes options by name only, not {marker.args[0]!r}")
        for key in marker.kwargs:
            if key not in KEYS:
                raise UsageError(
                    f"{item.nodeid}: @pytest.mark.treadle has no option '{key}'; {did_you_mean(key, KEYS)}"
                )
        options |= marker.kwargs
    options |= _decoration(item) or {}
    named = options.pop("instrument", ())
    given = dict(campaign.options)
    added = given.pop("instrument", ())
    options |= given
    if options.get("strategy") == "random" and "executions" not in options and "seconds" not in options:
        options["executions"] = SAMPLED  # sampling has no end of its own
    options["instrument"] = tuple(dict.fromkeys((*_names(named), *added)))
    return options


def _names(packages: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (packages,) if isinstance(packages, str) else tuple(packages)


def set_up(item: pytest.Function) -> None:
    """What pytest does before an explored test: only what all of its executions share."""
    from treadle.pytest_plugin.body import set_up_wider

    set_up_wider(item)


def explore_item(item: pytest.Function) -> None:
    """Run one test under every schedule, and tell pytest how it went."""
    __tracebackhide__ = True
    from treadle.doors.explore.check import check
    from treadle.doors.explore.replay import replay
    from treadle.pytest_plugin.body import Body

    campaign = item.config.stash[CAMPAIGN]
    target = target_of(item)
    try:
        body = Body(item)
        options = options_of(item)
        with campaign.progress(target) as progress, body.redirected():
            if campaign.replay:
                result = replay(campaign.replay, body.run, source=body.function)
            elif campaign.search is not None:
                result = campaign.search(body.run, source=body.function, target=target, progress=progress)
            else:
                result = check(body.run, source=body.function, target=target, progress=progress, **options)
    except BaseException as error:
        campaign.errors.append((target, error))
        raise
    if result.failed and not campaign.replay:
        body.confirm(result)
    if result.reason.startswith("interrupted"):
        item.session.shouldstop = "interrupted"
    item.stash[RESULT] = result
    item.user_properties.append(("treadle_verdict", result.verdict.value))
    _raise_outcome(result, campaign, _save(item, result) if campaign.saves else [])


def target_of(item: pytest.Function) -> str:
    """How a trail names the test: from the root of its project when we are inside that, by its full path otherwise."""
    if Path.cwd().is_relative_to(item.config.rootpath):
        return item.nodeid
    return "::".join([item.path.as_posix(), *item.nodeid.split("::")[1:]])


def _save(item: pytest.Function, result: Result) -> list[str]:
    """Keep failing executions as files; the lines that say where, or why not."""
    said = []
    for finding in result.findings:
        if finding.replay and not isinstance(finding.exception, (pytest.skip.Exception, pytest.xfail.Exception)):
            try:
                said.append(f"saved: {store.save(item.config.rootpath, result.target, finding)}")
            except (OSError, UsageError) as error:
                said.append(f"not saved: {getattr(error, 'strerror', None) or error}")
    return said


def _raise_outcome(result: Result, campaign: Campaign, saved: list[str]) -> None:
    """A failure leaves as an exception; skips and expected failures that the test asked for leave as themselves."""
    __tracebackhide__ = True
    for finding in result.findings:
        if isinstance(finding.exception, (pytest.skip.Exception, pytest.xfail.Exception)):
            raise finding.exception
    campaign.results.append(result)
    if result.verdict.value == "NOTHING-TO-EXPLORE":
        raise NothingToExplore(_sentence(result) + "\n" + _advice(result))
    if result.failed and result.findings:
        raise failure(result.findings[0], saved)


def failure(finding: Finding, saved: Sequence[str] = ()) -> BaseException:
    """The exception of a finding, carrying its explanation and the command that replays it."""
    error = finding.exception if finding.exception is not None else exception_for(finding.kind, finding.message)
    notes = getattr(error, "__notes__", [])
    from treadle.report.console import replay_command

    command = f"replay: {replay_command(finding)}"
    if command not in notes:
        error.add_note(f"\n{finding.explanation}\n" if finding.explanation else "")
        for note in finding.notes:
            error.add_note(f"note: {note}")
        if finding.replay:
            error.add_note("\n".join([command, *saved]))
    return error


def _repr_failure(
    item: pytest.Function, usual: Callable[[Any], Any], excinfo: pytest.ExceptionInfo[BaseException]
) -> Any:
    """Errors of Treadle's own stand for themselves: a traceback through Treadle would only hide the message."""
    if isinstance(excinfo.value, TreadleError):
        return "\n".join([f"{type(excinfo.value).__name__}: {excinfo.value}", *getattr(excinfo.value, "__notes__", [])])
    return usual(excinfo)


def _sentence(result: Result) -> str:
    from treadle.report.console import sentence

    return sentence(result)


def _advice(result: Result) -> str:
    from treadle.report.console import advice

    return advice(result)
