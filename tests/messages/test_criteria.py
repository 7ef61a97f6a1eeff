"""The coverage criteria of Bita on the writer of Listing 1: how many goals, and how few schedules reach them."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from tests.messages.paper import TWO_ACTIONS, ad1, ad2, flush, w1, w2
from treadle.messages.criteria import PCR, PETR, PMR, PR, Criterion, Goals, triples
from treadle.messages.receive import Receive

ORDERS = [list(order) for order in permutations([w1, w2, flush])]
# III-A.1
FOUR = [[w1, w2, flush], [flush, w2, w1], [w1, flush, w2], [flush, w1, w2]]


def fewest(criterion: Criterion, total: int) -> int:
    """The smallest number of orders of the writer that reach all goals, by trying all sets of them."""
    for size in range(1, len(ORDERS) + 1):
        if any(len(Goals(criterion, chosen)) == total for chosen in combinations(ORDERS, size)):
            return size
    raise AssertionError("not even all orders reach all goals")


@pytest.mark.parametrize(("criterion", "goals", "schedules"), [(PCR, 6, 4), (PR, 6, 2), (PMR, 4, 2)])
def test_goals_of_the_writer_and_fewest_schedules_for_them(criterion: Criterion, goals: int, schedules: int) -> None:
    assert len(Goals(criterion, ORDERS)) == goals
    assert fewest(criterion, goals) == schedules


def test_the_four_schedules_of_the_paper_reach_every_pcr_goal() -> None:
    assert len(Goals(PCR, FOUR)) == 6
    assert all(len(Goals(PCR, three)) < 6 for three in combinations(FOUR, 3))


def test_two_of_the_four_reach_every_pr_goal() -> None:
    assert len(Goals(PR, FOUR[:2])) == 6


def test_two_schedules_reach_every_pmr_goal() -> None:
    assert len(Goals(PMR, [[w1, w2, flush], [flush, w1, w2]])) == 4


def test_pmr_does_not_look_past_a_change_of_handlers() -> None:
    goals = Goals(PMR, [[w1, flush, w2]])
    assert (w1, flush) in goals
    assert (flush, w2) in goals
    assert (w1, w2) not in goals


def test_receives_of_different_actors_are_no_goal() -> None:
    assert len(Goals(PR, [[w1, ad1]])) == 0


def test_a_pair_is_covered_only_when_both_orders_were_run() -> None:
    assert Goals(PR, [[w1, w2]]).pairs_covered() == 0
    assert Goals(PR, [[w1, w2], [w2, w1]]).pairs_covered() == 1


def test_add_says_how_many_goals_are_new() -> None:
    goals = Goals(PR, [[w1, w2, flush]])
    assert goals.add([w1, w2, flush]) == 0
    assert goals.add([flush, w1, w2]) == 2


def test_petr_takes_receives_of_one_type_together() -> None:
    assert len(Goals(PR, [[w1, flush], [w2, flush]])) == 2
    assert len(Goals(PETR, [[w1, flush], [w2, flush]])) == 1


def test_triples_are_three_receives_in_a_row_at_one_actor() -> None:
    assert triples(TWO_ACTIONS) == {
        (w1.hash, w2.hash, flush.hash),
        (ad1.hash, ad2.hash, TWO_ACTIONS[-1].hash),
    }


def test_the_identity_of_a_receive_is_its_sender_receiver_and_message() -> None:
    same = Receive(w1.sender, w1.rec, w1.msg, sent=(1, 2), cmh=True)
    assert same == w1
    assert hash(same) == hash(w1)
    assert Receive(w1.sender, w1.rec, w2.msg) != w1
