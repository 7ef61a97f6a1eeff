"""Calls that a search for some paths need not look into: numbers in, a number out."""

from __future__ import annotations


def band(n: int) -> int:
    if n < 0:
        return 0
    if n < 10:
        return 1
    return 2 if n < 100 else 3


def digits(n: int) -> int:
    found = 1
    while n >= 10:
        n //= 10
        found += 1
    return found


def checked(n: int) -> int:
    if n == 7:
        raise ValueError("seven")
    return n if n > 0 else -n


def six_bands(a: int, b: int, c: int, d: int, e: int, f: int) -> str:
    total = band(a) + band(b) + band(c) + band(d) + band(e) + band(f)
    if total == 17:
        return "all but one"
    if total > 18:
        return "never"
    return "other"


def long_number(n: int) -> bool:
    if digits(n) == 2:
        return True
    return False


def longer_number(n: int) -> bool:
    if digits(n) > 3:
        return True
    return False


def caught(n: int) -> int:
    try:
        found = checked(n)
    except ValueError:
        return -1
    if found == 3:
        return 3
    return 0


def known_rounds(n: int) -> int:
    rounds = 3
    while rounds > 0:
        rounds -= 1
        n = band(5) + n
    return n


def rounds_with_questions(n: int) -> int:
    rounds = 3
    while rounds > 0:
        rounds -= 1
        n = band(n)
    return n


def even(n: int) -> int:
    if n <= 0:
        return 1
    return odd(n - 1)


def odd(n: int) -> int:
    if n <= 0:
        return 0
    return even(n - 1)


def through_many(n: int) -> int:
    if band(n) + band(n + 1) + band(n + 2) == 5:
        return band(n + 3)
    return 0


def counts_down(a: int, b: int) -> int:
    n = 0
    if a > 0:
        n = 4
    rounds = 0
    while n > 0:
        n -= 1
        rounds += 1
    if rounds == 4:
        return b
    return 0


def counts_bands(a: int) -> int:
    n = band(a)
    rounds = 0
    while n > 0:
        n -= 1
        rounds += 1
    if rounds == 3:
        return 1
    return 0


def many_digits(n: int) -> int:
    if digits(band(n) * 1000) == 4:
        return 1
    return 0
