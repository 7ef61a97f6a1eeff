"""Compositional generation: the tables of the paper, the same cases as without, and summaries kept between runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbolic import random_programs
from tests.symbolic.alias_programs import alias_programs
from tests.symbolic.exploring import explored, load
from treadle.symbolic.python.summaries import composer as summaries
from treadle.symbolic.python.summaries.composing import Composition
from treadle.symbolic.python.summaries.recording import RecordingVM
from treadle.symbolic.python.summaries.store import SummaryStore
from treadle.symbolic.summary.tree import Summary, SummaryCase
from treadle.units import explore as unit_explore
from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.summary import summary_of
from treadle.units.target import UnitTarget, resolve

PROGRAMS = Path(__file__).parent.parent / "programs"
TABLE_2 = (str(PROGRAMS / "unit_stubs_table2.py"),)


def target(text: str) -> UnitTarget:
    load(text.partition(":")[0])
    [found] = resolve(text)
    return found


def cases(text: str, **options: Any) -> list[SummaryCase]:
    return summary_of(target(text), UnitOptions(k=1, **options)).cases


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function is summarised at its first call, however small it is."""
    monkeypatch.setattr(summaries, "LEAST_STEPS", 0)
    monkeypatch.setattr(unit_explore, "SUMMARISED_AFTER", 0)


# --- the tables of the paper -------------------------------------------------------------------------------


def test_table_1_simplify_has_five_cases() -> None:
    found = cases("unit_summaries:Rational.simplify")
    n, d = "self.n", "self.d"
    rows = {(case.heap_out[0], case.exception, " and ".join(case.constraints)) for case in found}
    assert rows == {
        # rows of the table from top to bottom: F < 0 over 0, F > 0 over 0, 0 over 0, G < 0, G > 0
        (f"self -> Rational(n={n} // (-{n}), d={d} // (-{n}))", "", f"{d} == 0 and {n} < 0"),
        (f"self -> Rational(n=1, d={d} // {n})", "", f"{d} == 0 and {n} >= 0 and {n} != 0"),
        (
            f"self -> Rational(n={n}, d={d})",
            "ZeroDivisionError('integer division or modulo by zero')",
            f"{d} == 0 and {n} >= 0 and {n} == 0",
        ),
        (
            f"self -> Rational(n={n} // (-{d}), d={d} // (-{d}))",
            "",
            f"{d} != 0 and {n} % {d} == 0 and {d} < 0",
        ),
        (f"self -> Rational(n={n} // {d}, d=1)", "", f"{d} != 0 and {n} % {d} == 0 and {d} >= 0"),
    }
    assert {case.heap_in for case in found} == {(f"self -> Rational(n={n}, d={d})",)}


def test_table_2_arraycopy_is_given_with_five_cases() -> None:
    found = cases("unit_summaries:copy", stubs=TABLE_2)
    separate = [case for case in found if "dst is src" not in case.constraints]
    assert {(case.constraints[-1], case.exception) for case in separate} == {
        ("n == 0", ""),
        ("n < 0", "ArithmeticError('negative length')"),
        ("src is None", "TypeError('null array')"),
        ("len(src) > 0", "TypeError('null array')"),  # and dst is None
        ("len(dst) > 0", ""),  # and n == 1: one element is copied
    }
    copied = next(case for case in separate if case.constraints[-1] == "len(dst) > 0")
    assert copied.heap_out == ("src -> list(0: src[0])", "dst -> [] + list(0: src[0]) + []")


def test_table_3_simp_has_eight_cases() -> None:
    """Null is None, whose missing `length` is a TypeError and whose missing method is an AttributeError in Python."""
    found = cases("unit_summaries:Rational.simp", stubs=TABLE_2)
    element, n, d = "rs[0] is not None", "rs[0].n", "rs[0].d"
    outcomes = {
        " and ".join(c for c in case.constraints if c not in ("rs is not None", "len(rs) > 0", "len(rs) == 1")): (
            case.exception.partition("(")[0],
            (case.heap_out or ("",))[-1],
        )
        for case in found
    }
    assert len(found) == 8
    assert outcomes == {
        "len(rs) <= 0": ("", "new1 -> []"),
        "rs is None": ("TypeError", ""),
        f"{element} and {d} == 0 and {n} < 0": ("", "new1 -> [rs[0]]"),
        f"{element} and {d} == 0 and {n} >= 0 and {n} != 0": ("", "new1 -> [rs[0]]"),
        f"{element} and {d} == 0 and {n} >= 0 and {n} == 0": (
            "ZeroDivisionError",
            "rs[0] -> Rational(n=rs[0].n, d=rs[0].d)",
        ),
        f"{element} and {d} != 0 and {n} % {d} == 0 and {d} < 0": ("", "new1 -> [rs[0]]"),
        f"{element} and {d} != 0 and {n} % {d} == 0 and {d} >= 0": ("", "new1 -> [rs[0]]"),
        "rs[0] is None": ("AttributeError", "rs -> list(0: None)"),
    }


