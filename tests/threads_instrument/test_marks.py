"""Marks say where plain code looks at the eval breaker, and change nothing else."""

from __future__ import annotations

import ast
import textwrap

import pytest

from treadle.threads.instrument.marks import mark
from treadle.threads.instrument.rewrite import rewrite
from treadle.threads.switching import Loops


def marked(source: str) -> str:
    source = textwrap.dedent(source)
    plain = compile(source, "<program>", "exec")
    return ast.unparse(mark(rewrite(ast.parse(source)), Loops(plain)))


@pytest.mark.parametrize(
    ("source", "mark_of_it"),
    [
        ("def f():\n    pass", "_treadle_enter()"),
        ("f = lambda: 1", "lambda: (_treadle_enter(),"),
        ("def f():\n    for x in y:\n        pass", "_treadle_rounds("),
        ("def f():\n    while x:\n        pass", "_treadle_check("),
        ("def f(a):\n    return -a", "_treadle_operate("),
        ("def f():\n    x = yield 1", "_treadle_resumed((yield"),
        ("class C:\n    pass", "_treadle_check()"),
    ],
)
def test_a_construct_has_its_mark(source: str, mark_of_it: str) -> None:
    assert mark_of_it in marked(source)


def test_a_docstring_stays_the_first_statement() -> None:
    function = ast.parse(marked('def f():\n    """Says what."""\n    return 1')).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert ast.get_docstring(function) == "Says what."


def test_straight_code_without_calls_has_no_mark_inside() -> None:
    assert "_treadle_check" not in marked("def f():\n    x = 1\n    y = x")
