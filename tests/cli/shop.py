"""A project with something for every door, and a command that is run in it, here."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from treadle.cli.main import main

TESTS = Path(__file__).parents[1]

SHOP = """
class Till:
    def __init__(self) -> None:
        self.total = 0

    def add(self, amount: int) -> None:
        old = self.total
        self.total = old + amount


class Sign:
    def __init__(self) -> None:
        self.text = "open"

    def shown(self) -> str:
        return self.text


def price(count: int, member: bool, code: int) -> int:
    total = 0
    for _ in range(count):
        total += 3 if member else 5
    if code == 7:
        total -= 1
    return max(total, 0)


def change(paid: int, owed: int) -> int:
    if paid < owed:
        raise ValueError("not enough")
    return paid - owed
"""

THREADS = """
import threading


class Account:
    balance = 0


def test_three_threads():
    account = Account()

    def body(times):
        for _ in range(times):
            account.balance = account.balance + 1

    threads = [threading.Thread(target=body, args=(times,)) for times in (2, 1, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance <= 4
"""


def make(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> None:
    """Write the project, and go there."""
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (folder / "shop.py").write_text(SHOP + more)
    (folder / "test_threads.py").write_text(THREADS)
    shutil.copy(TESTS / "programs" / "actors" / "larger.py", folder / "test_actors.py")
    shutil.copy(TESTS.parent / "examples" / "abs" / "factorial.abs", folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def run(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, str]:
    """The exit code of a command, what it says as JSON, and what it says to people."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*words, "--json"])
    out, err = capsys.readouterr()
    for name in ("shop", "test_threads", "test_actors"):
        sys.modules.pop(name, None)
    return int(ended.value.code or 0), json.loads(out) if out else None, err
