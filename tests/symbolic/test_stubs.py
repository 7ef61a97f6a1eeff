"""Stub files: cases as guarded functions, what they cover, and how a wrong one is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.commands import run_unit as command
from tests.symbolic.exploring import load
from treadle.core.errors import UsageError
from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

PROGRAMS = Path(__file__).parent.parent / "programs"

ROOT = """
from treadle.stubs import case

@case("unit_native.root", when=lambda n: n < 0)
def negative(n):
    raise ValueError("negative")

@case("unit_native.root", when=lambda n: n <= 3)
def small(n):
    return 1 if n > 0 else 0
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    load("unit_stubbed")


def stubbed(target: str, text: str, **options: Any) -> ExploredTarget:
    Path("stubs.py").write_text(text)
    [found] = resolve(f"unit_stubbed:{target}")
    return Session(found, UnitOptions(**{"stubs": ("stubs.py",), "summaries": False, **options})).explore()


def outcomes(found: ExploredTarget) -> dict[str, Any]:
    return {
        case.condition: case.outcome.raises.__name__ if case.outcome.raises is not None else case.outcome.value
        for case in found.cases
    }


def refused(text: str) -> str:
    Path("stubs.py").write_text(text)
    with pytest.raises(UsageError) as error:
        stubbed("rooted", text)
    return str(error.value)


def test_the_cases_of_a_stub_are_followed() -> None:
    found = stubbed("rooted", ROOT)
    assert outcomes(found) == {
        "x < 0": "ValueError",
        "x >= 0 and x <= 3 and x > 0": 2,
        "x >= 0 and x <= 3 and x <= 0": 1,
    }
    [place] = found.seen.unsupported
    assert place.what == "a call of 'unit_native.root' for which no case of its stub holds (stubs.py)"
    assert {stub for case in found.cases for stub in case.stubs} == {
        "case 'negative' of the stub for 'unit_native.root' (stubs.py:4)",
        "case 'small' of the stub for 'unit_native.root' (stubs.py:8)",
    }


def test_the_first_case_that_holds_is_taken() -> None:
    text = ROOT + "\n@case('unit_native.root')\ndef rest(n):\n    return 7\n"
    found = stubbed("rooted", text)
    assert sorted(v for v in outcomes(found).values() if isinstance(v, int)) == [1, 2, 8]
    assert found.seen.unsupported == []


def test_a_stub_stands_before_the_source() -> None:
    """What can be followed is not followed when a stub says what it does."""
    text = "from treadle.stubs import case\n@case('unit_native.arraycopy')\ndef nothing(src, dst, n): pass\n"
    assert outcomes(stubbed("copied", text)) == {"always": 0}


def test_methods_classes_and_builtins_can_have_stubs() -> None:
    text = """
from treadle.stubs import case

@case("unit_native.Device.read", when=lambda self, size: size > self.left)
def too_much(self, size):
    raise EOFError("no more")

@case("unit_native.Device.read")
def enough(self, size):
    self.left -= size
    return "x" * size

@case("str.swapcase", when=lambda self: self == "a")
def swapped(self):
    return "A"

@case("math.gamma", when=lambda x: x == 1)
def one(x):
    return 1.0
"""
    assert outcomes(stubbed("device", text)) == {
        "n >= 3": "EOFError",
        "n <= 2 and n <= 0": 2,
        "n <= 2 and n > 0 and n == 1": 1,
        "n <= 2 and n > 0 and n != 1": 0,
    }
    assert outcomes(stubbed("swapped", text)) == {"text == 'a'": "A"}
    assert outcomes(stubbed("gamma", text)) == {"x == 1": 1.0}


def test_a_case_may_call_the_real_function() -> None:
    text = "from treadle.stubs import case\nimport unit_native\n"
    text += "@case('unit_native.root', when=lambda n: n == 9)\ndef nine(n):\n    return unit_native.root(9)\n"
    assert outcomes(stubbed("rooted", text)) == {"x == 9": 4}


# --- the command -------------------------------------------------------------------------------------------


def test_the_file_beside_the_project_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("treadle_stubs.py").write_text(ROOT)
    code, out, _ = command("unit_stubbed:rooted", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert found["tests"] == 3
    assert found["stubs"]["files"] == [str(Path("treadle_stubs.py").resolve())]
    assert len(found["stubs"]["used"]) == 2
    assert found["stubs"]["wrong"] == []


def test_a_wrong_case_is_named_and_its_test_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.py").write_text(ROOT.replace("else 0", "else 5"))
    code, out, err = command("unit_stubbed:rooted", "--stubs", "wrong.py", capsys=capsys)
    assert code == 0
    assert "3 paths, 2 tests" in out
    assert "a stub is wrong: case 'small' of the stub for 'unit_native.root' (wrong.py:8) says otherwise" in out
    assert "please report it" not in out + err
    assert "every path" not in out


def test_a_claim_rests_on_the_stubs(capsys: pytest.CaptureFixture[str]) -> None:
    rest = "\n@case('unit_native.root', when=lambda n: n < 16)\ndef rest(n):\n    return 2 if n < 9 else 3\n"
    Path("all.py").write_text(ROOT + rest)
    code, out, _ = command("unit_stubbed:checked", "--stubs", "all.py", capsys=capsys)
    assert code == 0
    assert "every path has its test, as far as the stubs are right" in out


def test_from_python() -> None:
    Path("stubs.py").write_text(ROOT)
    suite = treadle.unit("unit_stubbed:rooted", stubs=["stubs.py"], write_file=False)
    assert suite.tests == 3
    assert not suite.complete


# --- files that cannot be used -----------------------------------------------------------------------------


def test_wrong_files_are_told_in_one_sentence() -> None:
    start = "from treadle.stubs import case\n"
    assert refused(start + "@case('unit_native.root'\ndef f(n): pass\n").startswith("stubs.py:2: not Python:")
    assert refused(start + "1 / 0\n") == "stubs.py:2: the stub file fails: ZeroDivisionError: division by zero"
    assert refused(start).startswith("stubs.py: no cases; write functions with @case(...)")
    assert refused(start + "@case('unit_native.rot')\ndef f(n): pass\n") == (
        "stubs.py:2: 'unit_native.rot' does not exist: no 'rot' there; did you mean 'root'?"
    )
    assert "no module 'nowhere'" in refused(start + "@case('nowhere.f')\ndef f(n): pass\n")
    assert "names a function as text" in refused(start + "@case(len)\ndef f(n): pass\n")
    assert "is not a function but a int" in refused(start + "@case('unit_native.LEVEL')\ndef f(n): pass\n")
    assert refused(start + "@case('unit_native.root', when=lambda m: m)\ndef f(n): pass\n") == (
        "stubs.py:2: the guard of 'f' asks for 'm', which is not a parameter of 'f'"
    )
    assert "write when=lambda" in refused(start + "@case('unit_native.root', when=True)\ndef f(n): pass\n")
    assert "a case is a plain function" in refused(start + "@case('unit_native.root')\ndef f(n): yield 1\n")


def test_no_such_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = command("unit_stubbed:rooted", "--stubs", "none.py", capsys=capsys)
    assert code == 2
    assert err.strip().endswith("none.py'")
    assert "Traceback" not in err


def test_a_guard_that_fails_ends_the_path() -> None:
    text = "from treadle.stubs import case\n@case('unit_native.root', when=lambda n: len(n) > 0)\ndef f(n): pass\n"
    found = stubbed("rooted", text)
    assert [place.what for place in found.seen.unsupported] == [
        "the guard of case 'f' of the stub for 'unit_native.root' (stubs.py:2) raises TypeError"
    ]
