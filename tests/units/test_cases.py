"""From a finished path to a test case."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from treadle.symbolic.path import Limit, SymbolicPath
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.cases import cases_of
from treadle.units.explore import Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

PROGRAM = """
class Box:
    def __init__(self) -> None:
        self.value = 0

def fill(box: Box, value: int) -> int:
    box.value = value
    return value

def same(one: Box, two: Box) -> bool:
    one.value = 1
    two.value = 2
    return one.value == 2

def set_both(one: Box, two: Box) -> None:
    one.value = 1
    two.value = 2
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("unit_boxes.py").write_text(PROGRAM)
    importlib.invalidate_caches()
    yield
    sys.modules.pop("unit_boxes", None)


def cases(target: str, **options: bool) -> list[TestCase]:
    [found] = resolve(f"unit_boxes:{target}")
    return Session(found, UnitOptions(**options)).explore().cases  # type: ignore[arg-type]


def test_a_field_that_is_written_starts_as_something_else_so_that_the_write_shows() -> None:
    [case] = cases("fill", none=False)
    box = case.arguments["box"]
    assert isinstance(box, CaseObject)
    before, after = box.fields["value"], case.after[box.number].fields["value"]
    assert before != after == case.arguments["value"] == case.outcome.value


def test_each_aliasing_that_a_path_leaves_open_is_a_case() -> None:
    found = cases("same", none=False)
    aliased = [case.arguments["one"] is case.arguments["two"] for case in found]
    assert sorted(aliased) == [False, True]
    assert {case.outcome.value for case in found} == {False, True}


def test_aliasings_beyond_a_limit_are_left_for_later_and_taken_up_there() -> None:
    [target] = resolve("unit_boxes:set_both")
    session = Session(target, UnitOptions(none=False, heap="solver"))
    path = SymbolicPath(session.solver())
    run = session.run_path(path)
    first = cases_of(target, run, path, session.aliasing_solver, (), 1)
    assert (len(first.found), first.limit) == (1, Limit.PATHS)
    assert first.rest is not None
    rest = cases_of(target, run, path, session.aliasing_solver, (), 9, first.rest)
    assert (len(rest.found), rest.rest) == (1, None)
    both = [*first.found, *rest.found]
    assert sorted(case.arguments["one"] is case.arguments["two"] for case in both) == [False, True]
