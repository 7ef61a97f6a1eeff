"""What the standard library keeps for everybody is as it was when the next execution begins."""

from __future__ import annotations

import calendar
import csv
import gc
import linecache
import site
import sys
import unittest
import xml.etree.ElementTree as ET
from collections.abc import Callable
from types import ModuleType

import pytest

import treadle
from treadle.core.result import Verdict
from treadle.threads.settings import Settings

CHANGES: list[tuple[Callable[[], object], Callable[[], bool]]] = [
    (lambda: csv.register_dialect("mine", delimiter="|"), lambda: "mine" in csv.list_dialects()),
    (lambda: csv.unregister_dialect("unix"), lambda: "unix" not in csv.list_dialects()),
    (lambda: calendar.setfirstweekday(3), lambda: calendar.firstweekday() == 3),
    (lambda: ET.register_namespace("mine", "urn:mine"), lambda: b"mine:" in ET.tostring(ET.Element("{urn:mine}a"))),
    (lambda: sys.setrecursionlimit(3333), lambda: sys.getrecursionlimit() == 3333),
    (lambda: sys.set_int_max_str_digits(700), lambda: sys.get_int_max_str_digits() == 700),
    (lambda: gc.set_threshold(777), lambda: gc.get_threshold()[0] == 777),
    (lambda: setattr(sys, "mine", True), lambda: hasattr(sys, "mine")),
    (lambda: setattr(unittest.TestCase, "mine", True), lambda: hasattr(unittest.TestCase, "mine")),
    (lambda: setattr(unittest.TestCase, "longMessage", False), lambda: not unittest.TestCase.longMessage),
    (lambda: linecache.cache.update(mine=(1, None, ["a"], "mine")), lambda: "mine" in linecache.cache),
    (lambda: site.PREFIXES.append("mine"), lambda: "mine" in site.PREFIXES),
    (lambda: sys.modules.update(mine=ModuleType("mine")), lambda: "mine" in sys.modules),
]
NAMES = [
    *("dialect", "no dialect", "weekday", "namespace", "recursion", "digits", "collecting", "variable", "attribute"),
    *("attribute that was there", "dictionary", "list", "module"),
]


@pytest.mark.parametrize(("change", "look"), CHANGES, ids=NAMES)
def test_what_one_execution_sets_does_not_hide_the_race_in_the_next(
    change: Callable[[], object], look: Callable[[], bool]
) -> None:
    def racing() -> None:
        seen: list[bool] = []
        treadle.parallel(change, lambda: seen.append(look()))
        assert seen == [True]

    before = look()
    assert treadle.check(racing).verdict is Verdict.FAILED
    assert (before, look()) == (False, False)


def test_the_limit_of_fields_is_put_back() -> None:
    settings = Settings()
    usual = csv.field_size_limit(7)
    settings.restore()
    assert csv.field_size_limit() == usual
