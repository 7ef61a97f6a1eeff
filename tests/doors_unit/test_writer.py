"""The written tests: how inputs are built, what is asserted, and that it reads well."""

from __future__ import annotations

import ast
import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.symbolic.exploring import PROGRAMS, load
from treadle.core.trail import Trail
from treadle.doors.unit import pytest_suite
from treadle.doors.unit.pytest_text import folded, identifier, words
from treadle.doors.unit.suite import Suite
from treadle.symbolic.testcase import TestCase
from treadle.units.imports import Imports, NotWritable
from treadle.units.value_source import leaf


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    monkeypatch.setenv("PYTHONPATH", str(PROGRAMS))
    load("unit_shapes")
    load("unit_paper")


def written(target: str, **options: Any) -> Suite:
    suite: Suite = treadle.unit(target, write_file=False, **options)
    assert suite.disagreements == []
    return suite


def test_flat_cases_share_a_table_and_the_condition_is_the_id() -> None:
    source = written("unit_paper:int_exp", k=1, trails=True).source
    assert _without_trails(source) == (
        '"""Tests of unit_paper.int_exp, written by `treadle unit`."""\n'
        "\n"
        "import pytest\n"
        "\n"
        "from unit_paper import int_exp\n"
        "\n"
        "\n"
        "@pytest.mark.parametrize(\n"
        '    ("a", "n", "expected"),\n'
        "    [\n"
        '        pytest.param(2, 1, 2, id="n > 0 and n <= 1"),\n'
        '        pytest.param(2, 0, 1, id="n >= 0 and n <= 0"),\n'
        "    ],\n"
        ")\n"
        "def test_int_exp(a: int, n: int, expected: int) -> None:\n"
        "    assert int_exp(a, n) == expected\n"
        "\n"
        "\n"
        "def test_int_exp_raises_arithmetic_error_when_n_lt_0() -> None:\n"
        '    """n < 0"""\n'
        "    with pytest.raises(ArithmeticError) as caught:\n"
        "        int_exp(2, -1)\n"
        '    assert str(caught.value) == ""\n'
    )
    trails = [Trail.parse(line.strip("# ")) for line in source.splitlines() if "# tr2:" in line]
    assert [(trail.door, trail.target) for trail in trails] == [("unit", "unit_paper:int_exp")] * 3


def test_cases_of_a_method_share_a_table_and_what_stays_the_same_is_said_once() -> None:
    Path("tabled.py").write_text(_TABLED)
    source = written("tabled:Till.change", none=False).source
    assert source.partition("\n\n\n")[2] == _TABLED_TESTS


_TABLED = """
from dataclasses import dataclass, field
from decimal import Decimal

@dataclass
class Till:
    owner: str
    rate: Decimal
    coins: list[int] = field(default_factory=list)

    def change(self, amount: int) -> int:
        if amount < 0:
            raise ValueError("no debts")
        if amount > 100:
            raise OverflowError("too much")
        if len(self.coins) == 1:
            return amount
        return amount + 1
"""
_TABLED_TESTS = """\
@pytest.mark.parametrize(
    ("amount", "error", "message"),
    [
        pytest.param(-1, ValueError, "no debts", id="amount < 0"),
        pytest.param(101, OverflowError, "too much", id="amount >= 101"),
    ],
)
def test_till_change_raises(amount: int, error: type[BaseException], message: str) -> None:
    till = Till("a", Decimal("1.5"))
    with pytest.raises(error) as caught:
        till.change(amount)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("coins", "amount", "expected"),
    [
        pytest.param([1], 100, 100, id="amount >= 0 and amount <= 100 and len(self.coins) == 1"),
        pytest.param([1, 2], 100, 101, id="amount >= 0 and amount <= 100 and len(self.coins) != 1"),
    ],
)
def test_till_change(coins: list[int], amount: int, expected: int) -> None:
    coins_before = copy.deepcopy(coins)
    till = Till("a", Decimal("1.5"), coins)
    assert till.change(amount) == expected
    assert coins == coins_before
    assert till.coins is coins
"""


def _without_trails(source: str) -> str:
    return "".join(line for line in source.splitlines(keepends=True) if not line.lstrip().startswith("# tr2:"))


def test_aliased_arguments_are_one_object_and_a_write_is_seen() -> None:
    source = written("unit_paper:mist").source
    assert "    mist(r1, r1)\n" in source
    # the field that is overwritten starts as something else
    assert "    r2 = C(2)\n    mist(r1, r2)\n    assert r1.f == 1\n    assert r2.f == 1\n" in source
    assert "    r1 = C(-1)\n    mist(r1, None)\n    assert r1.f == 0\n" in source


def test_a_cycle_is_closed_by_assignment() -> None:
    source = written("unit_shapes:twice_around").source
    assert "    ring = Ring(" in source
    assert "    ring.next = ring\n" in source
    assert "    assert ring.next is ring\n" in source


