"""Selections that grow (`--select ... --more`) and selections of what the own tests miss (`--select ... --missing`)."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import treadle
from tests.commands import run_unit as run
from tests.symbolic.exploring import PROGRAMS, load
from tests.symbolic.random_programs import programs, target
from treadle.core.files import is_unedited
from treadle.doors.unit.files import tests_in
from treadle.units import grow as unit_grow
from treadle.units.explore import ExploredTarget, Session
from treadle.units.grow import TargetMemory
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

_COUNT = tests_in  # its name is that of a test
del tests_in


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    monkeypatch.setenv("PYTHONPATH", str(PROGRAMS))
    load("unit_growing")


def step(text: str, kept: TargetMemory | None, **options: Any) -> tuple[ExploredTarget, TargetMemory]:
    """One run of a growing selection, nothing written."""
    [found] = resolve(text)
    chosen = UnitOptions(**{"seconds": 1e9, "summaries": False, **options})
    growth = None
    further: dict[str, Any] = {}
    if kept is not None:
        growth = unit_grow.go_on(kept, found, chosen, None)
        chosen = dataclasses.replace(chosen, k=growth.k)
        if growth.complete:
            return ExploredTarget(found, chosen), kept
        further = {"known": growth.known}
    result = Session(found, chosen, **further).explore()
    kept = unit_grow.keep(result, chosen, "test_x.py", growth, 0)
    return result, TargetMemory.from_json(json.loads(json.dumps(kept.to_json())))


# --- growing -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("select", "numbers"),
    [("statements", [1, 1, 2, 3]), ("branches", [1, 1, 2, 3]), ("local-paths", [2, 3, 4, 5])],
)
def test_a_selection_grows(select: str, numbers: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    """Three and four rounds of the loop have a line each: every bound adds just what it brings into reach."""
    arguments = ("unit_growing:late", "--select", select)
    file = Path(f"test_unit_growing_late_{select.replace('-', '_')}_unit.py")
    found = []
    for number in range(4):
        code, out, _ = run(*arguments, *(["--more"] if number else ["-k", "1"]), capsys=capsys)
        assert code == 0
        assert is_unedited(file.read_text())
        found.append(_COUNT(file.read_text()))
        if number:
            new = found[-1] - found[-2]
            assert f"k {number} -> {number + 1}: {new} new path{'s' * (new != 1)}, {new} new test" in out
    assert found == numbers
    whole = treadle.unit("unit_growing:late", select=select, k=4, write_file=False)
    assert whole.tests <= found[-1]
    assert "coverage of the real run: lines 100 %, branches 100 %" in out
    if select != "local-paths":
        assert f"{select} of the function's own body are covered by 3 tests" in out
        before = file.read_text()
        code, out, _ = run(*arguments, "--more", capsys=capsys)
        assert (code, file.read_text()) == (0, before)
        assert "the selection is complete: nothing to add" in out


@pytest.mark.slow
def test_a_point_that_a_wider_bound_reaches(capsys: pytest.CaptureFixture[str]) -> None:
    line = next(n for n, text in enumerate((PROGRAMS / "unit_growing.py").read_text().splitlines(), 1) if "-33" in text)
    arguments = ("unit_growing:late", "--reach", f"unit_growing.py:{line}")
    code, out, _ = run(*arguments, "-k", "2", capsys=capsys)
    assert (code, "no file was written" in out) == (3, True)
    code, out, _ = run(*arguments, "--more", capsys=capsys)
    assert code == 0
    assert f"unit_growing.py:{line} is reached by 1 test" in out
    code, out, _ = run(*arguments, "--more", capsys=capsys)
    assert (code, "nothing to add" in out) == (0, True)


@settings(max_examples=10)
@given(programs())
def test_random_programs_grow_to_the_goals_of_a_direct_run(program: str) -> None:
    text = target(program)
    for select in ("statements", "branches", "local-paths"):
        kept: TargetMemory | None = None
        for k in range(3):
            before = kept
            result, kept = step(text, kept, **({"k": 0} if k == 0 else {}), select=select)
            if before is not None and select != "local-paths":
                assert all(case.meets for case in result.cases)
                assert set(before.met) <= set(kept.met)
                assert bool(result.cases) == (len(kept.met) > len(before.met))
        assert kept is not None
        _, direct = step(text, None, k=2, select=select)
        assert set(kept.met) == set(direct.met)
        if direct.k == kept.k:
            assert set(kept.traces) == set(direct.traces)


@settings(max_examples=10)
@given(programs())
def test_limited_searches_find_the_goals_of_one(program: str) -> None:
    text = target(program)
    for select in ("branches", "local-paths"):
        result, kept = step(text, None, k=1, select=select, paths=1)
        while kept.pending:
            result, kept = step(text, kept, select=select, paths=1)
            assert len(result.cases) <= 1
        _, direct = step(text, None, k=1, select=select)
        assert (kept.k, set(kept.met), set(kept.traces)) == (1, set(direct.met), set(direct.traces))


@pytest.mark.slow
def test_each_selection_grows_for_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("unit_growing:late", "-k", "1", "--select", "branches", capsys=capsys)[0] == 0
    code, _, err = run("unit_growing:late", "--select", "statements", "--more", capsys=capsys)
    assert code == 2
    assert "has nothing on unit_growing:late with --select statements" in err
    assert "run treadle unit unit_growing:late first with --select statements, without --more" in err
    code, _, err = run("unit_growing:late", "--more", capsys=capsys)
    assert code == 2
    assert "run treadle unit unit_growing:late first, without --more" in err


@pytest.mark.slow
def test_a_selection_whose_file_is_gone_is_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("unit_growing:late", "--select", "branches")
    run(*arguments, "-k", "3", "--output", "test_x.py", capsys=capsys)
    before = Path("test_x.py").read_text()
    Path("test_x.py").unlink()
    code, out, _ = run(*arguments, "--more", "--json", capsys=capsys)
    assert code == 0
    assert _COUNT(Path("test_x.py").read_text()) > _COUNT(before)
    assert all(goal["verdict"] == "reached" for goal in json.loads(out)["selection"]["goals"])


def test_missing_and_more_are_two_questions(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("unit_growing:late", "--missing", "--more", capsys=capsys)
    assert code == 2
    assert "run them one after the other" in err


# --- what the own tests miss -------------------------------------------------------------------------------

_SHOP = """
def price(cents: int, age: int, member: bool) -> int:
    if cents <= 0:
        raise ValueError("no price")
    percent = 0
    if member:
        percent += 10
    if age < 18 or age >= 65:
        percent += 20
    return reduced(cents, percent)


