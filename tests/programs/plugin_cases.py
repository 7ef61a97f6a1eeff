"""Tests for the pytest plugin to explore; tests/cli/test_plugin.py says how each must end."""

import logging
import os
import threading
import unittest
from unittest import mock

import pytest

import treadle


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self):
        self.balance += 1


def two_deposits(account):
    treadle.parallel(account.deposit, account.deposit)
    return account.balance


@treadle.explore()
def test_fails():
    print("in this execution")
    assert two_deposits(Account()) == 2


@treadle.explore()
def test_passes():
    assert two_deposits(Account()) in (1, 2)


@pytest.mark.treadle(strategy="dpor")
def test_marked():
    assert two_deposits(Account()) == 2


@treadle.explore(executions=2)
def test_cut():
    two_deposits(Account())


@treadle.explore(preemptions=0)
def test_bounded():
    assert two_deposits(Account()) == 2


@treadle.explore()
def test_nothing():
    assert 1 + 1 == 2


@treadle.explore()
def test_deadlock():
    one, two = threading.Lock(), threading.Lock()

    def take(first, second):
        with first, second:
            pass

    treadle.parallel(lambda: take(one, two), lambda: take(two, one))


@pytest.mark.xfail(strict=True)
@treadle.explore()
def test_expected_to_fail():
    assert two_deposits(Account()) == 2


@pytest.mark.skip
@treadle.explore()
def test_skipped():
    pass


@treadle.explore()
def test_skips_itself():
    pytest.skip("not now")


set_up = []


@pytest.fixture
def account():
    made = Account()
    made.lock = threading.Lock()  # a modelled lock: fixtures are set up inside the execution
    set_up.append(made)
    yield made
    made.balance = "torn down"


@treadle.explore()
def test_fixture_is_new_in_every_execution(account):
    assert account.balance == 0
    assert two_deposits(account) in (1, 2)


@treadle.explore()
def test_fixture_fails(account):
    assert two_deposits(account) == 2


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("TREADLE_CASE", "yes")


@treadle.explore()
def test_builtin_fixtures(tmp_path, monkeypatch, capsys, caplog):
    assert os.environ["TREADLE_CASE"] == "yes"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("TREADLE_CASE", "changed")
    logging.warning("once")
    two_deposits(Account())
    print("hello")
    assert capsys.readouterr().out == "hello\n"
    assert len(caplog.records) == 1


@treadle.explore()
def test_one_folder_for_all_executions(tmp_path):
    two_deposits(Account())
    assert sorted(folder.name for folder in tmp_path.parent.glob("test_one_folder*[0-9]")) == [tmp_path.name]


@treadle.explore()
def test_asks_for_a_fixture(request):
    assert two_deposits(request.getfixturevalue("account")) in (1, 2)


@pytest.mark.parametrize("items", [[], [0]])
@treadle.explore()
def test_parameter_is_as_given(items):
    before = len(items)
    treadle.parallel(lambda: items.append(1), lambda: items.append(2))
    assert len(items) == before + 2
    assert before <= 1


class TestInClass:
    def setup_method(self):
        self.account = Account()

    @treadle.explore()
    def test_method(self):
        assert not hasattr(self, "used")
        self.used = True
        assert two_deposits(self.account) in (1, 2)


class Case(unittest.TestCase):
    def setUp(self):
        self.account = Account()
        self.addCleanup(setattr, self.account, "balance", None)

    @treadle.explore()
    def test_passes(self):
        self.assertIn(two_deposits(self.account), (1, 2))

    @treadle.explore()
    def test_fails(self):
        self.assertEqual(two_deposits(self.account), 2)

    @treadle.explore()
    def test_skips(self):
        self.skipTest("not now")


@treadle.explore()
@mock.patch("os.getcwd", return_value="/patched")
def test_patched(getcwd):
    assert os.getcwd() == "/patched"
    assert two_deposits(Account()) in (1, 2)


@mock.patch("os.getcwd", return_value="/patched")
@treadle.explore()
def test_decorators_the_wrong_way_round(getcwd):
    two_deposits(Account())


@treadle.explore(strategy="dopr")
def test_unknown_strategy():
    two_deposits(Account())


@pytest.mark.treadle(preemtions=2)
def test_unknown_option():
    two_deposits(Account())


def test_not_explored():
    assert two_deposits(Account()) == 2
