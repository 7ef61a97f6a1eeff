"""Every finding replays in a fresh process, or says that it does not; and nothing that failed is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.cli.conftest import Cli
from treadle import Verdict
from treadle.doors.explore import failing

# As in the list of what used not to replay: objects that are private to main shift the points of a replay.
PRIVATE = """
import collections
import threading


class Config:
    start = 0


def test_lost():
    config = Config()
    config.start = 0
    items = collections.deque([1, 2])
    items += [3]
    table = {}
    table.update({"a": config.start})
    total = [0]

    def add():
        total[0] = total[0] + len(items)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [6]
"""

# Which process it is decides, and not the schedule.
PROCESS = """
import os
import threading


def test_other_process():
    order = []
    threads = [threading.Thread(target=order.append, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.environ.get("TREADLE_REPLAYING") or order == [1, 2]
"""


def test_a_finding_is_replayed_in_a_fresh_process_before_it_is_shown(cli: Cli, project: Path) -> None:
    (project / "test_private.py").write_text(PRIVATE)
    answer = cli("explore", "test_private.py::test_lost", "--json")
    (finding,) = json.loads(answer.out)["findings"]
    assert finding["replayed"] == "a fresh process"
    assert finding["notes"] == []
    assert cli("replay", finding["replay"]).code == 1


def test_a_finding_that_only_this_process_shows_says_so(cli: Cli, project: Path) -> None:
    (project / "test_process.py").write_text(PROCESS)
    answer = cli("explore", "test_process.py::test_other_process")
    assert answer.code == 1
    assert (
        "note: the replay failed in this process, but not in a fresh one: the same schedule passes there" in answer.out
    )


# An installed package that keeps what a run did: the same draws mean the same name, which it knows the next time.
REGISTRY = """
import threading

known = {}

def register(name):
    if name in known:
        return known[name]
    thread = threading.Thread(target=known.setdefault, args=(name, 1))
    thread.start()
    thread.join()
    return 0
"""
REGISTERS = """
import threading
import uuid

import registry

def test_registers():
    got = []
    thread = threading.Thread(target=lambda: got.append(registry.register(uuid.uuid4())))
    thread.start()
    thread.join()
    assert got == [0]
"""


def test_what_only_an_earlier_run_makes_fail_is_no_failure(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    installed = tmp_path_factory.mktemp("installed")
    (installed / "registry.py").write_text(REGISTRY)
    (project / "test_registers.py").write_text(REGISTERS)
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("PYTHONPATH", str(installed), prepend=os.pathsep)
    found = json.loads(cli("explore", "test_registers.py::test_registers", "--json").out)
    monkeypatch.delitem(sys.modules, "registry")
    assert (found["verdict"], found["cut_by"], found["findings"]) == ("CUT", "repeated", [])
    assert [warning["kind"] for warning in found["warnings"]] == ["not repeatable"]


def lost_update() -> None:
    total = [0]

    def add() -> None:
        total[0] = total[0] + 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [2]


def test_a_failure_whose_short_schedule_is_not_recorded_is_shown_unshrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def worse(failing: Any, attempt: Any, *limits: Any) -> Any:
        return ["main"], failing[1]  # a schedule that passes

    monkeypatch.setattr(failing, "shrink_schedule", worse)
    result = treadle.check(lost_update)
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].replay
    assert "it could not be shrunk" in result.findings[0].notes[0]


def test_a_failure_that_cannot_be_recorded_is_still_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "strand_runs", lambda run, shown: ())
    result = treadle.check(lost_update)
    assert result.verdict is Verdict.FAILED
    assert not result.findings[0].replay
    assert "could not be recorded" in result.findings[0].notes[0]
    assert result.findings[0].steps


ORDER = """
from treadle import parallel


def test_order():
    words = {"one", "two", "three", "four", "five", "six", "seven", "eight"}
    seen = []
    parallel(lambda: seen.append(1), lambda: seen.append(2))
    assert seen != [2, 1], ".".join(words)
"""


@pytest.mark.slow
def test_sets_of_strings_have_one_order_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "test_order.py").write_text(ORDER)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}

    def message(*words: str) -> str:
        command = [sys.executable, "-m", "treadle", *words, "--json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return str(json.loads(done.stdout)["findings"][0]["message"])

    found = message("explore", "test_order.py::test_order")
    (saved,) = (tmp_path / ".treadle" / "findings").iterdir()
    assert message("replay", str(saved)) == found


# What `-o` says decides how many threads there are.
ASKS_PYTEST = """
import threading

import pytest


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self):
        self.balance += 1


@pytest.mark.treadle
def test_deposits(request):
    account = Account()
    threads = [threading.Thread(target=account.deposit) for _ in range(int(request.config.getini("depositors")))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == len(threads)
"""


@pytest.mark.slow
def test_what_pytest_was_told_by_o_holds_for_the_replay(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addini('depositors', 'how many', default='1')\n"
    )
    (tmp_path / "test_bank.py").write_text(ASKS_PYTEST)
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--treadle", "-o", "depositors=2"]
    done = subprocess.run([*words, "test_bank.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed" in done.stdout, done.stdout
    replay = next(line for line in done.stdout.splitlines() if "tr2:" in line)
    trail = "tr2:" + replay.partition("tr2:")[2].split("'")[0].split()[0]
    again = [sys.executable, "-m", "treadle", "replay", trail]
    assert subprocess.run(again, cwd=tmp_path, capture_output=True, check=False).returncode == 1
