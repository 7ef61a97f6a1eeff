"""Small programs whose outcomes are all known: each has its test, and no other outcome is predicted."""

from __future__ import annotations

import itertools
from pathlib import Path
from textwrap import dedent

import pytest

import treadle
from treadle.core.errors import UsageError
from treadle.doors.unit.check import check
from treadle.units.explore import CannotExplore
from treadle.units.target import resolve


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


_PROGRAMS = {
    # a list asks for identity before it asks for equality
    "member": (
        """
        class Odd:
            def __eq__(self, other: object) -> bool:
                return False
            __hash__ = None
        def f(one: Odd, others: list[Odd]) -> str:
            if one is None or not others:
                return "none"
            return "in" if one in others else "out"
        """,
        {"none", "in", "out"},
    ),
    "index": (
        """
        class Odd:
            def __eq__(self, other: object) -> bool:
                raise KeyError
            __hash__ = None
        def f(one: Odd, other: Odd) -> int:
            if one is None or other is None:
                return -1
            return [other, one].index(one)
        """,
        {-1, 0, "KeyError"},
    ),
    "negative_length": (
        """
        class Sized:
            def __init__(self, size: int) -> None:
                self.size = size
            def __len__(self) -> int:
                return self.size
        def f(size: int) -> str:
            return "some" if Sized(size) else "none"
        """,
        {"some", "none", "ValueError"},
    ),
    "truth_of_an_int": (
        """
        class Switch:
            def __init__(self, on: int) -> None:
                self.on = on
            def __bool__(self) -> bool:
                return self.on if self.on > 5 else self.on > 0
        def f(on: int) -> str:
            return "on" if Switch(on) else "off"
        """,
        {"on", "off", "TypeError"},
    ),
    "walrus_in_a_generator": (
        """
        def f(a: int, b: int) -> str:
            if any((last := x) > 3 for x in (a, b)):
                return "first" if last == a else "second"
            return "none"
        """,
        {"first", "second", "none"},
    ),
    "raise_in_finally": (
        """
        def f(n: int) -> str:
            try:
                if n > 3:
                    raise KeyError("k")
            finally:
                if n > 5:
                    raise
            return "ok"
        """,
        {"ok", "KeyError"},
    ),
    "flags": (
        """
        import enum
        class Access(enum.Flag):
            READ = 1
            WRITE = 2
        def f(access: Access) -> str:
            if access == Access.READ | Access.WRITE:
                return "both"
            return "one" if access else "none"
        """,
        {"both", "one", "none"},
    ),
    "a_list_with_its_owner_in_it": (
        """
        class Node:
            def __init__(self) -> None:
                self.kids: list["Node"] = []
        def f(node: Node) -> str:
            if node is None or len(node.kids) != 1:
                return "other"
            return "cycle" if node.kids[0] is node else "tree"
        """,
        {"other", "cycle", "tree"},
    ),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_every_outcome_has_its_test(name: str) -> None:
    program, outcomes = _PROGRAMS[name]
    Path(f"outcomes_{name}.py").write_text(dedent(program).lstrip())
    suite = treadle.unit(f"outcomes_{name}:f", write_file=False, probe=False)
    found = {c.outcome.raises.__name__ if c.outcome.raises else c.outcome.value for c in suite.cases}
    assert (suite.disagreements, suite.unsupported, found) == ([], [], outcomes)


def test_an_unknown_number_may_equal_a_decimal() -> None:
    program = "from decimal import Decimal\ndef f(n: int) -> bool:\n    return Decimal(n) + 0 == n\n"
    Path("outcomes_decimal.py").write_text(program)
    suite = treadle.unit("outcomes_decimal:f", write_file=False, probe=False)
    assert suite.disagreements == []
    assert {c.outcome.value for c in suite.cases} == {True}


def test_what_was_being_handled_is_not_predicted() -> None:
    Path("outcomes_context.py").write_text(
        "def f(n: int) -> bool:\n    try:\n        try:\n            1 // n\n        finally:\n            [][n]\n"
        "    except IndexError as error:\n        return error.__context__ is None\n"
    )
    suite = treadle.unit("outcomes_context:f", write_file=False, probe=False)
    assert suite.disagreements == []
    assert [place.what for place in suite.unsupported] == ["what was being handled when an exception was raised"]


@pytest.mark.parametrize("hint", ["bytearray", "defaultdict[str, int]", "memoryview"])
def test_a_hint_is_not_replaced_by_what_the_use_suggests(hint: str) -> None:
    """A list for a bytearray is a case that nobody means."""
    name = hint.partition("[")[0]
    Path(f"outcomes_{name}.py").write_text(
        f"from collections import defaultdict\ndef f(xs: {hint}) -> int:\n    return len(xs) if xs else 0\n"
    )
    with pytest.raises((CannotExplore, UsageError), match=f"no unknown {name} can be made for parameter 'xs' of 'f'"):
        treadle.unit(f"outcomes_{name}:f", write_file=False, probe=False)


def test_the_text_of_a_set_depends_on_its_order() -> None:
    Path("outcomes_set.py").write_text("def f(a: str, b: str) -> str:\n    return 'these: %s' % {a, b}\n")
    suite = treadle.unit("outcomes_set:f", write_file=False, probe=False)
    assert suite.disagreements == []
    assert [place.what for place in suite.unsupported] == ["the outcome depends on the order of a set"]
    assert all(case.arguments["a"] == case.arguments["b"] for case in suite.cases)


@pytest.mark.fresh
def test_a_test_must_pass_with_every_order_of_a_set() -> None:
    Path("outcomes_order.py").write_text("def f() -> list[str]:\n    return list({'ab', 'cd', 'ef'})\n")
    targets = resolve("outcomes_order:f")
    orders = list(itertools.permutations(("ab", "cd", "ef")))
    tests = [f"def test_{n}() -> None:\n    assert f() == {[*order]}\n\n\n" for n, order in enumerate(orders)]
    for test in tests:
        assert check(f"from outcomes_order import f\n\n\n{test}", targets).passed == []


def test_where_there_are_too_many_paths_the_branches_are_looked_for_by_themselves() -> None:
    conditions = "".join(f"    if {name} > 0:\n        total += {n}\n" for n, name in enumerate("abcdefgh", 1))
    Path("unit_many.py").write_text(
        f"def many({', '.join(f'{name}: int' for name in 'abcdefgh')}) -> str:\n    total = 0\n{conditions}"
        "    if total == 1:\n        return 'one'\n    if total == 0:\n        return 'none'\n    return 'some'\n"
    )
    suite = treadle.unit("unit_many:many", paths=12, brief=True, write_file=False, probe=False)
    assert suite.coverage.is_full
    assert not suite.complete
    assert not suite.disagreements
