"""The pages that the browser is shown: one of every door, made by the commands, on small programs with known faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.cli.main import main

BANK = """
import threading

import treadle


class Account:
    def __init__(self) -> None:
        self.balance = 0

    def deposit(self, amount: int) -> None:
        self.balance += amount

    def read(self) -> int:
        return self.balance


def test_lost():
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2


def test_safe():
    account, lock = Account(), threading.Lock()

    def deposit():
        with lock:
            account.deposit(1)

    treadle.parallel(deposit, deposit)
    assert account.balance == 2


def test_deadlock():
    one, two = threading.Lock(), threading.Lock()

    def take(first, second):
        with first:
            with second:
                pass

    treadle.parallel(lambda: take(one, two), lambda: take(two, one))
"""

SHOP = '''
class Item:
    def __init__(self, price: int, next: "Item | None") -> None:
        self.price = price
        self.next = next


def total(first: Item | None, limit: int) -> int:
    """The prices of a chain of items, up to a limit."""
    sum = 0
    while first is not None:
        sum += first.price
        first = first.next
    if sum > limit:
        raise ValueError("too much")
    return sum
'''

ROOT = Path(__file__).parent.parent.parent
COMMANDS = {
    "explore": ("explore", "test_bank.py::test_lost"),
    "deadlock": ("explore", "test_bank.py::test_deadlock"),
    "pass": ("explore", "test_bank.py::test_safe"),
    "unit": ("unit", "shop:total"),
    "class": ("class", "test_bank:Account", "--budget", "4s"),
    "schedule": ("schedule", "early_message.py::test_early_message"),
    "actor": ("actor", "registration.abs:Simulator.simulate"),
}
CODES = {"explore": 1, "deadlock": 1, "pass": 0, "unit": 0, "class": 1, "schedule": 1, "actor": 0}


def make_page(kind: str, folder: Path) -> Path:
    """The page of one command, made in a project of its own."""
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (folder / "test_bank.py").write_text(BANK)
    (folder / "shop.py").write_text(SHOP)
    actors = ROOT / "src" / "treadle" / "examples" / "actors" / "early_message.py"
    (folder / "early_message.py").write_text(actors.read_text())
    (folder / "registration.abs").write_text((ROOT / "examples" / "abs" / "registration.abs").read_text())
    with pytest.raises(SystemExit) as ended:
        main([*COMMANDS[kind], "--report", f"{kind}.html"])
    assert ended.value.code == CODES[kind]
    return folder / f"{kind}.html"
