"""Along a known execution: as a list of strands, along a trail, and where the program no longer fits it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search import programs
from tests.search.programs import explore
from treadle.core.choice import Stop, StrandRuns
from treadle.search.dfs import Dfs
from treadle.search.replay import FollowSteps, FollowTrail, strand_runs
from treadle.search.strategy import ExecutionSeen

LOST = programs.increments(2)


class Told(FollowSteps):
    """Keeps the trail of what it ran."""

    trail: tuple[StrandRuns, ...] = ()

    def end(self, run: ExecutionSeen) -> None:
        super().end(run)
        self.trail = strand_runs(run, self)


def followed(*steps: str) -> tuple[Told, Any]:
    told = Told(list(steps))
    found = explore(LOST, told)
    assert found.executions == 1
    return told, found.outcomes


def test_steps_lead_to_the_lost_update_and_tell_what_they_cost() -> None:
    one_by_one, kept = followed()
    told, lost = followed("T1", "T2", "T2", "T1")
    assert lost != kept
    assert one_by_one.preemptions == 0
    assert told.cost > one_by_one.cost


def test_every_execution_is_followed_by_its_trail() -> None:
    shown = set()
    for before in range(3):
        told, outcomes = followed(*["T1"] * before, "T2", "T2")
        again = FollowTrail(told.trail)
        assert explore(LOST, again).outcomes == outcomes
        assert (again.mismatch, again.left_over()) == ("", "")
        shown |= outcomes
    assert shown == explore(LOST, Dfs()).outcomes


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (StrandRuns("T9"), "is not there or cannot go on"),
        (StrandRuns("main", Stop("writes", "nothing", "nowhere")), "but never came there"),
    ],
)
def test_a_trail_of_other_code_says_where_it_does_not_fit(turn: StrandRuns, why: str) -> None:
    trail = FollowTrail([turn])
    explore(LOST, trail)
    assert why in trail.mismatch


def test_what_a_trail_still_holds_at_the_end_is_told() -> None:
    told, _ = followed()
    trail = FollowTrail([*told.trail, StrandRuns("T1", Stop("writes", "nothing", "nowhere"))])
    explore(LOST, trail)
    assert "but the test ended before" in trail.left_over()
