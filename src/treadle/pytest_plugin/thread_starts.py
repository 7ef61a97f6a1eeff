"""Runs tests as they are and notes how each ended and how many threads it started: a plugin for `treadle try`.

Two lines of JSON per test go to the file that TREADLE_THREAD_STARTS names: its name when it begins, and when it ends
also path, names, outcome, seconds, threads, and what went wrong that fails no test: the types of the exceptions that
ended threads, and what event loops were told (`core.usual`). The threads by which CPython looks after the processes of
a pool or of an event loop are no threads of the test; it is noted that there were any.
PYTEST_DONT_REWRITE, as in treadle/__init__.py.
"""

from __future__ import annotations

import _thread
import asyncio.base_events
import gc
import json
import os
import sys
import threading
import warnings
from collections.abc import Generator
from typing import Any

import pytest

from treadle.core import usual

_started = 0
_for_processes = 0
_OF_PROCESSES = frozenset(
    {
        "asyncio.unix_events",  # up to 3.11 a thread waits for each child of an event loop
        "concurrent.futures.process",
        "multiprocessing.managers",
        "multiprocessing.pool",
        "multiprocessing.queues",
    }
)
_raised: list[str] = []


def _counting(real: Any) -> Any:
    def start(*args: Any, **kwargs: Any) -> Any:
        global _started, _for_processes
        if _home_of(args[0] if args else None) in _OF_PROCESSES:
            _for_processes += 1
        else:
            _started += 1
        return real(*args, **kwargs)

    return start


def _home_of(run: Any) -> str:
    """The module of what a new thread is to run."""
    thread = getattr(run, "__self__", None)
    if type(thread) is threading.Thread:
        return str(getattr(getattr(thread, "_target", None), "__module__", ""))
    return type(thread).__module__


def _noting(make: Any) -> Any:
    def made() -> Any:
        tell = make()

        def invoke(thread: Any) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                _raised.append(usual.type_name(error))
            tell(thread)

        return invoke

    return made


def _noting_complaints(real: Any) -> Any:
    def call_exception_handler(loop: Any, context: dict[str, Any]) -> None:
        _raised.append(usual.told_to_loop(context))
        real(loop, context)

    return call_exception_handler


def _noting_unawaited(real: Any) -> Any:
    def warn(coroutine: Any) -> None:
        _raised.append(usual.NEVER_AWAITED)
        real(coroutine)

    return warn


def pytest_configure() -> None:
    loop: Any = asyncio.base_events.BaseEventLoop
    loop.call_exception_handler = _noting_complaints(loop.call_exception_handler)
    told: Any = warnings
    told._warn_unawaited_coroutine = _noting_unawaited(told._warn_unawaited_coroutine)
    # whoever tells of an exception in a thread, pytest or the project, is asked through this
    make: Any = threading._make_invoke_excepthook  # type: ignore[attr-defined]
    threading._make_invoke_excepthook = _noting(make)  # type: ignore[attr-defined]
    # the first is what threading calls, whatever it is named in this version
    for place, name in (
        (threading, "_start_new_thread"),
        (threading, "_start_joinable_thread"),
        (_thread, "start_new_thread"),
    ):
        if hasattr(place, name):
            setattr(place, name, _counting(getattr(place, name)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Not again those that TREADLE_WITHOUT names: --deselect would leave out all whose names begin like theirs."""
    without = set(json.loads(os.environ.get("TREADLE_WITHOUT", "[]")))
    items[:] = [item for item in items if item.nodeid not in without]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    before, processes = _started, _for_processes
    _raised.clear()
    _note({"begun": item.nodeid})
    result = yield
    if item.session.testscollected == 1:
        gc.collect()  # event loops are told of what was left when that dies
    reports = item.stash.get(_REPORTS, [])
    outcomes = {report.outcome for report in reports}
    outcome = next((one for one in ("failed", "skipped", "passed") if one in outcomes), "failed")
    if any(hasattr(report, "wasxfail") for report in reports):
        outcome = "expected failure"
    chain = [node.name for node in item.listchain() if isinstance(node, (pytest.Class, pytest.Function))]
    _note(
        {
            "ended": item.nodeid,
            "path": str(item.path),
            "names": chain,
            "outcome": outcome,
            "seconds": round(sum(report.duration for report in reports), 3),
            "threads": _started - before,
            "processes": _for_processes > processes,
            "raised": sorted(set(_raised)),
            "function": isinstance(item, pytest.Function),
        }
    )
    return result


def _note(entry: dict[str, Any]) -> None:
    with open(os.environ["TREADLE_THREAD_STARTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


_REPORTS = pytest.StashKey[list[pytest.TestReport]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash.setdefault(_REPORTS, []).append(report)
    return report
