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

# Two accesses that are made by one function of another file, and a second race beside them.
LEDGER = (
    """
class Ledger:
    def __init__(self):
        self.total = 0

    def peek(self):
        return self.total
"""
    + "\n" * 30
    + """
    def store(self, value):
        self.total = value
"""
)
TILL = """
import treadle
from ledger import Ledger


def sell(ledger, amount):
    seen = ledger.peek()
    new = seen + amount
    ledger.store(new)


def test_till():
    ledger = Ledger()
    treadle.parallel(sell, sell, sell, args=(ledger, 10))
    assert ledger.total == 30
"""

# An event loop that promises its order, in which the update is lost.
CART = """
import asyncio


async def add(cart):
    have = cart["items"]
    await asyncio.sleep(0)
    cart["items"] = have + 1


async def test_cart():
    cart = {"items": 0}
    await asyncio.gather(add(cart), add(cart))
    assert cart["items"] == 2
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
    "far": ("explore", "test_till.py::test_till"),
    "loop": ("explore", "test_cart.py::test_cart"),
    "messages": ("explore", "early_message.py::test_early_message"),
    "stuck": ("actor", "database.abs"),
    "unit": ("unit", "shop:total"),
    "class": ("class", "test_bank:Account", "--budget", "4s"),
    "schedule": ("schedule", "early_message.py::test_early_message"),
    "actor": ("actor", "registration.abs:Simulator.simulate"),
}
PASSING = ("pass", "unit", "actor")


def make_page(kind: str, folder: Path) -> Path:
    """The page of one command, made in a project of its own."""
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (folder / "test_bank.py").write_text(BANK)
    (folder / "shop.py").write_text(SHOP)
    (folder / "ledger.py").write_text(LEDGER)
    (folder / "test_till.py").write_text(TILL)
    (folder / "test_cart.py").write_text(CART)
    actors = ROOT / "src" / "treadle" / "examples" / "actors" / "early_message.py"
    (folder / "early_message.py").write_text(actors.read_text())
    for model in ("registration.abs", "database.abs"):
        (folder / model).write_text((ROOT / "examples" / "abs" / model).read_text())
    with pytest.raises(SystemExit) as ended:
        main([*COMMANDS[kind], "--report", f"{kind}.html"])
    assert ended.value.code == (0 if kind in PASSING else 1)
    return folder / f"{kind}.html"
