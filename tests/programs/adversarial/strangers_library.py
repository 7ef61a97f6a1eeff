"""Objects of the standard library that two threads share, as somebody would who does not know what Treadle sees."""

import array
import bisect
import collections
import copy
import decimal
import functools
import heapq
import itertools
import json
import operator
import pickle
import re
import string
import struct
import threading
import typing

from treadle import parallel

from .truth import fails, holds


@fails
def islice_shared():
    it = itertools.islice([1, 2, 3, 4], 2)
    out = parallel(lambda: list(it), lambda: list(it))
    assert out[0] == [1, 2]


@fails
def groupby_shared():
    g = itertools.groupby([1, 1, 2])
    out = parallel(lambda: next(g)[0], lambda: next(g)[0])
    assert out == [1, 2]


@fails
def cycle_shared():
    c = itertools.cycle("ab")
    out = parallel(lambda: next(c), lambda: next(c))
    assert out[0] == "a"


@fails
def accumulate_callback():
    total = [0]

    def add(a, b):
        total[0] += b
        return a + b

    parallel(lambda: list(itertools.accumulate([1, 2, 3], add)), lambda: list(itertools.accumulate([1, 2, 3], add)))
    assert total[0] == 10


@fails
def reduce_callback():
    log = {"n": 0}

    def f(a, b):
        n = log["n"]
        log["n"] = n + 1
        return a + b

    parallel(lambda: functools.reduce(f, [1, 2]), lambda: functools.reduce(f, [3, 4]))
    assert log["n"] == 2


@fails
def re_sub_callback():
    state = {"n": 0}

    def repl(m):
        state["n"] = state["n"] + 1
        return str(state["n"])

    parallel(lambda: re.sub("x", repl, "xx"), lambda: re.sub("x", repl, "x"))
    assert state["n"] == 3


@fails
def re_finditer_shared():
    it = re.finditer("a", "aa")
    out = parallel(lambda: next(it).start(), lambda: next(it).start())
    assert out == [0, 1]


@fails
def re_scanner_object():
    sc = re.compile("a|b").scanner("ab")
    out = parallel(lambda: sc.match().group(), lambda: sc.match().group())
    assert out == ["a", "b"]


@fails
def template_mapping():

    class M(dict):
        pass

    m = M(a="1", b="1")
    t = string.Template("$a$b")

    def w():
        m["a"] = "2"
        m["b"] = "2"

    out = parallel(lambda: t.substitute(m), w)
    assert out[0] in ("11", "22")


@fails
def struct_pack_into():
    buf = bytearray(4)

    def w(v):
        struct.pack_into("H", buf, 0, v)
        struct.pack_into("H", buf, 2, v)

    parallel(lambda: w(1), lambda: w(2))
    a, b = struct.unpack("HH", buf)
    assert a == b


@fails
def struct_iter_unpack():
    it = struct.iter_unpack("B", b"ab")
    out = parallel(lambda: next(it), lambda: next(it))
    assert out == [(97,), (98,)]


@fails
def array_check_then_pop():
    a = array.array("i", [1])

    def take():
        if len(a):
            a.pop()

    parallel(take, take)


@fails
def bytearray_iadd_slice():
    b = bytearray(b"x")

    def g():
        n = len(b)
        b[n:] = b"y"

    def r():
        return bytes(b)

    out = parallel(g, r)
    assert out[1] == b"x"


@fails
def bisect_then_insert():
    xs = [1, 5]

    def put(v):
        i = bisect.bisect(xs, v)
        xs.insert(i, v)

    parallel(lambda: put(3), lambda: put(2))
    assert xs == sorted(xs)


@holds
def insort_atomic():
    xs = [1, 5]
    parallel(lambda: bisect.insort(xs, 3), lambda: bisect.insort(xs, 2))
    assert xs == [1, 2, 3, 5]


@fails
def insort_key_py():
    xs = [1, 5]
    parallel(lambda: bisect.insort(xs, 3, key=lambda v: v + 0), lambda: bisect.insort(xs, 2, key=lambda v: v + 0))
    assert xs == sorted(xs)


@holds
def heappush_ints():
    h = []
    parallel(lambda: heapq.heappush(h, 2), lambda: heapq.heappush(h, 1))
    assert h[0] == 1


@fails
def heap_replace_peek():
    h = [1, 2, 3]

    def bump():
        if h[0] == 1:
            heapq.heapreplace(h, 10)

    parallel(bump, bump)
    assert h[0] == 2 and sorted(h) == [2, 3, 10]
    assert len(h) == 3


@holds
def heap_replace_peek_first_only():
    h = [1, 1, 3]

    def bump():
        if h[0] == 1:
            heapq.heapreplace(h, 10)

    parallel(bump, bump)
    assert sorted(h) == [3, 10, 10]


