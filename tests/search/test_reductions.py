"""The default strategy, and the reductions for steps of tasks and for messages, on strands that have neither."""

from __future__ import annotations

import pytest

from tests.search import programs
from tests.search.programs import Program, explore
from treadle.search.auto import Auto
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.message_dpor import MessageDpor
from treadle.search.step_dpor import StepDpor
from treadle.threads.execution import Execution


class WithoutSteps(Execution):
    """As executions with event loops are where no task runs."""

    def set_up(self) -> None:
        self.blocks: dict[int, object] = {}
        self.begins: dict[int, int] = {}
        self.causes: dict[int, int] = {}


class InOrder(Execution):
    """The third strand never overtakes the second, as couriers of one sender and receiver do not."""

    follows: dict[int, list[int]] = {3: [2]}  # nobody changes it
    enablers: dict[int, list[int]] = {}


class InAnyOrder(InOrder):
    follows: dict[int, list[int]] = {}


SMALL = [programs.readers(3), programs.increments(2), programs.increments(3), programs.locked_increments(2)]


@pytest.mark.parametrize("program", SMALL, ids=["readers", "two", "three", "locked"])
def test_without_tasks_steps_are_reduced_as_threads_are(program: Program) -> None:
    optimal, steps = explore(program, Dpor()), explore(program, StepDpor(), kind=WithoutSteps)
    assert steps.outcomes == explore(program, Dfs()).outcomes
    assert (steps.executions, steps.exhausted) == (optimal.executions, True)


def test_messages_of_one_sender_are_not_run_in_the_other_order() -> None:
    writes: Program = [[("add", "x")], [("add", "x")], [("add", "x")]]
    assert explore(writes, MessageDpor(), kind=InAnyOrder).executions == 6
    assert explore(writes, MessageDpor(), kind=InOrder).executions == 3


def test_the_default_exhausts_what_is_small() -> None:
    found = explore(programs.increments(2), Auto())
    assert (found.outcomes, found.exhausted) == (explore(programs.increments(2), Dfs()).outcomes, True)


def test_the_default_draws_when_its_share_is_spent_and_claims_nothing() -> None:
    found = explore(programs.increments(3), Auto(systematic=3, sampled=40))
    assert (found.executions, found.exhausted) == (43, False)
    assert found.outcomes <= explore(programs.increments(3), Dfs()).outcomes


def test_a_search_that_goes_on_for_long_is_drawn_from_besides() -> None:
    auto = Auto()
    drawn = 0
    for _ in range(100):
        explore(programs.increments(3, 2), auto, most=1)
        drawn += auto.beside
    assert 0 < drawn < 20
