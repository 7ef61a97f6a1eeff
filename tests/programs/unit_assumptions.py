"""Structures that may or may not be linked in a ring, for tests/doors_unit/test_assumptions.py."""

import dataclasses
from typing import List, Optional

import treadle
from treadle import acyclic, non_sharing


class Node:
    """Linked by its constructor only."""

    def __init__(self, value: int, next: "Optional[Node]" = None) -> None:
        self.value = value
        self.next = next


class Loose:
    """Linked by anybody: see `tie`."""

    def __init__(self, value: int, then: "Optional[Loose]" = None) -> None:
        self.value = value
        self.then = then


def tie(a: Loose, b: Loose) -> int:
    a.then = b
    return b.value


@dataclasses.dataclass(frozen=True)
class Tree:
    left: "Optional[Tree]" = None
    right: "Optional[Tree]" = None


class Ring:
    def __init__(self, around: "Optional[Ring]" = None) -> None:
        self.around = around or self


class Family:
    def __init__(self, children: "List[Family]") -> None:
        self.children = children


class Leaf:
    def __init__(self, value: int) -> None:
        self.value = value


def third(node: Node) -> int:
    """Walks three nodes, known to be there."""
    return node.value + node.next.value + node.next.next.value


@treadle.assume("acyclic(node)")
def third_of_a_line(node: Node) -> int:
    return node.value + node.next.value + node.next.next.value


@treadle.assume(acyclic("a"), non_sharing("a", "b"))
def both(a: Node, b: Node) -> int:
    return a.next.value + b.next.value


@non_sharing("a", "b")
@acyclic("a")
def both_again(a: Node, b: Node) -> int:
    return a.next.value + b.next.value


def both_anyhow(a: Node, b: Node) -> int:
    return a.next.value + b.next.value


def through_a_third(a: Node, b: Node, c: Node) -> int:
    """a and b share an object only if c leads there: a.next is c, c.next is b."""
    if a.next is c and c.next is b:
        return 1
    return 0


def depth(tree: Tree) -> int:
    if tree.left is not None and tree.left.left is not None:
        return 2
    return 1


def loose(a: Loose) -> int:
    return a.then.then.value


def round_and_round(r: Ring) -> bool:
    return r.around.around is r


def grandchildren(f: Family) -> int:
    return len(f.children[0].children)


def leaf(a: Leaf, b: Leaf) -> int:
    a.value += 1
    return b.value


@treadle.assume("acyclic(self)")
class Stack:
    def __init__(self, top: Optional[Node] = None) -> None:
        self.top = top

    def second(self) -> int:
        return self.top.next.value

    @staticmethod
    def empty() -> int:
        return 0


@treadle.assume("acyclic(nodes)")
def misspelt(node: Node) -> int:
    return node.value
