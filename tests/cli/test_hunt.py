"""`treadle hunt`: classes and modules of a package, a ledger that it goes on from, and one ranked report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS, campaign
from tests.classes.test_command import treadle
from tests.cli import shop
from treadle.doors.class_.hunt import Ledger, ranked


def fault(target: str, kind: str, test: str = "t", everywhere: bool = False) -> dict[str, Any]:
    facts = {"kind": kind, "message": kind, "test": test, "on": "", "on_every_build": everywhere}
    return {"target": target, "release": "p 1", "faults": [facts], "verdict": "FAILED"}


def test_the_gravest_and_best_shown_come_first() -> None:
    found = ranked([fault("a", "linearizability"), fault("b", "exception", test=""), fault("c", "exception")])
    assert [one["target"] for one in found] == ["c", "b", "a"]
    found = ranked([fault("a", "exception"), fault("b", "exception", everywhere=True)])
    assert [one["target"] for one in found] == ["b", "a"]


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
    words = ("hunt", "hunted", "--budget", "60s", "--json")
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


def test_for_a_build_server_whatever_is_no_pass_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.make(tmp_path, monkeypatch)
    ledger = Ledger(tmp_path / "found" / "hunt.jsonl", "10s")
    words = ("hunt", "shop", "--output", "found")
    for verdict, more, codes in (("CUT", {}, (3, 1)), ("PASSED-WITHIN-BOUNDS", {"skipped": True}, (0, 1))):
        for name in ("Till", "Sign"):
            told = {"target": f"shop:{name}", "verdict": verdict, "reason": "time is up", "faults": []}
            ledger.add({**told, **(more if name == "Sign" else {})}, "shop")
        assert (shop.run(words, capsys)[0], shop.run((*words, "--strict"), capsys)[0]) == codes
    ledger.add({**fault("shop:Till", "exception"), "reason": "", "faults": [_FAULT]}, "shop")
    code, _, err = shop.run((*words, "--format", "github", "--sarif", "log.sarif"), capsys)
    assert code == 1
    assert err == "::error file=shop.py,line=8,title=FAILED%3A shop%3ATill::exception: lost%0Atreadle replay 'tr1:x'\n"
    [result] = json.loads((tmp_path / "log.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 8


_FAULT = {"kind": "exception", "message": "lost", "test": "t", "on": "", "locations": ["shop.py:8"], "replay": "tr1:x"}


def test_a_package_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = treadle(tmp_path, "hunt", "no_such_package_here")
    assert done.returncode == 2
    assert done.stderr.strip() == "treadle: there is no module 'no_such_package_here' that Python can import from here"