def test_an_object_that_no_constructor_makes_is_built_by_its_fields() -> None:
    source = written("unit_shapes:Even.half").source
    assert "    even = object.__new__(Even)\n    even.n = 1\n    assert even.half() == -1\n" in source
    assert "    even = Even(2)\n    assert even.half() == 1\n" in source


def test_results_are_compared_with_identity() -> None:
    source = written("unit_shapes:wrap").source
    assert (
        "    assert type(result) is Box\n    assert result.content is box\n    assert box.content is result\n" in source
    )


def test_frozen_dataclasses() -> None:
    source = written("unit_shapes:swap").source
    assert "    assert type(result) is Pair\n    assert result.left == " in source


def test_a_list_that_holds_itself() -> None:
    source = written("unit_shapes:self_containing").source
    assert "    assert len(result) == 2\n    assert result[0] == 2\n    assert result[1] is result\n" in source


def test_lists_are_told_apart() -> None:
    source = written("unit_shapes:share", none=False).source
    assert "    assert result[0] is a\n" in source
    assert "    assert result[2] is a\n" in source


def test_shared_state_is_put_back() -> None:
    source = written("unit_shapes:Log.add").source
    assert 'monkeypatch.setattr(unit_shapes.Log, "entries"' in source


def test_the_file_is_valid_and_every_line_and_name_short_enough() -> None:
    suite = written("unit_paper:List.rem_all", k=1)
    source = suite.source
    ast.parse(source)
    assert max(map(len, suite.names)) <= len("_12") + 60
    assert len(set(suite.names)) == suite.tests
    assert max(map(len, _without_trails(source).splitlines())) <= 120  # linters let a single long word pass


def test_names_and_ids_are_safe() -> None:
    assert words("r1.f >= -3") == "r1_f_ge_minus_3"
    used: set[str] = set()
    assert identifier("s == '\u00e9[x]'", used) == "s == '?(x)'"
    assert identifier("s == '\u00e9[x]'", used) == "s == '?(x)' #2"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.datetime(2020, 1, 2, 3, 4), "datetime(2020, 1, 2, 3, 4)"),
        (datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), "datetime(2020, 1, 2, 0, 0, tzinfo=timezone.utc)"),
        (datetime.date(2020, 1, 2), "date(2020, 1, 2)"),
        (Decimal("1.5"), 'Decimal("1.5")'),
    ],
)
def test_values_whose_repr_is_their_source(value: object, expected: str) -> None:
    assert leaf(value, Imports()) == expected


def test_a_long_line_is_folded_as_deep_as_it_must_be() -> None:
    line = 'made = type("datetime", (datetime,), {"now": lambda: datetime(2023, 12, 31), "today": [1, 2, 3]})'
    assert folded(line, 60).splitlines() == [
        "made = type(",
        '    "datetime",',
        "    (datetime,),",
        "    {",
        '        "now": lambda: datetime(2023, 12, 31),',
        '        "today": [1, 2, 3],',
        "    },",
        ")",
    ]
    assert folded(line, 100) == line
    assert folded("assert f(x) == [100, 200]", 20).splitlines() == ["assert f(x) == [", "    100,", "    200,", "]"]
    assert folded('assert text == "no place to break"', 20) == 'assert text == "no place to break"'


def test_nothing_is_imported_that_no_test_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock in a field is made by the constructor; what a draft needed and the file does not is not imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("kept_apart.py").write_text(
        "import threading\nfrom collections import OrderedDict\nfrom decimal import Decimal\n\n\n"
        "class Shelf:\n    def __init__(self) -> None:\n        self.rows: OrderedDict[str, int] = OrderedDict()\n"
        "        self.lock = threading.Lock()\n\n    def put(self, name: str, price: Decimal) -> None:\n"
        "        with self.lock:\n            if price < 0:\n                raise ValueError('negative')\n"
        "            self.rows[name] = int(price)\n"
    )
    source = treadle.unit("kept_apart:Shelf", write_file=False).source
    tree = ast.parse(source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert {alias.asname or alias.name.partition(".")[0] for alias in node.names} <= names
    assert "Decimal(-1)" in source
    assert ".put(" in source
    assert ") is None" not in source  # a type checker would say that it never gives anything


def test_a_fault_of_the_writer_is_not_called_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = pytest_suite._Writer._draft

    def failing(self: Any, case: TestCase) -> Any:
        if case.outcome.raises is not None:
            raise TypeError("of our own")
        return draft(self, case)

    monkeypatch.setattr(pytest_suite._Writer, "_draft", failing)
    suite = written("unit_paper:int_exp", k=1)
    assert [place.what for place in suite.internal_errors] == ["a test cannot be written: TypeError: of our own"]
    assert suite.unsupported == []
    assert "def test_int_exp(" in suite.source


def test_a_value_whose_own_code_fails_has_no_source_text() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

    with pytest.raises(NotWritable, match="RuntimeError: no text"):
        leaf(Odd(), Imports())
