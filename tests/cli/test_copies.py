"""`pytest --treadle-copies 2`, `--treadle-pairs` and `treadle explore --copies 2`: existing tests, run at once."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS
from tests.classes.test_command import run_pytest, treadle
from treadle.pytest_plugin.copies import _CHANGES_PROCESS, answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(PROGRAMS / "copies_pool.py", tmp_path)
    shutil.copy(PROGRAMS / "copies_cases.py", tmp_path / "test_shared.py")
    return tmp_path


def told(folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    done = run_pytest(folder, *words, "--treadle-json", "out.json", "--tb=line")
    return json.loads((folder / "out.json").read_text()), done.stdout


@pytest.mark.slow
def test_copies_race_pass_share_nothing_or_cannot_share(folder: Path) -> None:
    facts, text = told(folder, "--treadle-copies", "2", "-k", "not test_get or test_get_and_drop")
    outcomes = {name.rpartition("::")[2]: outcome for name, outcome in facts["tests"].items()}
    assert outcomes["test_get_and_drop"] == "races"
    assert outcomes["test_locked"] == "passes"
    assert outcomes["test_of_its_own"] in ("shares nothing", "passes")  # a fixture and a folder for each copy
    assert outcomes["test_patches"] == "cannot share: it uses monkeypatch, which is about the whole process"
    assert outcomes["test_moves"] == "cannot share: its source has 'chdir', which is about the whole process"
    assert outcomes["test_moved"] == outcomes["test_moves"]  # what is around a test of a class counts
    assert outcomes["test_uses_up"].startswith("cannot share: fails one after the other: AssertionError")
    assert re.search("not ready for free threading: 1 of [23] tests fail when something runs beside them", text)


@pytest.mark.slow
def test_a_failure_of_copies_is_replayed(folder: Path) -> None:
    done = treadle(folder, "explore", "test_shared.py::test_get_and_drop", "--copies", "2", "--json")
    finding = json.loads(done.stdout)["findings"][0]
    assert finding["kind"] == "exception"
    assert finding["replayed"] == "a fresh process"


def test_one_copy_is_none(folder: Path) -> None:
    done = run_pytest(folder, "--treadle-copies", "1")
    assert done.returncode == 4
    assert "--treadle-copies 1 leaves nothing to run at once; give 2 or more" in done.stderr


def test_the_answer_claims_nothing_without_a_pass() -> None:
    assert answer(Counter(cut=3), 2).startswith("nothing is known about free threading")
    assert answer(Counter(passes=3, cut=1), 2).startswith("no sign against free threading, as far as the tests reach")


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("sys.modules[self.__class__.__module__].__file__", False),
        ("if sys.modules['a'] == module:", False),
        ("sys.modules['a'] = None", True),
        ("del sys.modules['a']", True),
        ("sys.modules.pop('a')", True),
        ("with patch.dict(sys.modules, a=None):", True),
        ("sys.stdout = out", True),
    ],
)
def test_what_is_about_the_whole_process(source: str, changes: bool) -> None:
    assert bool(_CHANGES_PROCESS.search(source)) is changes
