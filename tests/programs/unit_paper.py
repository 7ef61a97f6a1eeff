"""The examples of the paper, as Python; one statement per line, so that a line trace identifies a path."""

from __future__ import annotations


def int_exp(a: int, n: int) -> int:
    if n < 0:
        raise ArithmeticError()
    else:
        out = 1
        while n > 0:
            out = out * a
            n -= 1
        return out


class C:
    def __init__(self, f: int) -> None:
        self.f = f


def mist(r1: C, r2: C) -> None:
    if r1.f > 0:
        r2.f = 1
    else:
        r1.f = 0


class Node:
    def __init__(self, data: int, next: Node | None = None) -> None:
        self.data = data
        self.next = next


class List:
    def __init__(self, first: Node | None = None) -> None:
        self.first = first

    def rem_all(self, l: List) -> None:
        lf = l.first
        while lf is not None:
            prev = None
            p = None
            next = self.first
            while next is not None:
                prev = p
                p = next
                next = next.next
                if p.data == lf.data:
                    if prev is None:
                        self.first = next
                        p = None
                    else:
                        prev.next = next
                        p = prev
            lf = lf.next


def absolute(a: int) -> int:
    if a >= 0:
        return a
    else:
        return -a


def gcd(a: int, b: int) -> int:
    while b != 0:
        res = a % b
        a = b
        b = res
    return absolute(a)


def lcm(a: int, b: int) -> int:
    if a < b:
        aux = a
        a = b
        b = aux
    d = gcd(a, b)
    try:
        return absolute(a * b) // d
    except Exception:
        return -1


class Rational:
    def __init__(self, n: int, d: int) -> None:
        self.n = n
        self.d = d

    def simplify(self) -> None:
        g = gcd(self.n, self.d)
        self.n = self.n // g
        self.d = self.d // g


def negative(x: int) -> int:
    if x < 0:
        return -x
    else:
        return x
