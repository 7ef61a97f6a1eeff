"""`--report`: a page that holds everything, and shows it in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.report import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
    (finding,) = data["results"][0]["findings"]
    assert finding["cause"].startswith("T2 writes Account#1.balance between T1's read and write of it")
    assert [finding["steps"][number]["strand"] for number in finding["pair"]] == ["T1", "T2", "T1"]
    assert finding["replay"].startswith("treadle replay 'tr2:")
    file = finding["steps"][finding["pair"][0]]["file"]
    assert "        self.balance += amount" in data["files"][file]


def test_a_deadlock_names_who_waits_for_whom(cli: Cli, project: Path) -> None:
    cli("explore", "test_bank.py::test_deadlock", "--report", "out.html")
    (finding,) = data_of((project / "out.html").read_text(encoding="utf-8"))["results"][0]["findings"]
    assert {(one["strand"], one["held_by"]) for one in finding["stuck"]} >= {("T1", "T2"), ("T2", "T1")}


def test_text_of_the_program_never_becomes_markup() -> None:
    nasty = "</script><script>alert(1)</script>"
    step = Step("T1", "writes", nasty, "no_such_file.py", 1, nasty, nasty)
    finding = Finding("assertion", nasty, explanation=nasty, steps=[step])
    text = page.render([Result(nasty, Verdict.FAILED, 1, False, "dpor", 0.1, [finding])])
    assert "alert(1)</script>" not in text
    assert data_of(text)["results"][0]["findings"][0]["message"] == nasty


@pytest.mark.parametrize("place", ["no_such_folder/out.html", "."])
def test_a_page_that_cannot_be_written_is_told_before_the_search(cli: Cli, project: Path, place: str) -> None:
    answer = cli("explore", "test_bank.py::test_lost", "--report", place)
    assert answer.code == 2
    assert answer.err.startswith("treadle: --report")
    assert not (project / ".treadle" / "findings").exists()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: what the page looks like was not tried")
def test_a_browser_shows_the_schedule(cli: Cli, project: Path) -> None:
    cli("explore", "test_bank.py::test_lost", "--report", "out.html")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = [
        str(BROWSER),
        *flags,
        f"--user-data-dir={project / 'browser'}",
        "--dump-dom",
    ]
    shown = subprocess.run(
        [*command, (project / "out.html").as_uri()], capture_output=True, text=True, timeout=300
    ).stdout
    assert len(re.findall(r'class="row[ "]', shown)) >= 5
    assert re.search(r'class="row pair now[ "]', shown)
    assert "self.balance += amount" in re.sub(r"<script.*?</script>", "", shown, flags=re.S)
