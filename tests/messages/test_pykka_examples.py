"""What Pykka's documentation shows, under `treadle schedule` and `treadle explore` in steps of messages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.core.result import Verdict
from treadle.doors.schedule.campaign import check_schedules

examples: Any = import_module("tests.programs.actors.pykka_examples")

CORRECT = [
    "test_plain_actor",
    "test_proxy_calls_attributes_and_exceptions",
    "test_a_proxy_goes_through_an_attribute",
    "test_two_actors_count",
    "test_a_pool_of_resolvers",
    "test_a_future_that_an_actor_sets_for_another_thread",
    "test_a_broadcast_reaches_every_worker",
]


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_example_raises_no_alarm(name: str) -> None:
    result = check_schedules(getattr(examples, name), executions=60)
    assert result.verdict in (Verdict.PASSED_WITHIN_BOUNDS, Verdict.NOTHING_TO_EXPLORE), result.reason
    assert result.findings == []
    assert result.infeasible == 0


@pytest.mark.parametrize("name", CORRECT)
def test_every_order_of_a_correct_example_passes(name: str) -> None:
    result = treadle.check(getattr(examples, name), granularity="messages", executions=2_000)
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE), result.reason


def test_two_actors_that_ask_each_other_wait_for_ever() -> None:
    result = check_schedules(examples.test_two_friends_ask_each_other)
    assert [finding.kind for finding in result.findings] == ["cycle of blocking gets"]


def test_an_order_that_a_test_takes_for_granted() -> None:
    result = check_schedules(examples.test_who_is_first_is_not_known)
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].kind == "assertion"


def test_futures_alone_are_no_actor_program() -> None:
    examples.test_futures_are_mapped_filtered_joined_and_reduced()
    result = treadle.check(examples.test_futures_are_mapped_filtered_joined_and_reduced)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE
