"""Types of parameters that carry no hint, guessed from how they are used."""

from __future__ import annotations

import re
from typing import Any

import pytest

from treadle.symbolic.python.types.infer import infer_parameter


class Money:
    def __init__(self, cents: int = 0) -> None:
        self.cents = cents

    def __lt__(self, other):  # type: ignore[no-untyped-def]  # the missing hint is what is tested
        return key(self) < key(other)  # type: ignore[no-untyped-call]

    def __add__(mine, other):  # type: ignore[no-untyped-def]  # a receiver of any name
        return mine.plus(other)

    def plus(self, amount: float) -> float:
        return self.cents + amount

    @classmethod
    def parsed(cls, value):  # type: ignore[no-untyped-def]
        return cls(value)


def key(x):  # type: ignore[no-untyped-def]
    return x


def within(x, low=0.5):  # type: ignore[no-untyped-def]
    return max(x, low)


def smaller(x, y):  # type: ignore[no-untyped-def]
    return min(x, y, 3)


SKU = re.compile(r"[A-Z]{2}-\d{3}")
RAW = re.compile(rb"[A-Z]+")


def is_sku(s):  # type: ignore[no-untyped-def]
    return SKU.match(s) is not None


def without_digits(s):  # type: ignore[no-untyped-def]
    return re.sub(r"\d", "", s)


def is_raw(s):  # type: ignore[no-untyped-def]
    return RAW.match(s) is not None


def matched(shape, s):  # type: ignore[no-untyped-def]
    return re.match(shape, s)


def leap(method):  # type: ignore[no-untyped-def]
    return method in (4, "continuous")


def named(method):  # type: ignore[no-untyped-def]
    return method in ("a", "b")


class Hidden:
    def plus(self, __n):  # type: ignore[no-untyped-def]
        return __n - 1


@pytest.mark.parametrize(
    ("function", "name", "kind"),
    [
        (Money.__lt__, "other", "Money | int"),
        (Money.__add__, "other", "float"),
        (Money.parsed.__func__, "value", "int"),  # type: ignore[attr-defined]  # a class method has one
        (within, "x", "float"),
        (smaller, "x", "int"),
        (key, "x", "None"),
        (is_sku, "s", "str"),
        (without_digits, "s", "str"),
        (is_raw, "s", "None"),  # bytes
        (matched, "s", "str"),
        (matched, "shape", "None"),
        (leap, "method", "int | str"),
        (named, "method", "str"),
        (Hidden.plus, "_Hidden__n", "int"),
    ],
)
def test_the_use_says_the_type(function: Any, name: str, kind: str) -> None:
    assert str(infer_parameter(function, name)) == kind
