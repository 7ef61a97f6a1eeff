"""`--states built`: objects are made by the calls of their class where some lead to them; else the test says so."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from treadle.doors.unit.suite import Suite, unit
from treadle.units.ways import ways_to

STACK = """
class Stack:
    def __init__(self, limit: int) -> None:
        if limit <= 0:
            raise ValueError("limit")
        self.limit = limit
        self.items: list[int] = []
        self.names: dict[str, int] = {}
        self.high = 0

    def push(self, item: int) -> None:
        self.items.append(item)
        self.high += 1

    def name(self, text: str, item: int = 7) -> None:
        self.names[text] = item

    def is_full(self) -> bool:
        return len(self.items) >= self.limit

    def last(self) -> int:
        return self.items[-1]

    def below(self) -> bool:
        if self.high < 0:
            return True
        return False

    def wait(self) -> None:
        self.high = 99
        while True:
            pass

    def knows(self, text: str) -> bool:
        return text in self.names


def fuller(one: Stack, other: Stack) -> bool:
    if len(one.items) > len(other.items):
        return True
    return False
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def _suite(name: str, *targets: str, **options: Any) -> Suite:
    Path(f"{name}.py").write_text(STACK)
    whole = [f"{name}:{target}" for target in targets]
    return unit(*whole, write_file=False, seconds=600, none=False, alias=False, **options)


@pytest.mark.slow
def test_states_are_reached_by_calls_where_some_lead_there() -> None:
    suite = _suite("states_built", "Stack.is_full", "Stack.last", "Stack.knows", "Stack.below", "fuller")
    assert suite.disagreements == []
    assert suite.complete
    tests = suite.source.split("\n\n\n")
    [full] = [one for one in tests if "is_full_returns_true" in one]
    assert "    stack = Stack(1)\n    stack.push(1)\n    items = stack.items\n" in full
    [last] = [one for one in tests if "stack.last() == " in one]
    assert "    stack.push(1)\n    items = stack.items\n    assert stack.last() == 1\n" in last
    [knows] = [one for one in tests if "knows(text)" in one]
    assert 'stack.name("a")\n' in knows
    assert 'pytest.param("a", True' in knows
    [two] = [one for one in tests if "fuller_returns_true" in one]
    assert "    one = Stack(1)\n    one.push(1)\n" in two
    assert "    other = Stack(1)\n" in two
    [below] = [one for one in tests if "# set by hand" in one]
    assert "stack.high = -1" in below
    assert suite.by_hand == 1


def test_any_states_are_those_of_the_path_alone() -> None:
    suite = _suite("states_any", "Stack.is_full", states="any")
    assert ".push(" not in suite.source
    assert "# set by hand" not in suite.source
    assert suite.by_hand == 0


def test_calls_that_do_something_else_in_the_test_are_given_up() -> None:
    """The state that was seen in the other process is not the one that the test would start with."""
    Path("states_counted.py").write_text(
        "made = []\n\n\nclass Ticket:\n    def __init__(self) -> None:\n        made.append(1)\n"
        "        self.number: int = len(made)\n\n    def is_second(self) -> bool:\n        return self.number == 2\n"
    )
    suite = unit("states_counted:Ticket.is_second", write_file=False, seconds=600)
    assert suite.disagreements == []
    assert suite.tests == 2


def test_what_calls_do_to_the_module_is_not_seen_here() -> None:
    Path("states_registry.py").write_text(
        "known = []\n\n\nclass Entry:\n    def __init__(self, name: str) -> None:\n        self.name = name\n"
        "        self.count = 0\n\n    def add(self) -> None:\n        known.append(self.name)\n"
        "        self.count += 1\n"
    )
    states_registry = importlib.import_module("states_registry")
    found = ways_to(states_registry.Entry)
    assert [dict(state.fields) for _, state in found[:2]] == [{"name": "a", "count": 0}, {"name": "b", "count": 0}]
    assert {"name": "a", "count": 2} in [state.fields for _, state in found]
    assert states_registry.known == []
