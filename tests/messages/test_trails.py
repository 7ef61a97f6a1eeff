"""A trail of an actor program names the messages that were delivered, and is followed by them."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.core.choice import MessageDelivered, StrandRuns
from treadle.core.errors import UsageError
from treadle.core.trail import Trail

gatling: Any = import_module("tests.programs.actors.gatling")


def found() -> Trail:
    (finding,) = treadle.check(gatling.test_two_actions, delivery="promised").findings
    return Trail.parse(finding.replay)


def test_deliveries_are_choices_by_themselves() -> None:
    trail = found()
    delivered = [choice for choice in trail.choices if isinstance(choice, MessageDelivered)]
    assert delivered
    assert all("<" not in choice.strand for choice in trail.choices if isinstance(choice, StrandRuns))
    assert treadle.replay(trail, gatling.test_two_actions).failed


def test_a_message_that_does_not_come_is_named() -> None:
    trail = found()
    wrong = tuple(
        replace(choice, event=1) if isinstance(choice, MessageDelivered) else choice for choice in trail.choices
    )
    with pytest.raises(UsageError, match=r"no longer fits .*: message \w+ to \w+"):
        treadle.replay(replace(trail, choices=wrong), gatling.test_two_actions)
