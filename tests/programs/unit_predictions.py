"""Uses of the language that installed packages make and that were once predicted wrongly."""

import typing
from typing import Any, Optional, Protocol, Union, runtime_checkable


def iterable(value: int | list[int]) -> int:
    if isinstance(value, typing.Iterable):
        return 1
    return 2 if isinstance(value, Optional[int]) else 3


class Threes(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return other == 3


class Three(metaclass=Threes):
    pass


def is_three(n: int) -> bool:
    return isinstance(n, (str, Three))


@runtime_checkable
class Named(Protocol):
    name: str


class Person:
    def __init__(self, name: str) -> None:
        self.name = name


def named(value: Person) -> bool:
    return isinstance(value, Named)


def anything(value: Union[int, Any]) -> int:
    return 1 if value else 2
