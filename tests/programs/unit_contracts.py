"""Programs with contracts, for tests/doors_unit/test_contracts.py."""

import functools
import math
from typing import List, Optional

import deal
import icontract
from icontract import DBC, ensure, invariant, require, snapshot

LIMIT = 100


# --- preconditions ---------------------------------------------------------------------------------------


@icontract.require(lambda n: n >= 0)
def sign(n: int) -> int:
    if n < 0:
        return -1
    return 1 if n > 0 else 0


@require(lambda lo, hi: lo <= hi)
@require(lambda lo, hi: 0 <= lo <= LIMIT and not hi > LIMIT)
@ensure(lambda result, lo, hi: lo <= result <= hi)
def clamp(x: int, lo: int, hi: int) -> int:
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


@deal.pre(lambda _: _.a > 0 or _.b > 0)
def either(a: int, b: int) -> int:
    return a + b


@deal.pre(lambda a, b: deal.implies(a > 0, b > 0))
def implied(a: int, b: int) -> int:
    return a * b


@deal.pre(lambda a, b: b != 0 and a % b == 0 or "b must divide a")
def share(a: int, b: int) -> int:
    return a // b


def is_even(n: int) -> bool:
    """Even."""
    return n % 2 == 0


@require(is_even)
@ensure(lambda result: is_even(result))
def half(n: int) -> int:
    return n // 2


@require(lambda n: n > 0, enabled=False)
def not_enabled(n: int) -> int:
    return n if n > 0 else 0


@require(lambda n: n > 0, error=ValueError)
def custom_error(n: int) -> int:
    return 10 // n


@require(lambda xs: all(x > 0 for x in xs))
@ensure(lambda xs, result: result >= len(xs))
def add_up(xs: List[int]) -> int:
    total = 0
    for x in xs:
        total += x
    return total


@require(lambda n: n > 0)
@require(lambda n: n < 0)
def contradictory(n: int) -> int:
    return n


@require(lambda n: hash(str(n)) > 0)
def undecidable(n: int) -> int:
    return n


def leading(a: int, b: int) -> int:
    """Asserts that are preconditions, and one that is not."""
    assert a >= 0, "a must not be negative"
    assert a < b <= LIMIT
    c = b - a
    assert c != 5
    return c


def leading_state(a: int) -> int:
    print(a)
    assert a > 0
    return a


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@doubled
@require(lambda n: n > 3)
def beneath(n: int) -> bool:
    return n > 5


# --- promises --------------------------------------------------------------------------------------------


@require(lambda n: n >= 0)
@ensure(lambda n, result: result * result <= n)
def isqrt(n: int) -> int:
    if n < 2:
        return n
    return n // 2


@deal.post(lambda result: result >= 0)
def difference(a: int, b: int) -> int:
    return a - b if a > b else b - a


@deal.ensure(lambda _: _.result == _.a or _.result == _.b)
@deal.ensure(lambda a, b, result: result >= a)
def larger(a: int, b: int) -> int:
    if a == 3:
        return 4
    return a if a > b else b


@snapshot(lambda lst: lst[:])
@ensure(lambda OLD, lst, value: lst == OLD.lst + [value])
def put(lst: List[int], value: int) -> None:
    if value == 7:
        lst.insert(0, value)
    else:
        lst.append(value)


@ensure(lambda n, result: result == max(n, 3))
def at_least_three(n: int) -> int:
    return n if n > 3 else 3


@ensure(lambda result: math.floor(result) == result)
def rounded(n: int) -> int:
    return n + 1


@ensure(lambda result: len(result) > 0)
def named(n: int) -> Optional[str]:
    return "n" if n > 0 else None


@ensure(lambda result: hash(str(result)) != 1)
def cannot_say(n: int) -> int:
    return n


@ensure(lambda result: str(result).upper() != "8")
def hidden(n: int) -> int:
    return 8


@deal.raises(ValueError)
def parse(n: int) -> int:
    if n == 0:
        raise ValueError("zero")
    if n == 13:
        raise KeyError(n)
    return n


@deal.safe
def risky(n: int) -> int:
    return 10 // n


def calls_risky(n: int) -> int:
    return risky(n) + 1


@deal.pure
def talkative(n: int) -> int:
    if n > 3:
        print("big")
    return n


@deal.reason(ZeroDivisionError, lambda _: _.b == 0)
@deal.raises(ZeroDivisionError)
def divide(a: int, b: int) -> int:
    if b == 7:
        raise ZeroDivisionError
    return a // b


@ensure(lambda result: result != 5, error=lambda result: RuntimeError(f"got {result}"))
def complains(n: int) -> int:
    return n + 1


@require(lambda x: x > 0)
def helper(x: int) -> int:
    return x + 1


def caller(a: int) -> int:
    if a > 10:
        return helper(a)
    return helper(a - 5)


def cautious(a: int) -> int:
    try:
        return helper(a)
    except icontract.ViolationError:
        return 0


def make_bounded(limit):
    @ensure(lambda result: result <= limit)
    def bounded(n: int) -> int:
        return min(n, limit)

    return bounded


bounded = make_bounded(10)
bounded.__qualname__ = "bounded"


# --- invariants ------------------------------------------------------------------------------------------


@invariant(lambda self: self.balance >= 0)
class Account:
    def __init__(self, balance: int) -> None:
        self.balance = balance

    def withdraw(self, amount: int) -> None:
        self.balance -= amount

    @require(lambda amount: amount > 0)
    @snapshot(lambda self: self.balance, name="balance")
    @ensure(lambda self, OLD, amount: self.balance == OLD.balance + amount)
    def deposit(self, amount: int) -> None:
        self.balance += amount

    def is_poor(self) -> bool:
        return self.balance < 0


def richer(a: Account, b: Account) -> bool:
    if a.balance < 0 or b.balance < 0:
        raise AssertionError("never")
    return a.balance > b.balance


def transfer(source: Account, target: Account, amount: int) -> None:
    source.balance -= amount
    target.balance += amount


def says(a: int) -> str:
    try:
        return str(helper(a))
    except icontract.ViolationError as error:
        return str(error)


@deal.post(lambda value: value > 0)
def counting(n: int):
    i = 0
    while i < n:
        yield i
        i += 1


@deal.inv(lambda self: self.level >= 0)
class Tank:
    def __init__(self, level: int) -> None:
        self.level = level

    def drain(self, amount: int) -> int:
        self.level -= amount
        return self.level


@invariant(lambda self: self.next is None or self.next.size >= self.size)
class Link(DBC):
    def __init__(self, size: int, next: "Optional[Link]" = None) -> None:
        self.size = size
        self.next = next

    def second(self) -> int:
        return -1 if self.next is None else self.next.size - self.size


class Base(DBC):
    @require(lambda x: x > 10)
    @ensure(lambda result: result > 0)
    def run(self, x: int) -> int:
        return x


class Weaker(Base):
    @require(lambda x: x < -10)
    def run(self, x: int) -> int:
        return abs(x) if x != -20 else 0


# --- decided per path, for the property test ----------------------------------------------------------------


def grade(n: int, m: int) -> int:
    if n > 10:
        if m > n:
            return 3
        return 2
    if m == 0:
        return 1
    while m > 2 and n < 5:
        n += 1
    return 0
