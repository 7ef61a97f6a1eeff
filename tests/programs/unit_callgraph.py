"""Lines that are reached in roundabout ways: through values, attributes, generators, operators, properties."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator


def one_more(n: int) -> int:
    if n > 7:
        return 0
    return n + 1


def twice(n: int) -> int:
    return n * 2


TABLE = {"more": one_more, "twice": twice}


def by_table(n: int) -> int:
    name = "more" if n > 3 else "twice"
    return TABLE[name](n)


def handed_on(action: Callable[[int], int], n: int) -> int:
    return action(n)


def by_argument(n: int) -> int:
    action = one_more
    if n < 0:
        action = twice
    return handed_on(action, n)


def by_closure(n: int) -> int:
    def inner(m: int) -> int:
        if m > n + 2:
            return 1
        return 2

    later = [inner]
    return sum(f(5) for f in later)


def by_key(numbers: list[int]) -> list[int]:
    return sorted(numbers, key=lambda m: m if m > 0 else one_more(-m))


def halves(n: int) -> Iterator[int]:
    yield n // 2
    if n > 10:
        yield n // 4


def by_generator(n: int) -> int:
    parts = halves(n)
    first = next(parts)
    if first < 0:
        return first
    return first + sum(parts)


class Box:
    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def double(self) -> int:
        if self.size > 4:
            return self.size * 2
        return 0

    def __add__(self, other: Box) -> Box:
        if other.size == self.size:
            return Box(0)
        return Box(self.size + other.size)

    def __bool__(self) -> bool:
        if self.size == 3:
            return False
        return self.size > 0

    def grow(self, by: int) -> int:
        if by > 2:
            self.size += by
        return self.size


def by_property(n: int) -> int:
    return Box(n).double


def by_operator(n: int) -> int:
    return (Box(n) + Box(2)).size


def by_truth(n: int) -> int:
    if Box(n):
        return 1
    return 0


def by_name(n: int) -> int:
    box = Box(1)
    return getattr(box, "gr" + "ow")(n)


def by_bound_method(n: int) -> int:
    grow = Box(1).grow
    return grow(n)


def by_partial(n: int) -> int:
    action = functools.partial(handed_on, one_more)
    return action(n)


def logged(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def wrapper(n: int) -> int:
        if n == 9:
            return -9
        return function(n)

    return wrapper


@logged
def decorated(n: int) -> int:
    if n == 8:
        return -8
    return n


def by_decorator(n: int) -> int:
    return decorated(n)


def even(n: int) -> int:
    if n <= 0:
        return 1
    return odd(n - 1)


def odd(n: int) -> int:
    if n <= 0:
        return 0
    return even(n - 1)


class Shape:
    def area(self) -> int:
        return 0


class Square(Shape):
    def __init__(self, side: int) -> None:
        self.side = side

    def area(self) -> int:
        if self.side < 0:
            return -1
        return self.side * self.side


def by_override(n: int) -> int:
    shape: Shape = Square(n) if n != 2 else Shape()
    return shape.area()


def by_map(numbers: list[int]) -> int:
    return sum(map(one_more, numbers))


class Manager:
    def __init__(self, n: int) -> None:
        self.n = n

    def __enter__(self) -> int:
        if self.n > 5:
            return 1
        return 0

    def __exit__(self, *details: object) -> bool:
        if details[0] is not None:
            return True
        return False


def by_with(n: int) -> int:
    with Manager(n) as m:
        return 10 // (m + n)
    return -5
