"""The tests that `treadle class` writes say on which builds they fail, along a known schedule or a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.doors.class_.record import record

_FILE = """
import treadle

INSTRUMENT = []


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self):
        self.balance {change}


@treadle.follow("")
def test_{name}():
    account = Account()
    treadle.parallel(account.deposit, account.deposit)
    assert account.balance == 2
"""


@pytest.mark.parametrize(
    ("name", "change", "on"),
    [
        ("with_call", "= int(self.balance) + 1", "every build"),
        ("without_call", "+= 1", "free-threaded builds (3.13t, 3.14t), PyPy; not on CPython 3.11 to 3.14 with the GIL"),
    ],
)
def test_a_written_test_says_on_which_builds_it_fails(tmp_path: Path, name: str, change: str, on: str) -> None:
    path = tmp_path / f"written_{name}.py"
    path.write_text(_FILE.format(name=name, change=change))
    test = f"test_{name}"
    searched = record(path, "written.py", 20.0, {})[test]
    followed = record(path, "written.py", 20.0, {test: searched["replay"]})[test]
    assert searched["on"].startswith(on)
    assert followed["on"] == searched["on"]
