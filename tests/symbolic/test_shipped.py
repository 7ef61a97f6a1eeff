"""Summaries that are shipped: methods of str, functions of math, case by case; the real run agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

import treadle
from tests.symbolic.exploring import PROGRAMS, explored, load

# function -> paths; nothing is picked and nothing is unsupported in any of them
EXACT = {
    "admin": 3,
    "words": 4,  # none to three; more are cut
    "number": 2,
    "integers": 9,  # of one, two or three parts any may be the first that is no number
    "setting": 4,
    "quoted": 1,
    "tail": 4,
    "pair": 2,
    "extension": 2,
    "last": 3,
    "folder": 1,
    "host": 2,
    "padded": 1,
    "justified": 1,
    "wide": 2,
    "commas": 3,
    "square": 4,
    "half": 2,
    "tens": 1,
    "signed": 2,
    "remainder": 2,
    "right_angle": 2,
    "finite": 3,
}


@pytest.mark.parametrize("name", EXACT)
def test_every_path_is_followed(name: str) -> None:
    found = explored(f"unit_shipped:{name}")
    assert (found.paths, found.seen.sampled, found.seen.unsupported) == (EXACT[name], [], [])


def test_text_that_is_no_number_is_told_in_pythons_words() -> None:
    found = explored("unit_shipped:number")
    messages = {case.outcome.message for case in found.cases if case.outcome.raises is ValueError}
    assert "invalid literal for int() with base 10: 'ab'" in messages


@pytest.mark.slow
def test_the_real_run_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    load("unit_shipped")
    suite = treadle.unit("unit_shipped", write_file=False)
    assert suite.disagreements == []
    assert suite.coverage.percent("lines") == 100
