"""Iterators of every kind in two threads."""

import itertools

from treadle import parallel as par

from .truth import fails, holds


@fails
def cycle_shared_there():
    ring = itertools.cycle("ab")
    mine, yours = [], []
    par(lambda: mine.append(next(ring)), lambda: yours.append(next(ring)))
    assert mine == ["a"]


@fails
def zip_of_one_iterator_twice():
    source = iter([1, 2, 3])
    pairs = zip(source, source)
    mine = []
    par(lambda: mine.append(next(pairs)), lambda: next(source))
    assert mine == [(1, 2)]


@fails
def iter_callable_sentinel():
    stack = [0, 1]
    it = iter(stack.pop, 0)
    mine, yours = [], []
    par(lambda: mine.extend(it), lambda: yours.extend(it))
    assert mine == [1]


@fails
def yield_from_shared_inner():
    inner = iter([1, 2])

    def outer():
        yield from inner

    a, b = outer(), outer()
    mine, yours = [], []
    par(lambda: mine.append(next(a)), lambda: yours.append(next(b)))
    assert mine == [1]


@fails
def string_iterator():
    letters = iter("ab")
    mine = []
    par(lambda: mine.append(next(letters)), lambda: next(letters))
    assert mine == ["a"]


@fails
def product_shared():
    pairs = itertools.product("ab", repeat=1)
    mine = []
    par(lambda: mine.append(next(pairs)), lambda: next(pairs))
    assert mine == [("a",)]


@fails
def count_repr():
    counter = itertools.count(5)
    seen = []
    par(lambda: next(counter), lambda: seen.append(repr(counter)))
    assert seen == ["count(6)"]


@fails
def generator_in_two_strands():
    seen = []

    def gen():
        for i in range(2):
            seen.append(i)
            yield i

    g = gen()
    par(lambda: list(g), lambda: list(g))


@holds
def ok_count_is_unique():
    counter = itertools.count()
    got = []
    par(lambda: got.append(next(counter)), lambda: got.append(next(counter)))
    assert sorted(got) == [0, 1]