def reduced(cents: int, percent: int) -> int:
    if percent > 20:
        return cents // 2
    return cents


def plain(n: int) -> int:
    m = n + 1
    return m
"""

_OWN = """
from missing_shop import price

def test_both():
    assert price(2000, 70, True) == 1000

def test_neither():
    assert price(2000, 30, False) == 2000
"""


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("missing_shop.py").write_text(_SHOP)
    Path("checks").mkdir()
    Path("checks/test_own.py").write_text(_OWN)
    monkeypatch.delitem(sys.modules, "missing_shop", raising=False)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))


def _missing(select: str, *more: str, capsys: pytest.CaptureFixture[str], name: str = "price") -> tuple[int, Any]:
    arguments = (f"missing_shop:{name}", "--missing", "--tests", "checks", "--select", select, *more)
    code, out, _ = run(*arguments, "--json", "--force", capsys=capsys)
    return code, json.loads(out)


@pytest.mark.slow
@pytest.mark.usefixtures("shop")
def test_only_what_the_own_tests_do_not_cover(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = _missing("statements", capsys=capsys)
    assert (code, found["tests"]) == (0, 1)
    assert found["cases"][0]["outcome"] == {"raises": "ValueError", "message": "no price"}
    assert {k: found["missing"][k] for k in ("ran", "paths", "taken")} == {"ran": 2, "paths": 8, "taken": 7}
    assert all(goal["verdict"] == "reached" for goal in found["selection"]["goals"])
    # the other side of `cents <= 0`, and of `age < 18`, each in the eyes of the function itself
    code, found = _missing("branches", capsys=capsys)
    assert (code, found["tests"]) == (0, 2)
    assert all(goal["verdict"] == "reached" for goal in found["selection"]["goals"])
    # two of the seven ways through the function
    code, found = _missing("local-paths", capsys=capsys)
    assert (code, found["tests"], found["missing"]["paths"], found["missing"]["taken"]) == (0, 5, 7, 2)
    # the lines of a callee count when they are reached through the target
    code, found = _missing("points", "missing_shop.py:4,14", capsys=capsys)
    assert (code, found["tests"]) == (0, 1)
    assert [len(goal["tests"]) for goal in found["selection"]["goals"]] == [1, 0]


@pytest.mark.slow
@pytest.mark.usefixtures("shop")
def test_nothing_is_missing_of_a_selection(capsys: pytest.CaptureFixture[str]) -> None:
    for select, *more in (["points", "missing_shop.py:14"], ["points", "missing_shop.py:7,9"]):
        code, found = _missing(select, *more, capsys=capsys)
        assert (code, found["tests"], found["file"]) == (0, 0, None)
    Path("checks/test_more.py").write_text(
        "from missing_shop import price\n\n"
        "def test_a():\n    try:\n        price(0, 1, True)\n    except ValueError:\n        pass\n\n"
        "def test_b():\n    price(1, 1, False)\n"
    )
    for select in ("statements", "branches"):
        code, found = _missing(select, capsys=capsys)
        assert (code, found["tests"], found["file"]) == (0, 0, None)


@pytest.mark.slow
@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("select", ["statements", "branches", "local-paths"])
def test_a_function_without_conditions(select: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = _missing(select, capsys=capsys, name="plain")
    assert (code, found["tests"]) == (0, 1)
    Path("checks/test_plain.py").write_text("from missing_shop import plain\n\ndef test_a():\n    plain(3)\n")
    code, found = _missing(select, capsys=capsys, name="plain")
    assert (code, found["tests"]) == (0, 0)
