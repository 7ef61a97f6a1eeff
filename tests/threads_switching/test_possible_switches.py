"""Which versions with a GIL can run an execution."""

from __future__ import annotations

import pytest

from tests.threads_primitives.running import ByTurns, execute, together
from treadle.core.operation import READ, WRITE
from treadle.core.transition import Constants
from treadle.threads.execution import Execution
from treadle.threads.possible_switches import versions_that_can
from treadle.threads.strands import current
from treadle.threads.switching import ALL, ENTERED


def lost_update(looks: int) -> Execution:
    """Both read before both write, by turns; between its read and its write a strand looks on some versions."""

    def add() -> None:
        strand = current()
        assert strand is not None
        strand.access(READ, "count", None)
        strand.checks = looks
        strand.access(WRITE, "count", None)

    return execute(lambda: together(add, add), ByTurns(), constants=Constants())


@pytest.mark.parametrize("looks", [0, ENTERED, ALL])
def test_an_update_is_lost_only_where_a_strand_looks_between_reading_and_writing(looks: int) -> None:
    assert versions_that_can(lost_update(looks)) == looks


def test_without_a_record_of_looks_every_version_can() -> None:
    run = lost_update(0)
    run.arrivals.clear()
    assert versions_that_can(run) == ALL
