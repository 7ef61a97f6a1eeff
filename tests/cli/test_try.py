"""`treadle try`: which tests it finds, one row for each, and its exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from treadle.cli.try_ import exit_code
from treadle.doors.explore import project as projects
from treadle.doors.explore.project import Row
from treadle.report import page as pages

THREADED = """
import threading

class Counter:
    def __init__(self):
        self.count = 0

    def add(self):
        self.count += 1

def run(counter):
    threads = [threading.Thread(target=counter.add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def test_lost():
    counter = Counter()
    run(counter)
    assert counter.count == 2

def test_wrong():
    run(Counter())
    assert False

def test_alone():
    assert Counter().count == 0
"""


@pytest.mark.slow
def test_each_test_that_starts_threads_has_a_row(cli: Cli, project: Path) -> None:
    (project / "test_bank.py").unlink()
    (project / "test_threads.py").write_text(THREADED)
    (project / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    answer = cli("try", ".", "--json", "--seconds", "20", "--report", "out.html")
    rows = {row["target"]: row for row in json.loads(answer.out)["tests"]}
    assert {target: row["verdict"] for target, row in rows.items()} == {
        "test_threads.py::test_lost": "FAILED",
        "test_threads.py::test_wrong": "fails plainly",
    }
    assert rows["test_threads.py::test_lost"]["todo"].startswith("assertion: ")
    assert rows["test_threads.py::test_lost"]["builds"]
    assert answer.code == 1
    failed, plain = pages.read(project / "out.html")
    assert (failed["target"], failed["verdict"]) == ("test_threads.py::test_lost", "FAILED")
    assert failed["findings"][0]["cause"]
    assert any(name.endswith("test_threads.py") for name in failed["files"])
    assert (plain["verdict"], plain["findings"]) == ("fails plainly", [])


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["PASSED-EXHAUSTIVE", "PASSED-WITHIN-BOUNDS"], 0),
        (["PASSED-EXHAUSTIVE", "CUT"], 3),
        (["REFUSED", "FAILED"], 1),
        (["fails plainly"], 3),
        (["CRASH"], 3),
    ],
)
def test_only_passes_exit_with_0(verdicts: list[str], code: int) -> None:
    assert exit_code([Row("t", verdict, "", 1, 0.0, "") for verdict in verdicts]) == code


def test_a_pass_names_the_package_that_was_not_looked_into() -> None:
    facts = {"verdict": "PASSED-WITHIN-BOUNDS", "executions": 9, "seconds": 0.1, "atomic_modules": ["cachetools"]}
    test = projects.ThreadedTest("test_a.py", ("test_b",), "passed", 0.1)
    assert projects._row(test, facts).todo == (
        "cachetools was not looked into; if that is what it tests: --instrument cachetools"
    )
    assert projects._row(test, facts | {"atomic_modules": []}).todo == ""


@pytest.mark.parametrize(
    ("cut_by", "executions", "longer"), [("seconds", 3, "100"), ("unseen", 15, "30"), ("seconds", 1, "120")]
)
def test_few_executions_are_tried_once_more_and_longer(
    monkeypatch: pytest.MonkeyPatch, cut_by: str, executions: int, longer: str
) -> None:
    asked = []

    def run(words: list[str], environment: object, seconds: float) -> object:
        asked.append(words[words.index("--seconds") + 1])
        facts = {"verdict": "CUT", "cut_by": cut_by, "executions": executions, "seconds": 10.0}
        return subprocess.CompletedProcess(words, 3, json.dumps(facts), "")

    monkeypatch.setattr(projects, "_run", run)
    test = projects.ThreadedTest("test_a.py", ("test_b",), "passed", 0.1)
    assert projects.explore_alone(test, 10.0, []).verdict == "CUT"
    assert asked == ["10", longer]

    def ends_only_at_first(words: list[str], environment: object, seconds: float) -> object:
        return run(words, environment, seconds) if "10" in words else None

    monkeypatch.setattr(projects, "_run", ends_only_at_first)
    assert projects.explore_alone(test, 10.0, []).verdict == "CUT"


def test_a_failure_that_a_fresh_process_does_not_show_is_none() -> None:
    finding = {"kind": "assertion", "message": "no", "replayed": "this process"}
    facts = {"verdict": "FAILED", "executions": 1, "seconds": 0.1, "findings": [finding]}
    test = projects.ThreadedTest("test_a.py", ("test_b",), "passed", 0.1)
    row = projects._row(test, facts)
    assert (row.verdict, row.todo) == ("CUT", "not repeatable in a fresh process: assertion: no")


def test_files_that_speak_of_threads_come_alone(project: Path) -> None:
    (project / "test_plain.py").write_text("def test_plain():\n    pass\n")
    (project / ".venv").mkdir()
    (project / ".venv" / "test_installed.py").write_text("import threading\n")
    assert [path.name for path in projects.test_files(project)] == ["test_bank.py"]


def test_the_packages_of_a_project(project: Path) -> None:
    for name in ("bank", "src/vault", "tests"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").touch()
    (project / "tools.py").touch()
    (project / "setup.py").touch()
    assert projects.own_packages(project) == ["bank", "tools", "vault"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no_such_folder"], "there is no folder 'no_such_folder', and no package of that name is installed"),
        ([".", "--seconds", "0"], "a budget of 0 seconds leaves nothing to run; give more than 0"),
    ],
)
def test_wrong_use_is_one_sentence(cli: Cli, words: list[str], sentence: str) -> None:
    answer = cli("try", *words)
    assert answer.code == 2
    assert answer.err == f"treadle: {sentence}\n"


@pytest.mark.slow
def test_a_test_that_takes_too_long_is_left_out_and_the_others_go_on(project: Path) -> None:
    file = project / "test_threads.py"
    more = "\ndef test_longer():\n    run(Counter())\n"
    file.write_text("import time\n\ndef test_long():\n    time.sleep(99)\n" + THREADED + more)
    ran = projects.run_once([file], 16.0)
    assert [name.partition("::")[2] for name in ran.slow] == ["test_long"]
    assert [test.names for test in ran.threaded] == [("test_lost",), ("test_wrong",), ("test_longer",)]
    assert ran.ended


POOLS = """
import asyncio
import concurrent.futures
import multiprocessing.pool
import sys

def test_child():
    async def child():
        return await (await asyncio.create_subprocess_exec(sys.executable, "-c", "")).wait()

    assert asyncio.run(child()) == 0

def test_processes():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(abs, -1).result() == 1

def test_threads():
    with multiprocessing.pool.ThreadPool(1) as pool:
        assert pool.map(abs, [-1]) == [1]
"""


@pytest.mark.slow
def test_the_threads_that_look_after_processes_are_none_of_the_test(project: Path) -> None:
    path = project / "test_pools.py"
    path.write_text(POOLS)
    ran = projects.run_once([path], 600.0)
    assert [test.names for test in ran.threaded] == [("test_threads",)]
    assert [name.partition("::")[2] for name in ran.in_processes][-1] == "test_processes"
