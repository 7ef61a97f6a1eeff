"""What the language does by itself: globals, tasks, unpacking, matching, formatting; and what holds."""

import asyncio
import functools
import io
import itertools
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
from concurrent.futures import FIRST_COMPLETED
from concurrent.futures import as_completed

from treadle import parallel

from .truth import fails, holds

HERE = sys.modules[__name__]
FLAG = 0
CACHE = None


@fails
def module_global_lazy():
    global CACHE
    CACHE = None
    made = []

    def get():
        global CACHE
        if CACHE is None:
            made.append(1)
            CACHE = object()
        return CACHE

    parallel(get, get)
    assert len(made) == 1


@fails
def setattr_module():
    HERE.FLAG = 0

    def w():
        setattr(HERE, "FLAG", FLAG + 1)

    parallel(w, w)
    assert FLAG == 2


@fails
def globals_dict():
    globals()["FLAG"] = 0

    def w():
        g = globals()
        g["FLAG"] = g["FLAG"] + 1

    parallel(w, w)
    assert FLAG == 2


@fails
def asyncio_two_tasks_gap():
    n = 0

    async def w():
        nonlocal n
        x = n
        await asyncio.sleep(0)
        n = x + 1

    async def main():
        await asyncio.gather(w(), w())

    asyncio.run(main())
    assert n == 2


@fails
def asyncio_thread_beside_loop():
    st = {"n": 0}

    async def main():
        for _ in range(1):
            st["n"] += 1
            await asyncio.sleep(0)

    def th():
        st["n"] += 1

    t = threading.Thread(target=th)
    t.start()
    asyncio.run(main())
    t.join()
    assert st["n"] == 2


@fails
def asyncio_lock_from_two_loops_list():
    xs = []

    async def w(i):
        if not xs:
            xs.append(i)

    parallel(lambda: asyncio.run(w(1)), lambda: asyncio.run(w(2)))
    assert len(xs) == 1


@fails
def first_completed():
    with ThreadPoolExecutor(2) as p:
        a = p.submit(int, 1)
        b = p.submit(int, 2)
        d, nd = wait([a, b], return_when=FIRST_COMPLETED)
        assert a in d


@fails
def as_completed_order():
    with ThreadPoolExecutor(2) as p:
        fs = [p.submit(int, i) for i in (1, 2)]
        assert [f.result() for f in as_completed(fs)] == [1, 2]


@fails
def lru_cache_info():

    @functools.lru_cache(maxsize=1)
    def f(x):
        return x

    parallel(lambda: f(1), lambda: f(2))
    assert f.cache_info().misses == 2
    f(2)
    assert f.cache_info().hits == 1


@fails
def partialmethod_state():

    class C:
        n = 0

        def add(self, k):
            self.n = self.n + k

        inc = functools.partialmethod(add, 1)

    c = C()
    parallel(c.inc, c.inc)
    assert c.n == 2


@fails
def total_ordering():

    @functools.total_ordering
    class V:
        def __init__(self, v):
            self.v = v

        def __eq__(self, o):
            return self.v == o.v

        def __lt__(self, o):
            return self.v < o.v

    v, z = (V(0), V(1))

    def w():
        v.v = 2
        v.v = 0

    assert parallel(w, lambda: v <= z)[1]


@fails
def eq_list_of_lists():
    a = [[0], [0]]

    def w():
        a[0].append(1)
        a[1].append(1)

    r = parallel(w, lambda: a == [[0, 1], [0]])[1]
    assert not r


@fails
def any_generator():
    xs = [0, 0]

    def w():
        xs[1] = 1
        xs[0] = 1

    out = parallel(w, lambda: [any((x for x in xs)), xs[0]])[1]
    assert out[0] == bool(out[1])


@fails
def sum_over_transfer():
    acc = {"a": 1, "b": 1}

    def t():
        acc["a"] -= 1
        acc["b"] += 1

    assert parallel(t, lambda: sum(acc.values()))[1] == 2


@holds
def sum_over_transfer_locked():
    acc = {"a": 1, "b": 1}
    l = threading.Lock()

    def t():
        with l:
            acc["a"] -= 1
            acc["b"] += 1

    def s():
        with l:
            return sum(acc.values())

    assert parallel(t, s)[1] == 2


@fails
def sorted_changes_key():
    pr = {"x": 1, "y": 2}

    def w():
        pr["x"] = 3

    r = parallel(w, lambda: [sorted(pr, key=pr.get), pr["x"]])[1]
    assert (r[0] == ["y", "x"]) == (r[1] == 3)


@holds
def dict_setdefault():
    d = {}
    a, b = parallel(lambda: d.setdefault("k", [1]), lambda: d.setdefault("k", [2]))
    assert a is b


@fails
def setdefault_py_hash():

    class K:
        def __init__(s, v):
            s.v = v

        def __hash__(s):
            return hash(s.v)

        def __eq__(s, o):
            return s.v == o.v

    d = {K(1): 1}

    def w():
        d.pop(K(1))

    def r():
        if K(1) in d:
            return d[K(1)]

    parallel(w, r)


