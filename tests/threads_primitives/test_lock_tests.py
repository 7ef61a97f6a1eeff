"""CPython's own tests of locks, conditions, events, semaphores and barriers, run inside executions.

Each test method is one execution, under several schedules. None is skipped: all 84 of Python 3.11 and 3.12 and the 85
of 3.13 run on the models. Their sleeps and timeouts take virtual time.
"""

from __future__ import annotations

import sys
import threading
import unittest
from functools import partial
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, ByTurns, First, execute

lock_tests: Any = pytest.importorskip("test.lock_tests", reason="this Python comes without CPython's own tests")


class LockTests(lock_tests.LockTests):  # type: ignore[misc]
    locktype = staticmethod(lambda: threading.Lock())


class RLockTests(lock_tests.RLockTests):  # type: ignore[misc]
    locktype = staticmethod(lambda: threading.RLock())


class EventTests(lock_tests.EventTests):  # type: ignore[misc]
    eventtype = staticmethod(lambda: threading.Event())


class ConditionTests(lock_tests.ConditionTests):  # type: ignore[misc]
    condtype = staticmethod(lambda *args: threading.Condition(*args))


class SemaphoreTests(lock_tests.SemaphoreTests):  # type: ignore[misc]
    semtype = staticmethod(lambda *args, **kwargs: threading.Semaphore(*args, **kwargs))


class BoundedSemaphoreTests(lock_tests.BoundedSemaphoreTests):  # type: ignore[misc]
    semtype = staticmethod(lambda *args, **kwargs: threading.BoundedSemaphore(*args, **kwargs))


class BarrierTests(lock_tests.BarrierTests):  # type: ignore[misc]
    barriertype = staticmethod(lambda *args, **kwargs: threading.Barrier(*args, **kwargs))


SUITES: list[Any] = [
    LockTests,
    RLockTests,
    EventTests,
    ConditionTests,
    SemaphoreTests,
    BoundedSemaphoreTests,
    BarrierTests,
]
CASES = [(suite, name) for suite in SUITES for name in unittest.defaultTestLoader.getTestCaseNames(suite)]

for _suite in SUITES:
    _suite.__test__ = False  # they run below, inside executions, and not by themselves


@pytest.mark.parametrize(("suite", "name"), CASES, ids=[f"{suite.__name__}-{name}" for suite, name in CASES])
def test_passes_on_the_models(suite: Any, name: str) -> None:
    for picker in (ByTurns(), First(), AtRandom(0), AtRandom(1), AtRandom(2)):
        result = unittest.TestResult()
        case = suite(name)
        run = execute(partial(case.run, result), picker)
        problems = [text for _, text in result.failures + result.errors]
        assert not problems, f"{type(picker).__name__}: {problems[0]}"
        assert not result.skipped
        assert not run.stop_reason
        assert [strand.exception for strand in run.strands if strand.exception] == []


def test_the_whole_suite_is_there() -> None:
    assert len(CASES) >= (85 if sys.version_info >= (3, 13) else 84)
