"""Other plugins of pytest beside ours: the same results, and theirs stay right."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from treadle.cli import collect

RACES = """
import random
import threading

import treadle
from steps import Log

@treadle.explore()
def test_race():
    log = Log()
    treadle.parallel(log.add, log.add)
    assert log.total == 2

@treadle.explore(executions=20)
def test_steps():
    log = Log()
    threads = [threading.Thread(target=log.collect, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

@treadle.explore()
def test_drawn():
    log, drawn = Log(), random.randrange(1000)
    treadle.parallel(lambda: log.items.append(drawn), lambda: log.items.append(1))
    assert drawn == random.Random(0).randrange(1000)

def test_plain():
    assert Log().total == 0
"""
STEPS = """
import parts

class Log:
    def __init__(self):
        self.items, self.total = [], 0

    def add(self):
        self.total = self.total + 1

    def collect(self, x):
        for one in parts.of(self, x):
            self.items.append(one)
            if one == "never":
                return "unreached"
        return self.done()

    def done(self):
        return sum(parts.size(self, item) for item in list(self.items))
"""
PARTS = """
def of(log, x):
    if x > 5:
        yield "never"
    for i in range(x):
        yield len(log.items) + i
    yield last(log)

def last(log):
    try:
        return log.items[-1]
    except IndexError:
        return None

def size(log, item):
    if item is None:
        return 0
    if item == "text":
        return 4
    return len(log.items)
"""
HANGS = """
import signal

import pytest
import treadle
from treadle.pytest_plugin import options_of

@pytest.mark.timeout(1000)
@treadle.explore()
def test_limited(request):
    items = []
    treadle.parallel(lambda: items.append(1), lambda: items.append(2))
    assert options_of(request.node)["seconds"] == 700
    assert signal.getsignal(signal.SIGALRM).__module__ != "pytest_timeout"  # which would end a strand, whichever runs

@pytest.mark.timeout(1)
def test_hangs():
    while True:
        pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"test_races": RACES, "steps": STEPS, "parts": PARTS, "test_hangs": HANGS}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def _pytest(project: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
def test_coverage_is_measured_in_every_strand(project: Path) -> None:
    words = ("-p", "no:randomly", "--cov=steps", "--cov=parts", "--cov-report=json:cov.json", "test_races.py")
    assert "1 passed, 2 deselected, 1 cut" in _pytest(project, *words, "-k", "steps or plain")
    files = json.loads((project / "cov.json").read_text())["files"]
    missing = {name: found["missing_lines"] for name, found in files.items()}
    assert missing == {"steps.py": [9, 15], "parts.py": [4, 12, 13, 17, 19]}


@pytest.mark.slow
def test_a_time_limit_is_the_budget_of_a_search_and_ends_a_plain_test(project: Path) -> None:
    text = _pytest(project, "-p", "no:randomly", "test_hangs.py")
    assert "FAILED test_hangs.py::test_hangs - Failed: Timeout" in text
    assert "1 failed, 1 passed" in text


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pytest_randomly") is None, reason="pytest-randomly, which shuffles, is not installed")
def test_an_order_and_seeds_of_its_own_change_nothing(project: Path) -> None:
    text = _pytest(project, "--randomly-seed=1", "test_races.py", "-k", "race or drawn or plain")
    assert "1 failed, 2 passed" in text
    assert "test_race - assert 1 == 2" in text


def test_where_treadle_is_on_the_path_and_not_installed_pytest_is_told_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_x.py").touch()
    target = collect.Target(str(tmp_path / "test_x.py"))
    assert collect._arguments(target)[1:3] == ["-p", "treadle"]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert collect._arguments(target)[1:3] == ["-p", "treadle.pytest_plugin"]
