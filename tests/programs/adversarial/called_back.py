"""Native calls that run Python code which is not rewritten, and what asks for threads and slots by ways round."""

import collections
import threading
import functools
import fractions
from unittest import mock

from treadle import parallel

from .truth import fails, holds


@fails
def defaultdict_counter():
    d = collections.defaultdict(collections.Counter)
    a, b = parallel(lambda: d["k"], lambda: d["k"])
    assert a is b


@fails
def defaultdict_userdict():
    d = collections.defaultdict(collections.UserDict)
    a, b = parallel(lambda: d["k"], lambda: d["k"])
    assert a is b


@fails
def defaultdict_partial():
    d = collections.defaultdict(functools.partial(collections.UserList, [1]))
    a, b = parallel(lambda: d["k"], lambda: d["k"])
    assert a is b


@holds
def defaultdict_list():
    d = collections.defaultdict(list)
    a, b = parallel(lambda: d["k"], lambda: d["k"])
    assert a is b


@fails
def counter_missing():
    c = collections.Counter()

    def w():
        c["a"] += 1

    parallel(w, w)
    assert c["a"] == 2


@fails
def lru_cache_outside():
    f = functools.lru_cache(collections.UserList)
    a, b = parallel(lambda: f(), lambda: f())
    assert a is b


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
def slot_descr():

    class C:
        __slots__ = ("x",)

    c = C()
    c.x = 0

    def w():
        C.x.__set__(c, C.x.__get__(c) + 1)

    parallel(w, w)
    assert c.x == 2


@fails
def property_fset():

    class C:
        n = 0

        @property
        def x(s):
            return s.n

        @x.setter
        def x(s, v):
            s.n = v

    c = C()

    def w():
        C.x.fset(c, C.x.fget(c) + 1)

    parallel(w, w)
    assert c.n == 2


@fails
def property_dunder():

    class C:
        n = 0

        @property
        def x(s):
            return s.n

        @x.setter
        def x(s, v):
            s.n = v

    c = C()

    def w():
        C.x.__set__(c, C.x.__get__(c) + 1)

    parallel(w, w)
    assert c.n == 2


@fails
def classmethod_get():

    class C:
        n = 0

        @classmethod
        def inc(cls):
            cls.n += 1

    f = C.__dict__["inc"].__get__(None, C)
    parallel(f, f)
    assert C.n == 2


@fails
def getset_descr_dict():

    class C:
        pass

    c = C()
    c.n = 0
    g = C.__dict__["__dict__"]

    def w():
        d = g.__get__(c)
        d["n"] = c.n + 1

    parallel(w, w)
    assert c.n == 2


@fails
def type_dict_read():

    class C:
        n = 0

    def w():
        C.n = C.__dict__["n"] + 1

    parallel(w, w)
    assert C.n == 2


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
