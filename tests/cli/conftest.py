"""Running the command line inside the test process: a tenth of the time of a new process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from treadle.cli.main import main

BANK = """
import threading

import pytest

import treadle


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount


def test_lost():
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2


def test_safe():
    account = Account()
    lock = threading.Lock()

    def deposit():
        with lock:
            account.deposit(1)

    treadle.parallel(deposit, deposit)
    assert account.balance == 2


@pytest.mark.treadle
def test_marked():
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance >= 1


@treadle.explore()
def test_decorated():
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance >= 1


def test_alone():
    assert Account().balance == 0


@pytest.mark.parametrize("amount", [1, 2])
def test_amount(amount):
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(amount,))
    assert account.balance in (amount, 2 * amount)


@pytest.mark.skip(reason="not today")
def test_skipped():
    pass


def test_needs(no_such_fixture):
    pass


class TestAccount:
    def test_method(self):
        account = Account()
        treadle.parallel(account.deposit, account.deposit, args=(1,))
        assert account.balance >= 1


def not_named_like_a_test():
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2


def test_deadlock():
    one, two = threading.Lock(), threading.Lock()

    def take(first, second):
        with first:
            with second:
                pass

    treadle.parallel(lambda: take(one, two), lambda: take(two, one))
"""


@dataclass
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Cli = Callable[..., Answer]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project of one test file, and the current folder. Its modules are forgotten afterwards."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_bank.py").write_text(BANK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")  # xdist sets its own
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.fixture
def cli(project: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """`cli("explore", "test_bank.py")` is `treadle explore test_bank.py` in the project."""

    def run(*words: str) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Answer(code, captured.out, captured.err)

    return run