@fails
def shared_missing():

    class D(dict):
        def __missing__(self, k):
            v = self[k] = []
            return v

    d = D()
    parallel(lambda: d["k"].append(1), lambda: d["k"].append(2))
    assert len(d["k"]) == 2


@fails
def star_unpack():
    xs = [1]

    def f(*a):
        return len(a)

    r = parallel(lambda: xs.append(2), lambda: f(*xs))
    assert r[1] == 1


@fails
def double_star():
    d = {"a": 1}

    def f(**k):
        return len(k)

    assert parallel(lambda: d.update(b=1), lambda: f(**d))[1] == 1


@fails
def fstring_format():

    class C:
        def __init__(s):
            s.a = 0
            s.b = 0

        def __format__(s, spec):
            return f"{s.a}{s.b}"

    c = C()

    def w():
        c.a = 1
        c.b = 1

    assert parallel(w, lambda: f"{c:x}")[1] in ("00", "11")


@fails
def percent_mapping():
    d = {"a": 0}

    def w():
        d["a"] = 1

    assert parallel(w, lambda: "%(a)s" % d)[1] == "0"


@fails
def join_generator():
    xs = ["a", "b"]

    def w():
        xs.remove("a")

    assert parallel(w, lambda: ",".join((x for x in xs)))[1] in ("a,b", "b")


@fails
def slice_swap():
    xs = [1, 2]

    def w():
        xs[0], xs[1] = (xs[1], xs[0])

    assert sorted(parallel(w, lambda: list(xs))[1]) == [1, 2]


@fails
def zip_shared():
    z = zip([1, 2], "ab")
    assert parallel(lambda: next(z), lambda: next(z))[0] == (1, "a")


@fails
def shared_tee():
    a, b = itertools.tee(iter([1, 2]))
    src = []

    def gen():
        for i in (1, 2):
            src.append(i)
            yield i

    x, y = itertools.tee(gen())
    parallel(lambda: list(x), lambda: list(y))


@fails
def walrus_cond():
    d = {"q": [1]}

    def w():
        if q := d.get("q"):
            q.pop()

    parallel(w, w)


@fails
def match_mapping():
    d = {"t": 1, "v": 1}

    def w():
        d["t"] = 2
        d["v"] = 2

    def r():
        match d:
            case {"t": t, "v": v}:
                return t == v

    assert parallel(w, r)[1]


@fails
def match_class_attr():

    class P:
        __match_args__ = ("x", "y")

        def __init__(s):
            s.x = s.y = 0

    p = P()

    def w():
        p.x = 1
        p.y = 1

    def r():
        match p:
            case P(x, y):
                return x == y

    assert parallel(w, r)[1]


@fails
def del_while_get():

    class C:
        pass

    c = C()
    c.v = 1

    def w():
        del c.v

    def r():
        if hasattr(c, "v"):
            return c.v

    parallel(w, r)


@fails
def dunder_del_effect():
    log = []

    class C:
        def __del__(s):
            log.append("del")

    box = [C()]

    def drop():
        box.pop()

    assert parallel(drop, lambda: len(log))[1] == 0


@fails
def async_gen_shared():

    async def ag():
        for i in range(2):
            await asyncio.sleep(0)
            yield i

    async def main():
        g = ag()
        return await asyncio.gather(g.__anext__(), g.__anext__())

    asyncio.run(main())


@fails
def thread_daemon_flag():
    t = threading.Thread(target=lambda: None)

    def s():
        if not t.is_alive() and t.ident is None:
            t.start()

    parallel(s, s)


@holds
def count_atomic():
    c = itertools.count()
    a, b = parallel(lambda: next(c), lambda: next(c))
    assert a != b


@holds
def list_append():
    xs = []
    parallel(lambda: xs.append(1), lambda: xs.append(2))
    assert sorted(xs) == [1, 2]


@holds
def rlock_reentrant():
    l = threading.RLock()
    n = [0]

    def w():
        with l:
            with l:
                n[0] += 1

    parallel(w, w)
    assert n[0] == 2


@holds
def event_handoff():
    e = threading.Event()
    box = []

    def p():
        box.append(1)
        e.set()

    def c():
        e.wait()
        return box[0]

    assert parallel(p, c)[1] == 1


@holds
def queue_handoff():
    q = queue.Queue()

    def p():
        for i in range(2):
            q.put(i)

    def c():
        return [q.get(), q.get()]

    assert parallel(p, c)[1] == [0, 1]


@holds
def dcl():
    l = threading.Lock()
    box = {}
    made = []

    def get():
        if "x" not in box:
            with l:
                if "x" not in box:
                    made.append(1)
                    box["x"] = 1
        return box["x"]

    parallel(get, get)
    assert made == [1]


@holds
def cond_proper():
    c = threading.Condition()
    items = []

    def put():
        with c:
            items.append(1)
            c.notify()

    def get():
        with c:
            while not items:
                c.wait()
            return items.pop()

    assert parallel(put, get)[1] == 1


@holds
def stringio_lock():
    f = io.StringIO()
    l = threading.Lock()

    def w(s):
        with l:
            f.write(s)
            f.write(s)

    parallel(lambda: w("a"), lambda: w("b"))
    assert f.getvalue() in ("aabb", "bbaa")
