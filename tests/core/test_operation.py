"""How operations are told to a person."""

from __future__ import annotations

from treadle.core.operation import MULTI, READ, WRITE, location, verb


def test_a_read_that_falls_back_to_the_class_is_a_read_of_the_attribute() -> None:
    op = (MULTI, None, ((READ, "Box#1", "n"), (READ, "class Box", "n")))
    assert f"{verb(op)} {location(op)}" == "reads Box#1.n"


def test_a_call_names_each_place_once() -> None:
    op = (MULTI, None, ((READ, "list#1", None), (WRITE, "list#1", None)))
    assert f"{verb(op)} {location(op)}" == "calls list#1"


def test_a_class_alone_is_named() -> None:
    assert location((MULTI, None, ((READ, "class Box", "n"), (READ, "list#1", None)))) == "class Box['n'], list#1"
