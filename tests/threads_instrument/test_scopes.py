"""Which variables of a module are shared, by Python's own rules of names."""

from __future__ import annotations

import ast
import textwrap

import pytest

from treadle.threads.instrument.scopes import NameScope, ScopeNames, analyse


def scope(source: str, qualname: str) -> tuple[ScopeNames, NameScope]:
    names = analyse(ast.parse(textwrap.dedent(source)))
    return names, next(one for one in names.scopes.values() if one.qualname == qualname)


@pytest.mark.parametrize(
    ("source", "inner", "label"),
    [
        # a class body between two functions is skipped
        (
            """
            def f():
                x = 0
                class C:
                    x = 1
                    def g(self):
                        nonlocal x
                        x = 2
            """,
            "f.<locals>.C.g",
            "f.<locals>.x",
        ),
        # `:=` in a comprehension binds outside of it
        (
            """
            def f():
                def g(): return x
                [x := 1 for _ in ()]
            """,
            "f.<locals>.g",
            "f.<locals>.x",
        ),
        # a variable bound once, before the inner function is made, never changes
        (
            """
            def f():
                x = 0
                def g(): return x
            """,
            "f.<locals>.g",
            None,
        ),
        # one that only its owner's loop binds again changes under the inner function of an earlier round
        (
            """
            def f():
                for x in ():
                    def g(): return x
            """,
            "f.<locals>.g",
            "f.<locals>.x",
        ),
        # private names of a class are mangled before they are compared
        (
            """
            class C:
                def f(self):
                    __x = 0
                    def g():
                        nonlocal __x
                        __x = 1
            """,
            "C.f.<locals>.g",
            "C.f.<locals>._C__x",
        ),
    ],
)
def test_a_closure_variable_is_shared(source: str, inner: str, label: str | None) -> None:
    names, of = scope(source, inner)
    assert names.shared_cell(of, label.rpartition(".")[2] if label else "x") == label


def test_a_name_that_the_module_binds_nowhere_may_be_bound_by_others() -> None:
    names, of = scope("from m import *\nhere = 1\ndef f(): return here, there, len", "f")
    assert [name for name in ("here", "there", "len") if names.is_bound_nowhere(of, name)] == ["there"]


def test_module_state_is_what_looks_like_it_and_constants_are_taken_at_their_word() -> None:
    names, of = scope("stop = False\nLIMIT = 1\ntable = {}\ndef f(): return stop, LIMIT, table", "f")
    assert [name for name in ("stop", "LIMIT", "table") if names.is_shared_global(of, name)] == ["stop"]
    assert [name for name in ("LIMIT", "table") if names.is_module_variable(of, name)] == ["LIMIT", "table"]
