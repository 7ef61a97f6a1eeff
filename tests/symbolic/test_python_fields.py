"""The types of fields: what __init__ declares counts, whatever it assigns first."""

from __future__ import annotations

from treadle.symbolic import types as t
from treadle.symbolic.python.types.fields import field_types


class Node:
    def __init__(self, value: int) -> None:
        self.value = value
        self.next: Node | None = None


class Chain:
    def __init__(self) -> None:
        self.start: Node | None = None
        self.end: "Node | None" = None  # noqa: UP037 (a quoted hint is what is tested)
        self.names: list[str] | None = None
        self.head = None

    def clear(self) -> None:
        self.start = None
        self.names = []


def test_an_annotated_field_has_its_type_though_it_starts_as_none() -> None:
    found = field_types(Chain)
    node = t.nullable(t.Instance(Node))
    assert found["start"] == node
    assert found["end"] == node
    assert found["names"] == t.nullable(t.ListOf(t.STR))
    assert field_types(Node)["next"] == node


def test_without_an_annotation_the_name_of_a_link_is_a_guess_at_the_own_class() -> None:
    assert field_types(Chain)["head"] == t.nullable(t.Instance(Chain))


class Settings:
    def __init__(self, *rest: str, **scheme):  # type: ignore[no-untyped-def]  # the missing hint is what is tested
        self.rest = rest
        self.scheme = scheme


def test_what_is_left_of_the_arguments_is_a_tuple_and_a_dict() -> None:
    found = field_types(Settings)
    assert (str(found["rest"]), str(found["scheme"])) == ("tuple[str, ...]", "dict[str, int]")
