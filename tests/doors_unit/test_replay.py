"""The string beside a written test: it leads along the same path again, to the same case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from tests.commands import run_command as run
from tests.symbolic.alias_programs import alias_programs
from tests.symbolic.exploring import PROGRAMS, load
from tests.symbolic.random_programs import explore, programs
from treadle.core.errors import UsageError
from treadle.core.trail import Trail
from treadle.doors.unit.replay import replay_case, trail_of
from treadle.doors.unit.result_json import case_facts
from treadle.symbolic.path import SymbolicPath
from treadle.symbolic.testcase import TestCase
from treadle.units.explore import Session


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    for name in ("unit_paper", "unit_growing"):
        load(name)


def same(one: TestCase, other: TestCase) -> bool:
    return case_facts(one) == case_facts(other) and one.conditions == other.conditions


@pytest.mark.parametrize("target", ["lcm", "mist", "List.rem_all", "Rational.simplify"])
def test_every_test_replays_to_its_own_case(target: str) -> None:
    suite = treadle.unit(f"unit_paper:{target}", k=1, write_file=False, trails=True)
    trails = re.findall(r"# (tr2:\S+)", suite.source)
    assert len(trails) == len(set(trails)) == suite.tests
    [explored] = suite.explored
    for case in suite.cases:
        text = str(trail_of(case, explored.options))
        assert text in trails
        assert same(replay_case(Trail.parse(text)), case)


@settings(max_examples=15)
@given(st.one_of(programs(), alias_programs()))
def test_random_paths_replay(program: str) -> None:
    explored = explore(program)
    for case in explored.cases[:40]:
        assert same(replay_case(Trail.parse(str(trail_of(case, explored.options)))), case)


def test_the_command_shows_inputs_outcome_and_condition(capsys: pytest.CaptureFixture[str]) -> None:
    suite = treadle.unit("unit_paper:absolute", write_file=False)
    [negative] = [case for case in suite.cases if case.condition == "a < 0"]
    code, out, _ = run("replay", str(trail_of(negative, suite.explored[0].options)), capsys=capsys)
    assert code == 0
    assert out.splitlines() == [
        "unit_paper:absolute: the same path again",
        "  path condition  a < 0",
        "  inputs          a=-1",
        "  outcome         returns 1 (as before)",
    ]


def test_a_broken_contract_exits_1_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("replayed_root.py").write_text(
        "import icontract\n\n\n@icontract.ensure(lambda result: result > 0)\ndef root(n: int) -> int:\n"
        "    return 1 if n > 3 else n\n"
    )
    suite = treadle.unit("replayed_root:root", write_file=False)
    [broken] = suite.violations
    assert run("replay", str(trail_of(broken, suite.explored[0].options)), capsys=capsys)[0] == 1


def test_another_program_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("replayed_sign.py")
    file.write_text("def sign(n: int) -> int:\n    if n < 0:\n        return -1\n    return 1\n")
    suite = treadle.unit("replayed_sign:sign", write_file=False)
    text = str(trail_of(suite.cases[0], suite.explored[0].options))
    text = text.replace("replayed_sign:sign", "unit_paper:lcm")
    code, _, err = run("replay", text, capsys=capsys)
    assert code == 2
    assert "no longer takes the path of this trail" in err


def test_settings_that_no_run_has_are_one_sentence() -> None:
    with pytest.raises(UsageError, match="does not know: k = 'two'"):
        replay_case(Trail("unit_paper:lcm", (), door="unit", settings={"k": "two"}))


def test_a_fault_of_the_machine_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told apart from code that cannot be followed, and costs its own path only."""
    usual = Session._run_path

    def faulty(self: Session, path: SymbolicPath, plain: set[int]) -> object:
        run = usual(self, path, plain)
        if "a < 0" in [str(part) for part in path.story]:
            raise KeyError("gap")
        return run

    monkeypatch.setattr(Session, "_run_path", faulty)
    suite = treadle.unit("unit_paper:absolute", write_file=False, probe=False)
    assert [place.what for place in suite.internal_errors] == ["KeyError: 'gap'"]
    assert suite.unsupported == []
    assert not suite.complete
    assert suite.tests == 1
    code, out, err = run("unit", "unit_paper:absolute", capsys=capsys)
    assert code == 70
    assert "internal error in Treadle, please report it" in out
    assert "some paths ended in an internal error" in err


def test_a_module_and_its_file_are_one_target(capsys: pytest.CaptureFixture[str]) -> None:
    Path("named_once.py").write_text("def f(n: int) -> int:\n    while n > 0:\n        n -= 1\n    return n\n")
    assert run("unit", "named_once.py:f", "-k", "1", capsys=capsys)[0] == 0
    code, out, _ = run("unit", "named_once:f", "--more", capsys=capsys)
    assert code == 0
    assert "k 1 -> 2" in out