def test_simp_gives_eight_tests() -> None:
    assert len(explored("unit_summaries:Rational.simp", k=1, stubs=TABLE_2, summaries=True).cases) == 8


# --- the same as without -----------------------------------------------------------------------------------


def _all(found: ExploredTarget) -> dict[str, Any]:
    seen = found.seen
    told = [
        (c.choices, c.conditions, random_programs.facts(c), c.lines, c.symbolic, c.stubs, c.fragile)
        for c in found.cases
    ]
    return {
        "cases": told,
        "ends": [([str(part) for part in story], end) for story, end in seen.ends],
        "cut": seen.cut,
        "cut trails": seen.cut_at_loops,
        "unsupported": seen.unsupported,
        "sampled": seen.sampled,
        "functions entered": seen.followed,
    }


def _both(found: UnitTarget, **options: Any) -> tuple[dict[str, Any], dict[str, Any], Session]:
    plain = Session(found, UnitOptions(summaries=False, seconds=1e9, **options))
    composed = Session(found, UnitOptions(summaries=True, seconds=1e9, **options))
    return _all(plain.explore()), _all(composed.explore()), composed


def _targets() -> Iterator[UnitTarget]:
    load("unit_summaries")
    yield from resolve("unit_summaries")


@pytest.mark.parametrize("heap", ["solver", "lazy"])
@pytest.mark.parametrize("one", [pytest.param(found, id=found.name) for found in _targets()])
@pytest.mark.usefixtures("eager")
def test_every_program_gives_the_same(one: UnitTarget, heap: str) -> None:
    plain, composed, _ = _both(one, k=1, heap=heap)
    assert composed == plain


@pytest.mark.parametrize("name", ["compared", "moved", "extended"])
@pytest.mark.usefixtures("eager")
def test_calls_are_composed_while_it_is_open_which_objects_are_the_same(name: str) -> None:
    _, _, session = _both(target(f"unit_summaries:{name}"), k=1)
    assert session.summaries is not None
    assert session.summaries.composed >= session.result.paths
    assert session.result.paths < len(session.result.cases)  # so it was open


@pytest.mark.slow
@settings(max_examples=80)
@given(random_programs.programs(), st.sampled_from(["solver", "lazy"]), st.integers(1, 2))
@pytest.mark.usefixtures("eager")
def test_random_programs_give_the_same(source: str, heap: str, k: int) -> None:
    [found] = resolve(random_programs.target(source))
    plain, composed, _ = _both(found, k=k, heap=heap)
    assert composed == plain


@pytest.mark.slow
@settings(max_examples=60)
@given(alias_programs(), st.sampled_from(["solver", "lazy"]))
@pytest.mark.usefixtures("eager")
def test_programs_full_of_aliases_give_the_same(source: str, heap: str) -> None:
    [found] = resolve(random_programs.target(source))
    plain, composed, _ = _both(found, k=1, heap=heap)
    assert composed == plain


@pytest.mark.usefixtures("eager")
def test_calls_really_are_composed() -> None:
    _, _, session = _both(target("unit_summaries:round_trip"), k=1)
    assert session.summaries is not None
    counts = session.summaries.counts()
    assert (counts["computed"], counts["reused"]) == (4, 0)  # transfer, withdraw, fee of each class
    assert counts["composed"] > 10


@pytest.mark.usefixtures("eager")
def test_a_loop_that_the_summary_cuts_runs_on_known_values() -> None:
    _, _, session = _both(target("unit_summaries:known_rounds"), k=1)
    assert session.result.paths == 2
    assert session.result.seen.cut == {}


def test_a_function_that_is_called_rarely_is_not_summarised() -> None:
    found = Session(target("unit_summaries:guarded"), UnitOptions(k=1, summaries=True))
    found.explore()
    assert found.result.summaries["computed"] == 0


def test_functions_that_call_each_other_are_one_component() -> None:
    """Both entries of the component are summarised, each by itself; inside, the other one is run."""
    found = Session(target("unit_summaries:parities"), UnitOptions(k=2, summaries=True))
    found.summaries = summaries.Summaries(2)
    result = found.explore()
    assert found.summaries.counts()["computed"] == 2
    assert result.paths == len(explored("unit_summaries:parities", k=2).cases)


# --- kept between runs -------------------------------------------------------------------------------------

_MODULE = """
def weight(x: int) -> int:
    total = 0
    for i in range(6):
        total += x * i
    if total > LIMIT:
        return 2
    return 1 if total > 0 else 0

def main(a: int, b: int) -> int:
    return weight(a) + weight(b) + weight(a + b)
"""


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = 0

    def run(self, source: str, limit: int = 50) -> tuple[dict[str, int], list[str], int]:
        """The counts of one run with its own module, as a new process would see it."""
        import sys

        from treadle.symbolic.python.compile import source as sources
        from treadle.symbolic.python.summaries import store as summary_store

        (self.folder / "kept_between_runs.py").write_text(f"LIMIT = {limit}\n{source}")
        sys.modules.pop("kept_between_runs", None)
        for cache in (sources.tree_of, summary_store._definitions, summary_store._module_of):
            cache.cache_clear()
        import linecache

        linecache.clearcache()
        [found] = resolve("kept_between_runs:main")
        session = Session(found, UnitOptions(k=1, summaries=True))
        assert session.summaries is not None
        session.summaries.after = 0
        session.summaries.store = SummaryStore(self.folder / ".treadle" / "summaries")
        result = session.explore()
        return session.summaries.counts(), session.summaries.store.warnings, result.paths


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return Project(tmp_path)


