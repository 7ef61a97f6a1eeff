"""CPython's own tests of queues, futures, thread pools and thread-local data, run inside executions.

Left out, with the reason: see LEFT_OUT. What tests processes is not ours.
"""

from __future__ import annotations

import importlib
import queue
import threading
import unittest
from functools import partial
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, ByTurns, execute

LEFT_OUT = {
    # polls without waiting, in 50 threads: hundreds of thousands of operations, all of them the same
    "test_many_threads_nonblock",
    "test_many_threads_timeout",
    # puts into a queue from a finaliser that runs in the middle of a put; finalisers run between executions here
    "test_reentrancy",
    # the number of workers does not depend on the machine here
    "test_default_workers",
    # look at what is logged to the terminal when no logger is set up, which a search would do thousands of times
    "test_done_callback_raises",
    "test_done_callback_raises_already_succeeded",
    # start interpreters, processes or forks
    "test_hang_global_shutdown_lock",
    "test_executor_map_current_future_cancel",
    "test_hang_issue12364",
    "test_interpreter_shutdown",
    "test_submit_after_interpreter_shutdown",
    "test_free_reference",
}


def suite(module_name: str) -> list[Any]:
    """The test cases of a module of CPython that are about threads."""
    try:
        module = importlib.import_module(f"test.{module_name}")
    except ImportError:
        return []
    cases: list[Any] = []
    found: list[Any] = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    while found:
        test = found.pop()
        if isinstance(test, unittest.TestSuite):
            found.extend(test)
        else:
            cases.append(test)
    return [
        case
        for case in cases
        if case._testMethodName.startswith("test")
        and case._testMethodName not in LEFT_OUT
        and not any(word in case.id() for word in _NOT_OURS)
    ]


# Processes, and the Python versions of what we model in place of the C versions.
_NOT_OURS = ("Process", "process", "fork", "Fork", "ResourcesTest", "_FailedTest", ".Py")

QUEUES = suite("test_queue")
FUTURES = [
    case
    for name in ("test_thread_pool", "test_as_completed", "test_wait", "test_future", "test_init")
    for case in suite(f"test_concurrent_futures.{name}")
]
LOCALS = suite("test_threading_local")


# Tests with hundreds of threads or items.
_SLOW = {"test_references", "test_many_threads", "test_local_refs"}


def cases(found: list[Any]) -> list[Any]:
    return [
        pytest.param(case, id=case.id(), marks=pytest.mark.slow if case._testMethodName in _SLOW else ())
        for case in found
    ]


def run_on_models(case: Any) -> None:
    for picker in (ByTurns(), AtRandom(0), AtRandom(1)):
        fresh = type(case)(case._testMethodName)
        result = unittest.TestResult()
        run = execute(partial(fresh.run, result), picker)
        problems = [text for _, text in result.failures + result.errors]
        assert not problems, f"{type(picker).__name__}: {problems[0]}"
        assert not run.stop_reason


@pytest.mark.skipif(not QUEUES, reason="this Python comes without CPython's own tests")
@pytest.mark.parametrize("case", cases(QUEUES))
def test_queue(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(case), "queue", queue, raising=False)  # CPython tests a fresh copy of the module
    run_on_models(case)


@pytest.mark.skipif(not FUTURES, reason="this Python comes without CPython's own tests of futures")
@pytest.mark.parametrize("case", cases(FUTURES))
def test_futures(case: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run_on_models(case)


@pytest.mark.skipif(not LOCALS, reason="this Python comes without CPython's own tests")
@pytest.mark.parametrize("case", cases(LOCALS))
def test_local(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        """`_local` of the test class: whatever threading.local is when it is asked for."""

        def __get__(self, instance: object, owner: object) -> Any:
            return threading.local

    monkeypatch.setattr(type(case), "_local", Model())
    run_on_models(case)
