"""Tests that share fixtures, as a project has them."""

import os
import pytest
from copies_pool import Locked, Registry


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def locked():
    return Locked()


@pytest.fixture
def mine(tmp_path):
    yield Registry()


def test_get_and_drop(registry):
    registry.get("a")
    registry.drop("a")
    assert "b" not in registry.made


def test_get(registry):
    assert registry.get("b") is registry.get("b")
    registry.drop("b")


def test_locked(locked):
    locked.get("a")
    locked.drop("a")


def test_of_its_own(mine, tmp_path):
    mine.get("a")
    mine.drop("a")
    (tmp_path / "x").write_text("x")
    assert (tmp_path / "x").exists()


def test_patches(monkeypatch):
    monkeypatch.setenv("A", "1")


def test_moves(tmp_path):
    os.chdir(tmp_path)


class TestMoved:
    def setup_method(self):
        os.chdir(".")

    def test_moved(self):
        assert os.listdir(".")


def test_uses_up(locked):
    assert "c" not in locked.made
    locked.get("c")
