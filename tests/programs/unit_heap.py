"""Programs that alias: the motivating example of the paper's heap solver (Fig. 3), its variant, and a family."""

from __future__ import annotations

import operator


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


def swap_and_add(xs: list[int], i: int, j: int) -> int:
    xs[i] = 1
    xs[j] = 2
    return xs[i] + xs[0]


class Basket:
    def __init__(self, items: list[int] | None = None, size: int = 0) -> None:
        self.items: list[int] = items or []
        self.size = size


def shared_list(a: Basket, b: Basket) -> int:
    a.items.append(1)
    b.items.append(2)
    a.size = len(a.items)
    return b.size


class Shape:
    def __init__(self, side: int = 1) -> None:
        self.side = side

    def area(self) -> int:
        return self.side


class Square(Shape):
    def area(self) -> int:
        return self.side * self.side


def by_class(one: Shape, other: Shape) -> int:
    one.side = 2
    other.side = 3
    return one.area() - other.area()


def by_name(one: Ref, other: Ref) -> int:
    one.mark = 1
    del other.f
    return getattr(other, "mark", 0) + hasattr(one, "f") + len(vars(one))


def compiled(one: Ref, other: Ref) -> str:
    one.f = 1
    other.f = 2
    return str(operator.attrgetter("f")(one))


class Lazy:
    def __init__(self, n: int = 0) -> None:
        self.n = n

    @property
    def double(self) -> int:
        return self.n * 2


def cached(one: Lazy, other: Lazy) -> int:
    first = one.double
    other.n = 5
    return first + one.double


def equal_or_not(one: Ref, other: Ref) -> bool:
    return one == other and one in [other]


def union(one: Ref | Lazy | None, other: Lazy) -> int:
    other.n = 1
    if isinstance(one, Lazy):
        return one.n
    return 0


def divided(r: Ref, s: Ref) -> int:
    r.f = 0
    if s.f == 0:
        return -1
    if 6 // s.f < -1:
        return 1
    return 0


# --- a value that depends on aliasing, where a known one is needed ---------------------------------------


def rounds(r: Ref, s: Ref) -> int:
    r.f = 5
    s.f = 3
    total = 0
    for i in range(r.f):
        total += i
    return total


def rounds_or_unknown(r: Ref, s: Ref, n: int) -> int:
    r.f = 5
    s.f = n
    i = 0
    while i < r.f:
        i += 1
    return i


def asked_in_a_loop(r: Ref, s: Ref, n: int) -> int:
    r.f = 7
    s.f = n
    i = total = 0
    while i < 5:
        if r.f > i:
            total += 1
        i += 1
    return total


def factorial(n: int) -> int:
    return 1 if n <= 1 else n * factorial(n - 1)


def nested(r: Ref, s: Ref, n: int) -> int:
    r.f = 5
    s.f = n
    return factorial(r.f)


def counted(r: Ref) -> int:
    total = 0
    for _ in range(r.f):
        total += 1
    return total


def called(r: Ref, s: Ref) -> int:
    r.f = 5
    s.f = 3
    return counted(r) + counted(s)


def repeated(r: Ref, s: Ref) -> list[int]:
    r.f = 5
    s.f = 3
    return [0] * r.f


def to_the_power(r: Ref, s: Ref) -> int:
    r.f = 5
    s.f = 3
    return 2**r.f


def every_nth(r: Ref, s: Ref) -> list[int]:
    r.f = 2
    s.f = 1
    return [1, 2, 3, 4, 5][:: r.f]


def by_unknown_name(r: Ref, s: Ref) -> object:
    r.f = "f"
    s.f = "__class__"
    return getattr(r, r.f) is Ref


def letters(r: Ref, s: Ref) -> list[str]:
    r.f = "a-b"
    s.f = "c"
    return [*r.f, *r.f.split("-")]


def zeros(r: Ref, s: Ref) -> bytes:
    r.f = 5
    s.f = 3
    return bytes(r.f)


def element_counts(xs: list[int], i: int) -> int:
    xs[0] = 5
    total = 0
    for _ in range(xs[i]):
        total += 1
    return total


def element_repeats(xs: list[int], i: int, j: int) -> list[int]:
    xs[i] = 5
    xs[j] = 3
    return [0] * xs[i]


# --- dicts and sets --------------------------------------------------------------------------------------


class Box:
    def __init__(self, table: dict[int, int], marks: set[int], size: int = 0) -> None:
        self.table = table
        self.marks = marks
        self.size = size


def unused_tables(a: Box, b: Box) -> int:
    a.table, b.table
    a.size = 1
    b.size = 2
    return a.size


def written_tables(a: Box, b: Box) -> int:
    a.table[1] = 1
    b.table[1] = 2
    return a.table[1]


def compared_tables(p: dict[int, int], q: dict[int, int]) -> int:
    if p is q:
        return len(p)
    q[1] = 1
    return p.get(1, 0)


def compared_sets(p: set[int], q: set[int], r: set[int]) -> int:
    if p is q:
        p.add(1)
    if q is r:
        r.add(2)
    return len(p)


def key_depends(a: Box, b: Box, table: dict[int, int]) -> int:
    a.size = 1
    b.size = 2
    return 1 if table[a.size] > 3 else 0
