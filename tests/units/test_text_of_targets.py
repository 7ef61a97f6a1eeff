"""What the text of a function and its project says, before anything is explored."""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import signal
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from treadle.core.errors import UsageError
from treadle.symbolic import types as t
from treadle.symbolic.python.compile import source
from treadle.units import code, contracts, select, terminate, unfollowed
from treadle.units.ctrl_c import CtrlC
from treadle.units.options import UnitOptions
from treadle.units.owned import Owning
from treadle.units.summary import summary_of
from treadle.units.target import UnitTarget, resolve

SHOP = '''
"""A shop."""
import random

LIMIT = 3

class Queue:
    def __init__(self) -> None:
        self._items: list[int] = []
        self.shown: list[int] = []

    def put(self, item: int) -> None:
        self._items.append(item)

    def show(self) -> list[int]:
        return self.shown

def price(count: int, rate: int) -> int:
    """What it costs."""
    assert count > 0
    assert rate < LIMIT
    if count > 10:
        return count * rate - 1
    return count * rate

def share(total: int) -> float:
    return total / 2

def is_flag(value: int) -> bool:
    return isinstance(value, bool)

def unique(values: list[int]) -> int:
    return len(set(values))
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("unit_shop.py").write_text(SHOP)
    source.tree_of.cache_clear()
    importlib.invalidate_caches()
    yield importlib.import_module("unit_shop")
    sys.modules.pop("unit_shop", None)
    source.tree_of.cache_clear()


def target(name: str) -> UnitTarget:
    [found] = resolve(f"unit_shop:{name}")
    return found


# ---------------------------------------------------------------------- fields that own what they hold


def test_a_field_owns_what_no_method_hands_on(shop: types.ModuleType) -> None:
    owning = Owning([str(shop.__file__)])
    assert owning.owns("_items", [], containers=True)
    assert not owning.owns("shown", [], containers=True)  # a method returns it
    assert not owning.owns("nowhere", [], containers=True)


def test_reflection_anywhere_in_a_project_gives_everything_away(shop: types.ModuleType) -> None:
    Path("unit_other.py").write_text("def peek(thing):\n    return vars(thing)\n")
    assert not Owning([str(shop.__file__), os.path.abspath("unit_other.py")]).owns("_items", [], containers=True)


# ---------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_ends_a_path_and_is_only_noted_between_two() -> None:
    with CtrlC() as ctrl_c:
        signal.raise_signal(signal.SIGINT)  # between two paths
        assert ctrl_c.pressed
        with pytest.raises(KeyboardInterrupt), ctrl_c.path():
            raise AssertionError("no further path is begun")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_a_path_runs_ends_it_there() -> None:
    with CtrlC() as ctrl_c, ctrl_c, pytest.raises(KeyboardInterrupt), ctrl_c.path():
        signal.raise_signal(signal.SIGINT)


# ---------------------------------------------------------------------- what is asked in vain


@pytest.mark.usefixtures("shop")
def test_a_question_that_the_explorer_does_not_follow_is_told() -> None:
    assert list(unfollowed.asked_in_vain(target("is_flag"), {"value": t.INT})) == ["numbers of is_flag are no bools"]
    assert list(unfollowed.asked_in_vain(target("share"), {"total": t.INT})) == []
    assert unfollowed.makes_floats(target("share").function)
    assert not unfollowed.makes_floats(target("price").function)
    assert unfollowed.holds_sets(target("unique"))


# ---------------------------------------------------------------------- contracts


@pytest.mark.usefixtures("shop")
def test_asserts_at_the_start_that_speak_of_parameters_are_preconditions() -> None:
    assert [one.text for one in contracts.leading_asserts(target("price"))] == ["count > 0", "rate < LIMIT"]
    assert contracts.Contracts(target("price"), ["count != 5"]).stated() == [
        "`count != 5` (--pre)",
        "`count > 0` (unit_shop.py:20)",
        "`rate < LIMIT` (unit_shop.py:21)",
    ]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("counts > 1", "did you mean 'count'"),
        ("count = 1", "a comparison is written =="),
        ("lambda: count", "a function is always true"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        contracts.stated(target("price"), text)


@pytest.mark.usefixtures("shop")
def test_a_condition_is_for_the_targets_whose_parameters_it_names() -> None:
    both = [target("price"), target("share")]
    assert contracts.fitting(["rate > 1"], both) == {"unit_shop:price": ("rate > 1",), "unit_shop:share": ()}
    assert contracts.free_names(ast.parse("all(x > n for x in xs)", mode="eval").body) == {"all", "n", "xs"}


# ---------------------------------------------------------------------- selection


def case(meets: int) -> Any:
    return SimpleNamespace(meets=meets)


def test_few_cases_meet_what_all_of_them_meet_in_their_order() -> None:
    one, both, more = case(0b001), case(0b011), case(0b110)
    assert select.fewest([one, both, more]) == [both, more]
    assert len(select.fewest([case(1), case(1)])) == 1
    assert select.fewest([]) == []


@pytest.mark.parametrize(
    ("criterion", "points", "sentence"),
    [
        ("everything", [], "--select everything: there are brief"),
        ("points", [], "say which"),
        ("branches", ["a.py:1"], "takes no program points"),
    ],
)
def test_words_that_make_no_sense_together_are_one_sentence(criterion: str, points: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        select.check(criterion, points)


@pytest.mark.usefixtures("shop")
def test_both_sides_of_a_condition_are_goals_and_what_is_known_is_not_looked_for() -> None:
    known = select.AlreadyCovered(goals=frozenset({"unit_shop.py:22 true"}))
    _, selection = select.guide_for(target("price"), "branches", (), 2, known)
    texts = [goal.text for goal in selection.goals]
    assert {"unit_shop.py:22 true", "unit_shop.py:22 false"} <= set(texts)
    assert selection.before == 1 << texts.index("unit_shop.py:22 true")
    assert selection.verdict(texts.index("unit_shop.py:22 false"), selection.before) == "none"


# ---------------------------------------------------------------------- what ends a path


def machine(decisions: int) -> Any:
    path = SimpleNamespace(decisions=decisions, story=["n > 0"])
    return SimpleNamespace(
        path=path, line_trace=[("a.py", 3)], frames=[SimpleNamespace(code=SimpleNamespace(name="f"))]
    )


def test_a_depth_ends_a_path_that_decides_more() -> None:
    ends = terminate.criterion("depth-2")
    assert ends is not None
    assert [ends(machine(count)) for count in (2, 3)] == [False, True]
    assert terminate.criterion("") is None


def test_a_function_of_the_user_is_given_the_path_so_far() -> None:
    so_far = terminate.PathSoFar(machine(4))
    assert (so_far.depth, so_far.lines, so_far.functions, so_far.conditions) == (4, (("a.py", 3),), ("f",), ("n > 0",))


@pytest.mark.parametrize("text", ["deep", "depth-x", "nowhere_at_all:f", "os:sep"])
def test_what_is_no_criterion_is_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=f"--terminate {text}"):
        terminate.criterion(text)


# ---------------------------------------------------------------------- what a suite depends on


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"""What it costs."""', '"""Its price."""  # said otherwise', []),
        ("count > 10", "count > 11", ["price in unit_shop.py changed"]),
        ("LIMIT = 3", "LIMIT = 4", ["unit_shop.py changed outside its functions"]),
        ("return total / 2", "return total / 3", []),  # nobody entered it
        ("def price", "def cost", ["price is gone from unit_shop.py"]),
    ],
)
def test_what_changed_of_the_code_that_was_entered(old: str, new: str, told: list[str]) -> None:
    file = os.path.abspath("unit_shop.py")
    digests = code.code_of([(file, 22)], [])
    Path(file).write_text(SHOP.replace(old, new))
    source.tree_of.cache_clear()
    linecache.clearcache()
    assert code.changes(digests) == told


# ---------------------------------------------------------------------- summaries


@pytest.mark.usefixtures("shop")
def test_a_summary_has_a_case_for_each_way_through_the_function() -> None:
    Path("unit_sign.py").write_text(
        textwrap.dedent(
            """
            def sign(n: int) -> int:
                if n < 0:
                    return -1
                return 1
            """
        )
    )
    [found] = resolve("unit_sign:sign")
    try:
        assert len(summary_of(found, UnitOptions()).cases) == 2
    finally:
        sys.modules.pop("unit_sign", None)
