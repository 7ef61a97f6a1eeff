"""Tests of Hypothesis's: each example is explored, the trail holds the example, and a replay draws it again."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import treadle
from treadle.core.errors import NothingToExplore, Unsupported, UsageError
from treadle.core.result import Verdict
from treadle.core.trail import Trail
from treadle.doors.explore.decorator import check_examples
from treadle.doors.explore.examples import Example

# what Hypothesis draws is the same in every run of these tests
drawing = functools.partial(hypothesis.settings, database=None, derandomize=True)


class Account:
    def __init__(self, balance: int = 0) -> None:
        self.balance = balance

    def withdraw(self, amount: int) -> None:
        if self.balance >= amount:
            self.balance -= amount


def overdrawn(start: int, amounts: list[int]) -> bool:
    account = Account(start)
    treadle.parallel(*(functools.partial(account.withdraw, one) for one in amounts))
    return account.balance < 0


@drawing(max_examples=20)
@given(st.integers(0, 20), st.lists(st.integers(1, 20), min_size=2, max_size=2))
def two_withdrawals(start: int, amounts: list[int]) -> None:
    assert not overdrawn(start, amounts)


def test_the_example_and_the_schedule_are_both_the_smallest() -> None:
    result = check_examples(two_withdrawals, {})
    assert result.verdict is Verdict.FAILED
    [finding] = result.findings
    assert finding.notes == ["Hypothesis drew start=1, amounts=[1, 1]"]
    assert finding.builds is not None
    assert {step.strand for step in finding.steps} == {"T1", "T2", "main"}
    drawn = Example(two_withdrawals, Trail.parse(finding.replay).settings["example"])
    with drawn.drawn() as arguments:
        assert arguments == {"start": 1, "amounts": [1, 1]}


@drawing(max_examples=3)
@given(st.lists(st.integers(), min_size=1, max_size=2))
def grows(items: list[int]) -> None:
    before = len(items)
    treadle.parallel(functools.partial(items.append, 1), functools.partial(items.append, 2))
    assert len(items) == before + 2 <= 4


def test_every_execution_draws_the_example_anew() -> None:
    result = check_examples(grows, {})
    assert (result.verdict, result.bounds) == (Verdict.PASSED_WITHIN_BOUNDS, {"examples": 3})
    assert result.executions == 6  # two orders of each


def test_explored_above_given_is_explored_when_it_is_called() -> None:
    treadle.explore(grows)()
    with pytest.raises(AssertionError) as caught:
        treadle.explore(two_withdrawals)()
    assert "replay: treadle replay 'tr2:" in caught.value.__notes__[-1]


def test_budgets_hold_for_all_examples_together() -> None:
    result = check_examples(grows, {"executions": 3})
    assert result.verdict is Verdict.CUT
    assert result.executions == 3


@drawing(max_examples=2)
@given(st.booleans())
def shares_nothing(flag: bool) -> None:
    assert flag is not None


def test_examples_without_a_second_schedule_are_no_pass() -> None:
    with pytest.raises(NothingToExplore):
        treadle.explore(shares_nothing)()


@drawing(max_examples=4)
@example(start=5)
@given(start=st.integers(0, 3))
def never_from_five(start: int) -> None:
    assume(start != 1)
    assert start < 5 or not overdrawn(start, [5, 5])


def test_an_explicit_example_is_named_by_its_number() -> None:
    [finding] = check_examples(never_from_five, {}).findings
    assert Trail.parse(finding.replay).settings["example"] == "@example 1"


@drawing(max_examples=2)
@given(st.data())
def draws_later(data: Any) -> None:
    treadle.parallel(functools.partial(data.draw, st.integers()), list)


@drawing(max_examples=2)
@given(st.data())
def draws_first(data: Any) -> None:
    items = [data.draw(st.integers())]
    treadle.parallel(items.clear, items.clear)


@pytest.mark.parametrize("test", [draws_later, draws_first])
def test_what_is_drawn_while_the_test_runs_is_refused(test: Any) -> None:
    with pytest.raises(Unsupported, match="draws values while it runs"):
        check_examples(test, {})


@drawing(max_examples=1, suppress_health_check=[])
@given(st.sampled_from([1, 2]))
def assumes_too_much(number: int) -> None:
    assume(False)


def test_what_hypothesis_says_of_a_test_is_passed_on() -> None:
    with pytest.raises(UsageError, match="Hypothesis: Unsatisfi"):
        check_examples(assumes_too_much, {})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("6.0.0 AAEA", "was drawn by Hypothesis 6.0.0"),
        (f"{hypothesis.__version__} %", "is damaged"),
        ("@example 3", "explicit example 3 of never_from_five, which has 1 now"),
    ],
)
def test_an_example_that_does_not_fit_is_one_sentence(code: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Example(never_from_five, code)


# ---------------------------------------------------------------------- under pytest

PROJECT = """
import unittest
import hypothesis, pytest, treadle
from hypothesis import given, strategies as st

hypothesis.settings.register_profile("here", max_examples=5, database=None, derandomize=True)
hypothesis.settings.load_profile("here")

class Counter:
    hits = 0
    def hit(self, times):
        self.hits += times

def both(times):
    counter = Counter()
    treadle.parallel(lambda: counter.hit(times), lambda: counter.hit(times))
    return counter.hits

@given(st.integers(0, 9))
@treadle.explore()
def test_given_above(times):
    assert both(times) == 2 * times

@treadle.explore()
@given(st.integers(0, 9))
def test_explore_above(times):
    assert both(times) == 2 * times

@pytest.mark.treadle
@given(st.integers(0, 9))
def test_marked(times):
    assert both(times) in (times, 2 * times)

@pytest.mark.parametrize("more", [1])
@given(times=st.integers(0, 9))
@treadle.explore()
def test_parameter(times, more):
    assert both(times + more) > times

class Case(unittest.TestCase):
    def setUp(self):
        self.made = []
    @treadle.explore()
    @given(st.integers(0, 9))
    def test_method(self, times):
        self.made.append(both(times))
        assert len(self.made) == 1

@pytest.fixture
def fresh():
    return []

class TestMethods:
    @hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
    @given(times=st.integers(0, 9))
    @treadle.explore()
    def test_with_a_fixture(self, times, fresh):
        fresh.append(both(times))
        assert len(fresh) == 1
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    (folder / "pytest.ini").touch()
    (folder / "test_given.py").write_text(PROJECT, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_either_order_under_pytest_and_the_replay_in_a_fresh_process(project: Path) -> None:
    done = run(project, "pytest", "-v", "--treadle", "-p", "no:randomly", "test_given.py")
    found = dict(re.findall(r"^test_given.py::(\S+) ([A-Z]+(?: \([^)]*\))?)", done.stdout, re.M))
    passed = "PASSED (within examples <= 5, 20 executions, free)"
    assert found == {
        "test_given_above": "FAILED",
        "test_explore_above": "FAILED",
        "test_marked": passed,
        "test_parameter[1]": passed,
        "Case::test_method": passed,
        "TestMethods::test_with_a_fixture": "FAILED",
    }, done.stdout
    assert "the fixture 'fresh' is one for each call of the test" in done.stdout
    assert len(re.findall("^E +note: Hypothesis drew times=1$", done.stdout, re.M)) == 2
    assert "not in a fresh one" not in done.stdout
    for replay in re.findall(r"treadle replay '([^']+)'", done.stdout):
        again = run(project, "treadle", "replay", replay, "--json")
        assert again.returncode == 1, again.stderr
        assert [one["kind"] for one in json.loads(again.stdout)["findings"]] == ["assertion"], again.stdout
