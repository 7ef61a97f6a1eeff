"""The state of an object as plain data: equal exactly when a program could not tell."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from typing import Any

import pytest

from treadle.threads.fingerprint import fingerprint


class Node:
    def __init__(self, value: Any = None) -> None:
        self.value = value
        self.next: Any = None

    def __repr__(self) -> str:
        raise AssertionError("code under test must not run")


class Slotted:
    __slots__ = ("one", "two")

    def __init__(self, one: int) -> None:
        self.one = one


def ring(*values: Any) -> Node:
    nodes = [Node(value) for value in values]
    for place, node in enumerate(nodes):
        node.next = nodes[(place + 1) % len(nodes)]
    return nodes[0]


def test_cycles_end_and_are_told_apart_by_their_length() -> None:
    assert fingerprint(ring(1, 1)) == fingerprint(ring(1, 1))
    assert fingerprint(ring(1, 1)) != fingerprint(ring(1, 1, 1))


def test_one_shared_list_is_not_two_equal_ones() -> None:
    shared: list[int] = []
    assert fingerprint([shared, shared]) != fingerprint([[], []])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),  # a program sees the order of a dictionary
        (1, True),
        (1, 1.0),
        ([1], (1,)),
        (deque([1], 2), deque([1], 3)),
        (OrderedDict(a=1), {"a": 1}),
        (Slotted(1), Slotted(2)),
        (Node(1), Node(2)),
        (print, len),
    ],
)
def test_what_a_program_can_tell_apart_differs(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({3, 1, 2}, {1, 2, 3}),
        (Slotted(1), Slotted(1)),
        (Node([1, {2}]), Node([1, {2}])),
        (threading.Lock(), threading.Lock()),
        (ValueError("x"), ValueError("x")),
        ({}.keys(), {}.keys()),
        (iter([1]), iter([2])),  # looking would use them up
    ],
)
def test_what_a_program_cannot_tell_apart_is_equal(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_a_lock_counts_by_its_state() -> None:
    free, held = threading.Lock(), threading.Lock()
    held.acquire()
    assert fingerprint(free) != fingerprint(held)


def test_a_weak_reference_counts_by_what_it_refers_to() -> None:
    node = Node(1)
    alive = weakref.ref(node)
    before = fingerprint(alive)
    del node
    assert fingerprint(alive) != before


def test_attributes_can_be_left_out() -> None:
    one, other = Node(1), Node(2)
    assert fingerprint(one, without={"value"}) == fingerprint(other, without={"value"})


def test_seen_from_outside_an_object_without_equality_counts_by_its_class() -> None:
    assert fingerprint(Node(1), outside=True) == fingerprint(Node(2), outside=True)
    assert fingerprint([1, Node(1)], outside=True) != fingerprint([2, Node(1)], outside=True)


def test_a_fingerprint_is_hashable_and_deep_graphs_end() -> None:
    start = node = Node()
    for _ in range(5_000):
        node.next = Node()
        node = node.next
    assert hash(fingerprint(start)) == hash(fingerprint(start))


def test_the_order_of_an_ordered_dictionary_is_its_own() -> None:
    one, other = OrderedDict.fromkeys("ab"), OrderedDict.fromkeys("ab")
    assert fingerprint(one) == fingerprint(other)
    one.move_to_end("a")
    assert fingerprint(one) != fingerprint(other)
    other.move_to_end("a")
    assert fingerprint(one) == fingerprint(other)
