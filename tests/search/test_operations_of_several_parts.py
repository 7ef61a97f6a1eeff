"""What a wakeup sequence foresaw and what a strand is about to do, where one of them has several parts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle.core.operation import MULTI, READ, WRITE, Operation
from treadle.search.dpor import _as_planned

sharing: Any = import_module("tests.programs.actors.sharing")

ONE: Operation = (READ, "Box#1", "n")
OTHER: Operation = (READ, "Lid#1", "n")
SEVERAL: Operation = (MULTI, None, ((READ, "Box#1", "n"), (WRITE, "class Box", "n")))


@pytest.mark.parametrize(
    ("planned", "found", "fits"),
    [(ONE, SEVERAL, True), (SEVERAL, ONE, True), (OTHER, SEVERAL, False), (SEVERAL, OTHER, False)],
)
def test_an_operation_fits_one_of_several_on_its_object(planned: Operation, found: Operation, fits: bool) -> None:
    assert _as_planned(planned, found) is fits


def test_a_class_attribute_that_becomes_an_instance_attribute_is_no_surprise() -> None:
    assert treadle.check(sharing.test_actors_share_a_box, granularity="accesses", strategy="dpor").failed
