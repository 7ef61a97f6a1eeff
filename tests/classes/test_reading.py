"""What the source and the documentation of a class say of it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from treadle.classes import reading


def tree(source: str) -> list[ast.AST]:
    return [ast.parse(textwrap.dedent(source))]


CLASS = """
class Box:
    def __init__(self): self.items, self.hits, self.size = [], 0, 0
    def put(self, item):
        self.hits += 1
        self.items.append(item)
    def twice(self, item): self.put(item)
    def first(self): return self.items[0]
    def grow(self): self.size += 1
    def room(self): return self.size
"""


def test_a_method_changes_the_object_also_through_another() -> None:
    assert reading.changing(tree(CLASS), frozenset()) >= {"put", "twice", "grow"}
    assert not reading.changing(tree(CLASS), frozenset()) & {"first", "room"}


def test_an_attribute_that_nobody_reads_only_counts() -> None:
    assert reading.tallies(tree(CLASS)) == {"hits"}


@pytest.mark.parametrize(
    ("documentation", "of_class", "approximate"),
    [
        ("Return the approximate size.", "", True),
        ("Return the size.", "The result of `qsize` is not reliable. Others are.", True),
        ("Return the size.", "The result of `other` is not reliable", False),
        ("Return the exact size.", "", False),
    ],
)
def test_a_result_is_promised_only_approximately(documentation: str, of_class: str, approximate: bool) -> None:
    assert reading.is_approximate("qsize", documentation, of_class) is approximate


def test_a_clock_is_seen_by_its_name_and_another_attribute_of_that_name_is_none() -> None:
    assert reading.looks_at_a_clock(tree("def f(): return time.time()"))
    assert reading.looks_at_a_clock(tree("def f(): return datetime.now()"))
    assert not reading.looks_at_a_clock(tree("def f(event): return event.time"))


def test_a_class_that_keeps_its_objects_is_a_singleton() -> None:
    assert reading.keeps_objects(tree("class C:\n  def __new__(cls):\n    cls.one = object.__new__(cls)"))
    assert not reading.keeps_objects(tree("class C:\n  def __new__(cls):\n    return object.__new__(cls)"))


def test_what_is_called_on_a_parameter_that_is_kept() -> None:
    source = """
    class Cache:
        def __init__(self, store, size):
            self._store = store
            self.size = size + 1
        def get(self, key): return self._store.load(key)
    """
    assert reading.asked_of_parameters(tree(source)) == {"store": {"load"}}
