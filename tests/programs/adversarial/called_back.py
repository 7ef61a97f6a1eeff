"""Native calls that run Python code which is not rewritten, and what asks for threads and slots by ways round."""

import collections
import threading
import functools
import fractions
from unittest import mock

from treadle import parallel

from .truth import fails


def _named(truth, name, program):
    program.__name__ = name
    truth(program)


def _asked_twice(truth, name, make, ask):
    """Two threads ask for one thing, and get the same."""

    def program():
        source = make()
        one, other = parallel(lambda: ask(source), lambda: ask(source))
        assert one is other

    _named(truth, name, program)


def _counted_twice(name, make, count, counted):
    """Two threads count."""

    def program():
        source = make()
        parallel(lambda: count(source), lambda: count(source))
        assert counted(source) == 2

    _named(fails, name, program)


for _truth, _name, _factory in (
    (fails, "defaultdict_counter", collections.Counter),
    (fails, "defaultdict_userdict", collections.UserDict),
    (fails, "defaultdict_partial", functools.partial(collections.UserList, [1])),
    (fails, "defaultdict_list", list),  # without a GIL: looked for, made and kept, as plain threads on 3.14t show
):
    _asked_twice(_truth, _name, functools.partial(collections.defaultdict, _factory), lambda d: d["k"])
_asked_twice(fails, "lru_cache_outside", lambda: functools.lru_cache(collections.UserList), lambda cached: cached())


def _increment(counts):
    counts["a"] += 1


def _with_slots():
    class C:
        __slots__ = ("x",)

    c = C()
    c.x = 0
    return c


def _with_property():
    class C:
        n = 0

        @property
        def x(self):
            return self.n

        @x.setter
        def x(self, value):
            self.n = value

    return C()


class _Empty:
    pass


def _counting_class():
    class C:
        n = 0

        @classmethod
        def count(cls):
            cls.n += 1

    return C


def _set_by_descriptor(c):
    x = type(c).x
    x.__set__(c, x.__get__(c) + 1)


def _set_by_functions(c):
    x = type(c).x
    x.fset(c, x.fget(c) + 1)


def _set_in_dictionary(c):
    vars(type(c))["__dict__"].__get__(c)["n"] = c.n + 1


def _with_attribute():
    c = _Empty()
    c.n = 0
    return c


def _set_on_class(cls):
    cls.n = cls.__dict__["n"] + 1


for _name, _make, _count, _counted in (
    ("counter_missing", collections.Counter, _increment, lambda counts: counts["a"]),
    ("slot_descr", _with_slots, _set_by_descriptor, lambda c: c.x),
    ("property_fset", _with_property, _set_by_functions, lambda c: c.n),
    ("property_dunder", _with_property, _set_by_descriptor, lambda c: c.n),
    ("classmethod_get", _counting_class, lambda C: C.__dict__["count"].__get__(None, C)(), lambda C: C.n),
    ("getset_descr_dict", _with_attribute, _set_in_dictionary, lambda c: c.n),
    ("type_dict_read", _counting_class, _set_on_class, lambda C: C.n),
):
    _counted_twice(_name, _make, _count, _counted)


@fails
def sort_key_outside():
    xs = [fractions.Fraction(1), fractions.Fraction(0)]

    def s():
        xs.sort()

    r = parallel(s, lambda: len(xs))[1]
    assert r == 2


@fails
def sort_key_fn_outside():
    xs = ["b", "a"]
    import os.path

    def s():
        xs.sort(key=os.path.normpath)

    r = parallel(s, lambda: len(xs))[1]
    assert r == 2


@fails
def list_remove_fraction():
    xs = [fractions.Fraction(1), fractions.Fraction(2)]

    def r():
        xs.remove(fractions.Fraction(2))

    def p():
        xs.insert(0, fractions.Fraction(3))

    parallel(r, p)
    assert xs == [3, 1]


@fails
def dict_key_fraction():
    d = {fractions.Fraction(1): 1}

    def w():
        d[fractions.Fraction(1)] = d.get(fractions.Fraction(1), 0) + 1

    parallel(w, w)
    assert d == {1: 3}


@fails
def heappush_fraction():
    import heapq

    h = [fractions.Fraction(2), fractions.Fraction(3)]
    parallel(lambda: heapq.heappush(h, fractions.Fraction(1)), lambda: heapq.heappush(h, fractions.Fraction(0)))
    assert h[0] == 0 and h[0] <= h[1]


@fails
def extend_outside_gen():
    import pathlib, os

    xs = []

    def g():
        xs.extend(collections.Counter(a=2).elements())

    parallel(g, lambda: xs.append("z"))
    assert xs != ["a", "z", "a"]


@fails
def enumerate():
    ev = []

    def w():
        ev.append(len(threading.enumerate()))

    a = threading.Thread(target=w)
    b = threading.Thread(target=w)
    a.start()
    b.start()
    a.join()
    b.join()
    assert ev != [2, 2]


@fails
def active_count_main():
    a = threading.Thread(target=lambda: None)
    got = []

    def w():
        got.append(threading.active_count())

    b = threading.Thread(target=w)
    b.start()
    a.start()
    a.join()
    b.join()
    assert got != [3]


@fails
def mock_side_effect():
    m = mock.Mock(side_effect=[1, 2])
    assert parallel(m, m) == [1, 2]


@fails
def userdict_setdefault():
    d = collections.UserDict()

    def w(v):
        if "k" not in d:
            d["k"] = v
            return 1

    assert parallel(lambda: w(1), lambda: w(2)).count(1) == 1


@fails
def ordereddict_lru():
    d = collections.OrderedDict()

    def put(k):
        d[k] = 1
        if len(d) > 1:
            d.popitem(last=False)
        return d[k]

    parallel(lambda: put(1), lambda: put(2))
