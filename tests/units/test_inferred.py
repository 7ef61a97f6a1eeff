"""Heap assumptions inferred from the text: what is inferred is true of everything that the code can build."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import random
import sys
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.symbolic.heap.assumptions import Graph, HeapAssumption, broken
from treadle.units.explore import ExploredTarget, Session, parameter_types
from treadle.units.infer import Inferred, inferred
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

_FOLDER = tempfile.TemporaryDirectory(prefix="inferred-")


def _module(text: str) -> str:
    """Importable under a name of its own, in a folder of its own: files beside a module count as its project."""
    text = "from __future__ import annotations\n" + textwrap.dedent(text)
    name = f"inferred_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    folder = Path(_FOLDER.name) / name
    if not folder.exists():
        folder.mkdir()
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return name


def _target(text: str, function: str) -> str:
    name = _module(text)
    return f"{Path(_FOLDER.name) / name / name}.py:{function}"


def _inferred(text: str, function: str) -> list[Inferred]:
    [target] = resolve(_target(text, function))
    return inferred(target, parameter_types(target, UnitOptions()))


def _explored(text: str, function: str, **options: Any) -> ExploredTarget:
    [target] = resolve(_target(text, function))
    return Session(target, UnitOptions(summaries=False, none=False, k=1, infer_assumptions=True, **options)).explore()


_QUEUE = """
    class Queue:
        def __init__(self) -> None:
            self.items: list[int] = []
            self.waiting: list[int] = []

        def put(self, n: int) -> None:
            self.items.append(n)
            if len(self.items) > 2:
                self.waiting = []

    def move(a: Queue, b: Queue, numbers: list[int]) -> int:
        a.items.append(1)
        b.items.append(2)
        numbers.append(3)
        return len(a.items) + len(b.waiting)
"""

_TREE = """
    class Tree:
        def __init__(self, value: int) -> None:
            self.value = value
            self.left: Tree | None = None
            self.right: Tree | None = None

        def insert(self, value: int) -> None:
            if value < self.value:
                if self.left is None:
                    self.left = Tree(value)
                else:
                    self.left.insert(value)
            elif self.right is None:
                self.right = Tree(value)
            else:
                self.right.insert(value)

    def top(tree: Tree) -> int:
        if tree.left is None or tree.right is None:
            return 0
        tree.left.value = 5
        return tree.right.value + tree.value
