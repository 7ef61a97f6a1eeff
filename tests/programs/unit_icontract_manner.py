"""In the manner of icontract's documentation: every kind of condition that it shows."""
from typing import List, Optional, Tuple
import re
import icontract


@icontract.require(lambda x: x > 3, "x must not be small")
def some_func(x: int, y: int = 5) -> None:
    pass


@icontract.require(lambda x, y: x > y)
@icontract.ensure(lambda result, y: result > y)
def shifted(x: int, y: int = 5) -> int:
    return x - y


class B:
    def __init__(self) -> None:
        self.x = 7

    def y(self) -> int:
        return 2

    def __repr__(self) -> str:
        return "instance of B"


class A:
    def __init__(self) -> None:
        self.b = B()

    def __repr__(self) -> str:
        return "instance of A"


SOME_GLOBAL_VAR = 13


@icontract.require(lambda a: a.b.x + a.b.y() > SOME_GLOBAL_VAR)
def some_method(a: A) -> int:
    return a.b.x


@icontract.snapshot(lambda lst: len(lst), name="len_lst")
@icontract.snapshot(lambda lst: lst[:])
@icontract.ensure(lambda lst, value, OLD: lst == OLD.lst + [value])
@icontract.ensure(lambda OLD, lst: len(lst) == OLD.len_lst + 1)
def append_value(lst: List[int], value: int) -> None:
    lst.append(value)


@icontract.invariant(lambda self: self.x > 0)
class Positive(icontract.DBC):
    def __init__(self, x: int) -> None:
        self.x = x

    def decrement(self) -> None:
        self.x -= 1

    @property
    def half(self) -> int:
        return self.x // 2

    def __lt__(self, other: "Positive") -> bool:
        return self.x < other.x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positive) and self.x == other.x


@icontract.invariant(lambda self: all(x < y for x, y in zip(self.values, self.values[1:])), "sorted")
class Sorted(icontract.DBC):
    def __init__(self, values: List[int]) -> None:
        self.values = values

    def first(self) -> Optional[int]:
        return self.values[0] if self.values else None

    def add(self, value: int) -> None:
        self.values.append(value)


@icontract.require(lambda path: path.startswith("/"))
@icontract.require(lambda path: len(path) < 10)
def depth(path: str) -> int:
    return path.count("/")


@icontract.require(lambda number: number > 0, error=ValueError)
def logarithm(number: int) -> int:
    n = 0
    while number > 1:
        number //= 2
        n += 1
    return n


@icontract.require(lambda start, end: 0 <= start <= end)
@icontract.ensure(lambda start, end, result: result[0] <= result[1])
@icontract.ensure(lambda result: not (result is None))
def split(start: int, end: int) -> Tuple[int, int]:
    middle = (start + end) // 2
    return middle, middle + 1 if end > 3 else middle - 1


@icontract.require(lambda args: len(args) > 0)
def spread(*args: int) -> int:
    return args[0]


@icontract.require(lambda _ARGS: len(_ARGS) > 0)
def by_args(a: int) -> int:
    return a


@icontract.require(lambda n: re.match(r"a", "a") is not None and n > 0)
def rex(n: int) -> int:
    return n


@icontract.ensure(lambda result, *, n=3: result > n)
def defaulted(m: int) -> int:
    return m
