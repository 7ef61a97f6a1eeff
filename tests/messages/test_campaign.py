"""The schedule door on real programs: coverage, the fewest orders, feasibility, honest verdicts."""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import Any

import pytest

from tests.messages.simulation import satisfies
from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.doors.schedule.campaign import check_schedules
from treadle.messages.algorithms import generate_schedules, generate_triples
from treadle.messages.criteria import CRITERIA, Goals
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.loom import MessageLoom
from treadle.messages.receive import Receive

gatling: Any = import_module("tests.programs.actors.gatling")
small: Any = import_module("tests.programs.actors.small")
larger: Any = import_module("tests.programs.actors.larger")
thespian: Any = import_module("tests.programs.actors.thespian_small")

CORRECT = [larger.test_pipeline, larger.test_nested_asks, larger.test_relay_ring, thespian.test_two_relays]


def run(loom: MessageLoom, schedule: list[Receive]) -> tuple[list[Receive], FollowSchedule]:
    follow = FollowSchedule(schedule)
    follow.begin()
    execution = loom.run(follow)
    assert isinstance(execution, MessageExecution)
    return execution.journal.receives(), follow


@pytest.mark.parametrize("test", CORRECT, ids=lambda test: str(test.__name__))
@pytest.mark.parametrize("name", [*CRITERIA, "TRIPLE"])
def test_every_generated_schedule_runs_to_the_end_as_written(test: Any, name: str) -> None:
    with MessageLoom(test) as loom:
        base, _ = run(loom, [])
        triples = name == "TRIPLE"
        found = generate_triples(base) if triples else iter(generate_schedules(base, CRITERIA[name]))
        for schedule in islice(found, 40):
            receives, follow = run(loom, schedule)
            assert follow.missing is None
            assert satisfies(receives, schedule)


@pytest.mark.parametrize("test", CORRECT, ids=lambda test: str(test.__name__))
def test_every_execution_along_a_generated_schedule_adds_coverage(test: Any) -> None:
    for criterion in CRITERIA.values():
        with MessageLoom(test) as loom:
            base, _ = run(loom, [])
            goals = Goals(criterion, [base])
            generation = generate_schedules(base, criterion)
            for schedule in islice(generation, 40):
                receives, _ = run(loom, schedule)
                assert goals.add(receives) > 0
                generation.learn(receives)


def test_flush_before_write_is_the_whole_story() -> None:
    result = check_schedules(gatling.test_two_actions, delivery="promised")
    assert result.verdict is Verdict.FAILED
    assert result.executions == 2
    finding: Any = result.findings[0]
    assert finding.order == ["Flush before Write"]
    assert not finding.in_process


def test_every_goal_of_listing_1_is_covered_when_it_goes_on_after_failures() -> None:
    result = check_schedules(gatling.test_two_actions, first=False)
    assert result.goals["PR"].covered == result.goals["PR"].known
    assert result.infeasible == 0


def test_a_handler_that_is_assigned_is_a_change_of_handlers() -> None:
    result = check_schedules(small.test_handlers_change, first=False)
    assert result.goals["PMR"].known > 0
    assert result.findings[0].kind == "exception"
    assert "use after close" in result.findings[0].message


def test_a_change_of_handlers_that_is_told() -> None:
    result = check_schedules(larger.test_tells_of_its_handlers)
    assert result.goals["PMR"].covered > 0


def test_an_attribute_that_is_named_counts_as_behaviour() -> None:
    assert check_schedules(larger.test_mode).goals["PMR"].known == 0
    assert check_schedules(larger.test_mode, behaviours=["mode"]).goals["PMR"].known > 0


@pytest.mark.parametrize("test", CORRECT, ids=lambda test: str(test.__name__))
def test_a_correct_program_passes_within_the_criteria(test: Any) -> None:
    result = check_schedules(test, executions=2000)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.infeasible == 0
    assert not result.findings


def test_one_order_is_nothing_to_explore() -> None:
    assert check_schedules(small.test_one_sender).verdict is Verdict.NOTHING_TO_EXPLORE


def test_a_used_up_budget_is_no_pass() -> None:
    result = check_schedules(larger.test_pipeline, executions=2)
    assert result.verdict is Verdict.CUT
    assert "not a pass" in result.reason


def test_new_events_of_an_execution_feed_further_generation() -> None:
    """The second bug shows only in messages that the first schedule never sends."""
    result = check_schedules(larger.test_two_doors)
    assert result.verdict is Verdict.FAILED
    assert "behind the second door" in result.findings[0].message


def test_a_program_that_is_not_deterministic_is_told_with_the_event_that_did_not_come() -> None:
    result = check_schedules(larger.test_runs_differ, executions=50)
    assert result.infeasible > 0
    assert "did not come" in result.unfit[0]


def test_a_message_of_a_timer_may_come_first() -> None:
    result = check_schedules(larger.test_timer)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.infeasible == 0
    assert result.executions > 1


def test_a_cycle_of_asks_is_found() -> None:
    result = check_schedules(small.test_two_actors_may_ask_each_other)
    assert result.findings[0].kind == "cycle of blocking gets"


@pytest.mark.parametrize(
    "options", [{"criteria": ["NO"]}, {"criteria": []}, {"executions": 0}, {"seconds": 0}, {"delivery": "x"}]
)
def test_wrong_options_are_told_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        check_schedules(gatling.test_one_action, **options)


def test_a_message_dropped_because_its_receiver_stopped_could_have_come_first() -> None:
    result = check_schedules(small.test_told_after_the_end, executions=5)
    finding: Any = result.findings[0]
    assert (finding.order, result.executions) == (["a before stop"], 2)


def test_a_plan_whose_message_was_dropped_is_not_told_as_unfit() -> None:
    result = check_schedules(small.test_message_after_stop_is_dropped, executions=30)
    assert (result.findings, result.unfit) == ([], [])
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
