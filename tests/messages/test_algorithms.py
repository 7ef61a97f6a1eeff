"""Algorithms 1 to 3 of the Bita paper: the worked example of IV-D, and on random actor programs that every schedule
they generate can be run as written and reaches something new."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.messages.paper import TWO_ACTIONS, ad1, ad2, ex1, ex2, flush, names, w1, w2
from tests.messages.simulation import Program, events_of, run, satisfies
from treadle.messages.algorithms import Generation, arrange, generate_schedules, generate_triples
from treadle.messages.criteria import PCR, PETR, PMR, PR, Criterion, Goals, triples
from treadle.messages.must_hb import MustHB, bits
from treadle.messages.receive import Receive, stable_hash


def swapped(i: int, j: int) -> list[Receive]:
    """Algorithm 2 on its own."""
    return Generation(TWO_ACTIONS, PR, MustHB(TWO_ACTIONS)).schedule(i, j, True)


def test_the_worked_example() -> None:
    """i = 2, j = 4, PR, swap: w1 and w2 change places, and flush overtakes w1 as well."""
    assert names(swapped(1, 3)) == ["ex1", "ex2", "w2", "ad1", "ad2", "flush", "w1"]


def test_the_tail_of_the_worked_example() -> None:
    """<w1, ad1, ad2, fl>: without fd, which may not come any more; with w1, because PR lets it move on."""
    tails: list[list[str]] = []

    class Spy(Generation):
        def schedule_tail(self, tail: int) -> tuple[int, int, bool] | None:
            tails.append([self.s[place].label for place in bits(tail)])
            return super().schedule_tail(tail)

    Spy(TWO_ACTIONS, PR, MustHB(TWO_ACTIONS)).schedule(1, 3, True)
    assert tails[0] == ["w1", "ad1", "ad2", "flush"]


def test_the_worked_example_reaches_two_new_goals() -> None:
    goals = Goals(PR, [TWO_ACTIONS])
    found = swapped(1, 3)
    assert goals.add(found) == 2
    assert (w2, w1) in goals
    assert (flush, w1) in goals


def test_algorithm_1_reaches_every_goal_of_the_writer() -> None:
    for criterion, total in ((PR, 6), (PCR, 6), (PMR, 4)):
        goals = Goals(criterion, [TWO_ACTIONS, *generate_schedules(TWO_ACTIONS, criterion)])
        assert sum((first, second) in goals for first in (w1, w2, flush) for second in TWO_ACTIONS) == total


def test_a_pair_that_must_keep_its_order_is_never_swapped() -> None:
    schedules = list(generate_schedules(TWO_ACTIONS, PR))
    assert schedules
    for found in schedules:
        places = {event: place for place, event in enumerate(found)}
        assert ex1 not in places or w1 not in places or places[ex1] < places[w1]


def test_goals_reached_elsewhere_are_not_generated_again() -> None:
    first = list(generate_schedules(TWO_ACTIONS, PR))
    assert list(generate_schedules(TWO_ACTIONS, PR, known=Goals(PR, first))) == []


def test_arrange_refuses_what_cannot_be() -> None:
    relation = MustHB(TWO_ACTIONS)
    assert arrange(TWO_ACTIONS, [6, 4], relation) is None
    assert arrange(TWO_ACTIONS, [5, 4], relation) == [ex1, w1, ex2, w2, ad2, ad1]


# ---------------------------------------------------------------------- properties, on simulated programs

seeds = st.integers(0, 10_000)


def generated(program: Program, criterion: Criterion | None) -> Iterator[tuple[list[Receive], list[Receive]]]:
    base = events_of(run(program))
    found = generate_triples(base) if criterion is None else generate_schedules(base, criterion)
    for number, one in enumerate(found):
        if number == 25:
            return
        yield base, one


@pytest.mark.parametrize("criterion", [PR, PCR, PMR, PETR, None], ids=["PR", "PCR", "PMR", "PETR", "TRIPLE"])
@given(seed=seeds)
@settings(max_examples=40)
def test_every_schedule_runs_to_the_end_as_written(criterion: Criterion | None, seed: int) -> None:
    program = Program(seed)
    for _, wanted in generated(program, criterion):
        assert satisfies(events_of(run(program, wanted)), wanted)


@pytest.mark.parametrize("criterion", [PR, PCR, PMR, PETR], ids=lambda criterion: criterion.name)
@given(seed=seeds)
@settings(max_examples=40)
def test_every_schedule_adds_coverage(criterion: Criterion, seed: int) -> None:
    program = Program(seed)
    goals: Goals | None = None
    for base, wanted in generated(program, criterion):
        goals = goals or Goals(criterion, [base])
        before = len(goals)
        goals.add(wanted)
        assert len(goals) > before


@given(seed=seeds)
@settings(max_examples=30)
def test_every_triple_schedule_reaches_a_new_triple(seed: int) -> None:
    done: set[tuple[int, int, int]] = set()
    for base, wanted in generated(Program(seed), None):
        done |= triples(base)
        assert triples(wanted) - done
        done |= triples(wanted)


def test_ten_thousand_events_of_a_hundred_actors() -> None:
    draw = random.Random(1)
    sent: list[list[int]] = [[] for _ in range(10_000)]
    seen: dict[int, list[int]] = {}
    ids = []
    for number in range(10_000):
        sender, rec, message = draw.randrange(100), draw.randrange(100), stable_hash(number)
        if sender in seen:
            sent[draw.choice(seen[sender][-5:])].append(message)
        seen.setdefault(rec, []).append(number)
        ids.append((sender, rec, message))
    base = [Receive(*one, tuple(sent[number])) for number, one in enumerate(ids)]
    relation = MustHB(base)
    goals = Goals(PR, [base])
    gained = [goals.add(wanted) for wanted in islice(generate_schedules(base, PR, must_hb=relation), 10)]
    assert len(gained) == 10
    assert min(gained) > 0
