"""`treadle class` changes nothing outside: calls run in a process of their own, which may not touch the world."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS

pytestmark = pytest.mark.slow  # each starts processes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(PROGRAMS / "class_worldly.py", tmp_path)
    (tmp_path / "precious.txt").write_text("kept")
    return tmp_path


def treadle_class(folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    command = [sys.executable, "-m", "treadle", "class", *words, "--budget", "20s", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_a_method_that_would_delete_or_write_is_named_and_left_out(folder: Path) -> None:
    code, facts, _ = treadle_class(folder, "class_worldly:Store")
    assert (folder / "precious.txt").read_text() == "kept"
    assert not (folder / "made.txt").exists()
    assert facts["not_called"] == {
        "clean": "it would change files (os.remove 'precious.txt'); pass --allow-effects to let it",
        "export": "it would write the file 'made.txt'; pass --allow-effects to let it",
    }
    assert code == 1
    assert facts["faults"][0]["methods"] == ["add"]


def test_of_a_method_only_the_call_that_would_write_is_left_out(folder: Path) -> None:
    code, facts, _ = treadle_class(folder, "class_worldly:Exports")
    assert not (folder / "made.txt").exists()
    assert (code, facts["not_called"]) == (1, {})
    assert facts["faults"][0]["methods"] == ["note"]
    assert [note for note in facts["notes"] if "sout.note('b'), which would write the file 'made.txt'" in note]


def test_effects_on_request(folder: Path) -> None:
    _, refused, _ = treadle_class(folder, "class_worldly:Store", "--methods", "clean")
    _, allowed, _ = treadle_class(folder, "class_worldly:Store", "--allow-effects", "--methods", "clean")
    assert refused["not_called"]
    assert not allowed["not_called"]
    assert (folder / "precious.txt").exists()  # every execution takes it away, and it is put back


def test_a_call_that_ends_the_process_does_not_end_the_command(folder: Path) -> None:
    code, facts, _ = treadle_class(folder, "class_worldly:Crashes")
    assert code == 3
    assert facts["verdict"] == "CUT"
    assert facts["reason"].startswith("the process in which the class was called ended by itself (exit code -11)")


@pytest.mark.parametrize("does", ["os.close(number)", "os.dup2(os.open(os.devnull, 1), number)", "sys.stdout.close()"])
def test_a_call_that_takes_the_streams_away_does_not_take_those_of_the_command(folder: Path, does: str) -> None:
    text = f"import os, sys\n\n\nclass Closes:\n    def shut(self, number: int):\n        {does}\n"
    (folder / "closing.py").write_text(text)
    code, facts, err = treadle_class(folder, "closing:Closes")
    assert (facts["target"], facts["verdict"] == "FAILED") == ("closing:Closes", code == 1), err


def test_an_import_that_would_change_the_world_is_refused(folder: Path) -> None:
    (folder / "importing.py").write_text("import os\nos.mkdir('made')\n\n\nclass Quiet:\n    def go(self): pass\n")
    code, _, err = treadle_class(folder, "importing:Quiet")
    assert code == 2
    assert "'importing' cannot be imported: it would change files (os.mkdir 'made'); pass --allow-effects" in err
    assert not (folder / "made").exists()
    code, _, err = treadle_class(folder, "importing:Quiet", "--allow-effects")
    assert (folder / "made").exists()
