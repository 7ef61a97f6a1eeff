"""What a wakeup sequence foresaw, and what a strand then does: the same object, in one part or as one of several."""

from __future__ import annotations

import pytest

from treadle.core.operation import MULTI, READ, WRITE, Operation
from treadle.search.dpor import _as_planned

_BOTH: Operation = (MULTI, None, ((READ, "Counter#1", "value"), (WRITE, "Counter#2", None)))


@pytest.mark.parametrize(
    ("planned", "found", "is_it"),
    [
        ((READ, "Counter#1", "value"), _BOTH, True),
        (_BOTH, (WRITE, "Counter#2", "value"), True),
        ((READ, "Counter#3", "value"), _BOTH, False),
        (_BOTH, (READ, "Counter#3", ""), False),
        (_BOTH, _BOTH, True),
        ((READ, "Counter#1", "value"), (WRITE, "Counter#1", None), True),
        ((READ, "Counter#1", "value"), (READ, "Counter#2", "value"), False),
    ],
)
def test_an_operation_of_several_accesses_is_met_as_each_of_them(
    planned: Operation, found: Operation, is_it: bool
) -> None:
    assert _as_planned(planned, found) is is_it
