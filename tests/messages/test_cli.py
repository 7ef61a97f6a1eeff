"""`treadle schedule` as a person and as a machine sees it: exit codes, JSON, pictures, written tests, wrong use."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from treadle.cli.main import main
from treadle.core.verdict import Verdict
from treadle.messages.result import ScheduleResult
from treadle.report.console import sentence

PROGRAM = Path(__file__).parent.parent / "programs" / "actors" / "gatling.py"
KEYS = {"target", "events", "schedules", "executions", "goals", "infeasible", "findings"}
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    shutil.copy(PROGRAM, tmp_path / "test_app.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    yield run
    sys.modules.pop("test_app", None)


def test_a_failure_is_exit_1_with_order_and_replay_command(cli: Cli) -> None:
    code, out, _ = cli("schedule", "test_app.py::test_two_actions", "--delivery", "promised")
    assert code == 1
    assert out.startswith("FAILED  test_app.py::test_two_actions")
    assert "all it takes: Flush before Write" in out
    assert "> Terminator -> Writer: Flush" in out
    assert "replay: treadle replay 'tr2:test_app.py::test_two_actions:" in out


def test_json_has_the_facts(cli: Cli) -> None:
    code, out, _ = cli("schedule", "test_app.py::test_two_actions", "--delivery", "promised", "--json")
    facts = json.loads(out)
    assert code == 1
    assert facts.keys() >= KEYS
    assert set(facts["goals"]) == {"PR", "PCR", "PMR"}
    assert set(facts["goals"]["PR"]) == {"covered", "known"}
    assert facts["findings"][0]["order"] == ["Flush before Write"]
    assert facts["executions"] == 2


def test_the_failure_is_replayed(cli: Cli) -> None:
    _, out, _ = cli("schedule", "test_app.py::test_two_actions", "--delivery", "promised", "--json")
    code, out, _ = cli("replay", json.loads(out)["findings"][0]["replay"])
    assert code == 1
    assert "the schedule fails again" in out


def test_explore_of_an_actor_test_looks_at_messages(cli: Cli) -> None:
    code, out, _ = cli("explore", "test_app.py::test_one_action", "--json", "--delivery", "promised")
    assert code == 1
    assert json.loads(out)["statistics"]["granularity"] == "messages"


def test_only_one_order_is_exit_3(cli: Cli) -> None:
    code, out, _ = cli("schedule", "test_app.py::test_one_action", "--delivery", "causal")
    assert code == 3
    assert out.startswith("NOTHING-TO-EXPLORE")


def test_pictures(cli: Cli) -> None:
    cli("schedule", "test_app.py::test_two_actions", "--delivery", "promised", "--diagram", "d.svg", "--curve", "c.svg")
    for name in ("d.svg", "c.svg"):
        ElementTree.parse(name)
    assert Path("d.svg").read_text().count('class="marked"') == 2  # where the failing and the passing one part


@pytest.mark.slow
def test_a_written_test_fails_alone(cli: Cli) -> None:
    code, out, _ = cli(
        "schedule", "test_app.py::test_two_actions", "--delivery", "promised", "--write", "test_order.py"
    )
    assert code == 1
    assert "wrote test_order.py" in out
    assert "@treadle.order('Flush before Write')" in Path("test_order.py").read_text()
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_order.py"], capture_output=True, text=True, check=False
    )
    assert "1 failed" in ran.stdout
    assert "AttributeError" in ran.stdout


def test_files_that_a_person_edited_are_left_alone_before_anything_is_run(cli: Cli) -> None:
    for option, name in (("--diagram", "d.svg"), ("--curve", "c.svg"), ("--write", "test_order.py")):
        Path(name).write_text("mine")
        code, out, err = cli("schedule", "test_app.py::test_two_actions", "--delivery", "promised", option, name)
        assert (code, out) == (2, "")
        assert f"'{name}' exists" in err
        assert Path(name).read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["test_app.py"], "name the test"),
        (["no.py::test_x"], "there is no file"),
        (["test_app.py::test_twoactions"], "did you mean"),
        (["test_app.py::test_two_actions", "--criteria", "PQ"], "there is no criterion 'PQ'"),
        (["test_app.py::test_two_actions", "--executions", "0"], "leaves nothing to run"),
        (["test_app.py::test_two_actions", "--delivery", "maybe"], "'mailbox' or 'causal' or 'promised'"),
        (["test_app.py::test_two_actions", "--diagram", "d.txt"], "must end in .svg"),
        (["test_app.py::test_two_actions", "--curve", "d.txt"], "must end in .svg"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(cli: Cli, words: list[str], said: str) -> None:
    code, out, err = cli("schedule", *words)
    assert code == 2
    assert not out
    assert said in err
    assert err.count("\n") == 1


_ANY_ORDER = """
import asyncio


async def give(box, word):
    await box.put(word)


async def test_words():
    box = asyncio.Queue()
    gives = [asyncio.create_task(give(box, word)) for word in ("open", "close")]
    assert {await box.get(), await box.get()} == {"open", "close"}
    await asyncio.gather(*gives)
"""


def test_queues_whose_order_does_not_matter_pass_within_the_bounds_of_their_goals(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "test_words.py").write_text(_ANY_ORDER)
    code, out, _ = cli("schedule", "test_words.py::test_words")
    assert code == 0
    assert out.startswith("PASSED-WITHIN-BOUNDS  test_words.py::test_words")


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_of_messages_has_its_sentence(verdict: Verdict) -> None:
    """It is told by who tells the results of `explore`, and has all that is asked of those."""
    told: Any = ScheduleResult("tests/test_x.py::test_y", verdict, executions=3)
    assert sentence(told)
