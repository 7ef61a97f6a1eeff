"""Mailboxes over plain queues, read by threads and by tasks."""

from __future__ import annotations

import queue
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.core.result import Verdict

programs: Any = import_module("tests.programs.actors.queues")


@pytest.mark.parametrize(
    ("test", "executions"),
    [
        (programs.test_two_threads, 2),
        (programs.test_three_threads, 6),
        (programs.test_tasks, 2),
        (programs.test_tasks_of_two, 6),
    ],
)
def test_every_order_is_run_once(test: Callable[[], None], executions: int) -> None:
    result = treadle.check(test, granularity="messages")
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions == executions
    assert result.statistics["blocked"] == 0


@pytest.mark.parametrize(
    ("test", "order"), [(programs.test_first_come, "b before a"), (programs.test_order_of_tasks, "b0 before a0")]
)
def test_the_order_that_breaks_it(test: Callable[[], None], order: str) -> None:
    finding: Any = treadle.check(test).findings[0]
    assert finding.order == [order]


def test_a_mailbox_is_the_queue_itself_where_treadle_does_not_run() -> None:
    plain: queue.Queue[int] = queue.Queue()
    assert treadle.actors.mailbox(plain, "anybody") is plain
    plain.put(1)
    assert plain.get() == 1
