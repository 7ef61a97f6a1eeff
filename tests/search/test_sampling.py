"""Strategies that draw or vary schedules: what they show of the smallest races, and that a draw can be done again."""

from __future__ import annotations

import random

import pytest

from tests.search import programs
from tests.search.programs import explore
from treadle.core.errors import UsageError
from treadle.core.operation import READ, WRITE
from treadle.search.dfs import Dfs
from treadle.search.fair import TURNS, Fair
from treadle.search.few_preemptions import FewPreemptions
from treadle.search.other_orders import Reservoir, class_of, other_order, swaps
from treadle.search.preempt_once import PreemptOnce
from treadle.search.random_walk import DrawnAgain, RandomWalk
from treadle.search.strategies import make


def test_fair_schedules_are_few_and_prove_nothing() -> None:
    found = explore(programs.increments(2), Fair())
    assert (found.executions, found.exhausted) == (len(TURNS), False)


@pytest.mark.parametrize("strategy", [RandomWalk(1), FewPreemptions(1)], ids=["random", "few preemptions"])
def test_draws_see_all_that_can_be_seen_of_a_small_race(strategy: RandomWalk | FewPreemptions) -> None:
    everything = explore(programs.increments(2), Dfs())
    found = explore(programs.increments(2), strategy, most=100)
    assert found.outcomes == everything.outcomes
    assert (found.executions, found.exhausted) == (100, False)


def test_what_was_drawn_is_run_again() -> None:
    walk = RandomWalk(5)
    first = explore(programs.increments(3), walk, most=1)
    assert explore(programs.increments(3), DrawnAgain(walk.drawn)).outcomes == first.outcomes


@pytest.mark.parametrize("youngest_first", [False, True])
def test_one_interruption_is_enough_for_a_lost_update(youngest_first: bool) -> None:
    calm = PreemptOnce(youngest_first)
    quiet = explore(programs.increments(2), calm).outcomes
    shown = [explore(programs.increments(2), PreemptOnce(youngest_first, at)).outcomes for at in calm.choices]
    assert calm.choices
    assert any(outcomes != quiet for outcomes in shown)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("dpo", {}, "no strategy 'dpo'; did you mean 'dpor'?"),
        ("random", {"preemptions": 1}, "strategy 'random' would ignore preemptions"),
        ("dpor", {"delays": -1}, "delays must be 0 or more"),
        ("dpor", {"delays": 1, "preemptions": 1}, "not both"),
    ],
)
def test_options_that_a_strategy_would_ignore_are_errors(name: str, options: dict[str, int], told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        make(name, **options)  # type: ignore[arg-type]  # which options there are is what is tried


def test_other_orders_keep_what_happens_before() -> None:
    assert other_order([0b001, 0b011, 0b111], random.Random(0)) == [0, 1, 2]
    free = {tuple(other_order([1, 2], random.Random(seed))) for seed in range(20)}
    assert free == {(0, 1), (1, 0)}


def test_a_class_is_known_whatever_its_order() -> None:
    one, other = (0, (WRITE, "x", None)), (1, (WRITE, "y", None))
    assert class_of([one, other], [1, 2]) == class_of([other, one], [1, 2])
    assert class_of([one, other], [1, 2]) != class_of([one, other], [1, 3])


def test_swaps_lead_from_one_order_to_the_other() -> None:
    way = list(swaps([0, 1, 2], [2, 0, 1]))
    assert [(event, overtaken) for event, overtaken, _ in way] == [(2, 1), (2, 0)]
    assert way[-1][2] == [2, 0, 1]


def test_a_reservoir_keeps_a_few_of_all() -> None:
    kept = Reservoir(3)
    for number in range(50):
        kept.offer([(number, (READ, "x", None))], [], {})
    assert len(kept.kept) == 3
    assert max(trace[0][0] for trace, _, _ in kept.kept) > 10
