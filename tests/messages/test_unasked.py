"""`treadle schedule` on programs that name no mailboxes: their own queues and memory object streams are mailboxes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.doors.schedule.campaign import check_schedules

queues: Any = import_module("tests.programs.actors.plain_queues")
pytest.importorskip("anyio", reason="anyio is not installed")
streams: Any = import_module("tests.programs.actors.memory_streams")


@pytest.mark.parametrize("criterion", ["PR", "PCR"])
@pytest.mark.parametrize("test", [queues.test_threads, queues.test_tasks, streams.test_order])
def test_the_order_that_breaks_it(test: Any, criterion: str) -> None:
    result = check_schedules(test, criteria=[criterion], executions=20)
    assert result.verdict is Verdict.FAILED
    finding: Any = result.findings[0]
    assert finding.kind == "assertion"
    assert finding.order == ["b before a"]


@pytest.mark.parametrize("criterion", ["PR", "PCR"])
@pytest.mark.parametrize("test", [queues.test_a_thread_that_has_gone_home, queues.test_a_task_that_has_gone_home])
def test_a_message_that_nobody_reads_any_more_could_have_come_first(test: Any, criterion: str) -> None:
    result = check_schedules(test, criteria=[criterion], executions=5)
    finding: Any = result.findings[0]
    assert (finding.order, result.executions, result.unfit) == (["a before stop"], 2, [])


@pytest.mark.parametrize("test", [queues.test_threads, queues.test_tasks, streams.test_order])
def test_it_replays(test: Any) -> None:
    finding = check_schedules(test, executions=20).findings[0]
    assert treadle.replay(finding.replay, test).failed


@pytest.mark.parametrize(
    "test",
    [
        queues.test_workers,
        queues.test_taken_without_waiting,
        queues.test_bounded,
        streams.test_everything_comes,
        streams.test_limited,
        streams.test_nobody_receives,
    ],
)
def test_what_is_right_passes(test: Any) -> None:
    result = check_schedules(test, executions=30)
    assert not result.findings, result.findings[0].message


def test_no_handler_changes_with_a_message_from_a_queue() -> None:
    """PMR is about receives that change how an actor handles the next one, which nobody says of a queue."""
    result = check_schedules(queues.test_threads, criteria=["PMR"], executions=5)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE


def test_a_message_that_never_comes_is_a_deadlock() -> None:
    assert check_schedules(queues.test_nothing_comes, executions=5).findings[0].kind == "deadlock"


def test_the_order_of_a_message_can_be_asked_for() -> None:
    with pytest.raises(AssertionError):
        treadle.order("b before a")(queues.test_threads)()
    treadle.order("a before b")(queues.test_threads)()
