"""Growing a suite: k + 1 is what lies below the cut paths, nothing comes twice, and nothing is lost on the way."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import linecache
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from tests.commands import run_unit as run
from tests.symbolic.alias_programs import alias_programs
from tests.symbolic.exploring import PROGRAMS, load
from tests.symbolic.random_programs import facts, programs, target
from treadle.core.errors import UsageError
from treadle.core.files import is_unedited
from treadle.doors.unit import commit as unit_commit
from treadle.doors.unit import store as unit_store
from treadle.symbolic.explore import Exploration, explore
from treadle.symbolic.heap import aliasings as unit_aliasings
from treadle.symbolic.path import Alternative
from treadle.symbolic.python.compile import source
from treadle.symbolic.solve.solver import Solver
from treadle.units import grow as unit_grow
from treadle.units.explore import ExploredTarget, Session
from treadle.units.grow import TargetMemory
from treadle.units.options import UnitOptions
from treadle.units.target import resolve


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))


def explored(text: str, kept: TargetMemory | None = None, **options: Any) -> tuple[ExploredTarget, TargetMemory]:
    """One step of growing, nothing written: from the root, or from what was kept."""
    [found] = resolve(text)
    chosen = UnitOptions(**{"summaries": False, **options})
    growth = None
    further: dict[str, Any] = {}
    if kept is not None:
        growth = unit_grow.go_on(kept, found, chosen, None)
        chosen = dataclasses.replace(chosen, k=growth.k)
        further = {"start": growth.start, "inside": growth.inside, "decided": growth.decided}
    result = Session(found, chosen, **further).explore()
    kept = unit_grow.keep(result, chosen, "test_x.py", growth, 0)
    # what is kept survives a round through its file
    return result, TargetMemory.from_json(json.loads(json.dumps(kept.to_json())))


def cases(*results: ExploredTarget) -> list[Any]:
    """Everything that tells the cases apart, in an order of its own."""
    found = [(c.choices, c.conditions, facts(c)) for r in results for c in r.cases]
    return sorted(found, key=repr)


# --- exactly what a direct run gives -----------------------------------------------------------------------


def test_lcm_grows_from_9_to_15_to_21(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_paper")
    code, out, _ = run("unit_paper:lcm", "-k", "1", "--output", "test_x.py", capsys=capsys)
    assert (code, "9 paths, 9 tests" in out) == (0, True)
    code, out, _ = run("unit_paper:lcm", "--more", capsys=capsys)
    assert code == 0
    assert "unit_paper:lcm: k 1 -> 2: 6 new paths, 6 new tests (15 in the file)" in out
    code, out, _ = run("unit_paper:lcm", "--more", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert {"from_k": 2, "k": 3, "new": 6}.items() <= found["more"].items()
    assert found["more"]["tests_in_file"] == 21
    assert (found["tests"], found["paths"], found["file"]) == (6, 6, "test_x.py")
    assert found["coverage"] == {"lines": 100.0, "branches": 100.0}
    assert is_unedited(Path("test_x.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:treadle", "-p", "no:cacheprovider", "test_x.py"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(PROGRAMS), "PATH": ""},
    )
    assert "21 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    ["unit_growing:grid", "unit_growing:stairs", "unit_growing:depth", "unit_growing:words", "unit_growing:total"],
)
def test_a_grown_suite_is_the_suite_of_the_wider_bound(name: str) -> None:
    """Loops in loops, recursion, picked values: a path cut in one loop loses nothing of another."""
    load("unit_growing")
    first, kept = explored(name, k=0)
    second, kept = explored(name, kept)
    third, kept = explored(name, kept)
    direct, _ = explored(name, k=2)
    assert kept.k == 2
    assert cases(first, second, third) == cases(direct)
    assert sorted(third.seen.cut_at_loops, key=str) == sorted(direct.seen.cut_at_loops, key=str)


# So that nothing but the loop bound cuts: what limits do is tested on its own.
_NO_LIMIT: dict[str, Any] = {"seconds": 1e9, "paths": 1_000_000}


@settings(max_examples=12)
@given(programs())
def test_random_programs_grow_to_what_a_direct_run_gives(program: str) -> None:
    text = target(program)
    first, kept = explored(text, k=0, **_NO_LIMIT)
    second, kept = explored(text, kept, **_NO_LIMIT)
    third, kept = explored(text, kept, **_NO_LIMIT)
    direct, _ = explored(text, k=2, **_NO_LIMIT)
    if kept.complete:  # there may have been nothing to add after the first or the second
        assert not kept.cut
    grown = cases(*{id(r): r for r in (first, second, third)}.values())
    assert grown == cases(direct)


# --- limits ------------------------------------------------------------------------------------------------


def limited(text: str, limits: Sequence[int], **options: Any) -> tuple[list[ExploredTarget], TargetMemory]:
    """A run with a limit on paths, and one --more after the other, each with the next limit, until nothing is left."""
    kept: TargetMemory | None = None
    results: list[ExploredTarget] = []
    for limit in itertools.cycle(limits):
        result, kept = explored(text, kept, paths=limit, seconds=1e9, **options)
        results.append(result)
        assert len(result.cases) <= limit
        if not kept.pending:
            break
    assert kept is not None
    return results, kept


@settings(max_examples=10)
@given(st.one_of(programs(), alias_programs()), st.lists(st.integers(3, 60), min_size=1, max_size=3))
def test_limited_runs_end_with_what_one_run_gives(program: str, limits: list[int]) -> None:
    text = target(program)
    results, kept = limited(text, limits, k=1)
    whole, unlimited = explored(text, k=1, **_NO_LIMIT)
    assert cases(*results) == cases(whole)
    assert sorted(kept.cut, key=str) == sorted(unlimited.cut, key=str)
    assert set(kept.finished) == set(unlimited.finished)
    assert (kept.made, kept.inside) == (len(whole.cases), {})


@pytest.mark.parametrize("limits", [[1], [4], [10], [3, 1, 7]], ids=str)
@pytest.mark.parametrize("name", ["unit_heap:five", "unit_heap:swap_and_add"])
def test_a_limit_inside_a_path_is_no_loss(name: str, limits: list[int]) -> None:
    """One path stands for many aliasings: the next run goes on with the first that has no test."""
    load("unit_heap")
    results, kept = limited(name, limits)
    whole, _ = explored(name)
    assert cases(*results) == cases(whole)
    assert kept.complete


def test_what_a_limit_left_inside_a_path_costs_no_question_again(monkeypatch: pytest.MonkeyPatch) -> None:
    load("unit_heap")
    _, kept = explored("unit_heap:five", none=False, paths=51)
    [trail] = kept.pending
    assert kept.inside.keys() == {trail}
    asked: list[Any] = []
    usual = unit_aliasings._Decided.possible

    def counted(self: Any, solver: Solver) -> bool:
        asked.append(self)
        return usual(self, solver)

    monkeypatch.setattr(unit_aliasings._Decided, "possible", counted)
    rest, kept = explored("unit_heap:five", kept, none=False, paths=51)
    assert (len(rest.cases), kept.complete) == (1, True)
    assert len(asked) < 6  # 75 from the start


def test_the_tests_that_a_limit_left_inside_a_path_are_added(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_heap")
    arguments = ("unit_heap:five", "--no-none", "--paths", "20")
    code, out, _ = run(*arguments, "--output", "test_x.py", capsys=capsys)
    assert code == 0
    assert "unit_heap:five: 2 paths, 20 tests" in out
    assert "1 path cut by the limit on paths (--paths)" in out
    assert "every path" not in out
    code, out, _ = run(*arguments, "--more", capsys=capsys)
    assert code == 0
    assert "k 2, continued: 0 new paths, 20 new tests (40 in the file)" in out
    Path("test_x.py").unlink()
    code, out, _ = run(*arguments, "--more", capsys=capsys)
    assert code == 0
    assert "12 new tests (52 in the file); 40 tests of earlier runs written again" in out
    assert "every path has its test" in out
    code, out, _ = run(*arguments, "--more", capsys=capsys)
    assert (code, "the tree is complete: nothing to add" in out) == (0, True)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_answer_of_a_contract_comes_twice(limit: int) -> None:
    """Deciding a promise may take several ways; one test of each answer is enough, however many runs it takes."""
    load("unit_growing")
    results, _ = limited("unit_growing:promised", [limit])
    whole, _ = explored("unit_growing:promised")
    assert cases(*results) == cases(whole)
    assert len(whole.finished) > len(whole.cases)


def test_what_a_limit_left_is_done_first_with_the_same_bound() -> None:
    load("unit_growing")
    direct, _ = explored("unit_growing:stairs", k=2)
    results = []
    result, kept = explored("unit_growing:stairs", k=2, paths=4)
    while kept.pending:
        results.append(result)
        assert kept.k == 2
        result, kept = explored("unit_growing:stairs", kept, paths=4)
    results.append(result)
    assert all(r.paths <= 4 for r in results)
    assert cases(*results) == cases(direct)
    assert sorted(kept.cut, key=str) == sorted(direct.seen.cut_at_loops, key=str)


def test_stored_choices_lead_to_the_same_cases() -> None:
    """Forced choices are not stored: which conditions are open is found out again."""
    load("unit_growing")
    result, kept = explored("unit_growing:grid", k=2)
    [found] = resolve("unit_growing:grid")
    start = [Alternative(choices, with_forced=False) for choices in kept.finished]
    assert not any(choice.forced for choices in kept.finished for choice in choices)
    assert cases(Session(found, UnitOptions(k=2, summaries=False), start=start).explore()) == cases(result)


def test_known_prefixes_cost_no_question() -> None:
    """While a search goes on, running a path again asks the solver nothing."""
    load("unit_growing")
    [found] = resolve("unit_growing:grid")
    session = Session(found, UnitOptions(k=2, summaries=False))
    ran = list(explore(session.cases, session.solver(), Exploration()))
    solver = session.solver()
    again = list(explore(session.cases, solver, Exploration(), start=[Alternative(one.choices) for one in ran]))
    assert [one.choices for one in again] == [one.choices for one in ran]
    assert any(choice.forced for one in ran for choice in one.choices)
    assert sum(solver.counts.values()) == 0


def test_ctrl_c_leaves_the_rest_for_more(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")

    def stop(text: str, number: int, all_: int, found: int) -> None:
        if found == 5 and text != "running the tests":
            raise KeyboardInterrupt

    suite = treadle.unit("unit_growing:stairs", k=2, progress=stop)
    assert suite.tests == 5
    assert not suite.complete
    code, out, _ = run("unit_growing:stairs", "--more", "--json", capsys=capsys)
    whole = treadle.unit("unit_growing:stairs", k=2, write_file=False)
    found = json.loads(out)
    assert code == 0
    assert {"from_k": 2, "k": 2, "new": whole.tests - 5}.items() <= found["more"].items()
    assert found["complete"]


def test_functions_that_ctrl_c_left_unbegun_are_for_more_too() -> None:
    load("unit_growing")

    def stop(text: str, number: int, all_: int, found: int) -> None:
        if found == 2 and text == "unit_growing:grid":
            raise KeyboardInterrupt

    targets = ("unit_growing:grid", "unit_growing:straight")
    suite = treadle.unit(*targets, k=1, output="test_x.py", progress=stop)
    assert (suite.tests, suite.left_out) == (2, ["unit_growing:straight: stopped before it"])
    grown = treadle.unit(*targets, more=True)
    whole = treadle.unit(*targets, k=1, write_file=False)
    assert grown.more is not None
    assert (grown.more.k, grown.more.in_file, grown.complete) == (1, whole.tests, True)


# --- files -------------------------------------------------------------------------------------------------


def test_hand_edits_stay_and_names_do_not_clash(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_paper")
    run("unit_paper:lcm", "-k", "1", "--output", "test_x.py", capsys=capsys)
    file = Path("test_x.py")
    mine = file.read_text() + "\n\ndef test_mine():\n    assert True\n"
    file.write_text(mine)
    code, out, _ = run("unit_paper:lcm", "--more", capsys=capsys)
    assert code == 0
    assert "(16 in the file)" in out
    text = file.read_text()
    assert "def test_mine():" in text
    assert not is_unedited(text)
    names = [line for line in text.splitlines() if line.startswith("def ")]
    assert len(names) == len(set(names))


def test_a_file_that_is_gone_is_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_paper")
    run("unit_paper:lcm", "-k", "1", "--output", "test_x.py", capsys=capsys)
    Path("test_x.py").unlink()
    code, out, _ = run("unit_paper:lcm", "--more", capsys=capsys)
    assert code == 0
    assert "6 new paths, 6 new tests (15 in the file); 9 tests of earlier runs written again" in out


def test_nothing_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    run("unit_growing:straight", "--output", "test_x.py", capsys=capsys)
    before = Path("test_x.py").read_text()
    code, out, _ = run("unit_growing:straight", "--more", capsys=capsys)
    assert code == 0
    assert "the tree is complete: nothing to add" in out
    assert Path("test_x.py").read_text() == before
    code, out, _ = run("unit_growing:straight", "--more", "--json", capsys=capsys)
    assert code == 0
    assert {"from_k": 2, "k": 2, "new": 0, "complete": True}.items() <= json.loads(out)["more"].items()


def test_more_without_an_earlier_run(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    code, out, err = run("unit_growing:grid", "--more", capsys=capsys)
    assert (code, out) == (2, "")
    assert "nothing to go on from" in err
    assert "run treadle unit unit_growing:grid first, without --more" in err
    assert list(Path().iterdir()) == []


def test_nothing_is_kept_when_no_file_is_written() -> None:
    load("unit_growing")
    treadle.unit("unit_growing:grid", k=1, write_file=False)
    assert list(Path().iterdir()) == []
    treadle.unit("unit_growing:grid", k=1, output="test_x.py")
    before = unit_store.place("unit_growing:grid").read_text()
    suite = treadle.unit("unit_growing:grid", more=True, write_file=False)
    assert suite.more is not None
    assert suite.more.tests > 0
    assert unit_store.place("unit_growing:grid").read_text() == before
    assert (Path(".treadle") / ".gitignore").exists()


def test_a_damaged_store_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    run("unit_growing:straight", "--output", "test_x.py", capsys=capsys)
    place, before = unit_store.place("unit_growing:straight"), Path("test_x.py").read_text()
    for content, why in {
        "": "it is not JSON",
        "{": "it is not JSON",
        "[]": "it was not written by this version",
        '{"version": 1}': "it was not written by this version",
        json.dumps({"version": unit_grow.VERSION}): "it has no 'target'",
        '{"version": 99}': "it was not written by this version",
    }.items():
        place.write_text(content)
        code, _, err = run("unit_growing:straight", "--more", capsys=capsys)
        assert code == 2
        assert f"{place} is damaged ({why}" in err
        assert "without --more to start anew" in err
        assert err.count("\n") == 1
        assert Path("test_x.py").read_text() == before
    assert run("unit_growing:straight", "--output", "test_x.py", capsys=capsys)[0] == 0
    assert run("unit_growing:straight", "--more", capsys=capsys)[0] == 0


def test_a_store_with_wrong_contents_is_damaged() -> None:
    load("unit_growing")
    _, kept = explored("unit_growing:grid", k=1)
    unit_commit.commit(Path("test_x.py"), None, [kept], growing=False)
    place = unit_store.place("unit_growing:grid")
    found = json.loads(place.read_text())
    for field in ("cut", "finished", "k", "code", "options", "unsupported"):
        for wrong in (None, [5], [["=", {"what": 1}]], "x"):
            place.write_text(json.dumps({**found, field: wrong}))
            with pytest.raises(UsageError, match="is damaged"):
                unit_store.load("unit_growing:grid")
    place.write_text(json.dumps(found))
    assert unit_store.load("unit_growing:grid") == kept


def test_tests_are_written_where_nothing_can_be_kept(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    Path(".treadle").write_text("a file where the folder should be")
    code, _, err = run("unit_growing:straight", "--output", "test_x.py", capsys=capsys)
    assert code == 0
    assert Path("test_x.py").exists()
    assert err.count("\n") == 1
    assert "--more will not be able to go on" in err


# --- what has changed --------------------------------------------------------------------------------------


def _module(name: str, text: str) -> None:
    """The program in the current folder, as a fresh process would see it."""
    Path(f"{name}.py").write_text(text)
    sys.path.insert(0, ".")
    linecache.clearcache()
    source.tree_of.cache_clear()
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    importlib.import_module(name)
    sys.path.pop(0)


_PROGRAM = """
LIMIT = 3

