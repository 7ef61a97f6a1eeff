"""The pytest plugin: a test that is decorated with `@treadle.explore()` runs under every schedule.

Decides which tests are explored, with which options, and how a verdict looks in pytest:

- decorated tests always, tests marked `@pytest.mark.treadle` when pytest is given `--treadle`;
- settings of the project, then of the decorator or marker, then of the command line: the last one holds;
- a failing schedule fails the test with its own exception, the explanation and the replay command as notes;
- a search that was cut is reported as `cut`, never as passed; a test with one schedule only fails.

PYTEST_DONT_REWRITE, as in treadle/__init__.py.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.core.settings import KEYS, check_values, read_settings
from treadle.core.trail import Trail
from treadle.core.words import choices
from treadle.report.terminal import columns
from treadle.search import strategies

ProgressLine = Callable[..., None]


@dataclass
class Campaign:
    """What a run of pytest explores, and what came out. `treadle explore` makes its own."""

    options: dict[str, Any] = field(default_factory=dict)  # from the command line
    marked: bool = False  # explore marked tests
    every: bool = False  # explore all tests, marked or not
    replay: str = ""  # run this one schedule instead of searching
    overrides: list[str] = field(default_factory=list)  # settings of pytest that a replay has from where it was found
    debug: bool = False  # in a debugger
    paged: bool = False  # is there to be a page about every test?
    copies: int = 0  # run so many copies of each test at once; 0: explore it as it is
    pairs: bool = False  # run each test beside another one that shares a fixture, instead of a copy
    saves: bool = False  # keep failing executions as files, as soon as a test has ended
    search: Callable[..., Any] | None = None  # what another door does with each test instead of exploring it
    example: str = ""  # of a test of Hypothesis's: the only one that `search` runs
    settings: dict[str, Any] = field(default_factory=dict)  # of the project
    results: list[Result] = field(default_factory=list)
    ended: Callable[[Result], None] = field(default=lambda _: None)  # is told of each as soon as it is there
    errors: list[tuple[str, BaseException]] = field(default_factory=list)
    progress: Callable[[str], AbstractContextManager[ProgressLine | None]] = field(default=lambda _: nullcontext())


# What --treadle-profile stands for; --treadle-executions and --treadle-seconds come before it.
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"executions": 1_000, "seconds": 5.0},
    "usual": {},
    "thorough": {"executions": 1_000_000, "seconds": 600.0},
}

# What each test may cost when a whole suite is run with copies and nobody says how much.
COPIES_BUDGET: dict[str, Any] = {"executions": 1_000, "seconds": 5.0}

# Executions of a sampling strategy that was given no budget.
SAMPLED = 10_000

CAMPAIGN = pytest.StashKey[Campaign]()
# A search takes so much of the time that pytest-timeout gives a test; the rest is for making what was found small.
_OF_A_TIME_LIMIT = 0.7

# What a report says of an exploration: plain data, because pytest-xdist sends reports between processes.
FACTS = pytest.StashKey[dict[str, Any]]()
# The fixtures of a wider scope than a test's that were set up, in that order, and the threads of each that go on.
WIDER = pytest.StashKey[list[tuple[Any, set[int]]]]()
# The test that is run beside this one.
PARTNER = pytest.StashKey[pytest.Function]()


# ---------------------------------------------------------------------- hooks of pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("treadle", "exploring the schedules of concurrent tests")
    group.addoption(
        "--treadle",
        nargs="?",
        const="",
        default=None,
        metavar="STRATEGY",
        help="explore the tests marked with @pytest.mark.treadle, optionally with this strategy",
    )
    for name, kind in (("executions", int), ("seconds", float)):
        group.addoption(f"--treadle-{name}", type=kind, metavar="N", help=f"{name} for every explored test")
    group.addoption("--treadle-profile", choices=sorted(PROFILES), help="how much to spend: quick, usual, thorough")
    group.addoption("--treadle-strict", action="store_true", help="a search that was cut fails its test")
    group.addoption(
        "--treadle-replay", metavar="STRING", help="run the one schedule of this replay string; --pdb steps"
    )
    group.addoption("--treadle-copies", type=int, metavar="N", help="run N copies of every test at once, all schedules")
    group.addoption("--treadle-pairs", action="store_true", help="run tests that share a fixture at once, two by two")
    group.addoption("--treadle-json", metavar="FILE", help="with copies or pairs: write how each test ended")
    group.addoption("--treadle-report", metavar="DIR", help="write DIR/index.html: every explored test, to look at")


def pytest_load_initial_conftests(args: list[str]) -> None:
    """`pytest --treadle tests/` must not take the folder for a strategy: only `--treadle=NAME` names one."""
    args[:] = ["--treadle=" if word == "--treadle" else word for word in args]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "treadle(**options): explore every schedule when pytest is run with --treadle")
    columns()
    if CAMPAIGN in config.stash:
        return
    strategy = config.getoption("treadle")
    folder = config.getoption("treadle_report")
    campaign = config.stash[CAMPAIGN] = Campaign(marked=strategy is not None, saves=True, paged=folder is not None)
    try:
        campaign.settings = read_settings(Path(config.rootpath))
        if strategy:
            strategies.make(strategy)
            campaign.options["strategy"] = strategy
        if folder is not None:
            _check_folder(Path(folder))
        campaign.options |= PROFILES[config.getoption("treadle_profile") or "usual"]
        for name in ("executions", "seconds"):
            budget = config.getoption(f"treadle_{name}")
            if budget is not None and not budget > 0:
                raise UsageError(f"--treadle-{name} {budget:g} leaves nothing to run; give more than 0")
            campaign.options |= {} if budget is None else {name: budget}
        _ask_for_copies(config, campaign)
        if config.getoption("treadle_replay"):
            campaign.replay = str(Trail.parse(config.getoption("treadle_replay")))
            campaign.debug = bool(config.getoption("usepdb", False))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
    campaign.progress = functools.partial(_progress, config)


def _progress(config: pytest.Config, test: str) -> AbstractContextManager[ProgressLine | None]:
    """Behind what pytest has written of the line, in a terminal; other processes (xdist) have none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    writer = getattr(reporter, "_tw", None)
    if writer is None or not getattr(reporter, "isatty", False) or hasattr(config, "workerinput"):
        return nullcontext()
    line_end = import_module("treadle.report.progress").LineEnd  # which a run that explores nothing does not need
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8", errors="replace")  # noqa: SIM115 - stdout is captured now
    except OSError:
        return nullcontext()
    return cast("AbstractContextManager[ProgressLine]", line_end(terminal, _room(writer)))


