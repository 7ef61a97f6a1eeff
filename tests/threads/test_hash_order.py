"""An order that hashes decide is one of several: a pass that used one names the line, and is not exhaustive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle.threads.hash_order import is_fixed

NAMES = ("anna", "bert", "carl")

ORDERED: dict[str, Callable[[set[str]], Any]] = {
    "for": lambda names: [name for name in names],  # noqa: C416 - a loop over the set is the case
    "list": lambda names: list(names),
    "next": lambda names: next(iter(names)),
    "iter method": lambda names: next(names.__iter__()),
    "pop": lambda names: names.copy().pop(),
    "join": lambda names: ",".join(names),
    "str": lambda names: str(names),
    "f-string": lambda names: f"{names}",
    "percent": lambda names: "%s" % names,  # noqa: UP031
    "star": lambda names: [*names],
    "spread": lambda names: max(*names, key=len),
    "key": lambda names: max(names, key=len),
    "extend": lambda names: list[str]().extend(names),
    "slice": lambda names: list[Any]().__setitem__(slice(0, 1), names),
    "frozenset": lambda names: tuple(frozenset(names)),
    "enumerate": lambda names: dict(enumerate(names)),
    "fromkeys": lambda names: dict.fromkeys(names),
    "views": lambda names: list({"dora": 1, "emil": 2}.keys() - names),
    "tuples": lambda names: list({(name, 1) for name in sorted(names)}),
    "addresses": lambda names: list({object() for name in sorted(names)}),
    "hash": lambda names: hash(min(names)),
}
NOT_ORDERED: dict[str, Callable[[set[str]], Any]] = {
    "sorted": lambda names: sorted(names),
    "min": lambda names: min(names),
    "in": lambda names: "anna" in names,
    "operators": lambda names: (names | {"dora"}) & names,
    "methods": lambda names: frozenset(names).issubset(names),
    "equal": lambda names: names == {"anna"},
    "len": lambda names: len(names),
    "numbers": lambda names: [number for number in {1, 2.5, (3, 4)}],  # noqa: C416 - a loop over the set is the case
    "one": lambda names: list({min(names)}),
    "kept": lambda names: dict[str, Any]().__setitem__("other", names),
}


def _searched(use: Callable[[set[str]], Any]) -> treadle.Result:
    def program() -> None:
        total = [0]
        names = set(NAMES)

        def work() -> None:
            use(names)
            total[0] += 0

        treadle.parallel(work, work)

    return treadle.check(program, builds=False)


@pytest.mark.parametrize("use", ORDERED.values(), ids=ORDERED)
def test_a_pass_names_the_line_that_used_an_order_of_hashes(use: Callable[[set[str]], Any]) -> None:
    result = _searched(use)
    assert result.verdict is treadle.Verdict.PASSED_WITHIN_BOUNDS
    assert result.evidence is not None
    place = f"test_hash_order.py:{use.__code__.co_firstlineno}"
    assert result.evidence.orders == [place]
    assert f"hashes decide an order at {place}, and other orders are not tried" in result.reason


@pytest.mark.parametrize("use", NOT_ORDERED.values(), ids=NOT_ORDERED)
def test_what_does_not_depend_on_the_order_is_exhaustive(use: Callable[[set[str]], Any]) -> None:
    assert _searched(use).verdict is treadle.Verdict.PASSED_EXHAUSTIVE


class _Name:
    def __init__(self, text: str) -> None:
        self.text = text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Name) and self.text == other.text


@pytest.mark.parametrize(
    ("value", "fixed"),
    [(1, True), ((1, (2.5, True)), True), (frozenset({1j}), True), ("a", False), ((1, b"a"), False), (object(), False)],
)
def test_numbers_have_the_same_hash_in_every_process(value: object, fixed: bool) -> None:
    assert is_fixed(value) is fixed


def test_hashing_a_key_is_no_order() -> None:
    assert _searched(lambda names: {_Name("anna"): 1}[_Name("anna")]).verdict is treadle.Verdict.PASSED_EXHAUSTIVE
