"""The claim that every path has its test: made only when coverage agrees and no type was guessed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import treadle
from treadle.doors.unit.console import summary
from treadle.doors.unit.result import Suite
from treadle.doors.unit.result_json import suite_facts


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def suite_of(name: str, program: str, target: str, **options: Any) -> Suite:
    Path(f"{name}.py").write_text(dedent(program).lstrip())
    return treadle.unit(f"{name}:{target}", write_file=False, **options)


def test_hints_that_say_everything_leave_the_claim() -> None:
    suite = suite_of("claim_sign", "def sign(n: int) -> int:\n    return -1 if n < 0 else 1\n", "sign")
    assert (suite.guesses, suite.coverage.unreached, suite.complete) == ([], [], True)
    assert "every path has its test" in summary(suite)


@pytest.mark.parametrize(
    ("name", "function", "guess"),
    [
        ("bare", "def f(xs: list) -> int:\n    return len(xs)", "the hint 'list' does not tell its elements"),
        ("none", "def f(n):\n    return n + 1", "it has no hint that could be used"),
        ("any", "def f(x: object) -> int:\n    return 1 if x else 0", "which may be anything"),
        ("union", "from decimal import Decimal\ndef f(x: int | Decimal) -> bool:\n    return x > 1", "Decimal is not"),
        ("named", "def f(n: int, **more: int) -> int:\n    return n", "nothing is given for **more"),
        (
            "field",
            "class C:\n    def __init__(self, size) -> None:\n        self.size = size\n"
            "    def f(self) -> int:\n        return 1 if self.size else 0",
            "the field 'size' of C is",
        ),
    ],
)
def test_a_guess_is_named_and_withdraws_the_claim(name: str, function: str, guess: str) -> None:
    suite = suite_of(f"claim_{name}", function + "\n", "C.f" if name == "field" else "f")
    assert any(guess in one for one in suite.guesses), suite.guesses
    assert not suite.complete
    assert guess in summary(suite)
    assert "every path" not in summary(suite)
    assert "A guess: " in suite.source


@pytest.mark.parametrize(
    "made", ["threading.Lock()", "deque()", "OrderedDict()", "re.compile('a')", "logging.getLogger()"]
)
def test_an_object_of_the_library_in_a_field_is_not_taken_for_a_number(made: str) -> None:
    program = f"""
        import logging, re, threading
        from collections import OrderedDict, deque

        class C:
            def __init__(self) -> None:
                self.it = {made}

            def f(self) -> int:
                return 1 if self.it else 0
    """
    suite = suite_of(f"claim_{made.split('(')[0].replace('.', '_')}", program, "C.f", probe=False)
    assert (suite.tests, suite.complete) == (0, False)
    assert "which is what" in suite.unsupported[0].what


def test_a_type_that_is_given_is_no_guess() -> None:
    suite = suite_of("claim_given", "def f(n):\n    return n + 1\n", "f", types={"n": "int"})
    assert (suite.guesses, suite.complete) == ([], True)


def test_what_no_test_reaches_is_listed_with_the_reason() -> None:
    program = """
        def f(n: int) -> int:
            if n * n < 0:
                return 1
            return 2
    """
    suite = suite_of("claim_dead", program, "f")
    assert [(line, to) for _, line, to in suite.coverage.unreached] == [(3, None)]
    assert not suite.complete
    assert "not reached: claim_dead.py:3 (no input leads there, as far as is known)" in summary(suite)
    found = suite_facts(suite).to_json()
    assert [place["line"] for place in found["unreached"]["places"]] == [3]


def test_a_loop_bound_is_named_as_a_reason() -> None:
    program = """
        def f(n: int) -> int:
            rounds = 0
            while n > 0:
                n -= 1
                rounds += 1
                if rounds > 5:
                    return 1
            return 0
    """
    suite = suite_of("claim_loop", program, "f", k=1, probe=False)
    assert "(the loop bound (-k))" in summary(suite)
    assert not suite.complete


def test_an_annotation_in_the_constructor_gives_a_field_its_type() -> None:
    program = """
        class Chain:
            def __init__(self) -> None:
                self.head: Node | None = None

            def first(self) -> int:
                if self.head is None:
                    return 0
                return self.head.value


        class Node:
            def __init__(self, value: int) -> None:
                self.value = value
    """
    suite = suite_of("claim_head", program, "Chain.first")
    assert (suite.tests, suite.guesses, suite.complete) == (2, [], True)
    assert "Node(" in suite.source
