"""Traits: their methods are the methods of the classes that use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abs.test_errors import error
from tests.abs.test_language import ran

TRAITS = """module M;
trait Greeting = { String hello() { return "hello " + this.name(); } String name() { return "nobody"; } }
trait Named = { String name() { return "somebody"; } }
trait Louder = { String hello() { String before = original(); return before + "!"; } }
trait Loudest = Greeting modifies Louder modifies Louder
"""
MAIN = "{ C c = new C(); String s = await c!hello(); println(s); }"


@pytest.mark.parametrize(
    ("uses", "told"),
    [
        ("Greeting", "hello nobody"),
        ("Greeting modifies Named", "hello somebody"),
        ("Greeting removes String name(); adds Named", "hello somebody"),
        ("Greeting removes { String name(); } adds Named modifies Louder", "hello somebody!"),
        ("Loudest", "hello nobody!!"),
        ("{ String hello() { return `own`; } }", "own"),
    ],
)
def test_methods_of_traits(tmp_path: Path, uses: str, told: str) -> None:
    assert ran(tmp_path, TRAITS + f"class C {{ uses {uses}; }}" + MAIN).output == f"{told}\n"


def test_two_classes_of_one_trait(tmp_path: Path) -> None:
    """Each class has a copy of the methods, checked against its own fields."""
    text = """module M; trait Shown = { String show() { return toString(this.v); } }
    class A { Int v = 1; uses Shown; } class B { Bool v = True; uses Shown; }
    { A a = new A(); B b = new B(); String x = await a!show(); String y = await b!show(); println(x + y); }"""
    assert ran(tmp_path, text).output == "1True\n"


@pytest.mark.parametrize(
    ("uses", "sentence"),
    [
        ("Missing", "there is no trait 'Missing'"),
        ("Greeting adds Named", "method 'name' is there already; 'modifies' replaces it"),
        ("Named modifies Louder", "there is no method 'hello' that could be replaced"),
        ("Named removes Unit no();", "there is no method 'no' that could be removed"),
    ],
)
def test_mistakes(uses: str, sentence: str) -> None:
    assert error(TRAITS + f"class C {{ uses {uses}; }}").sentence == sentence


def test_a_trait_of_itself() -> None:
    text = "module M; trait A = B trait B = A class C { uses A; }"
    assert error(text).sentence == "trait A is made of itself"
