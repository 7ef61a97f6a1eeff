"""`--report`: a page that holds everything, and shows it in a browser."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.report import page
from treadle.report.explore_page import result_part


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_holds_schedule_source_cause_and_replay(cli: Cli, project: Path) -> None:
    answer = cli("explore", "test_bank.py::test_lost", "--report", "out.html")
    assert answer.code == 1
    assert "report: out.html" in answer.out
    data = data_of((project / "out.html").read_text(encoding="utf-8"))
    (finding,) = data["parts"][0]["findings"]
    assert finding["cause"].startswith("T2 writes Account#1.balance between T1's read and write of it")
    assert [finding["steps"][number]["strand"] for number in finding["pair"]] == ["T1", "T2", "T1"]
    assert finding["replay"].startswith("treadle replay 'tr2:")
    file = finding["steps"][finding["pair"][0]]["file"]
    assert "        self.balance += amount" in data["files"][file]


def test_a_deadlock_names_who_waits_for_whom(cli: Cli, project: Path) -> None:
    cli("explore", "test_bank.py::test_deadlock", "--report", "out.html")
    (finding,) = data_of((project / "out.html").read_text(encoding="utf-8"))["parts"][0]["findings"]
    assert {(one["strand"], one["held_by"]) for one in finding["stuck"]} >= {("T1", "T2"), ("T2", "T1")}


def test_text_of_the_program_never_becomes_markup() -> None:
    nasty = "</script><script>alert(1)</script>"
    step = Step("T1", "writes", nasty, "no_such_file.py", 1, nasty, nasty)
    finding = Finding("assertion", nasty, explanation=nasty, steps=[step])
    text = page.render([result_part(Result(nasty, Verdict.FAILED, 1, False, "dpor", 0.1, [finding]))])
    assert "alert(1)</script>" not in text
    assert data_of(text)["parts"][0]["findings"][0]["message"] == nasty


@pytest.mark.parametrize("place", ["no_such_folder/out.html", "."])
def test_a_page_that_cannot_be_written_is_told_before_the_search(cli: Cli, project: Path, place: str) -> None:
    answer = cli("explore", "test_bank.py::test_lost", "--report", place)
    assert answer.code == 2
    assert answer.err.startswith("treadle: --report")
    assert not (project / ".treadle" / "findings").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("unit", "shop:total"),
        ("class", "test_bank:Account"),
        ("schedule", "test_bank.py::test_lost"),
        ("actor", "no_such_model.abs:A.b"),
    ],
    ids=["unit", "class", "schedule", "actor"],
)
def test_every_command_refuses_a_page_that_cannot_be_written(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    (project / "no_such_model.abs").write_text("")
    place = "no_such_folder/out.html"
    answer = cli(*words, "--report", place)
    assert answer.code == 2
    assert answer.err == f"treadle: --report {place}: there is no folder 'no_such_folder'; make it first\n"


def test_a_saved_finding_becomes_a_page(cli: Cli, project: Path) -> None:
    cli("explore", "test_bank.py::test_lost")
    (saved,) = (project / ".treadle" / "findings").iterdir()
    answer = cli("report", str(saved), "--output", "saved.html")
    assert answer.code == 1
    assert answer.out == "FAILED  test_bank.py::test_lost\nreport: saved.html\n"
    (finding,) = data_of((project / "saved.html").read_text(encoding="utf-8"))["parts"][0]["findings"]
    assert finding["cause"].startswith("T2 writes Account#1.balance between T1's read and write of it")


def test_a_page_of_a_damaged_finding_is_refused(cli: Cli, project: Path) -> None:
    (project / "damaged.json").write_text("{}")
    answer = cli("report", "damaged.json")
    assert answer.code == 2
    assert not (project / "report.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_pytest_writes_one_page_over_all_tests(project: Path, how: tuple[str, ...]) -> None:
    words = [sys.executable, "-m", "pytest", *how, "--treadle", "--treadle-report=pages", "test_bank.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert f"report: {Path('pages') / 'index.html'}" in done.stdout
    parts = data_of((project / "pages" / "index.html").read_text(encoding="utf-8"))["parts"]
    assert sorted(part["target"] for part in parts) == ["test_bank.py::test_decorated", "test_bank.py::test_marked"]


@pytest.mark.slow
def test_pytest_refuses_a_folder_that_cannot_be_made(project: Path) -> None:
    words = [sys.executable, "-m", "pytest", "--treadle-report=test_bank.py/pages", "test_bank.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "--treadle-report test_bank.py/pages cannot be made: Not a directory" in done.stderr


@pytest.mark.parametrize("option", ["--report", "--sarif"])
def test_a_disk_that_is_full_in_the_end_swallows_no_verdict(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("treadle.core.files.os.fsync", full)
    answer = cli("explore", "test_bank.py::test_lost", option, "out.html")
    assert answer.out.startswith("FAILED  test_bank.py::test_lost")
    assert "replay: treadle replay" in answer.out
    assert "report: out.html" not in answer.out
    assert answer.err.endswith("treadle: cannot use 'out.html': No space left on device\n")
    assert not list(Path().glob(".out.html*"))
