"""Copies are followed: what a copy shares with its original, and what it does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

import treadle

PROGRAM = """
    import copy
    from typing import Any


    class Box:
        def __init__(self, n: int, items: list[int]) -> None:
            self.n = n
            self.items = items


    class Node:
        def __init__(self, v: int) -> None:
            self.v = v
            self.next: "Node | None" = None


    class Slotted:
        __slots__ = ("n",)

        def __init__(self, n: int) -> None:
            self.n = n


    class Own:
        def __init__(self, n: int) -> None:
            self.n = n

        def __deepcopy__(self, memo: Any) -> "Own":
            return Own(self.n + 1)


    def deep(b: Box) -> int:
        c = copy.deepcopy(b)
        c.items.append(1)
        return 1 if len(b.items) > 1 else 0


    def shallow(b: Box) -> int:
        c = copy.copy(b)
        c.items.append(1)
        c.n = 0
        return b.n if len(b.items) > 2 else 0


    def ring(n: Node) -> bool:
        m = copy.deepcopy(n)
        return m.next is m


    def shared(rows: list[list[int]]) -> bool:
        new = copy.deepcopy(rows)
        return len(new) == 2 and new[0] is new[1]


    def frozen(pair: tuple[int, str]) -> bool:
        return copy.deepcopy(pair) is pair


    def slotted(s: Slotted) -> int:
        return 1 if copy.copy(s).n > 3 else 0


    def own(s: Own) -> int:
        return 1 if copy.deepcopy(s).n > 3 else 0
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "results"),
    {"deep": {0, 1}, "shallow": {0, 2}, "ring": {True, False}, "shared": {True, False}, "frozen": {True}}.items(),
)
def test_a_copy_is_followed(name: str, results: set[object]) -> None:
    Path(f"copied_{name}.py").write_text(dedent(PROGRAM))
    suite = treadle.unit(f"copied_{name}:{name}", write_file=False, none=False)
    assert {case.outcome.value for case in suite.cases} == results
    assert not suite.unsupported
    assert suite.complete == (name != "frozen")  # a tuple may be another's


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slotted", "own"])
def test_a_class_with_a_say_in_its_copies_is_not_followed(name: str) -> None:
    Path(f"copied_{name}.py").write_text(dedent(PROGRAM))
    suite = treadle.unit(f"copied_{name}:{name}", write_file=False, none=False)
    assert [place.what for place in suite.unsupported] == ["a copy of an object that is more than its fields"]
    assert not suite.complete
    assert suite.coverage.percent("branches") == 100