def _room(writer: Any) -> int:
    return max(0, int(writer.fullwidth) - int(writer.width_of_current_line) - 1)


def _ask_for_copies(config: pytest.Config, campaign: Campaign) -> None:
    """--treadle-copies and --treadle-pairs are about every test."""
    copies = config.getoption("treadle_copies")
    if copies is not None and copies < 2:
        raise UsageError(f"--treadle-copies {copies} leaves nothing to run at once; give 2 or more")
    campaign.pairs = config.getoption("treadle_pairs")
    campaign.copies = copies or 2 * campaign.pairs
    if campaign.copies:
        campaign.every = True
        campaign.options = COPIES_BUDGET | campaign.options
    elif config.getoption("treadle_json"):
        raise UsageError("--treadle-json tells how copies of tests end: give --treadle-copies 2, or --treadle-pairs")


def _check_folder(folder: Path) -> None:
    """A report that could not be written is told before the tests are run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--treadle-report {folder} cannot be made: {error.strerror}") from error
    import_module("treadle.report.page").check_writable(folder / "index.html", "--treadle-report")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --treadle-replay, only the test that the string belongs to is run."""
    campaign = config.stash[CAMPAIGN]
    if campaign.pairs:
        import_module("treadle.pytest_plugin.copies").assign_partners(items)
        paired = [item for item in items if PARTNER in item.stash]
        config.hook.pytest_deselected(items=[item for item in items if item not in paired])
        items[:] = paired
    beside = Trail.parse(campaign.replay).settings.get("partner") if campaign.replay else None
    for other in items if beside else ():
        if other.nodeid == beside and isinstance(other, pytest.Function):
            for item in items:
                item.stash[PARTNER] = other
    if not config.getoption("treadle_replay"):
        return
    target = Trail.parse(campaign.replay).target
    wanted = [item for item in items if item.nodeid == target or target.endswith(f"/{item.nodeid}")]
    if not wanted:
        raise pytest.UsageError(f"--treadle-replay: the string belongs to {target}, which was not collected")
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted
    campaign.every = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and is_explored(item):
        # by name, when the first test is explored: a run of pytest that explores nothing loads no engine
        import_module("treadle.pytest_plugin.exploring").take_over(item)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """Of pytest-timeout: a search looks at the time itself, and an alarm would end some strand in the middle of it."""
    return (isinstance(item, pytest.Function) and is_explored(item)) or None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    """The innermost of all plugins: what is still async here is nobody's, and a fixture of an explored test is ours."""
    item = request._pyfuncitem
    function = fixturedef.func
    threads = sys._current_frames().keys()
    if isinstance(item, pytest.Function) and _is_async(function) and is_explored(item):
        fixturedef.func = import_module("treadle.pytest_plugin.loops").synchronous(function, request)
    try:
        return (yield)
    finally:
        fixturedef.func = function
        if fixturedef.scope != "function":
            set_up = request.config.stash.setdefault(WIDER, [])
            set_up.append((fixturedef, sys._current_frames().keys() - threads))


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    facts = item.stash.get(FACTS, None)
    if call.when == "call" and facts is not None:
        report.treadle = facts  # type: ignore[attr-defined]
        if facts["verdict"] == "CUT" and report.passed and not hasattr(report, "wasxfail"):
            _not_a_pass(report, item)
    return report


