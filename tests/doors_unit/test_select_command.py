"""--select on the command line and from Python: every way to write it, verdicts, exit codes, mistakes."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.commands import run_unit as run
from tests.symbolic.exploring import PROGRAMS, load
from treadle.core.errors import UsageError
from treadle.doors.unit.brief import Shortened
from treadle.doors.unit.console import summary
from treadle.units.points import places, points_of
from treadle.units.target import resolve


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    shutil.copy(PROGRAMS / "unit_points.py", tmp_path)
    load("unit_points")


def _line(text: str) -> int:
    lines = (PROGRAMS / "unit_points.py").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


_DISCOUNT = _line("return price - price // 10")
_FREE = _line("return 0")
_NEVER = _line("return -1")
_DEAD = _line('return "dead"')


@pytest.mark.slow
@pytest.mark.parametrize(
    "written",
    [
        ["unit_points:price_of", "--select", "points", f"unit_points.py:{_DISCOUNT}"],
        ["unit_points:price_of", "--select", "points", f"unit_points.py:{_DISCOUNT},{_FREE}"],
        ["--select", "points", f"unit_points.py:{_DISCOUNT}", f"unit_points.py:{_FREE}", "unit_points:price_of"],
        ["unit_points:price_of", "--select", f"points:unit_points.py:{_DISCOUNT}"],
        ["unit_points:price_of", "--select", f"points=unit_points.py:{_DISCOUNT}"],
        ["unit_points:price_of", "--select", "points", str(_DISCOUNT)],
        ["unit_points:price_of", "--reach", f"unit_points.py:{_DISCOUNT}"],
        ["unit_points:price_of", "--reach", str(_DISCOUNT), "--reach", str(_FREE)],
        ["unit_points.py:price_of", "--reach", f"unit_points.py:{_DISCOUNT}"],
        ["--reach", f"unit_points.py:{_DISCOUNT}"],
    ],
)
def test_every_way_to_write_it(written: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(*written, "--json", capsys=capsys)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    goals = found["selection"]["goals"]
    assert found["selection"]["satisfied"] is True
    assert [g["verdict"] for g in goals] == ["reached"] * len(goals)
    assert goals[0]["line"] == _DISCOUNT
    assert found["complete"] is False
    assert found["tests"] == len(goals)
    assert Path(found["file"]).exists()


@pytest.mark.slow
def test_a_point_that_nothing_reaches(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_points:price_of", "--select", "points", f"unit_points.py:{_NEVER}", capsys=capsys)
    assert code == 3
    assert f"no test reaches unit_points.py:{_NEVER} within the loop bound (k=2)" in out
    assert "no file was written" in out
    assert list(Path().glob("test_*")) == []


def test_a_greater_bound_may_help(capsys: pytest.CaptureFixture[str]) -> None:
    far = _line('return "three rounds"')
    code, out, _ = run("unit_points:rounds", "-k", "2", "--reach", str(far), capsys=capsys)
    assert code == 3
    assert out.splitlines()[-2].endswith(f"no test reaches unit_points.py:{far} within the loop bound (k=2)")
    suite = treadle.unit("unit_points:rounds", k=3, points=[far], write_file=False)
    assert [c.arguments["n"] for c in suite.cases] == [3]


def test_dead_code_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_points:price_of", "--reach", str(_DEAD), capsys=capsys)
    assert code == 3
    assert f"no test reaches unit_points.py:{_DEAD}: it is dead code" in out


def test_a_search_that_was_cut_does_not_say_never(capsys: pytest.CaptureFixture[str]) -> None:
    line = _line('return "parsed"')
    code, out, _ = run("unit_points:opaque", "--reach", str(line), capsys=capsys)
    assert code == 3
    assert f"unit_points.py:{line}: not found, but the search was cut by" in out
    assert "not known" in out


@pytest.mark.slow
def test_one_found_and_one_not(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_points:price_of", "--reach", f"{_DISCOUNT},{_NEVER}", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 3
    assert [g["verdict"] for g in found["selection"]["goals"]] == ["reached", "none"]
    assert found["tests"] == 1


def test_points_in_what_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of callees count, in this module and in another one."""
    near, far = _line("return amount * 2"), _line_of("unit_points_far.py", "return 7")
    suite = treadle.unit(
        "unit_points:calls", points=[f"unit_points.py:{near}", f"unit_points_far.py:{far}"], write_file=False
    )
    assert [c.arguments["amount"] for c in suite.cases] == [41]


