"""Shrinking ends at something that fails, from which nothing smaller fails, and within its budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from treadle.search.shrink import delta_debug, shrink, shrink_schedule


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_descent_ends_where_nothing_smaller_fails(start: int, least: int) -> None:
    start += least
    found = shrink(start, lambda n: range(n), lambda n: n if n >= least else None, lambda: True)
    assert found == least


def test_nothing_is_tried_when_it_may_not_go_on() -> None:
    assert shrink(9, range, lambda n: n, lambda: False) == 9


@given(st.sets(st.integers(0, 30), min_size=1), st.data())
def test_delta_debugging_leaves_what_is_needed(parts: set[int], data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.sampled_from(sorted(parts)), min_size=1))

    def attempt(some: Sequence[int]) -> str | None:
        return "failed" if needed <= set(some) else None

    found, shown = delta_debug(sorted(parts), "failed at first", attempt)
    assert set(found) == needed
    assert shown == ("failed" if len(parts) > len(needed) else "failed at first")


def test_a_schedule_keeps_the_switch_it_needs() -> None:
    """It fails when T2 runs between two operations of T1."""
    tried: list[list[str]] = []

    def attempt(steps: list[str]) -> tuple[list[str], tuple[int, int, int]] | None:
        tried.append(steps)
        whole = steps + ["T1"] * (2 - steps.count("T1")) + ["T2"] * (1 - steps.count("T2"))
        fails = "T1" in whole[: whole.index("T2")] and "T1" in whole[whole.index("T2") :]
        switches = sum(one != other for one, other in pairwise(whole))
        return (whole, (switches - 1, switches, len(whole))) if fails else None

    steps, cost = shrink_schedule((["T1", "T2", "T1", "T2", "T1"], (3, 4, 5)), attempt)
    assert (steps, cost) == (["T1", "T2", "T1"], (1, 2, 3))
    assert len(tried) == len({tuple(one) for one in tried})
    tried.clear()
    shrink_schedule((["T1", "T2", "T1", "T2", "T1"], (3, 4, 5)), attempt, most=1)
    assert len(tried) == 1


def test_a_schedule_is_not_shrunk_beyond_its_time() -> None:
    failing = (["T1", "T2", "T1"], (1, 2, 3))
    assert shrink_schedule(failing, lambda steps: (steps, (0, 0, 0)), seconds=0.0) == failing
