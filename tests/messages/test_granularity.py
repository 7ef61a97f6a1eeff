"""What counts as a step in an actor program: messages first, then accesses, unless messages alone are asked for."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import pykka
import pytest

import treadle
from treadle.core.result import Result, Verdict
from treadle.report import console

sharing: Any = import_module("tests.programs.actors.sharing")
inside: Any = import_module("tests.programs.actors.inside")
small: Any = import_module("tests.programs.actors.small")


def first_line(result: Result) -> str:
    out = io.StringIO()
    console.show(result, file=out)
    return out.getvalue().splitlines()[0]


@pytest.mark.parametrize("test", [sharing.test_actors_share_a_box, sharing.test_threads_beside_an_actor])
def test_memory_that_is_shared_counts_in_an_actor_program(test: Any) -> None:
    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    assert first_line(result).startswith("FAILED (accesses)")


@pytest.mark.parametrize("test", [sharing.test_actors_share_a_box, sharing.test_threads_beside_an_actor])
def test_messages_alone_on_request_and_the_verdict_says_so(test: Any) -> None:
    result = treadle.check(test, granularity="messages")
    assert result.verdict.is_pass
    assert first_line(result).startswith("PASSED-EXHAUSTIVE (messages)")


def test_a_pass_is_one_of_messages_and_of_accesses() -> None:
    result = treadle.check(sharing.test_each_has_its_own)
    assert first_line(result).startswith("PASSED-EXHAUSTIVE (messages and accesses; free)")
    assert result.executions > treadle.check(sharing.test_each_has_its_own, granularity="messages").executions


def test_a_budget_that_messages_use_up_is_no_pass() -> None:
    result = treadle.check(small.test_two_senders, executions=2)
    assert result.verdict is Verdict.CUT
    assert "accesses were not looked at" in result.reason


def test_a_bound_of_accesses_leaves_messages_out() -> None:
    result = treadle.check(sharing.test_actors_share_a_box, preemptions=0)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_an_actor_library_imported_inside_the_test_is_recognised() -> None:
    result = treadle.check(inside.test_imported_inside)
    assert first_line(result).startswith("FAILED (messages)")


def test_the_registry_is_clean_after_each_execution_at_accesses_as_well() -> None:
    assert treadle.check(small.test_leaked, granularity="accesses").failed
    assert pykka.ActorRegistry.get_all() == []


def test_handlers_that_have_something_unseen_in_common_are_no_pass_of_messages() -> None:
    result = treadle.check(sharing.test_numbers_from_one_counter, granularity="messages", executions=200)
    assert (result.verdict, result.cut_by) == (Verdict.CUT, "unseen")
    assert treadle.check(sharing.test_numbers_from_one_counter).verdict is Verdict.PASSED_EXHAUSTIVE  # there it is seen


def test_a_pass_of_messages_was_checked() -> None:
    result = treadle.check(sharing.test_each_has_its_own, granularity="messages")
    assert result.verdict.is_pass
    assert result.statistics["checked"] >= 32
