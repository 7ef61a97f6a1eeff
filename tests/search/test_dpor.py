"""What a wakeup sequence foresaw, compared with what a strand does."""

from __future__ import annotations

from treadle.core.operation import MULTI, READ, WRITE
from treadle.search.dpor import _as_planned


def test_an_operation_of_several_parts_may_be_foreseen_as_one_of_them() -> None:
    one = (READ, "Counter#1", "count")
    several = (MULTI, None, ((READ, "list#1", None), (WRITE, "Counter#1", None)))
    assert _as_planned(one, several)
    assert _as_planned(several, one)
    assert not _as_planned((READ, "Counter#2", "count"), several)
