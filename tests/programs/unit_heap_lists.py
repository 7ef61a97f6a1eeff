"""Lists that may be the same one: Fig. 3 of the paper with elements for fields, and what decides which is which."""

from __future__ import annotations


def a() -> None:
    pass


def b() -> None:
    pass


def m(x: list[int], y: list[int], z: list[int]) -> int:
    x[0] = 1
    z[0] = -5
    a()
    y[0] = x[0] + 1
    b()
    if x is z:
        return y[0]
    return 2 * y[0]


def two(p: list[int], q: list[int]) -> bool:
    p[0] = 1
    q[0] = 2
    return p[0] == 1


def three(p: list[int], q: list[int], r: list[int]) -> bool:
    p[0] = 1
    q[0] = 2
    r[0] = 3
    return p[0] == 1


def four(p: list[int], q: list[int], r: list[int], s: list[int]) -> bool:
    p[0] = 1
    q[0] = 2
    r[0] = 3
    s[0] = 4
    return p[0] == 1


def indexed(p: list[int], q: list[int], i: int, j: int) -> int:
    p[i] = 5
    q[j] = 7
    return p[i]


def walked(p: list[int], q: list[int]) -> int:
    total = 0
    for value in p:
        q[0] = value + 1
        total += value
    return total


class Holder:
    def __init__(self, items: list[int], size: int = 0, next: Holder | None = None) -> None:
        self.items = items
        self.size = size
        self.next = next


def held(p: Holder, q: Holder) -> int:
    p.items[0] = 1
    q.items[0] = 2
    return p.size if p.items[0] == 1 else q.size


def passed_on(p: Holder, q: Holder, xs: list[int]) -> int:
    p.items = xs
    q.items[0] = 2
    return len(p.items) if xs[0] == 2 else 0


def compared(p: list[int], q: list[int]) -> int:
    return 1 if p is q else 2


def appended(p: list[int], q: list[int]) -> int:
    p[0] = 1
    q.append(3)
    return len(p) + p[-1]


def appended_first(p: list[int], q: list[int]) -> int:
    q.append(3)
    p[0] = 1
    return len(p) + q[0]


def popped(p: list[int], q: list[int]) -> int:
    p[0] = 1
    last = q.pop()
    return last + len(p)


def equal(p: list[int], q: list[int]) -> bool:
    p[0] = 1
    return p == q


def ordered(p: list[int], q: list[int]) -> int:
    q[0] = 1
    p.sort()
    return q[0]


def extended(p: list[int], q: list[int]) -> int:
    p.extend(q)
    return len(p) + len(q)


def of_objects(p: list[Holder], q: list[Holder]) -> int:
    p[0].size = 1
    q[0].size = 2
    return p[0].size


def no_number(p: list[int], q: list[int]) -> object:
    p[0] = None
    return q[0]


def kept_method(p: list[int], q: list[int]) -> int:
    add = p.append
    q[0] = 1
    add(2)
    return len(q)


def given_to_compiled_code(p: list[int], q: list[int]) -> str:
    p[0] = 1
    return str(q)


# --- found by random programs ----------------------------------------------------------------------------


def asked_before(xs: list[int], i: int, j: int, n: int) -> int:
    """The program's own i == j comes before the read that depends on it."""
    z = 1 if i == j else 0
    if n > 0:
        z += 2
    xs[i] = 1
    return xs[j] + z


def place_depends(p: Holder, q: Holder, xs: list[int]) -> int:
    """Which element is read depends on the aliasing, and so does its name."""
    p.size = 1
    q.size = 2
    return 1 if xs[p.size] > 3 else 0


def never_seen(xs: list[int], i: int, j: int) -> int:
    """xs[0] as it was is never looked at where the write before was to xs[0]."""
    xs[i] = xs[j]
    xs[0] = xs[0]
    return 0


def one_reference(p: Holder, q: Holder, r: Holder) -> int:
    """Where p is q, nobody looks at what p.next is."""
    z = 0 if p.next is q.next else p.size
    return z + r.size


def through_another(p: Holder, q: Holder, r: Holder) -> int:
    """Where p is r, p.next is q itself, which nobody looks at."""
    r.next = q
    return 1 if q is p.next else 0


def none_through_another(p: Holder, q: Holder, r: Holder) -> int:
    """Where p is r, p.next is None, and q is asked for no more than that."""
    r.next = None
    return (1 if p.next is q else 0) + r.size


def asked_again(p: Holder, q: Holder, r: Holder) -> int:
    """Where p is q, it is known when p.next is asked for what it is."""
    z = 1 if r is q.next else 0
    if p.next is not None:
        p.next.size = 3
    return z + q.size


def inside(p: Holder, q: Holder, n: int) -> bool:
    p.size = 1
    q.size = n
    return p.size in [3, n]


def twice_written(ys: list[int], zs: list[int], i: int) -> int:
    """Two writes to one place, through two names."""
    ys[i] = ys[0] + 1
    zs[i] = 2
    zs.reverse()
    return zs[0]


def settled_later(xs: list[int], ys: list[int], zs: list[int], i: int) -> int:
    """What a value depends on is decided in part on the way."""
    zs[i] = 1
    ys.append(xs[1] + 1)
    return 1 if ys[-1] in ys else 0
