"""How it is said that a program did something else than before."""

from __future__ import annotations

from treadle.core.operation import READ, WRITE
from treadle.threads.diverged import Diverged


def test_both_operations_are_told_with_their_places() -> None:
    error = Diverged(3, "T1", (READ, "Account#1", "balance"), (WRITE, "Account#1", "owner"), "bank.py:7")
    error.expected_place = "bank.py:5"
    assert str(error) == (
        "step 3: T1 reads Account#1.balance (bank.py:5) when first run, but now writes Account#1.owner (bank.py:7)"
    )


def test_a_strand_that_is_gone_is_told_as_that() -> None:
    error = Diverged(3, "T1", (READ, "Account#1", "balance"), None)
    assert str(error) == "step 3: T1 reads Account#1.balance when first run, but now it has ended or cannot go on"
