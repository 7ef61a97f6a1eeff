"""The tests that `treadle class` writes say on which builds they fail, along a known schedule or a search."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from treadle.cli.main import main
from treadle.doors.class_.record import record
from treadle.doors.explore.models import SearchSetup
from treadle.search.dpor import Dpor
from treadle.threads.switching import running_name

_FILE = """
import treadle

INSTRUMENT = []


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self):
        self.balance {change}


@treadle.follow("")
def test_{name}():
    account = Account()
    treadle.parallel(account.deposit, account.deposit)
    assert account.balance == 2
"""


@pytest.mark.parametrize(
    ("name", "change", "on"),
    [
        ("with_call", "= int(self.balance) + 1", "every build"),
        ("without_call", "+= 1", "free-threaded builds (3.13t, 3.14t), PyPy; not on CPython 3.11 to 3.14 with the GIL"),
    ],
)
def test_a_written_test_says_on_which_builds_it_fails(tmp_path: Path, name: str, change: str, on: str) -> None:
    path = tmp_path / f"written_{name}.py"
    path.write_text(_FILE.format(name=name, change=change))
    test = f"test_{name}"
    searched = record(path, "written.py", 20.0, {})[test]
    followed = record(path, "written.py", 20.0, {test: searched["replay"]})[test]
    assert searched["on"].startswith(on)
    assert followed["on"] == searched["on"]


def test_a_fault_that_nobody_looked_at_says_that_its_builds_are_not_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "written_late.py"
    path.write_text(_FILE.format(name="late", change="+= 1"))
    trail = record(path, "written.py", 20.0, {})["test_late"]["replay"]
    monkeypatch.setattr("treadle.doors.class_.record._FOR_BUILDS", 0.0)
    assert record(path, "written.py", 20.0, {"test_late": trail})["test_late"]["on"] == (
        "free-threaded builds (3.13t, 3.14t), PyPy; whether on CPython 3.11 to 3.14 with the GIL is not settled "
        "(there was no time to look)"
    )


_TWO_WINDOWS = """
import treadle

INSTRUMENT = []


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self):
        old = self.balance
        int()
        self.balance = old + 1
        self.balance = self.balance + 1  # where only builds without a GIL switch


@treadle.follow("")
def test_two_windows():
    account = Account()
    treadle.parallel(account.deposit, account.deposit)
    assert account.balance == 4
"""


def test_a_fault_of_every_build_is_shown_with_a_schedule_that_a_gil_allows(tmp_path: Path) -> None:
    path = tmp_path / "windows.py"
    path.write_text(_TWO_WINDOWS)
    record(path, "written.py", 20.0, {})  # imports it
    test = sys.modules["windows"].test_two_windows.__wrapped__
    search = SearchSetup(test, None, (), "idle", 0, Dpor, "written.py::test_two_windows", {}, None, "dpor")
    free = search.run("free", 99, 9.0).findings[0]
    assert "read (windows.py:15) and write (windows.py:15)" in _flat(free.explanation)
    followed = record(path, "written.py", 20.0, {"test_two_windows": free.replay})["test_two_windows"]
    assert followed["on"] == "every build"
    assert "read (windows.py:12) and write (windows.py:14)" in _flat(followed["schedule"])
    assert followed["replay"] != free.replay


def _flat(text: str) -> str:
    return " ".join(text.split())


_BANK = """
class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount: int) -> None:
        self.balance {change}
"""
_ATOMIC, _WITH_CALL = "+= amount", "= max(self.balance + amount, 0)"


def _class(capsys: pytest.CaptureFixture[str], change: str, name: str, *words: str) -> tuple[int, str]:
    Path(f"{name}.py").write_text(_BANK.format(change=change))
    with pytest.raises(SystemExit) as ended:
        main(["class", f"{name}:Account", "--budget", "20s", *words])
    return int(ended.value.code or 0), capsys.readouterr().out


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_class_passes_under_the_gil_of_this_version_and_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = _class(capsys, _ATOMIC, "bank_gil", "--switches", "gil")
    assert (code, said.splitlines()[1].partition("  ")[0]) == (0, f"PASSED-WITHIN-BOUNDS (gil, {running_name()})")
    (here / "pyproject.toml").write_text('[tool.treadle]\nswitches = "gil"\n')
    assert _class(capsys, _ATOMIC, "bank_gil")[0] == 0
    assert _class(capsys, _ATOMIC, "bank_gil", "--switches", "free")[0] == 1


@pytest.mark.slow
def test_a_class_that_a_gil_does_not_save_fails_under_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = _class(capsys, _WITH_CALL, "bank_call", "--switches", "gil", "--json")
    facts = json.loads(said)
    assert code == 1
    assert facts["switches"] == f"gil, {running_name()}"
    assert [(fault["on"], fault["on_every_build"]) for fault in facts["faults"]] == [("every build", True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "verdicts"),
    [("atomic", _ATOMIC, ["PASSED-WITHIN-BOUNDS", "FAILED"]), ("call", _WITH_CALL, ["FAILED", "FAILED"])],
)
def test_auto_tells_both_verdicts(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, change: str, verdicts: list[str]
) -> None:
    code, said = _class(capsys, change, f"bank_auto_{name}", "--switches", "auto", "--json")
    facts = json.loads(said)
    assert (code, facts["verdict"], len(facts["faults"])) == (1, "FAILED", 1)
    assert [model["verdict"] for model in facts["models"]] == verdicts


def test_an_unknown_model_is_one_sentence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["class", "bank_wrong:Account", "--switches", "gli"])
    assert "--switches must be 'free', 'gil' or 'auto', not 'gli'" in capsys.readouterr().err