def helper(n: int) -> int:
    return n + 1

def loop(n: int) -> int:
    "Counts."
    while n > LIMIT:
        n -= helper(1)
    return n

def other(n: int) -> int:
    return n
"""


@pytest.mark.parametrize(
    ("number", "old", "new", "said"),
    [
        (0, "n -= helper(1)", "n -= helper(2)", "loop in growing_0.py changed"),
        (1, "return n + 1", "return n + 2", "helper in growing_1.py changed"),
        (2, "LIMIT = 3", "LIMIT = 4", "growing_2.py changed outside its functions"),
        (3, "def helper", "def helper_", "helper is gone from growing_3.py"),
    ],
)
def test_changed_code_is_named_and_nothing_is_lost(
    number: int, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"growing_{number}"
    _module(name, _PROGRAM)
    assert run(f"{name}:loop", "-k", "1", "--output", "test_x.py", capsys=capsys)[0] == 0
    before = Path("test_x.py").read_text()
    _module(name, _PROGRAM.replace(old, new))
    code, _, err = run(f"{name}:loop", "--more", capsys=capsys)
    assert code == 2
    assert said in err
    assert f"run treadle unit {name}:loop -k 1 to start anew" in err
    assert Path("test_x.py").read_text() == before


def test_changes_that_cannot_matter_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    _module("growing_5", _PROGRAM)
    assert run("growing_5:loop", "-k", "1", "--output", "test_x.py", capsys=capsys)[0] == 0
    changed = _PROGRAM.replace("return n\n\ndef other", "return n  # done\n\ndef other").replace(
        "Counts", "Counts down"
    )
    _module("growing_5", changed.replace("    return n\n", "    return n * 2\n").replace("n * 2", "n", 1))
    assert run("growing_5:loop", "--more", capsys=capsys)[0] == 0


def test_other_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    run("unit_growing:total", "-k", "1", "--no-none", "--domain", "0..5", "--output", "test_x.py", capsys=capsys)
    code, _, err = run("unit_growing:total", "--more", capsys=capsys)
    assert code == 2
    assert "made with --no-none, --domain 0..5; pass the same with --more" in err
    code, out, _ = run("unit_growing:total", "--more", "--no-none", "--domain", "0..5", capsys=capsys)
    assert code == 0
    assert "k 1 -> 2" in out


def test_a_wanted_bound(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_growing")
    run("unit_growing:grid", "-k", "1", "--output", "test_x.py", capsys=capsys)
    code, out, _ = run("unit_growing:grid", "--more", "-k", "3", capsys=capsys)
    assert code == 0
    whole, _ = explored("unit_growing:grid", k=3)
    assert f"k 1 -> 3: {len(whole.cases) - 3} new paths" in out
    assert run("unit_growing:grid", "--more", "-k", "2", capsys=capsys)[0] == 2
    assert run("unit_growing:grid", "--more", "-k", "3", capsys=capsys)[0] == 2


def test_a_target_has_one_name_whether_given_by_file_or_by_module(capsys: pytest.CaptureFixture[str]) -> None:
    _module("growing_7", _PROGRAM)
    assert run("growing_7.py:loop", "-k", "1", capsys=capsys)[0] == 0
    code, out, _ = run("growing_7:loop", "--more", "--json", capsys=capsys)
    assert code == 0
    assert {"from_k": 1, "k": 2, "new": 1}.items() <= json.loads(out)["more"].items()


def test_a_module_grows_together(capsys: pytest.CaptureFixture[str]) -> None:
    _module("growing_6", _PROGRAM)
    assert run("growing_6", "-k", "1", capsys=capsys)[0] == 0
    code, out, _ = run("growing_6", "--more", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert {"from_k": 1, "k": 2, "new": 1}.items() <= found["more"].items()
    _module(
        "growing_6",
        _PROGRAM.replace("n -= helper(1)", "n -= helper(2)") + "\n\ndef late(n: int) -> int:\n    return n\n",
    )
    code, out, _ = run("growing_6", "--more", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert found["more"]["new"] == 0
    assert "loop in growing_6.py changed" in found["left_out"][0]
    assert found["left_out"][1] == "growing_6:late: no earlier run; run it without --more first"


def test_what_could_not_be_covered_is_still_not(capsys: pytest.CaptureFixture[str]) -> None:
    """A suite with a sampled path never says that every path has its test, however much it grows."""
    load("unit_growing")
    run("unit_growing:widths", "-k", "1", "--output", "test_x.py", capsys=capsys)
    code, out, _ = run("unit_growing:widths", "--more", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert found["sampled"]
    assert not found["complete"]


def test_options_that_are_wrong_together() -> None:
    load("unit_growing")
    with pytest.raises(UsageError, match="nothing to go on from"):
        treadle.unit("unit_growing:grid", "unit_growing:total", more=True)
