"""Finding tests and running them through pytest, in this process and without pytest's own output.

Decides how `PATH`, `PATH::TEST` and `PATH::Class::TEST` select tests, and turns everything that can go wrong before a
test runs into one sentence. Fixtures, parameters, test classes and conftest files work because pytest itself runs the
tests; what comes out is the campaign of the pytest plugin.
"""

from __future__ import annotations

import gc
import importlib.metadata
import importlib.util
import inspect
import io
import os
import sys
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest

from treadle.cli.tidying import DoesNotEnd, not_for_ever
from treadle.core.errors import InternalError, TreadleError, UsageError
from treadle.core.files import from_here
from treadle.core.settings import read_settings
from treadle.core.verdict import exit_code_of
from treadle.core.words import choices, hint
from treadle.pytest_plugin import CAMPAIGN, Campaign, is_marked


class Target:
    """`PATH[::NAME...]` as the user wrote it; the file exists."""

    def __init__(self, text: str) -> None:
        path, *names = text.split("::")
        self.text = text
        self.path = Path(path)
        self.names = [name for name in names if name]
        if not path:
            raise UsageError(f"'{text}' names no file; write PATH::TEST, for example tests/test_bank.py::test_transfer")
        if not self.path.exists():
            raise UsageError(f"there is no file or folder '{path}'" + _nearby(self.path))
        if self.names and self.path.is_dir():
            raise UsageError(f"'{path}' is a folder; name the file that holds the test '{'::'.join(self.names)}'")
        if self.path.is_file() and self.path.suffix != ".py":
            raise UsageError(f"'{path}' is not a Python file")

    def selects(self, names: list[str]) -> bool:
        """Does a test with these names (classes, function) belong to the target? `test_x` also selects `test_x[1]`."""
        if len(names) < len(self.names):
            return False
        return all(
            have == want or have.partition("[")[0] == want for want, have in zip(self.names, names, strict=False)
        )


def _nearby(path: Path) -> str:
    folder = path.parent
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return hint(path.name, names)


@dataclass(frozen=True, slots=True)
class TestProblem:
    """What kept a test, or the tests of a file, from being explored."""

    __test__: ClassVar[bool] = False  # not one for pytest to collect

    target: str
    error: BaseException

    @property
    def exit_code(self) -> int:
        refused = isinstance(self.error, UsageError)
        return exit_code_of(failed=False, refused=refused, internal=not refused)

    @property
    def message(self) -> str:
        return str(self.error if isinstance(self.error, TreadleError) else InternalError(repr(self.error)))


class Run:
    """A pytest plugin for one run: selects the tests, and notes what kept others from running."""

    def __init__(self, target: Target, campaign: Campaign) -> None:
        self.target = target
        self.campaign = campaign
        self.root = Path.cwd()
        self.seen: list[list[str]] = []
        self.selected = 0
        self.problems: list[TestProblem] = []
        self.skipped: list[tuple[str, str]] = []
        self.stopped = False  # by Ctrl-C, outside of a search

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[CAMPAIGN] = self.campaign
        self.root = Path(config.rootpath)

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: object) -> Any:
        """A function that is asked for by name is a test, whatever it is called."""
        if self.target.names and name == self.target.names[-1].partition("[")[0] and inspect.isfunction(obj):
            return list(collector._genfunctions(name, obj))
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen: list[pytest.Item] = []
        for item in items:
            if not isinstance(item, pytest.Function):
                continue
            names = _names(item)
            self.seen.append(names)
            if self.target.selects(names) if self.target.names else self.campaign.copies or is_marked(item):
                chosen.append(item)
        items[:] = chosen
        self.selected = len(chosen)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
        try:
            with not_for_ever():
                return (yield)
        except DoesNotEnd:
            item.session.shouldstop = f"the tear-down of {item.nodeid} does not end"
            if nextitem is not None:
                self._note(nextitem.nodeid, f"not run, because {item.session.shouldstop}")

    def pytest_exception_interact(self, node: Any, call: pytest.CallInfo[Any], report: Any) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            self._note(node.nodeid, _cannot_import(node, call.excinfo.value))

    def pytest_sessionfinish(self) -> None:
        gc.freeze()  # pytest tidies up, and collects five times what was imported, and is needed until the end

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.stopped = type(excinfo.value) is KeyboardInterrupt  # pytest stops itself with a subclass of it

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail") and not _was_explored(report):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped.append((report.nodeid, reason))
        elif report.failed and report.when == "setup":
            self._note(report.nodeid, f"{report.nodeid} cannot be set up: {_last_line(report)}")

    def _note(self, target: str, sentence: str) -> None:
        self.problems.append(TestProblem(target, UsageError(sentence)))


def _was_explored(report: pytest.TestReport) -> bool:
    """A search that was cut is a skip for pytest; here it is a result."""
    return any(name == "treadle_verdict" for name, _ in report.user_properties)


def _names(item: pytest.Item) -> list[str]:
    return [node.name for node in item.listchain() if isinstance(node, (pytest.Class, pytest.Function))]


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return f"{crash.message.splitlines()[0]} ({from_here(crash.path)}:{crash.lineno})"
    text = getattr(report.longrepr, "errorstring", None) or str(report.longrepr)
    lines = [line.strip() for line in str(text).strip().splitlines() if line.strip()]
    return lines[0].removeprefix("E").strip() if lines else "pytest gives no reason"


