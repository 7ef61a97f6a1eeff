"""The command: options, JSON, exit codes, files it writes and files it must not touch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import treadle
from tests.commands import run_unit as run
from tests.symbolic.exploring import PROGRAMS, load
from treadle.core.errors import UsageError
from treadle.core.files import is_unedited, seal
from treadle.symbolic.path import Limit


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    for name in ("unit_paper", "unit_bad"):
        load(name)


def test_json_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_paper:int_exp", "-k", "1", "--json", "--output", "test_x.py", capsys=capsys)
    found: dict[str, Any] = json.loads(out)
    assert code == 0
    assert found["target"] == "unit_paper:int_exp"
    assert (found["tests"], found["paths"], found["file"]) == (3, 3, "test_x.py")
    assert found["cut"] == {"loop": 1, "depth": 0, "time": 0}
    assert found["unsupported"] == []
    assert found["coverage"] == {"lines": 100.0, "branches": 100.0}
    assert {
        "inputs": {"a": 2, "n": -1},
        "outcome": {"raises": "ArithmeticError", "message": ""},
        "condition": "n < 0",
    }.items() <= next(c for c in found["cases"] if c["condition"] == "n < 0").items()
    assert len(found["cases"]) == 3


@pytest.mark.fresh
def test_the_written_file_passes_in_a_fresh_process(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_paper:mist", "unit_paper:lcm", "-k", "1", "--output", "test_x.py", capsys=capsys)
    assert code == 0
    assert "13 paths, 14 tests" in out
    assert "wrote test_x.py (14 tests, all run)" in out
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:treadle", "-p", "no:cacheprovider", "test_x.py"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(PROGRAMS), "PATH": ""},
    )
    assert "14 passed" in done.stdout, done.stdout + done.stderr


def test_the_same_program_gives_the_same_tests() -> None:
    first = treadle.unit("unit_paper:List.rem_all", "unit_paper:lcm", k=1, write_file=False)
    again = treadle.unit("unit_paper:List.rem_all", "unit_paper:lcm", k=1, write_file=False)
    assert first.source == again.source


def test_hand_edits_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("test_x.py")
    assert run("unit_paper:negative", "--output", "test_x.py", capsys=capsys)[0] == 0
    assert is_unedited(file.read_text())
    assert run("unit_paper:negative", "--output", "test_x.py", capsys=capsys)[0] == 0  # ours: replaced freely
    edited = file.read_text().replace("expected", "wanted")
    file.write_text(edited)
    code, _, err = run("unit_paper:negative", "--output", "test_x.py", capsys=capsys)
    assert code == 2
    assert "edited by hand" in err
    assert file.read_text() == edited
    assert run("unit_paper:negative", "--output", "test_x.py", "--force", capsys=capsys)[0] == 0
    assert file.read_text() != edited


def test_append_adds_only_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("test_x.py")
    file.write_text('"""Mine."""\n\nimport os\n\n\ndef test_mine():\n    assert os\n')
    added = run("unit_paper:negative", "--output", "test_x.py", "--append", capsys=capsys)
    assert added[0] == 0
    assert "added 2 tests to test_x.py (2 found, all run; what it had is as it was)" in added[1]
    text = file.read_text()
    assert text.startswith('"""Mine."""\n\nimport os\n')
    assert "from unit_paper import negative" in text
    assert text.count("def test_negative") == 1
    again = run("unit_paper:negative", "--output", "test_x.py", "--append", capsys=capsys)
    assert again[0] == 0
    assert "nothing to add to test_x.py (2 found" in again[1]
    assert file.read_text() == text


def test_a_seal_breaks_with_any_edit() -> None:
    sealed = seal("x = 1\n")
    assert is_unedited(sealed)
    assert not is_unedited(sealed.replace("1", "2", 1))
    assert not is_unedited("x = 1\n")


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("unit_paper:negative", "--show", "ir", capsys=capsys)
    assert "%1 = x < 0" in out
    _, out, _ = run("unit_paper:negative", "--show", "cases", "--force", capsys=capsys)
    assert "path condition" in out
    assert "(-x)" in out
    _, out, _ = run("unit_paper:int_exp", "-k", "1", "--show", "tree", capsys=capsys)
    assert "      n >= 2\n        => cut: loop" in out


def test_no_alias(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("unit_paper:List.rem_all", "-k", "1", "--no-alias", "--json", capsys=capsys)
    assert json.loads(out)["tests"] == 5


def test_no_none(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("unit_paper:mist", "--no-none", "--json", capsys=capsys)
    assert json.loads(out)["tests"] == 3


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("coroutine", "'coroutine' is a coroutine; its schedules matter, which are for treadle explore"),
        ("unknown_type", "the type of parameter 'thing' of 'unknown_type' is unknown"),
    ],
)
def test_what_cannot_be_followed_is_one_sentence_without_probes(
    target: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(f"unit_bad:{target}", "--no-probe", capsys=capsys)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("unit_bad:compiled", "compiled code without Python source"),
        ("unit_bad:generated", "has no source to follow"),
        ("unit_bad:writes_a_fil", "did you mean 'writes_a_file'?"),
        ("unit_bat:x", "no module 'unit_bat'"),
        ("unit_bad:", "is not a target"),
        ("nowhere.py:f", "no file 'nowhere.py'"),
    ],
)
def test_wrong_targets_are_one_sentence(target: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(target, capsys=capsys)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--domain", "5..1"], "is empty"),
        (["--domain", "five"], "write LO..HI"),
        (["--types", "n"], "write NAME=TYPE"),
        (["--types", "x=nonsense("], "not a type"),
        (["-k", "-1"], "fewer than 0"),
        (["--seconds", "0"], "--seconds must be positive"),
        (["--output", "tests.txt"], "ends in .py"),
    ],
)
def test_wrong_options_are_one_sentence(option: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("unit_paper:negative", *option, capsys=capsys)
    assert code == 2
    assert said in err
    assert list(Path().iterdir()) == []


def test_types_given_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_bad:unknown_type", "--types", "thing=str", "--json", capsys=capsys)
    assert code == 0
    [case] = json.loads(out)["cases"]
    assert case["outcome"]["message"] == "'str' object has no attribute 'frobnicate'"


@pytest.mark.parametrize(("name", "what"), [("writes_a_file", "open"), ("network", "socket")])
def test_effects_are_refused(name: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(f"unit_bad:{name}", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    [place] = found["unsupported"]
    assert place["file"].endswith("unit_bad.py")
    assert what in place["what"]
    assert "--allow-effects" in place["what"]
    assert found["tests"] >= 1
    assert not Path("unit_bad_was_here.txt").exists()


def test_unsupported_statement_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_bad:unsupported_statement", "--no-probe", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert [(p["line"], p["what"]) for p in found["unsupported"]] == [(41, "the statement 'class'")]
    assert found["tests"] == 1


def test_nothing_covered_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_bad:never_supported", "--no-probe", capsys=capsys)
    assert code == 3
    assert "nothing could be covered; no file was written" in out
    assert list(Path().iterdir()) == []


def test_help_names_every_option() -> None:
    from treadle.cli.unit import command

    text = CliRunner().invoke(command, ["--help"]).output
    for option in ("-k", "--no-alias", "--domain", "--seconds", "--show", "--json", "--output", "--append", "--force"):
        assert option in text


def test_api_takes_objects() -> None:
    program = load("unit_paper")
    suite = treadle.unit(program.negative, write_file=False)
    assert (suite.tests, suite.paths, suite.complete) == (2, 2, True)
    with pytest.raises(UsageError, match="no name that a test could import"):
        treadle.unit(lambda n: n)


def test_what_a_module_has_and_no_test_can_be_made_of_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("unit_kinds", "--json", "--output", "test_x.py", capsys=capsys)
    found = json.loads(out)
    assert (code, found["tests"], found["complete"]) == (0, 2 + len(found["probed"]), False)
    abstract, members = found["left_out"]
    assert abstract.startswith("unit_kinds:Shape is an abstract class")
    assert members.startswith("unit_kinds:Color is an enumeration")
    assert found["unfollowed"][0].startswith("'fetched' is a coroutine")
    code, _, said = run("unit_kinds:Shape", capsys=capsys)
    assert (code, said.partition(";")[0]) == (2, f"treadle: {abstract.partition(';')[0]}")


@pytest.mark.slow
def test_seconds_are_for_the_whole_command() -> None:
    """Each of the functions would take all of them; the test asks for shares, not for a time."""
    Path("many_loops.py").write_text(
        "\n\n".join(
            f"def f{n}(xs: list[int], ys: list[int]) -> int:\n    return sum(x * y for x in xs for y in ys if x > y)\n"
            for n in range(4)
        )
    )
    suite = treadle.unit("many_loops", seconds=2, k=3, write_file=False, probe=False)
    assert [e.options.seconds < 2 * 0.6 / 4 + 0.01 for e in suite.explored] == [True] * 4
    assert suite.cut[Limit.TIME] > 0
