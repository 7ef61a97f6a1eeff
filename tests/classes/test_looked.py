"""What looking at an object says is remembered by its state, and only where the state tells all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.classes.drive import always, campaign, kinds, subject
from treadle.classes.calls import MethodCall
from treadle.classes.interleavings import InterleavingExplorer
from treadle.classes.stage import Stage, Test
from treadle.classes.subject import import_of


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Test]:
    """The tests after which the object was looked at by its own methods."""
    found: list[Test] = []
    real = Stage._ask

    def ask(self: Stage, test: Test, *rest: Any) -> Any:
        found.append(test)
        return real(self, test, *rest)

    monkeypatch.setattr(Stage, "_ask", ask)
    return found


def explored(name: str) -> int:
    """Two threads that add, and somebody who counts: how many executions have been judged."""
    about = subject(f"class_looked:{name}")
    needs, word = import_of(about.cls)
    root = MethodCall("constructor", f"{word}()", needs=needs)
    add = MethodCall("add", "{sout}.add()")
    test = Test(root, (), ((add,), (add,)), (MethodCall("count", "{sout}.count()"),), (add,))
    with Stage(about) as stage:
        result = InterleavingExplorer(stage).explore(test, 100, always, more=100)
        assert result.exhausted
        return result.executions


def test_an_object_is_looked_at_once_in_each_state(asked: list[Test]) -> None:
    assert explored("Plain") > 4
    # once with the count at 2 and once with it at 1, and once more with other random numbers
    assert len([test for test in asked if test.omega]) == 3


def test_an_object_whose_state_is_elsewhere_is_looked_at_each_time(asked: list[Test]) -> None:
    executions = explored("OnTheClass")
    assert len([test for test in asked if test.omega]) > executions


@pytest.mark.parametrize("name", ["Plain", "OnTheClass", "InTheModule", "InAClosure", "InC"])
def test_nothing_is_missed_wherever_it_is_kept(name: str) -> None:
    assert kinds(campaign(f"class_looked:{name}")) == {"add": "linearizability"}


def test_the_order_of_an_ordered_dictionary_is_state() -> None:
    assert "turn" in kinds(campaign("class_looked:InTheOrder"))


def test_a_lock_of_the_class_that_stays_taken_is_seen() -> None:
    assert kinds(campaign("class_looked:LeftLocked", calls=1)) == {"mark || use": "broken state"}
