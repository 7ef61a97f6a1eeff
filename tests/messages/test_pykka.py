"""Unmodified Pykka programs in steps of messages: how many orders there are, and what each oracle says."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pykka
import pytest

import treadle
from treadle.core.result import Result, Verdict
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.loom import MessageLoom
from treadle.search.message_dpor import MessageDpor
from treadle.search.random_walk import RandomWalk
from treadle.search.strategy import Strategy

gatling: Any = import_module("tests.programs.actors.gatling")
small: Any = import_module("tests.programs.actors.small")
larger: Any = import_module("tests.programs.actors.larger")

Orders = frozenset[tuple[int, tuple[int, ...]]]


def orders(
    test: Callable[[], None], strategy: Strategy, most: int = 10_000, delivery: str = "promised"
) -> list[Orders]:
    """For each execution the order in which every actor received its messages."""
    found: list[Orders] = []
    with MessageLoom(test, delivery=delivery) as loom:
        while len(found) < most and strategy.begin():
            run = loom.run(strategy)
            assert isinstance(run, MessageExecution)
            strategy.end(run)
            assert run.stop_reason != "blocked", "an optimal search never starts what it must give up"
            by_actor: dict[int, tuple[int, ...]] = {}
            for event in run.journal.receives():
                by_actor[event.rec] = (*by_actor.get(event.rec, ()), event.hash)
            found.append(frozenset(by_actor.items()))
    return found


@pytest.mark.parametrize(
    ("test", "count"),
    [
        (small.test_one_sender, 1),
        (small.test_two_senders, 2),
        (small.test_three_senders, 6),
        (small.test_two_senders_of_two, 6),
        (small.test_blocking_ask_in_a_handler, 1),
        (small.test_futures, 1),
    ],
)
def test_one_execution_per_order_of_messages(test: Callable[[], None], count: int) -> None:
    found = orders(test, MessageDpor())
    assert len(found) == count
    assert len(set(found)) == count


def test_every_order_of_listing_1_is_run() -> None:
    """Two orders of ActionDone, six of Write, Write and Flush."""
    assert len(set(orders(gatling.test_two_actions, MessageDpor()))) == 12


@pytest.mark.parametrize(
    "test", [gatling.test_two_actions, small.test_two_senders_of_two, small.test_two_actors_may_ask_each_other]
)
def test_sampling_finds_no_order_that_the_reduction_missed(test: Callable[[], None]) -> None:
    reduced = set(orders(test, MessageDpor()))
    assert set(orders(test, RandomWalk(1), 400)) <= reduced


def test_causal_delivery_leaves_out_what_queues_cannot_do() -> None:
    assert len(orders(gatling.test_one_action, MessageDpor(), delivery="causal")) == 1


def check(test: Callable[[], None]) -> Result:
    result: Result = treadle.check(test, granularity="messages", delivery="promised")
    return result


@pytest.mark.parametrize(
    "test",
    [
        small.test_one_sender,
        small.test_two_senders_of_two,
        small.test_blocking_ask_in_a_handler,
        small.test_timeout_in_virtual_time,
        small.test_futures,
        small.test_life,
        small.test_exception_in_a_reply,
        small.test_failure_that_is_handled,
        small.test_leaked_daemon,
        small.test_message_after_stop_is_dropped,
    ],
)
def test_correct_programs_pass(test: Callable[[], None]) -> None:
    assert check(test).verdict is Verdict.PASSED_EXHAUSTIVE


@pytest.mark.parametrize(
    ("test", "kind", "words"),
    [
        (small.test_first_wins, "assertion", "assert 'b0' == 'a0'"),
        (small.test_exception_nobody_sees, "exception", "ZeroDivisionError"),
        (small.test_friend_may_be_dead, "actor dead", "ActorDeadError"),
        (small.test_leaked, "leaked actors", "Recorder was not stopped"),
        (small.test_two_actors_may_ask_each_other, "cycle of blocking gets", "Asker waits for a reply of Asker#2"),
        (gatling.test_one_action, "exception", "in Writer handling Write from Action"),
    ],
)
def test_what_the_oracles_say(test: Callable[[], None], kind: str, words: str) -> None:
    finding = check(test).findings[0]
    assert finding.kind == kind
    assert words in finding.message or kind == "assertion"


def test_a_future_that_nobody_sets() -> None:
    finding = treadle.check(small.test_future_nobody_sets, granularity="messages").findings[0]
    assert finding.kind == "ask never answered"


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        (small.test_message_after_stop_is_dropped, "message never processed"),
        (small.test_leaked_daemon, "actors left running"),
        (small.test_failure_that_is_handled, "exception"),
    ],
)
def test_what_is_only_a_warning(test: Callable[[], None], kind: str) -> None:
    assert kind in {warning.kind for warning in check(test).warnings}


def test_the_registry_is_clean_after_each_execution() -> None:
    check(small.test_leaked)
    assert pykka.ActorRegistry.get_all() == []


def test_pykka_is_itself_again_afterwards() -> None:
    before = dict(vars(pykka._threading.ThreadingFuture)), dict(vars(pykka._actor.Actor))
    check(small.test_two_senders)
    assert (dict(vars(pykka._threading.ThreadingFuture)), dict(vars(pykka._actor.Actor))) == before


def test_a_stop_does_not_overtake_messages_sent_before_it() -> None:
    """As Pykka promises: they are processed normally."""
    assert {len(found) for found in orders(small.test_life, MessageDpor())} == {1}


def test_the_same_schedule_gives_the_same_hashes_in_every_execution() -> None:
    first, second = (orders(gatling.test_two_actions, FollowSchedule()) for _ in range(2))
    assert first == second


def test_a_failure_is_replayed_by_its_trail() -> None:
    finding = check(gatling.test_two_actions).findings[0]
    assert treadle.replay(finding.replay, gatling.test_two_actions).failed


def test_messages_are_not_for_instrumented_packages() -> None:
    with pytest.raises(treadle.UsageError, match="accesses"):
        treadle.check(small.test_two_senders, granularity="messages", instrument="pykka")


def test_an_object_that_two_actors_share_is_a_finding_of_its_own() -> None:
    result = treadle.check(larger.test_shared_totals, granularity="accesses", executions=50)
    assert result.failed
    assert result.findings[0].kind == "shared object"
    assert "is shared by Adding (T1) and Adding (T2)" in result.findings[0].message


def test_actors_that_share_nothing_pass_at_the_granularity_of_accesses() -> None:
    assert not treadle.check(larger.test_own_totals, granularity="accesses", executions=50).findings


def test_a_failure_that_does_not_come_again_is_kept() -> None:
    runs = iter(range(1000))

    def fails_once() -> None:
        small.test_two_senders()
        assert next(runs) != 1

    result = treadle.check(fails_once, granularity="messages", source=small.test_two_senders)
    assert result.failed
    (finding,) = result.findings
    assert finding.replay == ""
    assert "the same order of messages passed when it was run again" in finding.notes[0]
