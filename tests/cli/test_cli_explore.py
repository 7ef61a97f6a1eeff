"""`treadle explore` and `treadle replay`: verdicts, exit codes, JSON, files, and one sentence for every wrong use."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from treadle.cli.main import COMMANDS

KEYS = {"verdict", "exhaustive", "executions", "seconds", "strategy", "atomic_modules", "findings"}


def test_a_failure_is_exit_1_with_table_and_replay_command(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_lost")
    assert answer.code == 1
    assert answer.out.startswith("FAILED  test_bank.py::test_lost")
    assert "T2 writes Account#1.balance between T1's read and write of it (all at test_bank.py:14)" in answer.out
    assert "replay: treadle replay 'tr2:test_bank.py::test_lost:" in answer.out


def test_a_pass_over_every_schedule_is_exit_0(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_safe", "--strategy", "dpor")
    assert answer.code == 0
    assert answer.out.startswith("PASSED-EXHAUSTIVE (free)  test_bank.py::test_safe")
    assert "2 executions" in answer.out


def test_a_bounded_pass_says_its_bound(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_lost", "--preemptions", "0")
    assert answer.code == 0
    assert answer.out.startswith("PASSED-WITHIN-BOUNDS")
    assert "at most 0 preemptions" in answer.out


def test_a_cut_search_is_exit_3_and_no_pass(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_marked", "--executions", "2")
    assert answer.code == 3
    assert answer.out.startswith("CUT")
    assert "PASSED" not in answer.out


def test_one_schedule_only_is_exit_3_and_an_alarm(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_alone")
    assert answer.code == 3
    assert answer.out.startswith("NOTHING-TO-EXPLORE")
    assert "next:" in answer.out


def test_json_of_a_file_tells_each_test_on_stderr_when_it_ends(cli: Cli) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "treadle", "explore", "test_bank.py", "--json"],
        capture_output=True,
        text=True,
    )
    tests = json.loads(run.stdout)["tests"]
    assert len(tests) > 1
    assert run.stderr.splitlines() == [f"{test['verdict']}  {test['target']}" for test in tests]


_KILLED = """
import treadle
from test_bank import test_lost as found


@treadle.explore()
def test_first():
    found()


@treadle.explore()
def test_second():
    import os
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_what_was_found_is_saved_before_the_next_test_begins(cli: Cli) -> None:
    Path("test_two.py").write_text(_KILLED)
    run = subprocess.run([sys.executable, "-m", "treadle", "explore", "test_two.py"])
    assert run.returncode == -9
    assert len(list(Path(".treadle").glob("**/test_first-*.json"))) == 1


