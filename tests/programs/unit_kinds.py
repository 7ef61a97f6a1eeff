"""A module with things that cannot be targets by themselves."""

import abc
import enum


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> int: ...

    def twice(self) -> int:
        return 2 * self.area()


class Color(enum.Enum):
    RED = 1

    def is_warm(self) -> bool:
        return self is Color.RED


class Wrong(Exception):
    pass


async def fetched(n: int) -> int:
    return n


def plain(n: int) -> int:
    return 1 if n > 0 else 0
