"""Which messages may overtake which: `mailbox` runs the orders that queues of one process can make, no others."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.core.result import Verdict
from treadle.messages.execution import MessageExecution
from treadle.messages.loom import MessageLoom
from treadle.search.message_dpor import MessageDpor
from treadle.search.random_walk import RandomWalk
from treadle.search.strategy import Strategy

crossing: Any = import_module("tests.programs.actors.crossing")
gatling: Any = import_module("tests.programs.actors.gatling")

Outcomes = set[tuple[str, str]]


def outcomes(test: Any, strategy: Strategy, delivery: str, most: int, holding: bool) -> tuple[Outcomes, int]:
    """What the receivers got in the executions that are possible, and how many are not."""
    found: list[tuple[str, str]] = []
    impossible = 0
    loom = MessageLoom(lambda: found.append(test()), source=test, delivery=delivery, holding=holding)
    with loom:
        for _ in range(most):
            if not strategy.begin():
                break
            run = loom.run(strategy)
            strategy.end(run)
            assert isinstance(run, MessageExecution)
            if run.impossible:
                impossible += 1
                found.pop()
    return set(found), impossible


def real(test: Any, executions: int) -> Outcomes:
    """What they got with Pykka's own queues, in steps of accesses."""
    found: Outcomes = set()
    treadle.check(
        lambda: found.add(test()), source=test, granularity="accesses", strategy="random", executions=executions
    )
    return found


COUNTS = [
    (crossing.test_crossing, 3, 4),
    (crossing.test_two_and_one, 5, 6),
    (crossing.test_forwarded_twice, 9, 9),
    (crossing.test_forwarded, 11, 18),
]


@pytest.mark.parametrize(("test", "mailbox", "causal"), COUNTS)
def test_the_orders_of_each_delivery(test: Any, mailbox: int, causal: int) -> None:
    assert len(outcomes(test, MessageDpor(), "mailbox", 100, holding=False)[0]) == mailbox
    assert len(outcomes(test, MessageDpor(), "causal", 100, holding=False)[0]) == causal


@pytest.mark.parametrize(("test", "mailbox", "causal"), COUNTS)
def test_messages_that_wait_come_in_the_same_orders(test: Any, mailbox: int, causal: int) -> None:
    found, impossible = outcomes(test, RandomWalk(3), "mailbox", 1_000, holding=True)
    assert impossible == 0
    assert found == outcomes(test, MessageDpor(), "mailbox", 100, holding=False)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("test", "mailbox", "causal"), COUNTS[:2])
def test_real_queues_produce_all_of_them_and_no_others(test: Any, mailbox: int, causal: int) -> None:
    assert real(test, 600) == outcomes(test, MessageDpor(), "mailbox", 100, holding=False)[0]


def test_immediate_puts_are_the_default() -> None:
    """p sends a to X, b to Y; q sends c to Y, d to X: never X d, a with Y b, c."""

    def never() -> None:
        assert crossing.test_crossing() != ("da", "bc")

    options: dict[str, Any] = {"granularity": "messages", "source": crossing.test_crossing}
    assert treadle.check(never, delivery="causal", **options).failed
    passed = treadle.check(never, **options)
    assert passed.verdict is Verdict.PASSED_EXHAUSTIVE
    assert (passed.executions, passed.statistics["impossible"]) == (3, 1)


def test_what_no_queue_of_one_process_does_is_found_on_request_only() -> None:
    assert not treadle.check(gatling.test_one_action, granularity="messages").failed
    finding = treadle.check(gatling.test_one_action, granularity="messages", delivery="promised").findings[0]
    assert treadle.replay(finding.replay, gatling.test_one_action).failed


def test_a_delivery_that_there_is_not() -> None:
    with pytest.raises(treadle.UsageError, match="'mailbox' or 'causal' or 'promised'"):
        treadle.check(gatling.test_one_action, granularity="messages", delivery="maybe")
