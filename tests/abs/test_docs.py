"""The commands and snippets of docs/actor.md run as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from treadle.cli.main import main

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "actor.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", TEXT, re.S) for line in block.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "examples" / "abs" / "factorial.abs", tmp_path)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)
    assert words[0] == "treadle"
    with pytest.raises(SystemExit) as left:
        main(words[1:])
    assert left.value.code == 0
    assert capsys.readouterr().out


def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples" / "abs" / "factorial.abs", tmp_path)
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert snippets  # each asserts what it says, by itself
    for snippet in snippets:
        exec(compile(snippet, "docs/actor.md", "exec"), {})


def test_options_and_help_agree(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["actor", "--help"])
    shown = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    table = TEXT.partition("## Options")[2].partition("## Which orders")[0]
    assert shown == set(re.findall(r"--[a-z][a-z-]+", table.replace("(`--tasks none`)", "")))


def test_examples_are_counted() -> None:
    assert len(list((ROOT / "examples" / "abs").glob("*.abs"))) == 12
    assert "Twelve of them are in `examples/abs/`" in TEXT
