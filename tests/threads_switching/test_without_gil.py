"""A pass is not called exhaustive when a build without a GIL may see a call half done, and is when it may not."""

from __future__ import annotations

import json
import threading

import pytest

import treadle
from tests.threads_switching.half_seen import DATA, PAIRS, Pair

SEEN = json.loads(DATA.read_text(encoding="utf-8"))["seen"]


def explored(pair: Pair, **options: str) -> treadle.Result:
    def test() -> None:
        thing = pair.make()
        looked: list[bool] = []
        treadle.parallel(lambda: pair.write(thing), lambda: looked.append(pair.look(thing)))
        assert looked == [False]

    return treadle.check(test, instrument=["tests.threads_switching"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PAIRS)
def test_what_a_build_without_a_gil_shows_is_no_exhaustive_pass(name: str) -> None:
    result = explored(PAIRS[name])
    if SEEN[name]:
        assert result.verdict.value == "PASSED-WITHIN-BOUNDS", result.reason
        assert "several steps without a GIL" in result.reason
    else:
        assert result.verdict.value == "PASSED-EXHAUSTIVE", result.reason


def test_with_a_gil_the_same_calls_are_one_step() -> None:
    assert explored(PAIRS["list.sort"], switches="gil").verdict.value == "PASSED-EXHAUSTIVE"


def test_a_lock_around_them_is_enough() -> None:
    """No race, nothing seen half done."""

    def test() -> None:
        xs, lock = [2, 1], threading.Lock()

        def sort() -> None:
            with lock:
                xs.sort()

        def look() -> None:
            with lock:
                assert len(xs) == 2

        treadle.parallel(sort, look)

    assert treadle.check(test, instrument=["tests.threads_switching"]).verdict.value == "PASSED-EXHAUSTIVE"
