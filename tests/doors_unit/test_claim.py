"""The claim that every path has its test: made only when coverage agrees and no type was guessed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.doors_unit.suites import suite_of
from treadle.doors.unit.console import summary
from treadle.doors.unit.result_json import suite_facts
from treadle.units.explore import Session
from treadle.units.guesses import guesses_of
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_hints_that_say_everything_leave_the_claim() -> None:
    suite = suite_of("claim_sign", "def sign(n: int) -> int:\n    return -1 if n < 0 else 1\n", "sign")
    assert (suite.guesses, suite.coverage.unreached, suite.complete) == ([], [], True)
    assert "every path has its test" in summary(suite)


_GUESSES = {
    "bare": ("def f(xs: list) -> int:\n    return len(xs)", "the hint 'list' does not tell its elements"),
    "none": ("def f(n):\n    return n + 1", "it has no hint that could be used"),
    "any": ("def f(x: object) -> int:\n    return 1 if x else 0", "which may be anything"),
    "union": ("from re import Pattern\ndef f(x: int | Pattern) -> bool:\n    return x > 1", "Pattern is not"),
    "named": ("def f(n: int, **more: int) -> int:\n    return n", "nothing is given for **more"),
    "default": ("def f(n: int, x=()) -> int:\n    return n", "'x' of f is"),
    "open_default": ("def f(n: int, x=object()) -> int:\n    return n", "'x' of f always has its default"),
    "elements": ("from re import Pattern\ndef f(x: list[Pattern]) -> int:\n    return len(x)", "Pattern is not"),
    "anything_in": ("from typing import Any\ndef f(x: dict[str, Any]) -> int:\n    return len(x)", "Any may be"),
    "variable": ("from typing import TypeVar\nT = TypeVar('T')\ndef f(x: T) -> T:\n    return x", "T may be anything"),
    "constraints": ("from typing import AnyStr\ndef f(x: AnyStr) -> AnyStr:\n    return x", "of AnyStr only"),
    "sequence": (
        "from collections.abc import Sequence\ndef f(xs: Sequence[int]) -> int:\n    return len(xs)",
        "only a list is followed for Sequence",
    ),
    "mapping": (
        "from collections.abc import Mapping\ndef f(xs: Mapping[str, int]) -> int:\n    return len(xs)",
        "only a dict is followed for Mapping",
    ),
    "callable": (
        "from typing import Callable\ndef f(g: Callable) -> int:\n    return g()",
        "the hint 'Callable' does not tell its result",
    ),
    "raising": (
        "from typing import Callable\ndef f(g: Callable[[], int]) -> int:\n    return g()",
        "a function that raises is not followed",
    ),
    "bool": ("def f(n: int) -> int:\n    return 1 if isinstance(n, bool) else 0", "numbers of f are no bools"),
    "true": ("def f(n: int) -> int:\n    return 1 if n is True else 0", "numbers of f are no bools"),
    "type": ("def f(s: str) -> int:\n    return 1 if type(s) is not str else 0", "have the classes that are loaded"),
    "attribute": ("def f(n: int) -> int:\n    return 1 if hasattr(n, 'x') else 0", "and no others"),
    "identity": ("def f(a: int, b: int) -> bool:\n    return a == b and a is not b", "are the same object"),
    "tuples": (
        "def f(a: tuple[int], b: tuple[int]) -> bool:\n    return a is b",
        "tuples of f are objects of their own",
    ),
    "in_a_named_tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: list\ndef f(a: P) -> int:\n    return len(a.x)",
        "the hint 'list' does not tell its elements",
    ),
    "in_a_typed_dict": (
        "from typing import TypedDict\nclass P(TypedDict):\n    x: list\ndef f(a: P) -> int:\n    return len(a['x'])",
        "the hint 'list' does not tell its elements",
    ),
    "closed": ("def f(n: int):\n    try:\n        yield n\n    finally:\n        n = 0", "is taken to its end"),
    "state": (
        "ON = False\ndef switch() -> None:\n    global ON\n    ON = True\n"
        "def f(n: int) -> int:\n    return 1 if ON else 0",
        "ON of claim_state is as it is after the import",
    ),
    "float": ("def f(x: float) -> bool:\n    return x > 1", "nan, inf and rounding are not followed"),
    "floats": ("def f(x: list[float]) -> int:\n    return len(x)", "nan, inf and rounding are not followed"),
    "digits": ("def f(s: str) -> bool:\n    return s.isdigit()", "those of ASCII"),
    "digits_below": (
        "import claim_texts\ndef f(s: str) -> int:\n    return 1 if claim_texts.is_number(s) else 0",
        "those of ASCII",
    ),
    "letters": ("def f(s: str) -> bool:\n    return s.upper() == 'A'", "those of ASCII"),
    "field": (
        "class C:\n    def __init__(self, size) -> None:\n        self.size = size\n"
        "    def f(self) -> int:\n        return 1 if self.size else 0",
        "the field 'size' of C is",
    ),
    "field_hint": (
        "from typing import Any\nclass C:\n    def __init__(self, size: list[Any]) -> None:\n        self.size = size\n"
        "    def f(self) -> int:\n        return 1 if self.size else 0",
        "the field 'size' of C: Any may be anything",
    ),
    "slot": (
        "class C:\n    __slots__ = ('size',)\n    size: int\n    def f(self) -> int:\n        return self.size",
        "the field 'size' of C, which no constructor sets, is always set",
    ),
    "rounded": ("def f(n: int) -> bool:\n    return n / 3 * 3 == n", "nan, inf and rounding are not followed"),
    "float_of_an_int": (
        "def f(n: int) -> bool:\n    return int(float(n)) == n",
        "nan, inf and rounding are not followed",
    ),
    "text_of_true": ("def f(n: int) -> bool:\n    return str(n) == 'True'", "numbers of f are no bools"),
    "heir_of_int": (
        "import enum\nclass E(enum.IntEnum):\n    A = 1\ndef f(n: int) -> bool:\n    return isinstance(n, E)",
        "have the classes that are loaded",
    ),
    "heir_of_str": (
        "class S(str):\n    def strip(self) -> str:\n        return ''\n"
        "def f(s: str) -> bool:\n    return s.strip() == s",
        "have the classes that are loaded",
    ),
    "default_apart": ("def f(n: int, x: int = 'x') -> int:\n    return n", "the default of 'x' of f is not int"),
    "changed_default": (
        "def g(n: int, seen: list[int] = []) -> int:\n    seen.append(n)\n    return len(seen)\n"
        "def f(n: int) -> int:\n    return g(n)",
        "the default of 'seen' of g is as it is after the import",
    ),
    "inside": ("class C:\n    n = 0\n    def f(self) -> bool:\n        return 'n' in vars(self)", "and no others"),
    "class_method": (
        "class C:\n    n = 0\n    @classmethod\n    def f(cls) -> bool:\n        return cls.n == 1\n"
        "class D(C):\n    n = 1",
        "C.f is called on C, and on none of its subclasses",
    ),
    "cached": (
        "from functools import cached_property\nclass C:\n    def __init__(self, n: int) -> None:\n        self.n = n\n"
        "    @cached_property\n    def twice(self) -> int:\n        return 2 * self.n\n"
        "    def f(self) -> bool:\n        return self.twice == 2 * self.n",
        "the cached property 'twice' has not been read before",
    ),
    "sometimes_set": (
        "class C:\n    def __init__(self, n: int) -> None:\n        if n > 3:\n            self.n = n\n"
        "    def f(self) -> int:\n        return self.n",
        "the field 'n' of C, which no constructor sets, is always set",
    ),
    "not_set_by_an_early_end": (
        "class C:\n    def __init__(self, n: int) -> None:\n        if n > 3:\n            return\n        self.n = n\n"
        "    def f(self) -> int:\n        return self.n",
        "the field 'n' of C, which no constructor sets, is always set",
    ),
    "late_field": (
        "class C:\n    def start(self, n: int) -> None:\n        self.n = n\n"
        "    def f(self) -> int:\n        return self.n",
        "the field 'n' of C, which no constructor sets, is always set",
    ),
}


@pytest.mark.parametrize("name", _GUESSES)
def test_each_guess_is_named(name: str) -> None:
    """The explored cases are asked, without running tests of them."""
    program, guess = _GUESSES[name]
    Path("claim_texts.py").write_text("def is_number(s: str) -> bool:\n    return s.isdigit()\n")
    Path(f"claim_{name}.py").write_text(program + "\n")
    [target] = resolve(f"claim_{name}:{'C.f' if 'class C' in program else 'f'}")
    session = Session(target, UnitOptions())
    guesses = guesses_of(target, session.options, session.types, session.explore())
    assert any(guess in one for one in guesses), guesses


_NO_GUESS = {
    "named_tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\ndef f(p: P) -> bool:\n    return p.x > 1"
    ),
    "plain": "def f(n: int, m: int) -> bool:\n    return n < m",
    "same": "class C:\n    pass\ndef f(a: C, b: C) -> bool:\n    return a is b",
    "table": "WORDS = {'a': 1}\ndef f(s: str) -> bool:\n    return s in WORDS",
    "generator": "def f(n: int):\n    if n > 0:\n        yield n",
    "default": "def f(n: int, word: str = 'a', size: int | None = 1) -> bool:\n    return n > 0",
    "local": "xs = 1\ndef g() -> None:\n    xs = []\n    xs.append(1)\ndef f(n: int) -> bool:\n    return n > xs",
}


@pytest.mark.parametrize("name", _NO_GUESS)
def test_what_is_followed_is_no_guess(name: str) -> None:
    Path(f"claim_no_{name}.py").write_text(_NO_GUESS[name] + "\n")
    [target] = resolve(f"claim_no_{name}:f")
    session = Session(target, UnitOptions())
    assert guesses_of(target, session.options, session.types, session.explore()) == []


def test_a_guess_withdraws_the_claim() -> None:
    suite = suite_of("claim_guessed", "def f(xs: list) -> int:\n    return len(xs)\n", "f")
    guess = "the hint 'list' does not tell its elements"
    assert any(guess in one for one in suite.guesses), suite.guesses
    assert not suite.complete
    assert guess in summary(suite)
    assert "every path" not in summary(suite)
    assert "A guess: " in suite.source


def test_a_setter_is_left_out_and_said() -> None:
    program = """
        class C:
            def __init__(self) -> None:
                self._n = 0

            @property
            def n(self) -> int:
                return self._n

            @n.setter
            def n(self, n: int) -> None:
                self._n = n if n > 0 else 0
    """
    Path("claim_setter.py").write_text(dedent(program))
    left_out: list[str] = []
    [target] = resolve("claim_setter:C.n", left_out)
    assert target.is_property
    assert [one.partition(";")[0] for one in left_out] == ["claim_setter:C.n: no test has it set"]


_ONLY_TRIED = {
    "nan": ("def f(x: float) -> int:\n    if x != x:\n        return 1\n    return 0", 'float("nan")'),
    "tuple": (
        "from collections.abc import Sequence\n"
        "def f(xs: Sequence[int]) -> int:\n    if isinstance(xs, tuple):\n        return 1\n    return 0",
        "(1,)",
    ),
    "digit": (
        "def f(s: str) -> int:\n    if s.isdigit():\n        try:\n            return int(s)\n"
        "        except ValueError:\n            return -1\n    return 0",
        "\u00b2",
    ),
    "member": (
        "from decimal import Decimal\n"
        "def f(x: int | Decimal) -> int:\n    if isinstance(x, Decimal):\n        return 1\n    return 0",
        "Decimal(",
    ),
    "bool": ("def f(n: int) -> int:\n    if isinstance(n, bool):\n        return 1\n    return 0", "True"),
    "third": (
        "from fractions import Fraction\n"
        "def f(x: Fraction) -> int:\n    if x.denominator == 3:\n        return 1\n    return 0",
        "Fraction(1, 3)",
    ),
    "raises": (
        "from typing import Callable\ndef f(g: Callable[[], int]) -> int:\n    try:\n        return g()\n"
        "    except ValueError:\n        return 7",
        "side_effect=ValueError",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _ONLY_TRIED)
def test_what_cannot_be_followed_is_tried_before_it_is_said(name: str) -> None:
    program, value = _ONLY_TRIED[name]
    suite = suite_of(f"claim_tried_{name}", program + "\n", "f")
    assert suite.coverage.unreached == [], suite.source
    assert value in suite.source
    assert not suite.complete


@pytest.mark.parametrize("made", ["queue.Queue()", "deque()", "threading.Event()"])
def test_an_object_of_the_library_in_a_field_is_not_taken_for_a_number(made: str) -> None:
    program = f"""
        import queue, threading
        from collections import deque

        class C:
            def __init__(self) -> None:
                self.it = {made}

            def f(self) -> int:
                return 1 if self.it else 0
    """
    suite = suite_of(f"claim_{made.split('(')[0].replace('.', '_')}", program, "C.f", probe=False)
    assert (suite.tests, suite.complete) == (0, False)
    assert "which is what" in suite.unsupported[0].what


def test_the_elements_of_a_bare_ordered_dict_are_a_guess() -> None:
    program = """
        from collections import OrderedDict

        class C:
            def __init__(self) -> None:
                self.it = OrderedDict()

            def f(self, key: str) -> bool:
                self.it.move_to_end(key)
                return next(reversed(self.it)) == key
    """
    suite = suite_of("claim_ordered", program, "C.f", probe=False, k=1)
    assert not suite.complete
    assert not suite.disagreements
    assert any("'it' of C is OrderedDict[str, int]" in guess for guess in suite.guesses)


def test_a_field_that_is_given_two_types_has_both() -> None:
    program = """
        class Job:
            def __init__(self) -> None:
                self.state = 0

            def finish(self) -> None:
                self.state = "done"

            def f(self) -> str:
                return self.state if isinstance(self.state, str) else "busy"
    """
    suite = suite_of("claim_two_types", program, "Job.f")
    assert suite.complete
    assert {case.outcome.value == "busy" for case in suite.cases} == {True, False}


def test_an_entry_that_was_looked_up_may_be_anywhere_in_its_dict() -> None:
    program = """
        def f(d: dict[str, int], key: str) -> bool:
            return key in d and next(iter(d)) == key
    """
    suite = suite_of("claim_dict_order", program, "f", none=False)
    found = [case for case in suite.cases if case.arguments["d"].entries]
    assert {(case.outcome.value, len(case.arguments["d"].entries) > 1) for case in found} >= {
        (True, True),
        (False, True),
    }


def test_the_order_of_two_entries_that_were_looked_up_is_sampled() -> None:
    program = """
        def f(d: dict[str, int]) -> bool:
            return "a" in d and "b" in d and next(iter(d)) == "b"
    """
    suite = suite_of("claim_dict_orders", program, "f", none=False)
    assert not suite.complete
    assert any("the order of the entries" in place.what for place in suite.sampled)


def test_a_type_that_is_given_is_no_guess() -> None:
    suite = suite_of("claim_given", "def f(n):\n    return n + 1\n", "f", types={"n": "int"})
    assert (suite.guesses, suite.complete) == ([], True)


def test_what_no_test_reaches_is_listed_with_the_reason() -> None:
    program = """
        def f(n: int) -> int:
            if n * n < 0:
                return 1
            return 2
    """
    suite = suite_of("claim_dead", program, "f")
    assert [(line, to) for _, line, to in suite.coverage.unreached] == [(3, None)]
    assert not suite.complete
    assert "not reached: claim_dead.py:3 (no input that fits the hints leads there, as far as is known)" in summary(
        suite
    )
    found = suite_facts(suite).to_json()
    assert [place["line"] for place in found["unreached"]["places"]] == [3]


def test_a_loop_bound_is_named_as_a_reason() -> None:
    program = """
        def f(n: int) -> int:
            rounds = 0
            while n > 0:
                n -= 1
                rounds += 1
                if rounds > 5:
                    return 1
            return 0
    """
    suite = suite_of("claim_loop", program, "f", k=1, probe=False)
    assert "(the loop bound (-k))" in summary(suite)
    assert not suite.complete


def test_an_annotation_in_the_constructor_gives_a_field_its_type() -> None:
    program = """
        class Chain:
            def __init__(self) -> None:
                self.head: Node | None = None

            def first(self) -> int:
                if self.head is None:
                    return 0
                return self.head.value


        class Node:
            def __init__(self, value: int) -> None:
                self.value = value
    """
    suite = suite_of("claim_head", program, "Chain.first")
    assert (suite.tests, suite.guesses, suite.complete) == (2, [], True)
    assert "Node(" in suite.source


# Each has a way to "hit" that is easy to miss.
_EASY_TO_MISS = {
    "nan": ("x: Decimal", "x != x"),
    "large": ("x: int | Decimal", "isinstance(x, Decimal) and x > 100"),
    "sunday": ("d: date", "d.weekday() == 6"),
    "heir": ("d: date", "isinstance(d, datetime)"),
    "absorbed": ("x: float", "x + 1 == x"),
    "sharp": ("s: str", "len(s.upper()) != len(s)"),
    "square": ("s: str", "s.isdigit() and not s.isdecimal()"),
    "digit": ("s: str", "re.fullmatch(r'\\d', s) and not s.isascii()"),
    "letter": ("s: str", "re.fullmatch(r'\\w+', s) and not s.isascii()"),
    "kelvin": ("s: str", "re.fullmatch('k', s, re.I) and s not in 'kK'"),
    "newline": ("s: str", "re.match('a$', s) and len(s) == 2"),
    "second_line": ("s: str", "re.search('^b', s, re.M) and s[0] == 'a'"),
    "other_way": ("s: str", "(m := re.match('(a|ab)(c|bcd)?', s)) and m[2] == 'bcd'"),
    "tuple": ("xs: Sequence[int]", "isinstance(xs, tuple)"),
    "given": ("**kw: int", "'x' in kw"),
    "many": ("*xs: int", "len(xs) > 4"),
    "long": ("xs: tuple[int, ...]", "len(xs) == 5"),
    "span": ("t: timedelta", "t.total_seconds() == 1.5"),
    "start": ("b: bytes", "b[:2] == b'\\xff\\xd8'"),
    "key": ("d: dict[date, int]", "date(1999, 1, 1) in d"),
    "element": ("xs: set[Decimal]", "Decimal(9) in xs"),
    "exponent": ("x: Decimal | None", "x is not None and x.as_tuple().exponent == -4"),
    "field": ("p: Point", "p.x == 7"),
    "none_in_field": ("p: Point", "p.z is not None and p.z.year > 3000"),
}
_IMPORTS = """from __future__ import annotations
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

@dataclass
class Point:
    x: Decimal
    z: date | None = None

"""


@pytest.mark.parametrize("name", _EASY_TO_MISS)
def test_what_is_easy_to_miss_is_met_or_not_claimed(name: str) -> None:
    parameters, condition = _EASY_TO_MISS[name]
    program = f"def f({parameters}) -> str:\n    return 'hit' if {condition} else 'no'\n"
    Path(f"claim_easy_{name}.py").write_text(_IMPORTS + program)
    [target] = resolve(f"claim_easy_{name}:f")
    session = Session(target, UnitOptions())
    explored = session.explore()
    claims = explored.seen.complete and not guesses_of(target, session.options, session.types, explored)
    assert not claims or "hit" in [case.outcome.value for case in explored.cases]
