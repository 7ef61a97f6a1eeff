"""`treadle.order`: orders that a person asks for are kept, or told to be impossible."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.doors.schedule.campaign import check_schedules
from treadle.messages.order import EventName
from treadle.messages.result import OrderFinding

gatling: Any = import_module("tests.programs.actors.gatling")
small: Any = import_module("tests.programs.actors.small")


def test_the_order_that_breaks_listing_1() -> None:
    broken = treadle.order("Flush before Write")(gatling.test_one_action)
    with pytest.raises(AttributeError) as raised:
        broken()
    assert "in the order: Flush before Write" in raised.value.__notes__


def test_the_order_that_does_not() -> None:
    """The very test that fails in the other order passes, and the order was kept: otherwise that is an error."""
    assert treadle.order("Write before Flush")(gatling.test_one_action)() is None


def test_names_of_your_own() -> None:
    with pytest.raises(AttributeError):
        treadle.order("fl before w", fl="Writer.Flush", w="Writer.Write")(gatling.test_one_action)()


def test_an_order_that_cannot_be_kept() -> None:
    """<fd, ad> is infeasible: Flushed comes of ActionDone."""
    with pytest.raises(treadle.OrderNotKept, match="'Flushed before ActionDone' cannot be kept"):
        treadle.order("Flushed before ActionDone")(gatling.test_one_action)()


def test_the_second_of_its_kind_and_its_sender() -> None:
    with pytest.raises(AttributeError, match="append"):
        treadle.order("Flush before Write#2")(gatling.test_two_actions)()
    with pytest.raises(AttributeError, match="append"):
        treadle.order("Flush before Write from Action#2")(gatling.test_two_actions)()


def test_built_in_values_are_named_by_what_they_are() -> None:
    """`tuple before int` would tell nobody which two messages are meant."""
    finding = check_schedules(small.test_numbers_in_order).findings[0]
    assert isinstance(finding, OrderFinding)
    assert finding.order == ["tuple(8, None) before int(7)"]
    assert "-> Recorder: int(7)" in finding.explanation
    with pytest.raises(AssertionError):
        treadle.order(*finding.order)(small.test_numbers_in_order)()


def test_several_in_a_row() -> None:
    with pytest.raises(AssertionError):
        treadle.order("b0 before a0 before c0")(small.test_first_wins)()


def test_inside_an_explored_test() -> None:
    def ordered() -> None:
        treadle.order("a0 before b0")
        small.test_first_wins()

    result = treadle.check(ordered, granularity="messages", source=small.test_first_wins)
    assert not result.findings
    assert result.executions == 1


@pytest.mark.parametrize("text", ["", "Flush", "Flush after Write", " before Write", "Flush before "])
def test_what_is_no_order(text: str) -> None:
    with pytest.raises(treadle.UsageError):
        treadle.order(text)


def test_with_outside_an_execution() -> None:
    with pytest.raises(treadle.UsageError, match="decorator"), treadle.order("a before b"):
        pass


@pytest.mark.parametrize("text", ["Flush", "Writer.Flush", "Flush#2", "Flush from Terminator", "A.b#2 from C#3"])
def test_a_name_is_written_as_it_is_read(text: str) -> None:
    assert str(EventName.parse(text)) == text
