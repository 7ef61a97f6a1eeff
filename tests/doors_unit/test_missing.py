"""--missing: the project's own tests are run, and only paths that they do not take get a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle.cli.main import main
from treadle.core.errors import UsageError
from treadle.doors.unit.result import Suite
from treadle.examples.functions import transfer

pytestmark = pytest.mark.slow

_TRANSFER = Path(transfer.__file__).read_text(encoding="utf-8").partition('"""\n\n')[2]  # without its docstring
_PROGRAM = f"""{_TRANSFER}

def sign(n: int) -> int:
    if n > 0:
        return 1
    if n < 0:
        return -1
    return 0


def evens(n: int):
    for i in range(n):
        if i % 2 == 0:
            yield i
"""


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A project of its own, with a module of its own: modules stay loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"bank_{abs(hash(request.node.name)) % 10**8}"
    (tmp_path / f"{module}.py").write_text(_PROGRAM)
    (tmp_path / "tests").mkdir()
    return module


def _own(module: str, body: str) -> None:
    Path("tests/test_own.py").write_text(f"from {module} import *\n\n\n{body}")


def _missing(target: str, **options: Any) -> Suite:
    return treadle.unit(target, missing=True, **options)


def _figures(suite: Suite) -> tuple[int, int, int]:
    assert suite.own_tests is not None
    return suite.own_tests.paths, suite.own_tests.taken, suite.tests


def test_a_path_that_is_taken_gets_no_test(name: str) -> None:
    _own(name, "def test_positive():\n    assert sign(7) == 1\n\n\ndef test_zero():\n    assert sign(0) == 0\n")
    suite = _missing(f"{name}:sign")
    assert _figures(suite) == (3, 2, 1)
    [case] = suite.cases
    assert case.outcome.value == -1
    assert suite.source.count("def test_") == 1
    assert suite.own_tests is not None
    assert suite.own_tests.coverage.percent("branches") == 75.0


def test_conditions_within_a_line_are_told_apart(name: str) -> None:
    """`amount <= 0 or balance < amount` gives False by two ways; a test of one is no test of the other."""
    _own(name, "def test_nothing():\n    assert not transfer(Account(), Account(), 0)\n")
    suite = _missing(f"{name}:transfer")
    assert _figures(suite) == (6, 1, 5)
    assert "amount > 0 and source is not None and amount > source.balance" in {c.condition for c in suite.cases}


def test_aliasing_is_told_apart(name: str) -> None:
    _own(name, "def test_two():\n    assert transfer(Account(5), Account(1), 2)\n")
    suite = _missing(f"{name}:transfer")
    assert _figures(suite) == (6, 1, 5)
    assert any("target is source" in c.condition for c in suite.cases)
    _own(name, "def test_same():\n    a = Account(5)\n    assert transfer(a, a, 2)\n")
    suite = _missing(f"{name}:transfer")
    assert _figures(suite) == (6, 1, 5)
    assert not any("target is source" in c.condition for c in suite.cases)


def test_generators_are_followed_to_their_end(name: str) -> None:
    _own(name, "def test_evens():\n    assert list(evens(2)) == [0]\n")
    suite = _missing(f"{name}:evens")
    assert _figures(suite) == (3, 1, 2)
    assert sorted(c.arguments["n"] for c in suite.cases)[-1] == 1


def test_nothing_missing_is_said_and_nothing_written(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _own(name, "def test_all():\n    assert [sign(n) for n in (-3, 0, 3)] == [-1, 0, 1]\n")
    with pytest.raises(SystemExit) as left:
        main(["unit", f"{name}:sign", "--missing"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert "your tests: 100 % of branches, 3 of 3 paths; nothing is missing" in out
    assert sorted(p.name for p in Path("tests").glob("*.py")) == ["test_own.py"]


def test_the_file_that_is_replaced_does_not_count(name: str) -> None:
    _own(name, "def test_positive():\n    assert sign(7) == 1\n")
    first = _missing(f"{name}:sign")
    again = _missing(f"{name}:sign")
    assert _figures(first) == _figures(again) == (3, 1, 2)
    assert first.file == again.file


def test_failing_tests_count_and_are_named(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _own(name, "def test_wrong():\n    assert sign(7) == 2\n")
    with pytest.raises(SystemExit) as left:
        main(["unit", f"{name}:sign", "--missing", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert left.value.code == 0
    assert found["missing"] == {
        "tests": "tests",
        "ran": 1,
        "failed": ["tests/test_own.py::test_wrong"],
        "branches": 25.0,
        "lines": 40.0,
        "paths": 3,
        "taken": 1,
        "missing": 2,
    }
    with pytest.raises(SystemExit):
        main(["unit", f"{name}:sign", "--missing"])
    out = capsys.readouterr().out
    assert "1 of your tests fails, and counts all the same: tests/test_own.py::test_wrong" in out
    assert "1 of 3 paths; 2 tests for what they miss" in out


def test_no_tests_at_all(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["unit", f"{name}:sign", "--missing"])
    assert left.value.code == 0
    assert "no tests of your own were found in tests: every path is missing" in capsys.readouterr().out


def test_tests_that_cannot_be_run_are_one_sentence(name: str) -> None:
    _own(name, "import no_such_module_at_all\n")
    with pytest.raises(UsageError, match=r"cannot be run: .*no_such_module_at_all"):
        _missing(f"{name}:sign")
    with pytest.raises(UsageError, match="--tests nowhere: no such file or folder"):
        _missing(f"{name}:sign", tests="nowhere")
    with pytest.raises(UsageError, match="pass --missing as well"):
        treadle.unit(f"{name}:sign", tests="tests")
    with pytest.raises(UsageError, match="run them one after the other"):
        _missing(f"{name}:sign", more=True)


def test_tests_elsewhere(name: str) -> None:
    Path("checks").mkdir()
    Path("checks/test_it.py").write_text(f"from {name} import sign\n\n\ndef test_it():\n    assert sign(-1) == -1\n")
    assert _figures(_missing(f"{name}:sign", tests="checks")) == (3, 1, 2)
    assert _figures(_missing(f"{name}:sign", tests=Path("checks/test_it.py"))) == (3, 1, 2)


def test_what_is_not_covered_is_explored_first(name: str) -> None:
    """With room for one path only, it is one to a line that the own tests miss."""
    _own(name, "def test_positive():\n    assert sign(7) == 1\n")
    suite = _missing(f"{name}:sign", paths=1)
    assert suite.tests == 1
    assert suite.cases[0].arguments["n"] <= 0
