"""The program's code in a child that can be ended: it answers once, or not at all."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from treadle.observe.forked import answer_of_a_child, can_fork

pytestmark = pytest.mark.skipif(not can_fork(), reason="there is no fork here")


def test_a_child_answers_from_a_folder_of_its_own() -> None:
    def work(scratch: str) -> tuple[bool, int]:
        print("nobody reads this")
        return os.path.samefile(scratch, os.getcwd()), sys.stdout.fileno()

    inside, number = answer_of_a_child(work, 30.0)
    assert inside
    assert number > 2


def test_what_the_child_does_to_itself_is_no_answer(tmp_path: Path) -> None:
    before = os.getcwd()
    does: list[Any] = [lambda scratch: os._exit(3), lambda scratch: os.kill(os.getpid(), 9), lambda scratch: 1 / 0]
    assert [answer_of_a_child(one, 30.0) for one in does] == [None, None, None]
    assert os.getcwd() == before


def test_a_child_that_takes_too_long_is_ended() -> None:
    assert answer_of_a_child(lambda scratch: time.sleep(3600), 0.1) is None
