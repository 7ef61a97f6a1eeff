"""Thespian programs in steps of messages: what its documentation promises, and what the oracles say."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from thespian.actors import ActorSystem

import treadle
from treadle.core.result import Verdict

small: Any = import_module("tests.programs.actors.thespian_small")


@pytest.mark.parametrize(
    ("test", "executions"),
    [
        (small.test_ask, 1),
        (small.test_two_relays, 2),
        (small.test_wakeup_in_virtual_time, 1),
        (small.test_child_exits, 1),
        (small.test_poison, 1),
        (small.test_dead_letters, 1),
    ],
)
def test_correct_programs_pass_with_one_execution_per_order(test: Callable[[], None], executions: int) -> None:
    result = treadle.check(test)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions == executions
    assert result.statistics["blocked"] == 0


def test_an_order_that_was_not_thought_of() -> None:
    finding = treadle.check(small.test_order_of_two_relays).findings[0]
    assert finding.kind == "assertion"
    assert "b before a" in finding.explanation


def test_an_actor_used_before_it_was_set_up() -> None:
    assert treadle.check(small.test_used_before_set_up).failed


def test_a_reply_that_never_comes() -> None:
    finding = treadle.check(small.test_nobody_answers).findings[0]
    assert finding.kind == "ask never answered"


def test_the_actor_system_does_not_outlive_the_execution() -> None:
    treadle.check(small.test_ask)
    assert "systemBase" not in vars(ActorSystem)


def test_a_failure_is_replayed_by_its_trail() -> None:
    finding = treadle.check(small.test_order_of_two_relays).findings[0]
    assert treadle.replay(finding.replay, small.test_order_of_two_relays).failed
