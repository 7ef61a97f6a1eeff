"""What a method takes, from whatever says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.observe.parameters import behind, documented_types, hints_of, parameters_of, parameters_of_class


def documented(name, age):  # type: ignore[no-untyped-def]
    """Somebody.

    :param str name: who
    :type age: int
    """


def test_types_are_taken_from_the_documentation_where_there_are_no_hints() -> None:
    found = parameters_of(documented, skip_first=False)
    assert found is not None
    assert [(one.name, one.type) for one in found] == [("name", str), ("age", int)]
    assert documented_types("Args:\n  size (int): how many\n  data : list\n") == {"size": int, "data": list}


def test_a_hint_that_cannot_be_evaluated_costs_only_itself() -> None:
    def function(one: Nowhere, two: int) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass

    assert hints_of(function)["two"] is int
    assert "one" not in hints_of(function)


def test_a_wrapper_that_says_nothing_has_the_parameters_of_what_it_wraps() -> None:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    def inner(one: int, *, two: str = "x") -> None:
        pass

    assert behind(wrap(inner)) is inner
    found = parameters_of(wrap(inner), skip_first=False)
    assert found is not None
    assert [(one.name, one.type, one.required, one.by_name) for one in found] == [
        ("one", int, True, False),
        ("two", str, False, True),
    ]


def test_a_class_made_in_c_takes_nothing_that_is_known() -> None:
    assert parameters_of_class(object) == ()
