"""Published numbers of executions, exactly: what an optimal reduction must produce, no more and no less."""

from __future__ import annotations

from itertools import combinations
from math import comb, factorial
from random import Random
from types import SimpleNamespace

import pytest

from tests.search import programs
from tests.search.programs import explore, run_all
from treadle.core.operation import READ
from treadle.search.bounded import Bounded, TraceHash
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.source_dpor import SourceDpor


@pytest.mark.parametrize("count", [2, 3, 6, 8])
def test_readers(count: int) -> None:
    found = explore(programs.readers(count), Dpor())
    assert (found.executions, found.blocked, found.exhausted) == (2**count, 0, True)


@pytest.mark.parametrize(("count", "executions"), [(1, 2), (2, 5), (3, 12), (4, 28), (5, 64), (6, 144)])
def test_last_zero(count: int, executions: int) -> None:
    found = run_all(programs.last_zero(count), Dpor())
    assert (found.executions, found.blocked) == (executions, 0)
    assert executions * 4 == (count + 3) * 2**count


@pytest.mark.parametrize("count", [2, 3, 4])
def test_increments(count: int) -> None:
    found = explore(programs.increments(count), Dpor())
    assert (found.executions, found.blocked) == (factorial(count) ** 2, 0)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_atomic_increments(count: int) -> None:
    found = explore(programs.atomic_increments(count), Dpor())
    assert (found.executions, found.blocked) == (factorial(count), 0)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_locked_increments(count: int) -> None:
    found = explore(programs.locked_increments(count), Dpor())
    assert (found.executions, found.blocked) == (factorial(count), 0)


@pytest.mark.parametrize(("times", "executions"), [(1, 4), (3, 328)])
def test_two_strands_that_increment(times: int, executions: int) -> None:
    found = explore(programs.increments(2, times), Dpor())
    assert (found.executions, found.blocked) == (executions, 0)


def test_source_dpor_on_last_zero_blocks_where_the_optimal_search_does_not() -> None:
    found = run_all(programs.last_zero(5), SourceDpor())
    assert (found.executions, found.blocked) == (64, 33)


@pytest.mark.parametrize(("bound", "executions"), list(enumerate([1, 2, 8, 23, 43, 58, 64])))
def test_delay_bounded_readers(bound: int, executions: int) -> None:
    found = explore(programs.readers(6), Bounded("dpor", delays=bound))
    assert found.executions == executions == 1 + sum(comb(6, k) for k in range(bound))
    assert found.exhausted


def test_different_sets_of_readers_are_different_prefixes() -> None:
    """A bounded search leaves out what it takes for a prefix that it has met. Numbers stand for names, whose hashes
    are others in every process."""
    draw = Random(0)
    for _ in range(200):
        step = (READ, draw.getrandbits(60), draw.getrandbits(60))
        prefixes = set()
        for count in range(1, 6):
            for readers in combinations(range(6), count):
                trace = [(reader, step) for reader in readers]
                prefixes.add(TraceHash().upto(SimpleNamespace(trace=trace, guards=[0] * count, spawned={}, indexes={})))
        assert len(prefixes) == 2**6 - 2


@pytest.mark.parametrize(("times", "interleavings"), [(1, 6), (3, 924)])
def test_without_reduction_every_interleaving_is_run(times: int, interleavings: int) -> None:
    found = explore(programs.increments(2, times), Dfs())
    assert found.executions == interleavings == comb(4 * times, 2 * times)
    assert found.outcomes == explore(programs.increments(2, times), Dpor()).outcomes