def test_the_second_run_reuses(project: Project) -> None:
    first, _, paths = project.run(_MODULE)
    assert (first["computed"], first["reused"]) == (1, 0)
    second, warnings, again = project.run(_MODULE)
    assert (second["computed"], second["reused"], warnings) == (0, 1, [])
    assert (second["composed"], again) == (first["composed"], paths)


def test_a_change_of_the_caller_does_not_matter(project: Project) -> None:
    project.run(_MODULE)
    moved = _MODULE.replace("def weight", '"""Two lines further down.\n"""\n\ndef weight').replace("(a + b)", "(a - b)")
    # a docstring is a statement of the module; a comment is not
    assert project.run("\n\n# moved\n" + _MODULE.replace("(a + b)", "(a - b)"))[0]["reused"] == 1
    assert project.run(moved)[0]["computed"] == 1


@pytest.mark.parametrize("change", [("return 2", "return 3"), ("range(6)", "range(7)"), ("total > 0", "total >= 0")])
def test_a_change_of_the_function_invalidates(project: Project, change: tuple[str, str]) -> None:
    project.run(_MODULE)
    counts, warnings, _ = project.run(_MODULE.replace(*change))
    assert (counts["computed"], counts["reused"], warnings) == (1, 0, [])
    assert project.run(_MODULE.replace(*change))[0]["reused"] == 1


def test_a_change_of_a_constant_invalidates(project: Project) -> None:
    project.run(_MODULE)
    assert project.run(_MODULE, limit=51)[0]["computed"] == 1


def test_a_damaged_file_is_named_and_written_anew(project: Project) -> None:
    project.run(_MODULE)
    [file] = (project.folder / ".treadle" / "summaries").glob("*.json")
    good = file.read_text()
    edited = [good.replace('"Decide"', '"Dream"'), good.replace('"whole": true', '"whole": false')]
    assert good not in edited
    for text in ("{", "[]", "{}", good[:-20], *edited):
        file.write_text(text)
        counts, warnings, _ = project.run(_MODULE)
        assert counts["computed"] == 1
        assert len(warnings) == 1
        assert file.name in warnings[0]
        assert "made anew" in warnings[0]
        assert project.run(_MODULE)[0]["reused"] == 1


def test_a_folder_that_cannot_be_written_costs_only_the_reuse(project: Project) -> None:
    (project.folder / ".treadle").write_text("in the way")
    counts, warnings, paths = project.run(_MODULE)
    assert (counts["computed"], paths > 0) == (1, True)
    assert len(warnings) == 1
    assert "cannot be" in warnings[0]


@pytest.mark.slow
def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    """Composed from files, every program still gives the same; the files hold JSON only."""
    store = SummaryStore(tmp_path)
    for one in list(_targets())[::3]:
        for _ in range(2):
            session = Session(one, UnitOptions(k=1, summaries=True))
            session.summaries = summaries.Summaries(1, store=store)
            kept = _all(session.explore())
        plain = _all(Session(one, UnitOptions(k=1, summaries=False)).explore())
        assert kept == plain
    assert store.warnings == []
    names = os.listdir(tmp_path)
    assert len(names) > 10
    for name in names:
        json.loads((tmp_path / name).read_text())


def test_a_summary_has_a_leaf_for_each_case() -> None:
    found: Summary = summary_of(target("unit_summaries:clamp"), UnitOptions(k=1))
    assert [leaf.kind for leaf in found.leaves()] == ["raise", "return", "return", "return"]
    assert found.whole


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("error", [AttributeError, TypeError, AssertionError, KeyError])
def test_a_fault_of_ours_while_composing_is_not_taken_for_a_summary_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def walk(composition: Composition, env: object) -> None:
        raise error("ours")

    monkeypatch.setenv("TREADLE_DEBUG", "1")
    monkeypatch.setattr(Composition, "walk", walk)
    with pytest.raises(error, match="ours"):
        Session(target("unit_summaries:moved"), UnitOptions(k=1, summaries=True)).explore()


@pytest.mark.usefixtures("eager")
def test_a_fault_of_ours_while_recording_is_not_taken_for_a_function_without_a_summary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(vm: RecordingVM, frame: object, error: object = None) -> None:
        raise TypeError("ours")

    monkeypatch.setenv("TREADLE_DEBUG", "1")
    monkeypatch.setattr(RecordingVM, "run", run)
    with pytest.raises(TypeError, match="ours"):
        Session(target("unit_summaries:moved"), UnitOptions(k=1, summaries=True)).explore()
