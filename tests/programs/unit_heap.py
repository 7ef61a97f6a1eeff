"""Programs that alias: the motivating example of the paper's heap solver (Fig. 3), its variant, and a family."""

from __future__ import annotations


class Ref:
    def __init__(self, f: int = 0) -> None:
        self.f = f


def a() -> None:
    pass


def b() -> None:
    pass


def c(value: int) -> int:
    return value


def d(value: int) -> int:
    return value


def m(x: Ref, y: Ref, z: Ref) -> int:
    x.f = 1
    z.f = -5
    a()
    y.f = x.f + 1
    b()
    if x is z:
        return c(y.f)
    else:
        return d(y.f)


def m_by_value(x: Ref, y: Ref, z: Ref) -> int:
    """Example 3: the condition tells about x, y and z without naming two of them."""
    x.f = 1
    z.f = -5
    a()
    y.f = x.f + 1
    b()
    if x.f == 1:
        return c(y.f)
    else:
        return d(y.f)


def two(p: Ref, q: Ref) -> bool:
    p.f = 1
    q.f = 2
    return p.f == 1


def three(p: Ref, q: Ref, r: Ref) -> bool:
    p.f = 1
    q.f = 2
    r.f = 3
    return p.f == 1


def four(p: Ref, q: Ref, r: Ref, s: Ref) -> bool:
    p.f = 1
    q.f = 2
    r.f = 3
    s.f = 4
    return p.f == 1


def five(p: Ref, q: Ref, r: Ref, s: Ref, t: Ref) -> bool:
    p.f = 1
    q.f = 2
    r.f = 3
    s.f = 4
    t.f = 5
    return p.f == 1
