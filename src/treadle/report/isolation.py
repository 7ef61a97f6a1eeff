"""A pytest plugin for checking generated tests: every test alone in its own process, and coverage of the whole.

Loaded only by `report.fresh_process`, in a fresh process; of Treadle it imports little besides the guard against
effects, so that the tests run as they will run for their owner. Results go to the file named by TREADLE_CHECK as JSON
lines.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from treadle.core.verdict import EXIT_CANNOT_WRITE
from treadle.observe.effects import EffectGuard, scratch_folder

# What this process was told; a test may put another environment in the place of this one.
_TOLD = dict(os.environ)
# A test that has not finished by then never will.
_SECONDS = int(_TOLD.get("TREADLE_SECONDS", "20"))
# How many tests run at a time, each in a process of its own; 0: all in this one.
_AT_ONCE = int(_TOLD.get("TREADLE_ALONE", "0"))


def pytest_configure(config: pytest.Config) -> None:
    measured = _TOLD.get("TREADLE_COVERAGE")
    if measured:
        import coverage

        tracer = coverage.Coverage(
            data_file=None, branch=True, include=measured.split(os.pathsep), config_file=False, cover_pylib=True
        )
        tracer.start()
        config.treadle_coverage = tracer  # type: ignore[attr-defined]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    if "TREADLE_WITHOUT" in _TOLD:
        with open(_TOLD["TREADLE_WITHOUT"], encoding="utf-8") as stream:
            left_out = set(json.load(stream))
        items[:] = [item for item in items if item.name not in left_out]
    if _TOLD.get("TREADLE_ORDER") == "reversed":
        items.reverse()


def pytest_sessionfinish(session: pytest.Session) -> None:
    tracer = getattr(session.config, "treadle_coverage", None)
    if tracer is not None:
        import coverage

        tracer.stop()
        try:
            tracer.json_report(outfile=_TOLD["TREADLE_COVERAGE_OUT"])
        except coverage.CoverageException:
            pass
        except OSError as error:
            _give_up(error)


def _report(line: dict[str, Any]) -> None:
    try:
        with open(_TOLD["TREADLE_CHECK"], "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
    except OSError as error:
        _give_up(error)


def _give_up(error: OSError) -> None:
    """There is no place for the results, such as on a full disk: `report.fresh_process` knows this exit code."""
    os.write(2, f"\n{error.strerror}\n".encode())
    os._exit(EXIT_CANNOT_WRITE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Every test in a forked child, where that exists; so many lanes of them side by side, each a process as well."""
    if not _AT_ONCE or session.testsfailed or not hasattr(os, "fork"):
        return None
    here, lanes = os.getpid(), []
    for number in range(_AT_ONCE):
        lane = os.fork()
        if lane == 0:
            try:
                for item in session.items[number::_AT_ONCE]:
                    if os.getppid() == here:  # else there was no time for more
                        _report({"test": item.name, **_alone(item)})
            finally:
                os._exit(0)
        lanes.append(lane)
    for lane in lanes:
        os.waitpid(lane, 0)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """The exception that a test ended with stays with its report: its module, its name, and the module that raised."""
    report = yield
    if call.excinfo is not None:
        kind, within = call.excinfo.type, call.excinfo.traceback[-1].frame.f_globals.get("__name__", "")
        report.treadle_raised = (kind.__module__, kind.__name__, within)
    return report


def _alone(item: pytest.Item) -> dict[str, Any]:
    """How a test ends in a process of its own, which tells it through a pipe."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(write, json.dumps(_run(item)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else {"ended": "endless", "why": "the process died or did not finish"}


def _run(item: pytest.Item) -> dict[str, Any]:
    signal.alarm(_SECONDS)
    reports = runtestprotocol(item, log=False, nextitem=None)
    signal.alarm(0)
    failed = next((r for r in reports if r.failed), None)
    if _refused:  # whether the program swallowed it or not
        return {"ended": "refused", "why": _why_refused()}
    if failed is None:
        return {"ended": "passed"}
    crash = getattr(failed.longrepr, "reprcrash", None)
    why = getattr(crash, "message", None) or failed.longreprtext[-2000:]
    return {"ended": "failed", "why": why, "raised": getattr(failed, "treadle_raised", None)}


# what the code under test wanted to do to the world, in this process
_refused: list[str] = []
# the tests that were ended because they took too long, in this process
_endless: set[str] = set()


def _why_refused() -> str:
    return f"the test would {_refused[0]}; pass --allow-effects to allow it"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Importing the code under test is kept from changing the world, too."""
    if _TOLD.get("TREADLE_EFFECTS") == "allowed":
        return (yield)
    guard = EffectGuard(environment=True)
    with guard:
        report = yield
    if report.outcome == "failed" and guard.refused:
        _report({"import_would": str(guard.refused[0])})
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """The test itself, not what pytest does around it, is kept from changing the world, and from going on for ever.

    The folder that it was given for itself (`tmp_path`) it may change.
    """
    if not _AT_ONCE and hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, lambda number, frame: _too_long(item))
        signal.alarm(_SECONDS)
    try:
        if _TOLD.get("TREADLE_EFFECTS") == "allowed":
            return (yield)
        if _TOLD.get("TREADLE_EFFECTS") == "outcome":
            with scratch_folder() as scratch, EffectGuard(scratch):
                return (yield)
        own = getattr(item, "funcargs", {}).get("tmp_path")
        guard = EffectGuard(str(own) if own is not None else "")
        with guard:
            try:
                return (yield)
            finally:
                _refused.extend(map(str, guard.refused))
    finally:
        if not _AT_ONCE and hasattr(signal, "alarm"):
            signal.alarm(0)


def _too_long(item: pytest.Item) -> None:
    _endless.add(item.nodeid)
    pytest.fail(f"the test did not finish in {_SECONDS} s", pytrace=False)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Not forked: each test's own report."""
    if not _AT_ONCE and (report.failed or report.when == "call"):
        name = report.nodeid.partition("::")[2]
        ended = "passed" if report.passed else "endless" if report.nodeid in _endless else "failed"
        raised = getattr(report, "treadle_raised", None)
        _report({"test": name, "ended": ended, "why": report.longreprtext[-2000:], "raised": raised})
