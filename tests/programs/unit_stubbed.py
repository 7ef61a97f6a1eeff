"""Callers of what stub files stand for."""

import math

import unit_native


def rooted(x: int) -> int:
    return unit_native.root(x) + 1


def checked(x: int) -> int:
    if x > 10:
        return -1
    return unit_native.root(x) + 1


def copied(a: list[int]) -> int:
    unit_native.arraycopy(a, a, 1)
    return 0


def device(n: int) -> int:
    made = unit_native.Device(2)
    made.read(n)
    return made.left


def swapped(text: str) -> str:
    return text.swapcase()


def gamma(x: float) -> float:
    return math.gamma(x)
