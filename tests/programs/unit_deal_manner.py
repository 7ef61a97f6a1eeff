"""In the manner of deal's documentation: every kind of condition that it shows."""
from dataclasses import dataclass
from typing import List
import deal


@deal.pre(lambda *args: all(arg > 0 for arg in args))
def sum_positive(*args: int) -> int:
    return sum(args)


@deal.pre(lambda a, b: b != 0, message="division by zero")
@deal.post(lambda result: result == int(result))
def div(a: int, b: int) -> int:
    return a // b


@deal.ensure(lambda x, result: result != x)
def double(x: int) -> int:
    return x * 2


@deal.inv(lambda post: post.likes >= 0)
class Post:
    likes: int = 0

    def __init__(self, likes: int = 0) -> None:
        self.likes = likes

    def like(self) -> None:
        self.likes += 1

    def unlike(self) -> None:
        self.likes -= 1


@deal.raises(ZeroDivisionError)
@deal.reason(ZeroDivisionError, lambda a, b: b == 0)
@deal.has()
def divide(a: int, b: int) -> int:
    return a // b


@deal.safe
def first(items: List[int]) -> int:
    return items[0]


@deal.pre(lambda _: len(_.items) > 0)
@deal.ensure(lambda _: _.result in _.items)
@deal.has()
def my_min(items: List[int]) -> int:
    best = items[0]
    for item in items:
        if item < best:
            best = item
    return best


@deal.inv(lambda _: _.amount > 0)
@deal.inv(lambda _: len(_.currency) == 3)
class Money:
    def __init__(self, currency: str, amount: int) -> None:
        self.currency = currency
        self.amount = amount


contract_for_index_of = deal.chain(
    deal.ensure(lambda items, item, result: result == -1 or items[result] == item),
    deal.post(lambda result: result >= -1),
    deal.has(),
)


@contract_for_index_of
def index_of(items: List[int], item: int) -> int:
    for index, element in enumerate(items):
        if element == item:
            return index
    return -1


@deal.example(lambda: div2(6, 2) == 3)
@deal.pre(lambda a, b: b > 0, exception=ValueError("bad b"))
def div2(a: int, b: int) -> int:
    return a // b


class Shape:
    @deal.pre(lambda self, n: n > 0)
    @deal.post(lambda r: r > 0)
    def scale(self, n: int) -> int:
        return n - 1


class Square(Shape):
    @deal.inherit
    def scale(self, n: int) -> int:
        return n * 2