@fails
def ordereddict_move_to_end():
    d = collections.OrderedDict.fromkeys("ab")
    out = parallel(lambda: d.move_to_end("a"), lambda: next(iter(d)))
    assert out[1] == "a"


@fails
def deque_rotate():
    d = collections.deque([1, 2])
    out = parallel(lambda: d.rotate(1), lambda: d[0])
    assert out[1] == 1


@fails
def deque_mutated_during_iter():
    d = collections.deque([1, 2, 3])
    parallel(lambda: [x for x in d], lambda: d.append(4))


@fails
def deque_maxlen():
    d = collections.deque([1], maxlen=1)

    def w(v):
        d.append(v)
        return d[0]

    assert parallel(lambda: w(2), lambda: w(3)) == [2, 3]


@fails
def chainmap_layers():
    a, b = ({}, {"k": 1})
    cm = collections.ChainMap(a, b)

    def w():
        del b["k"]
        a["k"] = 1

    def r():
        return cm.get("k")

    assert parallel(w, r)[1] == 1


@fails
def itemgetter_two():
    d = {"a": 0, "b": 0}
    get = operator.itemgetter("a", "b")

    class D(dict):
        def __getitem__(self, k):
            return dict.__getitem__(self, k)

    dd = D(d)

    def w():
        dd["a"] = 1
        dd["b"] = 1

    a, b = parallel(w, lambda: get(dd))[1]
    assert a >= b


@fails
def attrgetter_chain():

    class N:
        pass

    n = N()
    n.x = N()
    n.x.v = 0
    get = operator.attrgetter("x.v")

    def w():
        m = N()
        n.x = m
        m.v = 1

    parallel(w, lambda: get(n))


@fails
def operator_setitem():
    d = {}

    def w(v):
        if not operator.contains(d, 1):
            operator.setitem(d, 1, v)
            return True

    assert parallel(lambda: w(1), lambda: w(2)).count(True) == 1


@fails
def decimal_context_shared():
    ctx = decimal.Context(prec=28)

    def a():
        ctx.prec = 3

    def b():
        return ctx.divide(decimal.Decimal(1), decimal.Decimal(3))

    r = parallel(a, b)[1]
    assert len(str(r)) > 10


@fails
def decimal_flags():
    ctx = decimal.Context(prec=3)

    def a():
        ctx.divide(decimal.Decimal(1), decimal.Decimal(3))

    def b():
        ctx.clear_flags()

    parallel(a, b)
    assert not ctx.flags[decimal.Inexact]


@fails
def json_default_hook_by_strangers():
    seen = []

    class X:
        pass

    def default(o):
        n = len(seen)
        seen.append(n)
        return n

    parallel(lambda: json.dumps([X()], default=default), lambda: json.dumps([X()], default=default))
    assert seen == [0, 1]


@fails
def json_object_hook():
    st = {"n": 0}

    def hook(d):
        n = st["n"]
        st["n"] = n + 1
        return d

    parallel(lambda: json.loads('{"a":1}', object_hook=hook), lambda: json.loads('{"b":1}', object_hook=hook))
    assert st["n"] == 2


@fails
def json_dumps_nested():
    d = {"a": [0], "b": [0]}

    def w():
        d["a"].append(1)
        d["b"].append(1)

    s = parallel(w, lambda: json.dumps(d))[1]
    o = json.loads(s)
    assert len(o["a"]) == len(o["b"])


@fails
def pickle_reduce():

    class P:
        def __init__(self):
            self.a = self.b = 0

        def __reduce__(self):
            a = self.a
            b = self.b
            return (tuple, ([a, b],))

    p = P()

    def w():
        p.a = 1
        p.b = 1

    a, b = pickle.loads(parallel(w, lambda: pickle.dumps(p))[1])
    assert a == b


@fails
def copy_of_dict_under_write():
    d = {1: 1}

    def w():
        x = d.pop(1)
        d[2] = x

    assert parallel(w, lambda: copy.copy(d))[1]


@fails
def deepcopy_changes_size():

    class V:
        def __deepcopy__(self, memo):
            return V()

    d = {1: V(), 2: V()}
    parallel(lambda: copy.deepcopy(d), lambda: d.update({3: 1}))


@fails
def namedtuple_replace():

    class P(typing.NamedTuple):
        x: int
        y: int

    box = {"p": P(0, 0)}

    def w(**k):
        box["p"] = box["p"]._replace(**k)

    parallel(lambda: w(x=1), lambda: w(y=1))
    assert box["p"] == P(1, 1)


@holds
def namedtuple_lock():

    class P(typing.NamedTuple):
        x: int
        y: int

    box = {"p": P(0, 0)}
    lock = threading.Lock()

    def w(**k):
        with lock:
            box["p"] = box["p"]._replace(**k)

    parallel(lambda: w(x=1), lambda: w(y=1))
    assert box["p"] == P(1, 1)
