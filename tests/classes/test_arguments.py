"""What calls are given: combined, fitted, made up, and made of objects that were used."""

from __future__ import annotations

import abc
from typing import Any, Protocol

from treadle.classes import combining, compared, keeping, stand_ins
from treadle.classes.calls import Argument, Value
from treadle.classes.fitting import fitted
from treadle.observe.parameters import MISSING, Parameter


def test_the_plainest_values_come_first_and_none_is_left_out() -> None:
    found = list(combining.choices([3, 2]))
    assert found[:2] == [(0, 0), (1, 1)]
    assert {(1, 0), (2, 0), (0, 1)} <= set(found)
    assert list(combining.choices([])) == [()]


def test_an_argument_with_a_name_comes_behind_those_without() -> None:
    made = combining.with_options([[Argument(Value("1"))]], [("limit", [Value("2")]), ("", [Value("3")])])
    assert ["1", "limit=2"] in [[str(one) for one in call] for call in made]
    assert all([bool(one.name) for one in call] == sorted(bool(one.name) for one in call) for call in made)


def takes_a_list(items: Any) -> None:
    items.append(1)
    len(items)


def test_a_value_with_which_a_call_gets_further_is_kept() -> None:
    real = {"'text'": "text", "[]": []}

    def attempt(arguments: tuple[Argument, ...]) -> BaseException | None:
        try:
            takes_a_list(real[str(arguments[0].value)])
        except Exception as error:
            return error
        return None

    pools = {"items": [Value("'text'"), Value("[]")]}
    found = fitted([Parameter("items", MISSING)], pools, lambda name: [], attempt)
    assert found == {"items": Value("[]")}


def test_where_nothing_fits_nothing_is_given() -> None:
    pools = {"items": [Value("1"), Value("2")]}
    assert fitted([Parameter("items", MISSING)], pools, lambda name: [], lambda arguments: TypeError()) == {}


class Store(abc.ABC):
    @abc.abstractmethod
    def get(self, key: str) -> str: ...

    @abc.abstractmethod
    def set(self, key: str, value: str) -> None: ...


class Sender(Protocol):
    name: str

    def send(self, text: str) -> int: ...


def made(cls: type) -> Any:
    name, needs, source = stand_ins.definition(cls, cls.__name__, lambda hint: [Value("7")] if hint is int else [])
    assert needs == ()
    space: dict[str, Any] = {cls.__name__: cls}
    exec(source, space)
    return space[name]()


def test_a_stand_in_that_reads_like_a_dictionary_keeps_what_it_is_given() -> None:
    assert stand_ins.needs_stand_in(Store)
    store = made(Store)
    store.set("k", "v")
    assert (store.get("k"), store.get("other")) == ("v", None)


def test_a_stand_in_gives_a_plain_value_of_its_return_hint() -> None:
    assert made(Sender).send("x") == 7


def test_methods_that_only_put_something_in_are_no_container() -> None:
    def append(self: Any, item: Any) -> None: ...
    def size(self: Any) -> int: ...  # type: ignore[empty-body]

    assert keeping.kept({"append": append}) == ("", {})
    assert keeping.kept({"append": append, "size": size})[0] == "[]"


def test_a_value_is_told_the_same_in_every_process() -> None:
    assert compared.told({"k": [1]}) == "{'k': [1]}"
    assert compared.told(object()) == compared.told(object())
    assert compared.literal(float("nan")) is None  # it is not equal to itself
    assert compared.as_compared(f"<Box at {hex(id(compared))}>") == "<Box>"


def test_which_values_are_the_same_object_counts_only_where_nothing_else_tells() -> None:
    one, other = object(), object()
    assert compared.same_objects([one, 1, other, one, 1, None]) == (0, -1, 2, 0, -1, -1)