"""


def test_a_list_made_by_its_owner_is_shared_with_nobody() -> None:
    why = "what Queue.items and Queue.waiting hold is made to be put there, and never given away"
    assert [str(one) for one in _inferred(_QUEUE, "move")] == [
        f"non_sharing(a.items, a.waiting): {why}",
        f"non_sharing(a.items, b.items) unless a is b: {why}",
        f"non_aliasing(a.items, numbers): {why}",
        f"non_sharing(a.waiting, b.waiting) unless a is b: {why}",
        f"non_aliasing(a.waiting, numbers): {why}",
        f"non_sharing(b.items, b.waiting): {why}",
        f"non_aliasing(b.items, numbers): {why}",
        f"non_aliasing(b.waiting, numbers): {why}",
    ]


@pytest.mark.parametrize("heap", ["solver", "lazy"])
def test_only_the_queues_themselves_may_be_one(heap: str) -> None:
    cases = _explored(_QUEUE, "move", heap=heap).cases
    assert sorted(case.arguments["a"] is case.arguments["b"] for case in cases) == [False, True]


@pytest.mark.parametrize("heap", ["solver", "lazy"])
def test_a_tree_that_grows_by_itself_is_a_tree(heap: str) -> None:
    why = "what Tree.left and Tree.right hold is made to be put there, and never given away"
    assert [str(one) for one in _inferred(_TREE, "top")] == [
        f"non_sharing(tree.left, tree.right): {why}",
        f"acyclic(tree): {why}",
    ]
    assert len(_explored(_TREE, "top", heap=heap).cases) == 3  # no left, no right, both


def test_a_method_may_be_called_on_what_another_argument_owns() -> None:
    meet = "    def meet(self, other: Tree) -> int:\n        return 1\n\n"
    text = textwrap.dedent(_TREE).replace("    def insert", f"{meet}    def insert")
    said = [str(one).partition(":")[0] for one in _inferred(text, "Tree.meet")]
    assert "non_aliasing(self.left, other.left) unless self is other" in said
    assert not any(text.startswith("non_sharing(self.left, other") for text in said)


_GIVEN_AWAY = {
    "by a parameter of the constructor": ("def __init__(self, items: list[int]) -> None:\n    self.items = items", ""),
    "by a setter": ("def put(self, items: list[int]) -> None:\n    self.items = items", ""),
    "by a getter": ("def get(self) -> list[int]:\n    return self.items", ""),
    "by a property": ("@property\ndef all(self) -> list[int]:\n    return self.items", ""),
    "by a local variable": ("def get(self) -> list[int]:\n    found = self.items\n    return found", ""),
    "by an argument": ("def tell(self) -> None:\n    KEPT.append(self.items)", "KEPT = []"),
    "by two names at once": ("def reset(self) -> None:\n    self.items = self.waiting = []", ""),
    "by a swap": ("def swap(self) -> None:\n    self.items, self.waiting = self.waiting, self.items", ""),
    "by a default": ("def get(self) -> list[int]:\n    return self.items or [1]", ""),
    "by a choice": ("def get(self, n: int) -> list[int]:\n    return self.items if n else []", ""),
    "by a generator": ("def all(self):\n    yield self.items", ""),
    "by a lambda": ("def all(self):\n    return lambda: self.items", ""),
    "by a display": ("def all(self):\n    return [self.items]", ""),
    "by a loop variable": ("def all(self, lists: list[list[int]]) -> None:\n    for self.items in lists: pass", ""),
    "by a context": ("def all(self, it) -> None:\n    with it as self.items: pass", ""),
    "by a walrus": ("def all(self) -> int:\n    return len(found := self.items) + len(found)", ""),
    "by another class": ("", "class Other:\n    def take(self, q: Queue) -> None:\n        self.items = q.waiting"),
    "from outside": ("", "def give(q: Queue, items: list[int]) -> None:\n    q.items = items"),
    "by a name": ("", "def give(q: Queue, name: str) -> None:\n    setattr(q, name, [])"),
    "by a name that is read": ("", "def give(q: Queue, name: str) -> object:\n    return getattr(q, name)"),
    "by a text": ("", "def give(q: Queue) -> object:\n    return getattr(q, 'items')"),
    "by a shallow copy": ("", "import copy\ndef twin(q: Queue) -> Queue:\n    return copy.copy(q)"),
    "by an imported copy": ("", "from copy import copy as twin"),
    "by its dictionary": ("", "def give(q: Queue) -> object:\n    return q.__dict__"),
    "by a pattern": ("", "def give(q: object) -> object:\n    match q:\n        case Queue(items=found): return found"),
    "by a shared list": ("def reset(self) -> None:\n    self.items = SHARED", "SHARED: list[int] = []"),
    "by a function": (
        "def reset(self) -> None:\n    self.items = make()",
        "def make() -> list[int]:\n    return SHARED\nSHARED = []",
    ),
    "by a list that is none": (
        "def reset(self) -> None:\n    self.items = list()",
        "SHARED = []\ndef list() -> object:\n    return SHARED",
    ),
    "by an operator": (
        "def same(self, other: object) -> bool:\n    return self.items == other",
        "class Any:\n    def __eq__(self, other: object) -> bool:\n        KEPT.append(other)\nKEPT = []",
    ),
    "by a built-in that is none": (
        "def tell(self) -> None:\n    print(self.items)",
        "KEPT = []\ndef print(value: object) -> None:\n    KEPT.append(value)",
    ),
}


@pytest.mark.parametrize("way", _GIVEN_AWAY)
def test_nothing_is_inferred_of_what_is_given_away(way: str) -> None:
    method, outside = _GIVEN_AWAY[way]
    text = textwrap.dedent(_QUEUE).replace("    def put", textwrap.indent(method, "    ") + "\n\n    def put", 1)
    found = _inferred(f"{text}\n{outside}\n", "move")
    assert not any("items" in one.assumption.locations for one in found), [str(one) for one in found]


_LETS_ITSELF_OUT = {
    "by a result": "def me(self) -> Tree:\n    return self",
    "to a registry": "def tell(self) -> None:\n    KEPT.append(self)",
    "as a bound method": "def tell(self) -> None:\n    KEPT.append(self.insert)",
    "to its children": "def tell(self) -> None:\n    self.left = Tree(1)\n    self.left.right = self",
}


@pytest.mark.parametrize("way", _LETS_ITSELF_OUT)
def test_an_object_that_gives_itself_away_is_not_owned(way: str) -> None:
    method = textwrap.indent(_LETS_ITSELF_OUT[way], "    ")
    text = textwrap.dedent(_TREE).replace("    def insert", f"{method}\n\n    def insert", 1)
    assert _inferred(f"KEPT: list[object] = []\n{text}", "top") == []


def test_a_class_with_slots_says_its_fields_as_texts() -> None:
    text = textwrap.dedent(_QUEUE).replace("class Queue:", "class Queue:\n    __slots__ = ('items', 'waiting')\n")
    assert _inferred(text, "move")


@pytest.mark.parametrize("head", ["items: list[int] = []", "items: list[int] = list()"])
def test_a_list_of_the_class_is_shared(head: str) -> None:
    text = textwrap.dedent(_QUEUE).replace("class Queue:", f"class Queue:\n    {head}\n")
    assert not any("items" in one.assumption.locations for one in _inferred(text, "move"))


# --- against everything that can be built ------------------------------------------------------------------

_METHODS = [
    "self.left = C()",
    "if self.left is not None:\n    self.left.right = C()",
    "if self.left is None:\n    self.left = C()\nelse:\n    self.left.m(other)",
    "self.right = C() if self.left else None",
    "self.items.append(len(other.items))",
    "self.items = list(other.items)",
    "self.items = [n for n in other.items] + self.items",
    "self.items += [1]",
    "self.items = other.items",
    "self.right = self.left",
    "self.right = other",
    "self.left, self.right = self.right, self.left",
    "return self.left",
    "return self.items",
    "other.m(self) if other.left else None",
    "found = self.left\nif found is not None:\n    found.left = other.right",
    "return self",
    "other.take(self.items, self.right)",
]


@st.composite
def _classes(draw: st.DrawFn) -> str:
    bodies = draw(st.lists(st.sampled_from(_METHODS), min_size=1, max_size=3))
    lines = [
        "class C:",
        "    def __init__(self) -> None:",
        "        self.left: C | None = None",
        "        self.right: C | None = None",
        "        self.items: list[int] = []",
    ]
    if any("take(" in body for body in bodies):
        lines += ["    def take(self, items: list[int], right: C | None) -> None:"]
        lines += ["        self.items = items", "        self.right = right"]
    for number, body in enumerate(bodies):
        lines.append(f"    def m{number}(self, other: C) -> object:")
        lines.append(textwrap.indent(body.replace(".m(", f".m{number}("), "        "))
    return "\n".join([*lines, "def main(a: C, b: C, numbers: list[int]) -> int:", "    return 0", ""])


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        return list(value)
    return list(vars(value).values()) if hasattr(value, "__dict__") else []


@given(_classes(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_what_is_inferred_holds_for_everything_that_is_built(source: str, chance: random.Random) -> None:
    """Objects are made, and every result is called in turn; what is in the hands of the caller may be an argument."""
    found = {one.assumption for one in _inferred(source, "main")}
    module = sys.modules[_module(source)]
    hands: list[Any] = [module.C() for _ in range(3)]
    methods = [m for m in vars(module.C) if m.startswith("m")]
    for _ in range(30):
        objects = [o for o in hands if isinstance(o, module.C)]
        given = None
        with contextlib.suppress(RecursionError):  # a ring, where nothing was inferred of the links
            given = getattr(chance.choice(objects), chance.choice(methods))(chance.choice(objects))
        hands += [given] if given is not None and not any(given is one for one in hands) else []
        roots = {str(n): one for n, one in enumerate(hands)}
        graph = Graph(roots, lambda o, f: getattr(o, f, None), _held, _key)
        for assumption in found:
            if assumption.kind == "owned":
                assert not broken(assumption, graph), assumption
            else:
                assert not any(broken(HeapAssumption("acyclic", (n,)), graph) for n in roots)


def _key(value: Any) -> int | None:
    return id(value) if isinstance(value, list) or hasattr(value, "left") else None