def test_json_is_one_object_with_the_promised_keys(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_lost", "--json")
    assert answer.code == 1
    result = json.loads(answer.out)
    assert result.keys() >= KEYS
    assert result["verdict"] == "FAILED"
    assert result["exhaustive"] is False
    (finding,) = result["findings"]
    assert finding.keys() >= {"kind", "message", "replay", "operations"}
    assert finding["kind"] == "assertion"
    assert all(step.keys() == {"strand", "operation", "object", "file", "line"} for step in finding["operations"])
    assert {step["strand"] for step in finding["operations"]} == {"main", "T1", "T2"}


def test_json_of_several_tests_has_the_sum_and_each(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py", "--json")
    result = json.loads(answer.out)
    assert answer.code == 0
    assert result.keys() >= KEYS
    assert [test["target"] for test in result["tests"]] == ["test_bank.py::test_marked", "test_bank.py::test_decorated"]
    assert result["executions"] == sum(test["executions"] for test in result["tests"])


def test_a_file_means_its_marked_and_decorated_tests(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py")
    assert answer.code == 0
    assert re.findall(r"^PASSED-EXHAUSTIVE \(free\)  (\S+)", answer.out, re.M) == [
        "test_bank.py::test_marked",
        "test_bank.py::test_decorated",
    ]
    assert "2 tests: 2 PASSED-EXHAUSTIVE" in answer.out


def test_a_folder_means_its_files(cli: Cli, project: Path) -> None:
    answer = cli("explore", str(project))
    assert "2 tests: 2 PASSED-EXHAUSTIVE" in answer.out


@pytest.mark.parametrize(
    ("target", "tests"),
    [
        ("test_bank.py::test_amount", ["test_bank.py::test_amount[1]", "test_bank.py::test_amount[2]"]),
        ("test_bank.py::test_amount[2]", ["test_bank.py::test_amount[2]"]),
        ("test_bank.py::TestAccount", ["test_bank.py::TestAccount::test_method"]),
        ("test_bank.py::TestAccount::test_method", ["test_bank.py::TestAccount::test_method"]),
        ("test_bank.py::not_named_like_a_test", ["test_bank.py::not_named_like_a_test"]),
    ],
)
def test_what_a_target_selects(cli: Cli, target: str, tests: list[str]) -> None:
    result = json.loads(cli("explore", target, "--json").out)
    assert [one["target"] for one in result.get("tests", [result])] == tests


def test_a_skipped_test_is_no_pass(cli: Cli) -> None:
    answer = cli("explore", "test_bank.py::test_skipped")
    assert answer.code == 3
    assert "not today" in answer.out


def test_strict_fails_when_every_test_was_skipped(cli: Cli) -> None:
    assert cli("explore", "test_bank.py::test_skipped", "--strict").code == 1


WRONG = {
    "no such file": (["nowhere.py::test_lost"], "there is no file or folder 'nowhere.py'"),
    "file misspelt": (["test_bnk.py::test_lost"], "did you mean 'test_bank.py'?"),
    "no such test": (["test_bank.py::test_lots"], "did you mean 'test_lost'?"),
    "no such parameter": (["test_bank.py::test_amount[3]"], "there is no test 'test_amount[3]'"),
    "no such fixture": (["test_bank.py::test_needs"], "fixture 'no_such_fixture' not found"),
    "unknown strategy": (["test_bank.py::test_lost", "--strategy", "dopr"], "did you mean 'dpor'?"),
    "ignored option": (
        ["test_bank.py::test_lost", "--strategy", "random", "--preemptions", "2"],
        "'random' would ignore preemptions",
    ),
    "no executions": (["test_bank.py::test_lost", "--executions", "0"], "budget of 0 executions"),
    "negative seconds": (["test_bank.py::test_lost", "--seconds", "-1"], "budget of -1 seconds"),
    "seconds that are no number": (["test_bank.py::test_lost", "--seconds", "nan"], "budget of nan seconds"),
    "negative preemptions": (["test_bank.py::test_lost", "--preemptions", "-1"], "preemptions must be 0 or more"),
    "unknown timeouts": (["test_bank.py::test_lost", "--timeouts", "now"], "must be 'idle' or 'any'"),
    "package not installed": (["test_bank.py::test_lost", "--instrument", "no_such_pkg"], "'no_such_pkg'"),
    "not a number": (["test_bank.py::test_lost", "--executions", "many"], "not a valid integer"),
    "unknown option": (["test_bank.py::test_lost", "--stratgy", "dpor"], "--strategy"),
    "no target": ([], "PATH[::TEST]"),
    "not Python": (["pyproject.toml"], "not a Python file"),
    "folder with a test": ([".::test_lost"], "is a folder"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_one_sentence_and_exit_2(cli: Cli, project: Path, case: str) -> None:
    words, sentence = WRONG[case]
    answer = cli("explore", *words)
    assert answer.code == 2
    assert sentence in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""
    assert not (project / ".treadle" / "findings").exists()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module' (test_bad.py:1)"),
        ("\ndef test_x(:\n", "SyntaxError: invalid syntax (test_bad.py:2)"),
        ("\n\nx = 1 / 0\n", "ZeroDivisionError: division by zero (test_bad.py:3)"),
    ],
)
def test_a_test_that_cannot_be_imported_names_its_line(cli: Cli, project: Path, source: str, sentence: str) -> None:
    (project / "test_bad.py").write_text(source)
    answer = cli("explore", "test_bad.py::test_x")
    assert answer.code == 2
    assert answer.err == f"treadle: test_bad.py cannot be imported: {sentence}\n"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def test_x(): yield\n", "the test is a generator function"),
        ("import os\ndef test_x(): os._exit(0)\n", "the program calls os._exit(), which ends the whole process"),
    ],
)
def test_a_test_that_cannot_be_run_is_no_verdict(cli: Cli, project: Path, source: str, sentence: str) -> None:
    (project / "test_bad.py").write_text(source)
    answer = cli("explore", "test_bad.py::test_x")
    assert answer.code == 2
    assert answer.err.startswith(f"treadle: {sentence}")
    assert answer.out == ""


def test_a_model_without_the_extra_for_models_is_told_what_to_install(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "model.abs").write_text("module M; { skip; }\n")
    for name in [name for name in sys.modules if name.startswith(("treadle.doors.actor", "treadle.abs"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lark", None)
    answer = cli("explore", "model.abs")
    assert answer.code == 2
    assert answer.err == (
        "treadle: 'explore model.abs' needs lark, which is not installed; "
        "run, in the folder of Treadle: pip install '.[abs]'\n"
    )


def test_ctrl_c_before_the_search_is_told_and_no_verdict(cli: Cli, project: Path) -> None:
    (project / "test_bad.py").write_text("raise KeyboardInterrupt\n")
    answer = cli("explore", "test_bad.py::test_x")
    assert (answer.code, answer.out, answer.err.strip()) == (130, "", "treadle: stopped")


def test_the_string_replays(cli: Cli) -> None:
    text = json.loads(cli("explore", "test_bank.py::test_lost", "--json").out)["findings"][0]["replay"]
    answer = cli("replay", text)
    assert answer.code == 1
    assert "the schedule fails again" in answer.out


def test_the_file_replays(cli: Cli, project: Path) -> None:
    answer = cli("explore", "test_bank.py::test_deadlock")
    (saved,) = (project / ".treadle" / "findings").glob("*.json")
    assert f"saved:  {saved.relative_to(project)}" in answer.out
    again = cli("replay", str(saved.relative_to(project)), "--json")
    assert again.code == 1
    assert json.loads(again.out)["findings"][0]["kind"] == "deadlock"


def test_a_replay_works_from_a_folder_below(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.loads(cli("explore", "test_bank.py::test_lost", "--json").out)["findings"][0]["replay"]
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert cli("replay", text).code == 1


def test_wrong_replays_are_one_sentence(cli: Cli, project: Path) -> None:
    text = json.loads(cli("explore", "test_bank.py::test_lost", "--json").out)["findings"][0]["replay"]
    (project / "broken.json").write_text("{")
    wrong = {
        text[:-4]: "not a trail",
        "nonsense": "not a trail",
        "missing.json": "no replay file 'missing.json'",
        "broken.json": "broken.json is not a replay file",
        "test_bank.py": "test_bank.py is not a replay file",
        text.replace("test_bank", "test_gone"): "there is no file 'test_gone.py'",
        text.replace("test_lost", "test_gone"): "there is no test 'test_gone'",
    }
    for word, sentence in wrong.items():
        answer = cli("replay", word)
        assert (answer.code, len(answer.err.splitlines())) == (2, 1), word
        assert sentence in answer.err


def test_the_trail_of_another_test_does_not_fit(cli: Cli) -> None:
    text = json.loads(cli("explore", "test_bank.py::test_lost", "--json").out)["findings"][0]["replay"]
    answer = cli("replay", text.replace("test_lost", "test_alone"))
    assert answer.code == 2
    assert "no longer fits" in answer.err


def test_a_store_that_cannot_be_written_costs_only_the_file(cli: Cli, project: Path) -> None:
    (project / ".treadle").write_text("in the way")
    answer = cli("explore", "test_bank.py::test_lost")
    assert answer.code == 1
    assert answer.out.startswith("FAILED")
    assert "saved:" not in answer.out
    assert "the failing execution was not saved" in answer.err


def test_settings_of_the_project_hold_and_the_command_line_overrules_them(cli: Cli, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.treadle]\npreemptions = 0\n")
    assert json.loads(cli("explore", "test_bank.py::test_lost", "--json").out)["verdict"] == "PASSED-WITHIN-BOUNDS"
    assert cli("explore", "test_bank.py::test_lost", "--preemptions", "1").code == 1


def test_a_misspelt_setting_is_wrong_use(cli: Cli, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.treadle]\npreemtions = 0\n")
    answer = cli("explore", "test_bank.py::test_lost")
    assert answer.code == 2
    assert "did you mean 'preemptions'?" in answer.err


def test_pytest_settings_that_would_hide_the_test_are_overruled(cli: Cli, project: Path) -> None:
    settings = "[tool.pytest.ini_options]\naddopts = '-q -x -n 2 -m \"not treadle\" -k nothing'\n"
    (project / "pyproject.toml").write_text(settings)
    assert cli("explore", "test_bank.py::test_marked").code == 0


_MIXED = """
import threading

import treadle

@treadle.explore()
def test_generator(): yield

@treadle.explore()
def test_lost():
    box = [0]
    def add(): box[0] += 1
    treadle.parallel(add, add)
    assert box == [2]

@treadle.explore()
def test_safe():
    lock, box = threading.Lock(), [0]
    def add():
        with lock: box[0] += 1
    treadle.parallel(add, add)
    assert box == [2]
"""


def test_what_cannot_be_explored_costs_the_others_nothing(cli: Cli, project: Path) -> None:
    folder = project / "mixed"
    folder.mkdir()
    (folder / "test_mixed.py").write_text(_MIXED)
    (folder / "test_broken.py").write_text("import nowhere_at_all\n")
    answer = cli("explore", "mixed")
    assert answer.code == 1
    assert "FAILED  mixed/test_mixed.py::test_lost" in answer.out
    assert re.search(r"^PASSED-EXHAUSTIVE .*mixed/test_mixed.py::test_safe", answer.out, re.M)
    assert "not explored  mixed/test_mixed.py::test_generator: " in answer.out
    assert "not explored  mixed/test_broken.py: " in answer.out
    assert "4 tests: 1 FAILED, 1 PASSED-EXHAUSTIVE, 2 not explored" in answer.out
    assert len(list((project / ".treadle" / "findings").iterdir())) == 1
    facts = json.loads(cli("explore", "mixed", "--json").out)
    assert [test["verdict"] for test in facts["tests"]] == ["FAILED", "PASSED-EXHAUSTIVE"]
    assert [problem["exit_code"] for problem in facts["problems"]] == [2, 2]
    assert not facts["exhaustive"]


def test_an_error_of_pytest_costs_no_finding(cli: Cli, project: Path) -> None:
    (project / "conftest.py").write_text(
        "def pytest_runtest_makereport(item):\n    if item.name == 'test_safe':\n        raise RuntimeError('oh')\n"
    )
    (project / "test_mixed.py").write_text(_MIXED.replace("def test_generator(): yield", ""))
    answer = cli("explore", "test_mixed.py")
    assert answer.code == 1
    assert "FAILED  test_mixed.py::test_lost" in answer.out
    assert "pytest could not run test_mixed.py: RuntimeError: oh" in answer.out


def test_a_pass_beside_what_cannot_be_explored_is_no_pass(cli: Cli, project: Path) -> None:
    (project / "test_mixed.py").write_text(_MIXED.replace("box == [2]", "box[0] > 0"))
    assert cli("explore", "test_mixed.py").code == 2


def test_ctrl_c_keeps_what_was_found_out(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREADLE_RUNS", "")
    (project / "test_stop.py").write_text(
        "import os, signal, treadle\n"
        "def test_stop():\n"
        "    box = [0]\n"
        "    def add():\n"
        "        box[0] += 1\n"
        "    treadle.parallel(add, add)\n"
        "    os.environ['TREADLE_RUNS'] = os.environ.get('TREADLE_RUNS', '') + 'x'\n"
        "    if len(os.environ['TREADLE_RUNS']) == 3:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
    )
    answer = cli("explore", "test_stop.py::test_stop", "--strategy", "dfs")
    assert answer.code == 3
    assert answer.out.startswith("CUT  test_stop.py::test_stop")
    assert "interrupted after" in answer.out


def test_ctrl_c_in_a_thread_is_not_taken_for_what_the_test_does(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREADLE_RUNS", "")
    (project / "test_stop.py").write_text(
        "import os, signal, treadle\n"
        "def test_stop():\n"
        "    box = [0]\n"
        "    def add():\n"
        "        os.environ['TREADLE_RUNS'] = os.environ.get('TREADLE_RUNS', '') + 'x'\n"
        "        if len(os.environ['TREADLE_RUNS']) == 10:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "        box[0] += 1\n"
        "    treadle.parallel(add, add, add)\n"
    )
    answer = cli("explore", "test_stop.py::test_stop", "--strategy", "dfs")
    assert answer.code == 3
    assert "interrupted after" in answer.out
    assert "deterministic" not in answer.out


def test_who_is_told_to_terminate_ends_as_by_ctrl_c_and_its_children_as_always(project: Path) -> None:
    (project / "test_stop.py").write_text(
        "import os, signal, treadle\n"
        "def test_stop():\n"
        "    box = [0]\n"
        "    def add():\n"
        "        box[0] += 1\n"
        "    treadle.parallel(add, add)\n"
        "    os.environ['TREADLE_RUNS'] = os.environ.get('TREADLE_RUNS', '') + 'x'\n"
        "    if len(os.environ['TREADLE_RUNS']) == 3:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "def test_child():\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        os._exit(0)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM\n"
        "    treadle.parallel(lambda: None, lambda: None)\n"
    )
    line = [sys.executable, "-m", "treadle", "explore", "--strategy", "dfs"]
    stopped = subprocess.run([*line, "test_stop.py::test_stop"], capture_output=True, text=True, check=False)
    assert (stopped.returncode, stopped.stdout.split()[0]) == (3, "CUT")
    assert "interrupted after" in stopped.stdout
    child = subprocess.run([*line, "test_stop.py::test_child"], capture_output=True, text=True, check=False)
    assert child.returncode != 1, child.stdout


@pytest.mark.slow
def test_the_demo_goes_as_announced(cli: Cli) -> None:
    answer = cli("demo")
    assert answer.code == 0
    folder = Path(answer.out.splitlines()[-1].strip()).parent
    assert [page.name for page in sorted(folder.glob("*.html"))] == [
        *("actor.html", "class.html", "explore.html", "schedule.html", "unit.html")
    ]
    shutil.rmtree(folder)


def test_a_mistake_of_ours_after_the_search_is_no_silence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(result: object) -> str:
        raise AttributeError("no such thing")

    monkeypatch.setattr("treadle.pytest_plugin.exploring.sentence", broken)
    answer = cli("explore", "test_bank.py::test_lost")
    assert answer.code == 70
    assert "internal error in Treadle" in answer.err


WITHOUT_EXTRAS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("z3", "coverage", "lark", "hypothesis", "pykka", "thespian", "distributed"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
from treadle.cli.main import COMMANDS, main
for words in [[name, "--help"] for name in COMMANDS] + [["unit", "os:getcwd"], ["actor", "a.abs"], ["run", "a.abs"]]:
    try:
        main(words)
    except SystemExit as ended:
        print("ended", *words, ended.code)
"""


def test_help_needs_no_extra() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, timeout=120)
    assert run.stdout.count("--help 0") == len(COMMANDS)
    assert run.stdout.count("Usage: treadle") == len(COMMANDS)
    assert run.stdout.count(".abs 2\n") == 2
    needs = "needs z3, which is not installed; run, in the folder of Treadle: pip install"
    assert run.stderr.splitlines() == [
        f"treadle: 'unit' {needs} '.[unit]'",
        f"treadle: 'actor' {needs} '.[abs]'",
        f"treadle: 'run' {needs} '.[abs]'",
    ]
