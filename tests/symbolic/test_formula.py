"""A condition read as one formula means what Python means by it."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.heap.objects import LazyHeap
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import SymbolicPath
from treadle.symbolic.python.contracts.formula import FormulaNames, NotPure, formula
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.symbolic.solve.solver import Solver


def implies(test: bool, then: bool) -> bool:
    return not test or then


def is_small(n: int) -> bool:
    """A function of one expression."""
    return -2 <= n <= 2


_GLOBALS: dict[str, Any] = {"implies": implies, "is_small": is_small, "LIMIT": 3}
_UNKNOWN = {"a": x.var("a", x.INT), "b": x.var("b", x.INT), "p": x.var("p", x.BOOL)}


def _read(text: str) -> tuple[Any, Any, SymbolicPath]:
    path = SymbolicPath(Solver((-10, 10)))
    vm = PythonMachine(path, LazyHeap(path), 2)
    truth, defined = formula(vm, ast.parse(text, mode="eval").body, FormulaNames(dict(_UNKNOWN), _GLOBALS))
    return truth, defined, path


def _numbers() -> SearchStrategy[str]:
    atoms = st.sampled_from(["a", "b", "0", "1", "-1", "2", "LIMIT"])
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "%", "//"]), inner),
            st.builds("abs({})".format, inner),
            st.builds("-{}".format, inner),
            st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
            st.builds("({} if {} > 0 else {})".format, inner, inner, inner),
        ),
        max_leaves=4,
    )


def _conditions() -> SearchStrategy[str]:
    operators = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    links = st.one_of(
        st.builds("{} {} {}".format, _numbers(), operators, _numbers()),
        st.builds("{} {} {} {} {}".format, _numbers(), operators, _numbers(), operators, _numbers()),
        st.builds("{} in (0, {}, 5)".format, _numbers(), _numbers()),
        st.builds("is_small({})".format, _numbers()),
        st.just("p"),
        _numbers(),
    )
    return st.recursive(
        links,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
            st.builds("not ({})".format, inner),
            st.builds("implies(bool({}), bool({}))".format, inner, inner),
            st.builds("({} if {} else {})".format, inner, inner, inner),
        ),
        max_leaves=4,
    )


@settings(max_examples=150)
@given(_conditions(), st.integers(-4, 4), st.integers(-4, 4), st.booleans())
def test_a_formula_means_what_python_means(text: str, a: int, b: int, p: bool) -> None:
    """It is true where the condition is, and defined at least where the condition does not fail."""
    try:
        truth, defined, path = _read(text)
    except NotPure:
        return
    except Raised:  # it fails on known values, and certainly gets there
        with pytest.raises(ZeroDivisionError):
            eval(text, {**_GLOBALS, "a": a, "b": b, "p": p})
        return
    assert path.choices == []
    assert path.decisions == 0
    model = {_UNKNOWN["a"]: a, _UNKNOWN["b"]: b, _UNKNOWN["p"]: p}
    try:
        expected = bool(eval(text, {**_GLOBALS, "a": a, "b": b, "p": p}))
    except ZeroDivisionError:
        assert not evaluate(defined, model)
    else:
        assert evaluate(defined, model)
        assert bool(evaluate(truth, model)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a > 0 or b > 0",
        "0 < a < b <= 10",
        "not (a > 0 and b > 0)",
        "implies(a > 0, b > 0)",
        "b != 0 and a % b == 0",
        "a in (1, 2, 3)",
        "abs(a) > 2",
        "max(a, b, 0) < LIMIT",
        "is_small(a) or p",
        "a > 0 if p else b > 0",
    ],
)
def test_these_are_formulas(text: str) -> None:
    truth, _, path = _read(text)
    assert isinstance(truth, x.Expr)
    assert path.choices == []


@pytest.mark.parametrize(
    "text", ["print(a)", "[a for _ in range(b)]", "a ** b > 2", "(lambda n: n)(a)", "str(a) == '1'"]
)
def test_these_have_to_be_run(text: str) -> None:
    with pytest.raises(NotPure):
        _read(text)
