"""Lines to reach: easy ones, impossible ones, dead ones, lines of callees."""

import json

import unit_points_far


def price_of(price: int, percent: int) -> int:
    if price <= 0:
        return 0
    # nothing happens on this line
    if percent > 50:
        if percent < 40:
            return -1
        return price - price // 10
    if price > 100:
        price += 1
    return price
    return "dead"


def rounds(n: int) -> str:
    i = 0
    while i < n:
        i += 1
    if i == 3:
        return "three rounds"
    return "other"


def opaque(text: str) -> str:
    if json.loads(text) == {"key": [1, 2, 3]}:
        return "parsed"
    return "something else"


def doubled(amount: int) -> int:
    if amount > 40:
        return amount * 2
    return amount


def calls(amount: int) -> int:
    return doubled(amount) + unit_points_far.check(amount)


def spread_out(a: int, b: int) -> int:
    total = sum(
        [a,
         b]
    )
    try:
        return total // a
    except ZeroDivisionError:
        return 0


def banded(n: int) -> int:
    if n < 10:
        return 1
    if n < 100:
        return 2
    return 3


def six_calls(a: int, b: int, c: int, d: int, e: int, f: int) -> int:
    return banded(a) + banded(b) + banded(c) + banded(d) + banded(e) + banded(f)
