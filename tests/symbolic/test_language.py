"""Every feature of the language: predictions hold in the real run, paths are complete, branches are covered."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests.symbolic.exploring import explored, load
from treadle.doors.unit.suite import Suite, unit
from treadle.units.target import resolve


@functools.cache
def whole_module() -> Suite:
    load("unit_language")
    return unit("unit_language", k=2, write_file=False)


@pytest.mark.slow
def test_no_prediction_disagrees_with_the_real_run() -> None:
    suite = whole_module()
    assert [(c.target, c.arguments, why) for c, why in suite.disagreements] == []


@pytest.mark.slow
def test_every_function_gets_tests() -> None:
    suite = whole_module()
    covered = {c.target for c in suite.cases}
    assert {t.text for t in resolve("unit_language")} - covered == set()
    assert suite.left_out == []


@pytest.mark.slow
def test_everything_is_covered() -> None:
    suite = whole_module()
    assert suite.coverage.percent("lines") == 100
    assert suite.coverage.percent("branches") == 100


# function -> how many paths it has with k = 2; counted by hand
_PATHS = {
    "floor_division": 2,  # b is 0 or not
    "booleans": 2,
    "string_tests": 5,
    "tuples": 2,
    "list_length": 3,  # None, empty, not empty
    "list_index": 5,  # None; at or above len; 0..len-1; -len..-1; below -len
    "dict_count": 4,  # None; key in the dict; not in it; the dict is empty
    "total_area": 4,  # None, Shape, Square, Bar
    "is_square": 3,  # None, a Square, not a Square
    "enums": 2,
    "from_value": 3,
    "chained": 3,
    "conditional": 3,
    "literals": 2,
    "optional": 2,
    "asserts": 1,  # what it asserts of its parameter is a precondition
    "reraise": 2,
}


@pytest.mark.parametrize("name", list(_PATHS))
def test_number_of_paths(name: str) -> None:
    found = explored(f"unit_language:{name}", k=2)
    assert found.paths == _PATHS[name], [c.condition for c in found.cases]


def _only(target: str, condition: str, **options: Any) -> Any:
    [case] = [c for c in explored(target, **options).cases if condition in c.condition]
    return case


def test_messages_are_pythons_own() -> None:
    assert _only("unit_language:asserts", "n <= 0", contracts=False).outcome.message == "0 is not positive"
    assert _only("unit_language:list_length", "xs is None").outcome.value == 0
    case = _only("unit_language:total_area", "s is None")
    assert case.outcome.message == "'NoneType' object has no attribute 'area'"


def test_floor_division_messages() -> None:
    case = _only("unit_language:floor_division", "b == 0")
    with pytest.raises(ZeroDivisionError) as real:
        load("unit_language").floor_division(1, 0)
    assert case.outcome.message == str(real.value)