def _cannot_import(node: Any, error: BaseException) -> str:
    """The error's own sentence, and the line of the user's code where it happened."""
    cause = error.__cause__ or error
    path = str(getattr(node, "path", node.nodeid))
    if isinstance(cause, SyntaxError):
        where = f" ({from_here(cause.filename)}:{cause.lineno})" if cause.filename else ""
        return f"{from_here(path)} cannot be imported: {type(cause).__name__}: {cause.msg}{where}"
    message = str(cause).splitlines()[0] if str(cause) else ""
    text = f"{type(cause).__name__}: {message}" if message else type(cause).__name__
    frames = [frame for frame in traceback.extract_tb(cause.__traceback__) if _is_users(frame.filename)]
    own = [frame for frame in frames if Path(frame.filename) == Path(path)]
    if frames:
        last = frames[-1] if not own or Path(frames[-1].filename).is_relative_to(Path.cwd()) else own[-1]
        text += f" ({from_here(last.filename)}:{last.lineno})"
    return f"{from_here(path)} cannot be imported: {text}"


def _is_users(filename: str) -> bool:
    parts = Path(filename).parts
    return not filename.startswith("<") and not {"_pytest", "pluggy", "importlib", "treadle"} & set(parts)


class _Said(io.StringIO):
    """What pytest prints, kept; who needs a real file (faulthandler in a conftest) gets that of the process."""

    def __init__(self) -> None:
        super().__init__()
        self._stream = sys.stderr

    def fileno(self) -> int:
        return self._stream.fileno()


@contextmanager
def _quiet() -> Iterator[io.StringIO]:
    text = _Said()
    with redirect_stdout(text), redirect_stderr(text):
        yield text


def _arguments(target: Target, debug: bool = False) -> list[str]:
    """Settings of the user's that would keep a test from running here are overruled, the others hold."""
    capture = "--capture=no" if debug else "--capture=fd"  # a debugger needs the terminal
    # by the name of its entry point, which pytest knows it by; there is none where it is on the path, not installed
    installed = importlib.metadata.entry_points(group="pytest11", name="treadle")
    plugin = "treadle" if installed else "treadle.pytest_plugin"
    words = [str(target.path), "-p", plugin, "--maxfail=0", "-m", "", "-k", "", capture, "--no-header"]
    # --tb=line: nobody reads pytest's own tracebacks here, and making them parses source while __del__ methods of what
    # a test left behind run, which CPython 3.11 answers with a SystemError that ends the whole run.
    words += ["--continue-on-collection-errors", "--tb=line"]
    if importlib.util.find_spec("xdist") is not None:
        words += ["-n0"]
    if importlib.util.find_spec("pytest_cov") is not None:
        words += ["--no-cov"]
    if importlib.util.find_spec("pytest_timeout") is not None:
        words += ["--timeout=0"]
    return words


def run(target: Target, campaign: Campaign) -> Run:
    """Run the tests that a target selects. What they found is in the campaign, what kept some from it in `problems`.

    A problem that leaves nothing else to report is raised.
    """
    campaign.settings = read_settings(target.path.resolve().parent if target.path.is_file() else target.path)
    campaign.every = bool(target.names or campaign.copies)
    campaign.marked = True
    here = os.getcwd()
    sys.path[:] = [folder for folder in sys.path if folder not in ("", here)]
    # A project may have modules of the names of those that are needed here; and pytest would rewrite the assertions of
    # what is imported later.
    import_module("treadle.pytest_plugin.exploring")
    sys.path.insert(0, here)  # as `python -m pytest` does
    outcome = Run(target, campaign)
    words = _arguments(target, campaign.debug) + [f"--override-ini={one}" for one in campaign.overrides]
    with _quiet() as text:
        try:
            code: int | pytest.ExitCode = pytest.main(words, plugins=[outcome])
        except Exception as raised:
            # What a program leaves behind may fail when pytest tidies up, and where warnings are errors it does.
            if not (campaign.results or campaign.errors or outcome.problems):
                raise UsageError(f"pytest could not run {target.text}: {_innermost(raised)}") from raised
            code = pytest.ExitCode.TESTS_FAILED
        finally:
            gc.unfreeze()
    for test, error in campaign.errors:
        if isinstance(error, Exception):
            outcome.problems.append(TestProblem(test, error))
        elif not campaign.results:
            raise error
    if outcome.stopped and not campaign.results:
        raise KeyboardInterrupt
    if len(outcome.problems) == 1 and not campaign.results:
        raise outcome.problems[0].error
    if not outcome.selected and not outcome.problems:
        raise UsageError(_nothing_selected(outcome, code, text.getvalue()))
    if code == pytest.ExitCode.INTERNAL_ERROR:
        broken = UsageError(f"pytest could not run {target.text}: {_error_line(text.getvalue())}")
        if not campaign.results:
            raise broken
        outcome.problems.append(TestProblem(target.text, broken))  # what was found before stays found
    return outcome


def _innermost(error: BaseException) -> str:
    """The first line of the first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {(str(error).splitlines() or ['it gives no reason'])[0]}"


def _nothing_selected(outcome: Run, code: int | pytest.ExitCode, text: str) -> str:
    target = outcome.target
    if not outcome.seen and code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return f"pytest could not collect {target.path}: {_error_line(text)}"
    if not outcome.seen:
        return f"there is no test in {target.path}"
    if not target.names:
        return (
            f"no test in {target.path} is decorated with @treadle.explore() or marked @pytest.mark.treadle; "
            f"name one to explore it as it is: {target.path}::{'::'.join(outcome.seen[0])}"
        )
    names = sorted({"::".join(names).partition("[")[0] for names in outcome.seen})
    wanted = "::".join(target.names)
    if wanted in names:  # the parameter is wrong
        names = sorted({"::".join(names) for names in outcome.seen})
    return f"there is no test '{wanted}' in {target.path}{choices(wanted, names)}"


def _error_line(text: str) -> str:
    """The line of pytest's output that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for mark in ("E   ", "ERROR:", "INTERNALERROR>"):
        found = [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]
        if found:
            return found[-1]
    return lines[-1] if lines else "it gives no reason"