def _not_a_pass(report: pytest.TestReport, item: pytest.Item) -> None:
    """A search that was cut is a skip for who knows only three outcomes (JUnit), or a failure if that is asked for."""
    said = f"CUT: {report.treadle['sentence']}"
    if item.config.getoption("treadle_strict", False):
        report.outcome, report.longrepr = "failed", said
    else:
        report.outcome, report.longrepr = "skipped", (str(item.path), (item.location[1] or 0) + 1, said)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, Any] | None:
    facts = getattr(report, "treadle", None)
    if facts is None or report.when != "call" or report.failed or hasattr(report, "wasxfail"):
        return None
    if facts["verdict"] == "CUT":
        return "cut", "c", ("CUT", {"yellow": True})
    if not report.passed:
        return None
    if facts["verdict"] == "NOTHING-TO-EXPLORE":
        return "passed", ".", "PASSED (the copies share nothing)"
    if facts["verdict"] == "PASSED-WITHIN-BOUNDS":
        bounds = ", ".join(f"{name} <= {value}" for name, value in facts["bounds"].items())
        return "passed", ".", f"PASSED (within {bounds}, {_counted(facts)})"
    return "passed", ".", f"PASSED (every schedule, {_counted(facts)})"


def _counted(facts: dict[str, Any]) -> str:
    """`12 executions, gil, CPython 3.12`"""
    counted = f"{facts['executions']} execution{'s' * (facts['executions'] != 1)}"
    return f"{counted}, {facts['switches']}" if facts["switches"] else counted


# How the summary counts the verdicts, the best first.
_COUNTED = {
    "PASSED-EXHAUSTIVE": "every schedule",
    "PASSED-WITHIN-BOUNDS": "within bounds",
    "NOTHING-TO-EXPLORE": "nothing to explore",
    "CUT": "cut",
    "FAILED": "failed",
}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    cut = terminalreporter.stats.get("cut", [])
    if cut:
        terminalreporter.section("searches that were cut: no failure so far, and no pass")
        for report in cut:
            terminalreporter.line(f"{report.nodeid}: {report.treadle['sentence']}")
    reports = [report for several in terminalreporter.stats.values() for report in several]
    verdicts = Counter(report.treadle["verdict"] for report in reports if hasattr(report, "treadle"))
    if verdicts:
        parts = [f"{verdicts[verdict]} {words}" for verdict, words in _COUNTED.items() if verdicts[verdict]]
        terminalreporter.line(f"{verdicts.total()} explored: {', '.join(parts)}")
    _tell_copies(terminalreporter, reports)
    folder = terminalreporter.config.getoption("treadle_report")
    if folder is not None:
        pages = [report.treadle["page"] for report in reports if hasattr(report, "treadle")]
        file = Path(folder) / "index.html"
        import_module("treadle.report.page").write(file, pages)
        terminalreporter.line(f"report: {file}")


def _tell_copies(terminalreporter: Any, reports: list[Any]) -> None:
    campaign = terminalreporter.config.stash[CAMPAIGN]
    if not campaign.copies:
        return
    copies = import_module("treadle.pytest_plugin.copies")
    told = [report for report in reports if hasattr(report, "user_properties")]
    terminalreporter.section("copies of tests at once")
    for line in copies.summary(told, campaign.copies):
        terminalreporter.line(line)
    file = terminalreporter.config.getoption("treadle_json")
    if file:
        copies.write_json(Path(file), told, campaign.copies)


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
                raise UsageError(f"{item.nodeid}: @pytest.mark.treadle has no option '{key}'{choices(key, KEYS)}")
        check_values(marker.kwargs, f"{item.nodeid}: @pytest.mark.treadle")
        options |= marker.kwargs
    options |= _decoration(item) or {}
    named = options.pop("instrument", ())
    given = dict(campaign.options)
    added = given.pop("instrument", ())
    options |= given
    if options.get("strategy") == "random" and "executions" not in options and "seconds" not in options:
        options["executions"] = SAMPLED  # sampling has no end of its own
    options["instrument"] = tuple(dict.fromkeys((*_names(named), *added)))
    limit = _time_limit(item)
    if limit:
        options["seconds"] = min(options.get("seconds") or limit, limit * _OF_A_TIME_LIMIT)
    return options


def _time_limit(item: pytest.Function) -> float:
    """The seconds after which pytest-timeout ends a test; 0 for none."""
    marker = item.get_closest_marker("timeout")
    if marker is not None and item.config.pluginmanager.hasplugin("timeout"):
        return float((*marker.args, marker.kwargs.get("timeout", 0))[0] or 0)
    return float(getattr(item.config, "_env_timeout", None) or 0)


def _names(packages: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (packages,) if isinstance(packages, str) else tuple(packages)
