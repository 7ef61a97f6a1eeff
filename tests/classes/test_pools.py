"""What a method is called with: by type, by name, by trial; small, and colliding on purpose."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Optional

from treadle.classes.drawn import drawn
from treadle.classes.pools import Pools
from treadle.classes.subject import Subject, examine
from treadle.observe.parameters import MISSING, Parameter


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Rate:
    limit: int
    interval: float = 1.0


class Plain:
    """A class with one of everything."""

    def method(self, x):  # type: ignore[no-untyped-def]
        return x

    @property
    def size(self) -> int:
        return 1

    @size.setter
    def size(self, value: int) -> None: ...

    @classmethod
    def from_text(cls, text: str) -> Plain:
        return cls()

    def __getitem__(self, key: str) -> int:
        return 1

    def __len__(self) -> int:
        return 1

    def merge(self, other: Plain) -> None: ...

    async def later(self) -> None: ...

    def _private(self) -> None: ...


def plain() -> Subject:
    return examine(f"{__name__}:Plain", Plain)


def values(kind: Any, name: str = "x", default: Any = MISSING) -> list[str]:
    return [str(value) for value in Pools(plain(), {}).of(Parameter(name, kind, default))]


def test_types_are_taken_apart() -> None:
    assert values(Optional[int])[:2] == ["1", "None"]  # noqa: UP045
    assert values(Literal["on", "off"]) == ["'on'", "'off'"]
    assert values(list[str])[:2] == ["['a']", "['a', 'b']"]
    assert values(Mapping[str, int])[0] == "{'a': 1}"
    assert values(Callable[[int], None]) == ["do_nothing", "give_one", "fail"]


def test_other_classes_are_built_by_their_constructors() -> None:
    assert values(Colour) == ["Colour.RED", "Colour.BLUE"]
    assert values(Rate)[0] == "Rate(1)"


def test_the_class_s_own_type_is_the_shared_object() -> None:
    assert values(Plain) == ["{sout}"]


def test_names_tell_where_types_do_not() -> None:
    assert values(MISSING, "callback")[0] == "do_nothing"
    assert values(MISSING, "max_size")[0] == "1"
    assert values(MISSING, "key")[:2] == ["'a'", "'b'"]


def test_values_of_the_user_s_replace_the_pool() -> None:
    pools = Pools(plain(), {"x": ["7", "8"]})
    assert [str(value) for value in pools.of(Parameter("x", int))] == ["7", "8"]


def test_hypothesis_draws_the_same_for_the_same_seed() -> None:
    assert drawn(int, 3) == drawn(int, 3)
    assert drawn(int, 3)


def test_what_users_reach_is_a_method_and_the_rest_is_not() -> None:
    subject = plain()
    names = {method.name for method in subject.methods}
    assert {"method", "size", "size=", "[]", "len", "merge", "later"} <= names
    assert not {"_private", "from_text"} & names
    assert [method.name for method in subject.constructors] == ["constructor", "from_text"]


class Bag:
    """All bags are one bag, where nobody gives them a list."""

    def __init__(self, items: list[int] = []) -> None:  # noqa: B006
        self.items = items


class Carrier:
    def __init__(self, bag: Bag, times: int = 1) -> None:
        self.bag = bag


def test_an_object_whose_default_is_a_list_gets_one_of_its_own() -> None:
    subject = examine("tests.classes.test_pools:Carrier", Carrier)
    [value, *_] = Pools(subject, {}).of(subject.constructors[0].parameters[0])
    assert str(value) == "Bag(items=[])"


def test_options_are_tried_where_there_is_one_value_for_what_must_be_given() -> None:
    subject = examine("tests.classes.test_pools:Carrier", Carrier)
    calls = [str(call) for call in Pools(subject, {"bag": ["Bag()"]}).calls(subject.constructors[0])]
    assert calls[:3] == ["Carrier(Bag())", "Carrier(Bag(), times=1)", "Carrier(Bag(), times=2)"]


def test_an_exception_is_made_where_one_is_asked_for() -> None:
    subject = examine("tests.classes.test_pools:Carrier", Carrier)
    values = Pools(subject, {}).of(Parameter("error", BaseException))
    assert [str(value) for value in values] == ["BaseException('a')"]
