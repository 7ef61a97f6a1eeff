"""`treadle hunt`: classes and modules of a package, a ledger that it goes on from, and one ranked report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS, campaign
from tests.classes.test_command import treadle
from treadle.doors.class_.hunt import Ledger, ranked


def fault(target: str, kind: str, test: str = "t", on: str = "") -> dict[str, Any]:
    facts = {"kind": kind, "message": kind, "test": test, "on": on}
    return {"target": target, "release": "p 1", "faults": [facts], "verdict": "FAILED"}


def test_the_gravest_and_best_shown_come_first() -> None:
    found = ranked([fault("a", "linearizability"), fault("b", "exception", test=""), fault("c", "exception")])
    assert [one["target"] for one in found] == ["c", "b", "a"]


def test_a_ledger_holds_for_the_same_release_and_budget_and_survives_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "hunt.jsonl"
    ledger = Ledger(path, "10s")
    ledger.add(fault("a", "exception"), "p 1")
    ledger.add(fault("b", "exception"), "p 1")
    with path.open("a") as stream:
        stream.write('{"target": "c", "rel')
    again, longer = Ledger(path, "10s"), Ledger(path, "60s")
    again.read({"a": "p 1", "b": "p 2", "c": "p 1"})
    longer.read({"a": "p 1"})
    assert set(again.facts) == {"a"}
    assert not longer.facts


def test_a_function_is_judged_with_itself_and_the_others_bring_the_module_into_states() -> None:
    result = campaign("hunted.registry:register", calls=1)
    assert result.judged == ["register"]
    assert {tuple(one.methods) for one in result.faults} == {("register",)}
    assert "apart" in result.faults[0].message


@pytest.mark.slow
def test_a_hunt_finds_ranks_refuses_and_goes_on(tmp_path: Path) -> None:
    shutil.copytree(PROGRAMS / "hunted", tmp_path / "hunted")
    words = ("hunt", "hunted", "--budget", "2s", "--json")
    done = treadle(tmp_path, *words)
    facts = json.loads(done.stdout)
    assert done.returncode == 1
    assert not (tmp_path / "left_behind.txt").exists()
    assert "would write the file" in facts["refused"]["hunted.worldly"]
    assert [one["target"] for one in facts["faults"]] == ["hunted.registry:", "hunted.box:Counter"]
    ledger = tmp_path / ".treadle" / "hunt" / "hunt.jsonl"
    kept = ledger.read_text()
    assert json.loads(treadle(tmp_path, *words).stdout) == facts
    assert ledger.read_text() == kept


def test_a_package_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = treadle(tmp_path, "hunt", "no_such_package_here")
    assert done.returncode == 2
    assert done.stderr.strip() == "treadle: there is no module 'no_such_package_here' that Python can import from here"
