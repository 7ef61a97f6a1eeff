"""Shared things of other shapes than a class with a constructor and methods."""

from __future__ import annotations

import pytest

from tests.classes.drive import always, campaign, subject
from treadle.classes.choosing import roots
from treadle.classes.pools import Pools
from treadle.classes.stage import Stage
from treadle.classes.subject import find_class
from treadle.cli.class_ import classes
from treadle.core.errors import UsageError
from treadle.core.verdict import Verdict


@pytest.mark.parametrize(
    ("target", "calls", "said"),
    [
        ("Machine", "advance || advance", "sout.advance() -> 1"),
        ("Lazy", "get || get", "apart"),
        ("OnItself", "bump || bump", "count == 1"),
        ("MadeUp", "getattr() || getattr()", "-> 1"),
        ("Pushes", "push || push", "sout.push("),
        ("Only", "Only() || Only()", "apart"),
        ("Slots", "with slot || with slot", "free =="),
        ("Table", "remove || list(walk)", "raises"),
        ("AsyncSlots", "async with || async with", "free =="),
        ("memoize", "() || ()", "apart"),
        ("Bells", "small || small", "sout.rung() == 1"),
    ],
)
def test_a_fault_is_found_in(target: str, calls: str, said: str) -> None:
    result = campaign(f"class_shapes:{target}", calls=1)
    messages = [fault.message for fault in result.faults]
    assert any(message.startswith(calls) and said in message for message in messages), messages


def test_a_call_that_is_made_of_two_may_be_refused_between_them() -> None:
    result = campaign("class_shapes:GoodPool", calls=1)
    assert (result.verdict, result.faults) == (Verdict.PASSED_WITHIN_BOUNDS, [])
    assert "acquire().close" in result.judged


def test_what_a_call_returned_is_used() -> None:
    result = campaign("class_shapes:Slots", calls=1)
    assert "with sout.slot(): pass" in str(result.faults[0].witness.test)


def test_a_decorator_is_judged_through_a_function_written_for_it() -> None:
    found = subject("class_shapes:limited")
    assert found.in_tasks
    assert [method.name for method in found.methods] == ["()"]
    assert "async def answer(key=None):" in found.constructors[0].needs[-1]


def test_a_module_whose_only_class_is_an_exception_is_itself_what_is_shared() -> None:
    (found,) = classes("class_module_of_errors")
    assert found[0] == "class_module_of_errors"


def test_heirs_make_objects_only_where_the_class_itself_cannot() -> None:
    made = subject("class_shapes:GoodPool")
    with Stage(made) as stage:
        assert [str(root) for root in roots(stage, Pools(made, {}), always)] == ["GoodPool()"]


def test_a_function_that_a_package_offers_and_a_module_inside_it_defines_is_found() -> None:
    assert find_class("concurrent.futures:wait").__module__ == "concurrent.futures._base"
    with pytest.raises(UsageError, match="neither a class nor a function of its module"):
        find_class("contextlib:wraps")


def test_an_address_in_a_text_is_no_result() -> None:
    result = campaign("class_shapes:Named")
    assert (result.verdict, result.notes) == (Verdict.PASSED_WITHIN_BOUNDS, [])
