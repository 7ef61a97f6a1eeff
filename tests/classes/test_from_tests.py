"""Tests that exist are run once, in a copy and a process of their own, and tell how objects are made and called."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.classes.pools import Pools
from treadle.classes.subject import examine, find_class
from treadle.doors.class_.from_tests import recorded_for

SHELF = """
class Shelf:
    def __init__(self, sorter):
        self.sorter, self.things = sorter, {}
    def __setitem__(self, name, thing):
        self.things[name] = thing
    @classmethod
    def named(cls, name):
        return cls(len)
"""
TESTS = """
import os
from recorded_shelf import Shelf

def test_it(monkeypatch):
    monkeypatch.setenv("SHELF", "1")

    class Thing:
        size = 3

    def by_size(thing):
        return thing.size

    shelf = Shelf(by_size)
    shelf["a"] = Thing

def test_by_name():
    Shelf.named("b")
    Shelf(lambda thing: 0)
"""
OTHERS = "import recorded_shelf\n\ndef test_nothing():\n    recorded_shelf.Sheet()\n"


@pytest.mark.slow
def test_classes_and_functions_of_tests_come_with_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recorded_shelf.py").write_text(SHELF)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_shelf.py").write_text(TESTS)
    (tmp_path / "tests" / "test_others.py").write_text(OTHERS)  # names no Shelf, so it is not run
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    subject = examine("recorded_shelf:Shelf", find_class("recorded_shelf:Shelf"))
    found = recorded_for(subject, "", 600.0)
    assert found.problems == []
    pools = Pools(subject, {}, recorded=found)
    assert [call.form for call in pools.ways_seen()] == [
        "Shelf(by_size)",
        "Shelf.named('b')",
        "Shelf((lambda thing: 0))",
    ]
    assert pools.ways_seen()[0].needs[-1] == "def by_size(thing):\n    return thing.size"
    [(call,)] = pools.orders_seen()
    assert (call.method, str(call)) == ("[]=", "sout['a'] = Thing")
    assert call.lines() == ("class Thing:\n    size = 3",)
