"""Threads as people write them, through `treadle.check`: rewritten code, models and adopted objects together."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

import treadle

thread_zoo: Any = import_module("tests.programs.thread_zoo")

PASSED, WITHIN, FAILED = "PASSED_EXHAUSTIVE", "PASSED_WITHIN_BOUNDS", "FAILED"

# name -> verdict and, where it passes, the number of executions: one per order in which the threads take turns
VERDICTS: dict[str, tuple[str, int | None]] = {
    "class_lock": (PASSED, 2),
    "global_lock": (PASSED, 2),
    "default_factory_lock": (PASSED, 2),
    "no_lock": (FAILED, None),
    "thread_subclass": (PASSED, 2),
    "queue_subclass": (PASSED, 2),
    "thread_local": (PASSED, 2),
    # CPython dropped the lock of cached_property in 3.12
    "lazy_property": (PASSED, None) if sys.version_info < (3, 12) else (FAILED, None),
    "handed_over": (PASSED, 1),
    "waiting": (PASSED, 2),
    "pooled": (PASSED, None),
    "pooled_no_lock": (FAILED, None),
    "timed": (WITHIN, 1),
    "drained": (FAILED, None),
    "timer_cancelled": (WITHIN, 1),
    "dated": ("NOTHING_TO_EXPLORE", 1),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(name: str) -> None:
    program: Any = getattr(thread_zoo, name)
    verdict, executions = VERDICTS[name]
    result = treadle.check(program, strategy="dpor", executions=2000)
    assert result.verdict.name == verdict, result.findings
    if executions is not None:
        assert result.executions == executions


@pytest.mark.parametrize("name", ["timed", "timer_cancelled"])
def test_timeouts_that_may_fire_at_any_time_break_what_relies_on_them(name: str) -> None:
    result = treadle.check(getattr(thread_zoo, name), strategy="dpor", executions=2000, timeouts="any")
    assert result.verdict.name == FAILED


def test_nothing_is_left_of_a_check() -> None:
    thread_zoo.total = 0
    treadle.check(thread_zoo.global_lock, executions=10)
    assert not thread_zoo.GUARD.locked()
    assert thread_zoo.total == 0
    assert type(thread_zoo.Lock()).__module__ == "_thread"
    thread_zoo.class_lock()  # on CPython's own threads
