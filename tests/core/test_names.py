"""What is read out of the names of objects is what their makers put into them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from treadle.core.names import (
    age_of_strand,
    is_made,
    label_and_number,
    label_of,
    module_of,
    of_module,
    split,
    without_identity,
)
from treadle.threads.strands import Strand


def made_by(index: int, strand: str, label: str) -> list[str]:
    """The names of the first two objects of a label that a strand makes."""
    maker: Any = SimpleNamespace(index=index, treadle_name=strand, encounters={})
    return [Strand.fresh(maker, label) for _ in range(2)]


def test_what_the_first_strand_made_has_a_number() -> None:
    names = made_by(0, "main", "Account")
    assert [label_and_number(name) for name in names] == [("Account", 1), ("Account", 2)]
    assert label_and_number(f"{names[1]}.balance") == ("Account", 2)


@pytest.mark.parametrize("strand", ["T1", "T1.2", "update#main#1"])
def test_what_another_strand_made_has_its_maker(strand: str) -> None:
    first, second = made_by(1, strand, "list")
    assert [split(name) for name in (first, second)] == [("list", f"{strand}.1"), ("list", f"{strand}.2")]
    assert label_of(second) == "list"
    assert is_made(second)


@pytest.mark.parametrize(
    ("place", "anywhere"),
    [("Account#1.balance", "Account.balance"), ("Account#T1.2.balance", "Account.balance"), ("list#T1.2[0]", "list")],
)
def test_a_place_without_its_object(place: str, anywhere: str) -> None:
    assert without_identity(place) == anywhere


def test_modules_are_made_by_nobody() -> None:
    assert not is_made("module bank")


def test_the_name_of_a_module_tells_which() -> None:
    assert module_of(of_module("os.path")) == "os.path"
    assert not is_made(of_module("os.path"))
    assert module_of(made_by(0, "main", "module")[0]) == ""


def test_strands_are_told_as_they_were_started() -> None:
    assert sorted(["T10", "worker", "T2", "T1.1", "main", "T1"], key=age_of_strand) == [
        "main",
        "T1",
        "T1.1",
        "T2",
        "T10",
        "worker",
    ]
