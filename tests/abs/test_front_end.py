"""The front end, room by room: what is read, what names mean, what fits, and what is told when it does not."""

from __future__ import annotations

import sys

import pytest

from treadle.abs.language import syntax as S
from treadle.abs.language import types as T
from treadle.abs.language.check import check, children
from treadle.abs.language.check_exp import VariableScope
from treadle.abs.language.declare import Declared
from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.errors import AbsError, AbsSource, SeveralAbsErrors
from treadle.abs.language.load import _library, loads
from treadle.abs.language.names import did_you_mean, resolve
from treadle.abs.language.parser import parse, parse_expression
from treadle.abs.language.traits import write_traits_into_classes


def read(text: str) -> list[S.Module]:
    return parse(AbsSource("m.abs", text))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 < 2 && 3 == 4 || 5 < 6", "(((1 < 2) && (3 == 4)) || (5 < 6))"),
    ],
)
def test_operators_bind_as_the_manual_says(text: str, shape: str) -> None:
    def shown(exp: S.Exp) -> str:
        if isinstance(exp, S.Binary):
            return f"({shown(exp.left)} {exp.op} {shown(exp.right)})"
        assert isinstance(exp, S.Literal_)
        return str(exp.value)

    assert shown(parse_expression(text)) == shape


def test_every_part_of_an_expression_is_looked_at() -> None:
    """What `children` leaves out is neither checked for effects nor counted as read."""
    exp = parse_expression("case f(a, b) { Cons(c, Nil) => if d then e else g; _ => let (Int x) = h in x; }")

    def names(exp: S.Exp) -> set[str]:
        own = {exp.name} if isinstance(exp, S.Var) else set()
        return own.union(*(names(child) for child in children(exp)))

    assert names(exp) == set("abdeghx")


def test_deep_nesting_is_read_and_the_recursion_limit_is_as_before() -> None:
    before = sys.getrecursionlimit()
    with deep_recursion():
        assert len(read("module M; { Int x = " + "(" * 1500 + "1" + ")" * 1500 + "; }")) == 1
    assert sys.getrecursionlimit() == before


def test_the_nearest_name_is_offered_and_nothing_far_away() -> None:
    assert did_you_mean("lenght", ["length", "concatenate"]) == "; did you mean 'length'?"
    assert did_you_mean("qqq", ["length", "concatenate"]) == ""


def test_a_name_that_two_modules_bring_is_that_of_the_later_import() -> None:
    modules = read(
        """module A; export *; data D = InA;
        module B; export *; data D = InB;
        module M; import * from A; import * from B; { D d = InB; }"""
    )
    declared = Declared([*_library(), *modules], "m.abs")
    use = S.TypeUse("D", [], at=modules[0].at)
    assert str(resolve(use, declared.names["M"])) == "D"
    assert resolve(use, declared.names["M"]) == resolve(use, declared.names["B"])
    assert resolve(use, declared.names["M"]) != resolve(use, declared.names["A"])


def test_a_class_that_does_not_keep_its_interface_is_told_with_both_types() -> None:
    with pytest.raises(AbsError) as raised:
        loads("module M; interface I { Int m(Int x); } class C implements I { Bool m(Int x) { return True; } }")
    assert "Bool" in raised.value.sentence
    assert "Int" in raised.value.sentence


@pytest.mark.parametrize(
    ("actual", "expected", "yes"),
    [
        (T.INT, T.RAT, True),
        (T.RAT, T.INT, False),
        (T.list_of(T.INT), T.list_of(T.RAT), True),
        (T.future(T.INT), T.DESTINY, True),
        (T.DESTINY, T.future(T.INT), False),
        (T.NULL, T.future(T.INT), True),
        (T.NULL, T.INT, False),
        (T.STRING, T.BOOL, False),
    ],
)
def test_what_fits(actual: T.Type, expected: T.Type, yes: bool) -> None:
    assert T.fits(actual, expected) is yes


def test_a_hole_is_filled_once() -> None:
    hole = T.Meta()
    assert T.fits(T.list_of(hole), T.list_of(T.INT))
    assert str(T.settled(T.list_of(hole))) == "List<Int>"
    assert not T.fits(T.list_of(T.STRING), T.list_of(hole))


def test_an_inner_block_sees_the_outer_one_and_not_the_other_way_round() -> None:
    outer = VariableScope(None, None)
    outer.own["x"] = T.INT
    inner = outer.inner()
    inner.own["y"] = T.BOOL
    assert inner.local("x") == T.INT
    assert outer.local("y") is None
    assert set(inner.known()) == {"x", "y"}


def test_declarations_may_be_mutual_and_bodies_come_last() -> None:
    declared = Declared(
        [
            *_library(),
            *read("module M; class C { D d; Int m() { return f(True); } } class D { C c; } def Int f(Int x) = x;"),
        ],
        "m.abs",
    )
    assert [cls.name for cls in declared.program.classes if cls.module == "M"] == ["C", "D"]
    with pytest.raises(AbsError, match="Int"):
        check(declared)


def test_two_mistakes_in_two_bodies_are_both_told() -> None:
    with pytest.raises(SeveralAbsErrors) as raised:
        loads('module M;\nclass C { Int a() { return True; } }\nclass D { Int b() { return "x"; } }')
    assert [error.place.line for error in raised.value.errors] == [2, 3]


def test_a_trait_is_written_into_each_class_that_uses_it_and_is_gone() -> None:
    modules = read(
        "module M; trait T = { Int m() { return 1; } } class C { uses T; } class D { uses T removes Int m();; }"
    )
    write_traits_into_classes(modules)
    classes = [d for d in modules[0].declarations if isinstance(d, S.ClassDecl)]
    assert len(modules[0].declarations) == len(classes) == 2
    assert {cls.name: [m.name for m in cls.methods] for cls in classes} == {"C": ["m"], "D": []}
