"""`treadle replay` finds who runs a trail again by the door it names."""

from __future__ import annotations

import importlib

import pytest

from treadle.core.errors import UsageError
from treadle.core.trail import Trail
from treadle.doors.replay import REPLAYERS, replayer_of


@pytest.mark.parametrize("door", REPLAYERS)
def test_every_door_that_is_listed_has_a_replayer(door: str) -> None:
    assert callable(importlib.import_module(replayer_of(Trail("x", (), door=door))).replay_trail)


def test_a_trail_of_an_unknown_door_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"made by 'treadle future'.*it can run those of: explore"):
        replayer_of(Trail("x", (), door="future"))
