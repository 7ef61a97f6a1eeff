"""Keys whose hash and comparison are code of the program: few executions, nothing lost, and each method run as often as
without Treadle."""

from __future__ import annotations

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle import Verdict


class Key:
    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.number == other.number


class Parity(Key):
    def __hash__(self) -> int:
        return self.number % 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: int


class Counting:
    """Counts how often it is asked."""

    asked: list[str] = []

    def __hash__(self) -> int:
        self.asked.append("hash")
        return 1

    def __eq__(self, other: object) -> bool:
        self.asked.append("eq")
        return type(other) is Counting


def set_item(container: Any, key: Any) -> None:
    container[key] = 1


@pytest.mark.parametrize(
    ("make", "one", "other", "executions"),
    [
        (dict, set_item, set_item, 2),
        (set, set.add, set.add, 2),
        (dict, set_item, lambda container, key: key in container, 2),
        (lambda: {Key(1): 0}, set_item, dict.get, 6),
        (lambda: {Key(2): 0}, set_item, dict.get, 2),  # another hash: nobody is compared
    ],
)
def test_few_executions(make: Callable[[], Any], one: Any, other: Any, executions: int) -> None:
    def run() -> None:
        container = make()
        treadle.parallel(lambda: one(container, Key(1)), lambda: other(container, Key(1)))
        assert len(container) <= 2

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE, result.reason
    assert result.executions == executions


@pytest.mark.parametrize("key", [int, Parity, Point])
def test_comparisons_that_touch_nothing_shared_cost_nothing(key: Callable[[int], Any]) -> None:
    def run() -> None:
        seen: dict[Any, int] = {}

        def use(number: int) -> None:
            seen[key(number)] = 1
            seen[key(number + 2)] = 2
            assert seen.get(key(number)) == 1

        treadle.parallel(lambda: use(0), lambda: use(1))

    assert treadle.check(run).executions == 14


@pytest.mark.parametrize("key", [Key(1), Point(1), (Key(1), "a"), (0, (Point(1),))])
def test_a_check_and_a_store_are_two_steps(key: Any) -> None:
    def run() -> None:
        made: dict[Any, list[int]] = {}
        got = []

        def get() -> None:
            if key not in made:
                made[key] = []
            got.append(made[key])

        treadle.parallel(get, get)
        assert got[0] is got[1]

    assert treadle.check(run).verdict is Verdict.FAILED


def test_each_method_runs_as_often_as_without_treadle() -> None:
    def calls() -> int:
        Counting.asked.clear()
        seen: dict[Any, int] = {}
        seen[Counting()] = 1
        seen[Counting(), 2] = 2
        seen[Counting()] = 3
        assert seen.get(Counting()) == 3
        assert seen.pop((Counting(), 2)) == 2
        del seen[Counting()]
        made: dict[Any, Any] = defaultdict(list)
        assert made[Counting()] is made[Counting()]
        made = defaultdict(lambda: seen.get(Counting()))
        assert made[Counting()] is None
        return len(Counting.asked)

    plain = calls()

    def run() -> None:
        treadle.parallel(lambda: None)
        assert calls() == plain

    assert not treadle.check(run).failed

    def shared() -> None:
        Counting.asked.clear()
        seen: dict[Any, int] = {}
        treadle.parallel(lambda: set_item(seen, Counting()), lambda: set_item(seen, Counting()))
        assert Counting.asked.count("hash") == 2
        assert Counting.asked.count("eq") == 1

    assert not treadle.check(shared).failed


def test_a_comparison_that_changes_the_container() -> None:
    """Another strand may see what a comparison does before the call that asked for it has its effect."""
    seen: dict[Any, int] = {}

    class Nasty(Key):
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            seen["compared"] = 1
            return super().__eq__(other)

    def run() -> None:
        seen.clear()
        seen[Nasty(2)] = 0
        _, between = treadle.parallel(lambda: set_item(seen, Nasty(1)), lambda: len(seen) == 2)
        assert not between

    assert treadle.check(run).verdict is Verdict.FAILED


@pytest.mark.parametrize(("key", "verdict"), [(1, Verdict.PASSED_EXHAUSTIVE), (Key(1), Verdict.FAILED)])
def test_under_a_gil_a_hash_in_python_is_a_switch(key: Any, verdict: Verdict) -> None:
    def run() -> None:
        counts = {key: 0}

        def count() -> None:
            counts[key] += 1

        treadle.parallel(count, count)
        assert counts[key] == 2

    assert treadle.check(run, switches="gil").verdict is verdict


def test_under_a_gil_there_is_no_switch_behind_the_last_comparison() -> None:
    def run() -> None:
        counts: dict[Any, int] = {Key(1): 0}
        flag = [0]

        def count() -> None:
            counts[Key(1)] = flag[0] = 1

        def look() -> bool:
            return counts[Key(1)] == 1 and not flag[0]

        assert not treadle.parallel(count, look)[1]

    assert treadle.check(run, switches="gil").verdict is Verdict.PASSED_EXHAUSTIVE


def counted(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def around(*args: Any) -> Any:
        Counting.asked.append(method.__name__)
        return method(*args)

    return around


class Around(Key):
    __hash__ = counted(Key.__hash__)
    __eq__ = counted(Key.__eq__)


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_what_is_around_a_method_runs_once_too(switches: str) -> None:
    def run() -> None:
        Counting.asked.clear()
        seen: dict[Any, int] = {Around(1): 0}
        treadle.parallel(lambda: set_item(seen, Around(1)), lambda: None)
        assert sorted(Counting.asked) == ["__eq__", "__hash__", "__hash__"]

    assert not treadle.check(run, switches=switches).failed
