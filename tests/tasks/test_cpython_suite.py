"""A slice of CPython's own tests of asyncio, each run inside an execution: on the loop with virtual time, with the Task
and Future that executions use. What is left out is listed below, with the reason."""

from __future__ import annotations

import asyncio
import importlib
import sys
import unittest
from collections.abc import Iterator
from typing import Any

import pytest

from treadle.core.errors import Unsupported
from treadle.search.dpor import Dpor
from treadle.tasks.futures import Future, Task
from treadle.tasks.loom import TaskLoom

package = pytest.importorskip("test.test_asyncio", reason="this Python was installed without its own tests")

MODULES = [
    *("test_locks", "test_queues", "test_taskgroups", "test_timeouts", "test_waitfor", "test_futures"),
    *("test_futures2", "test_threads", "test_pep492", "test_context", "test_runners", "test_tasks"),
    *("test_streams", "test_events", *(["test_eager_task_factory"] if sys.version_info >= (3, 12) else [])),
]

# Tests that cannot hold here, by a part of their name.
LEFT_OUT = {
    # of CPython's C forms, which executions replace, and of its registry of tasks
    "test_tasks.C": "is about the Task written in C",
    "test_tasks.Py": "is about the Task of CPython; the same tests are run with ours",
    **dict.fromkeys(("CEager", "NonEagerCTask"), "is about the Task written in C"),
    "test_futures.C": "is about the Future written in C",
    "test_futures2.C": "is about the Future written in C",
    "test_task_exc_handler_correct_context": "expects a task to be destroyed as soon as its step has ended",
    "GenericTaskTests": "is about which of two classes asyncio.Task is",
    "CurrentLoopTests": "is about the functions that executions replace",
    # of the world outside
    "del_collect": "collects all garbage a hundred times, which takes minutes in a process of this size",
    "test_wrap_future": "compares the identity of OS threads",
    "test_pep492.LockTests": "tests each lock on a loop that is a mock",
    "signal": "sends a signal to the process",
    "sigint": "sends a signal to the process",
    "interrupt": "sends a signal to the process",
    "keyboard": "sends a signal to the process",
    "without_uncancel": "sends a signal to the process",
    "test_asyncio_run_set_event_loop": "asks an event loop policy, which is replaced, what it was told",
    "set_event_loop_called_once": "asks an event loop policy, which is replaced, what it was told",
    "test_custom_factory": "gives the runner a loop, which is replaced",
    "test_asyncio_run_loop_factory": "gives the runner a loop, which is replaced",
    "test_recursive_run": "expects a warning of a coroutine never awaited, which is a finding here",
    "subprocess": "starts a process",
    "new_process": "starts a process",
    # of event loops
    **dict.fromkeys(
        ("PollEventLoopTests", "SelectEventLoopTests"),
        "makes a loop of another class; the same tests are run with ours",
    ),
    "test_recursive_taskgroups": "needs more steps than an execution may have",
    "returns_running_loop": "asks an event loop policy, which is replaced",
    "PolicyTests.test_get_event_loop": "asks an event loop policy, which is replaced, what it was told",
    "test_run_until_complete_nesting": "expects a warning of a coroutine never awaited, which is a finding here",
    "test_internal_fds": "looks for the pipe to itself that a loop has",
    **dict.fromkeys(("_pipe", "_pty"), "uses file descriptors of the real world"),
    **dict.fromkeys(
        ("_ssl", "addr_in_use", "dual_stack", "reuse_port", "trsock", "non_listening"),
        "asks a real socket, or comes with one",
    ),
    # of streams: these connect to a server with real sockets, which the test starts in a thread
    **dict.fromkeys(
        (
            *("test_async_writer_api", "test_drain_raises", "test_eof_feed_when_closing_writer", "resource_warnings"),
            *("test_open_connection", "test_open_unix_connection", "test_wait_closed_on_close"),
        ),
        "connects to a real socket",
    ),
}


def cases(module: str) -> Iterator[Any]:
    loaded = importlib.import_module(f"test.test_asyncio.{module}")
    for suite in unittest.defaultTestLoader.loadTestsFromModule(loaded):
        yield from suite  # type: ignore[misc]
    if module in OWN:
        yield from unittest.defaultTestLoader.loadTestsFromTestCase(OWN[module](loaded))


def _own_tasks(module: Any) -> type[unittest.TestCase]:
    """CPython's tests of Task, of the Task that executions use."""

    class OwnTaskTests(module.BaseTaskTests, module.test_utils.TestCase):  # type: ignore[misc]
        Task = Task
        Future = Future
        all_tasks = staticmethod(asyncio.all_tasks)

    return OwnTaskTests


def _own_events(module: Any) -> type[unittest.TestCase]:
    """CPython's tests of an event loop, of the one that executions use."""

    class OwnEventLoopTests(module.EventLoopTestsMixin, module.test_utils.TestCase):  # type: ignore[misc]
        def create_event_loop(self) -> Any:
            return asyncio.new_event_loop()

    return OwnEventLoopTests


def _own_eager_tasks(module: Any) -> type[unittest.TestCase]:
    """CPython's tests of eager tasks, of the Task that executions use."""

    class OwnEagerTaskTests(module.EagerTaskFactoryLoopTests, module.test_utils.TestCase):  # type: ignore[misc]
        Task = Task

    return OwnEagerTaskTests


OWN = {"test_tasks": _own_tasks, "test_events": _own_events, "test_eager_task_factory": _own_eager_tasks}


def is_left_out(name: str) -> bool:
    return any(part in name for part in LEFT_OUT)


def needs_the_world(error: BaseException) -> bool:
    return isinstance(error, Unsupported) and "of the real world" in str(error)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] > (3, 13), reason="what is left out is known for CPython 3.11 to 3.13")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", MODULES)
def test_cpython_agrees(module: str) -> None:
    current: list[Any] = []
    passed = refused = 0
    failed: list[tuple[str, str, list[str]]] = []
    with TaskLoom(lambda: current[0].run(current[1]), patience=120) as loom:
        for case in cases(module):
            if is_left_out(case.id()):
                continue
            try:
                while True:
                    current[:] = [case, unittest.TestResult()]
                    strategy = Dpor()
                    strategy.begin()
                    run = loom.run(strategy)
                    if not run.revealed:  # by the import of a module
                        break
            except Unsupported as error:
                if not needs_the_world(error):
                    failed.append((case.id(), str(error), []))
                refused += 1
                continue
            result = current[1]
            passed += 1
            if run.stop_reason or not result.wasSuccessful():
                problems = [text.strip().splitlines()[-1] for _, text in result.errors + result.failures]
                failed.append((case.id(), run.stop_reason, problems))
    assert not failed
    assert passed > refused