def _line_of(file: str, text: str) -> int:
    lines = (PROGRAMS / file).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["unit_points:price_of", "--select", "everything"], "there are brief, all-paths, local-paths, statements"),
        (["unit_points:price_of", "--select", "points"], "say which, for example"),
        (["unit_points:price_of", "--select", "points:nonsense"], "'nonsense' is not a program point"),
        (["unit_points:price_of", "--reach", "no_such_file.py:3"], "does not use the file 'no_such_file.py'"),
        (["unit_points:price_of", "--reach", "1"], "the nearest line with code"),
        (["unit_points:price_of", "--reach", "99999"], "has no code"),
        (["unit_points:price_of", "--select", "branches", "--more"], "first with --select branches, without --more"),
        (["unit_points:price_of", "--select", "branches", "--reach", "7"], "takes no program points"),
        (["--reach", "nowhere.py:3"], "no file 'nowhere.py'"),
        (["--reach", "12"], "say in which file"),
        ([], "name at least one target"),
    ],
)
def test_mistakes_are_one_sentence(written: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().iterdir())
    code, out, err = run(*written, capsys=capsys)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_a_line_without_code_names_its_neighbours() -> None:
    comment = _line("# nothing happens on this line")
    [target] = resolve("unit_points:price_of")
    with pytest.raises(UsageError, match=rf"nearest lines with code: {comment - 1} and {comment + 1}"):
        points_of([comment], target)


def test_a_line_in_a_statement_stands_for_the_statement() -> None:
    [target] = resolve("unit_points:spread_out")
    first = _line("total = sum(")
    for line in range(first, first + 4):
        [point] = points_of([line], target)
        assert first <= point.lines[0] <= first + 3
    [point] = points_of([_line("try:")], target)
    assert point.lines == (_line("try:") + 1,)


def test_places() -> None:
    assert places(["a.py:1,2", "3", 4]) == [("a.py", 1), ("a.py", 2), (None, 3), (None, 4)]


@pytest.mark.slow
def test_a_selection_has_a_file_of_its_own() -> None:
    every = treadle.unit("unit_points:price_of")
    before = Path(every.file or "").read_text()
    for select in ("local-paths", "statements", "branches"):
        suite = treadle.unit("unit_points:price_of", select=select)
        assert suite.file not in (None, every.file)
    treadle.unit("unit_points:price_of", points=[_FREE])
    assert Path(every.file or "").read_text() == before


@pytest.mark.slow
def test_words_of_each_criterion(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("unit_points:price_of", "--select", "statements", capsys=capsys)
    assert "8 of 10 statements of the function's own body are covered by 3 tests" in out
    assert f"not reached within the bound: unit_points.py:{_NEVER}" in out
    assert f"dead code, which no path comes to: unit_points.py:{_DEAD}" in out
    _, out, _ = run("unit_points:price_of", "--select", "branches", capsys=capsys)
    assert "branches of the function's own body are covered by" in out
    _, out, _ = run("unit_points:price_of", "--select", "local-paths", capsys=capsys)
    assert "every local path has its test" in out
    assert "every path has its test" not in out
    _, out, _ = run("unit_points:price_of", "--reach", f"{_FREE},{_DISCOUNT}", capsys=capsys)
    assert "both points are reached by 2 tests" in out


@pytest.mark.slow
def test_points_of_a_whole_module() -> None:
    suite = treadle.unit("unit_points", points=[f"unit_points.py:{_DISCOUNT}"], write_file=False)
    assert suite.tests == 1
    assert suite.cases[0].target == "unit_points:price_of"


def test_a_precondition_may_exclude_a_point(capsys: pytest.CaptureFixture[str]) -> None:
    written = ["unit_points:price_of", "--reach", str(_DISCOUNT)]
    code, out, _ = run(*written, "--pre", "percent < 10", capsys=capsys)
    assert code == 3
    assert f"no test reaches unit_points.py:{_DISCOUNT} within the loop bound (k=2)" in out
    assert "exclude every input" not in out
    assert "exclude every input" in run(*written, "--pre", "percent < percent", capsys=capsys)[1]


def test_a_long_file_keeps_what_shows_a_new_branch_or_outcome() -> None:
    """Five independent conditions have 32 paths; few tests go each of them both ways, and end in every way."""
    names = ["a", "b", "c", "d", "e"]
    lines = [f"    if {name} > 0:\n        total += 1\n" for name in names]
    program = f"def count({', '.join(f'{n}: int' for n in names)}) -> str:\n    total = 0\n{''.join(lines)}"
    program += "    if total == 5:\n        return 'all'\n    return 'none' if total == 0 else 'some'\n"
    Path("select_brief.py").write_text(program)
    whole = treadle.unit("select_brief:count", write_file=False)
    brief = treadle.unit("select_brief:count", write_file=False, brief=True)
    assert (whole.tests, whole.complete) == (32, True)
    assert brief.tests + brief.untold == 32
    assert brief.tests < 12
    assert brief.coverage.is_full
    assert {case.outcome.value for case in brief.cases} == {"all", "none", "some"}
    assert not brief.complete
    assert "more tests would show no new branch or outcome: --select all-paths" in summary(brief)

    short = Shortened(whole)
    lost = next(case for case in whole.explored[0].cases if case.outcome.value == "some")
    whole.cases = [case for case in whole.explored[0].cases if case is not lost]
    assert short.replaced(whole)  # by others that show the same
    assert lost not in whole.explored[0].cases
    assert not short.replaced(dataclasses.replace(whole, cases=whole.explored[0].cases))
