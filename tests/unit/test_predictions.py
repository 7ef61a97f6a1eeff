"""Predictions on code as installed packages write it: the real run agrees, and every path is there."""

from __future__ import annotations

import functools

import pytest

from tests.unit.exploring import explored, load
from treadle.output.unit_suite import Suite, unit

# function -> paths with k = 2; nothing is sampled in them
PATHS = {
    "iterable": 3,
    "is_three": 2,
    "named": 2,
    "anything": 2,
}


@functools.cache
def whole_module() -> Suite:
    load("unit_predictions")
    return unit("unit_predictions", k=2, write_file=False)


@pytest.mark.slow
def test_no_prediction_disagrees_with_the_real_run() -> None:
    suite = whole_module()
    assert [(c.target, c.arguments, why) for c, why in suite.disagreements] == []


@pytest.mark.parametrize("name", PATHS)
def test_every_path_is_followed(name: str) -> None:
    found = explored(f"unit_predictions:{name}")
    assert (found.paths, found.seen.sampled, found.seen.unsupported) == (PATHS[name], [], [])
