"""Classes, contexts, waiting, pools and logging, by the same hand."""

import abc
import contextlib
import dataclasses
import functools
import logging
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import Future

from treadle import parallel

from .truth import fails, holds


@fails
def dataclass_field_default_factory_counter():
    ids = [0]

    def nid():
        ids[0] += 1
        return ids[0]

    @dataclasses.dataclass
    class R:
        i: int = dataclasses.field(default_factory=nid)

    a, b = parallel(R, R)
    assert a.i != b.i


@fails
def dataclass_order():

    @dataclasses.dataclass(order=True)
    class V:
        a: int
        b: int

    v = V(0, 0)

    def w():
        v.a = 1
        v.b = -1

    r = parallel(w, lambda: v < V(1, 0))[1]
    assert r is True


@fails
def dataclass_replace():

    @dataclasses.dataclass(frozen=True)
    class V:
        a: int = 0
        b: int = 0

    box = [V()]

    def w(**k):
        box[0] = dataclasses.replace(box[0], **k)

    parallel(lambda: w(a=1), lambda: w(b=1))
    assert box[0] == V(1, 1)


@fails
def abc_register():

    class A(abc.ABC):
        pass

    class B:
        pass

    out = parallel(lambda: A.register(B), lambda: isinstance(B(), A))
    assert out[1] is False


@fails
def singledispatch_register():

    @functools.singledispatch
    def f(x):
        return "base"

    def reg():

        @f.register(int)
        def _(x):
            return "int"

    assert parallel(reg, lambda: f(1))[1] == "base"


@fails
def init_subclass_registry():

    class Base:
        subs = []

        def __init_subclass__(cls):
            Base.subs = Base.subs + [cls]

    parallel(lambda: type("A", (Base,), {}), lambda: type("B", (Base,), {}))
    assert len(Base.subs) == 2


@fails
def set_name_counter():

    class D:
        n = 0

        def __set_name__(self, owner, name):
            m = D.n
            D.n = m + 1

    def mk():

        class X:
            d = D()

    parallel(mk, mk)
    assert D.n == 2


@fails
def subclasses_seen():

    class Base:
        pass

    keep = []

    def mk():
        keep.append(type("A", (Base,), {}))

    assert parallel(mk, lambda: len(Base.__subclasses__()))[1] == 0


@fails
def generator_finally_close():
    log = []

    def g():
        try:
            yield 1
            yield 2
        finally:
            log.append("end")

    it = g()
    next(it)

    def a():
        it.close()

    def b():
        return next(it, None)

    assert parallel(a, b)[1] is None


@fails
def contextmanager_reuse():
    depth = [0]

    @contextlib.contextmanager
    def cm():
        depth[0] += 1
        try:
            yield
        finally:
            depth[0] -= 1

    def use():
        with cm():
            pass

    parallel(use, use)
    assert depth[0] == 0


@fails
def exitstack_shared():
    log = []
    st = contextlib.ExitStack()
    st.callback(log.append, 1)
    parallel(st.close, lambda: log.append(0))
    assert log == [1, 0]


@fails
def exitstack_callback_after_close():
    log = []
    st = contextlib.ExitStack()
    parallel(st.close, lambda: st.callback(log.append, 1))
    assert log == []


@fails
def threading_local_subclass():
    made = []

    class L(threading.local):
        def __init__(self):
            n = len(made)
            made.append(n)
            self.n = n

    l = L()
    a, b = parallel(lambda: l.n, lambda: l.n)
    assert a != b


@holds
def threading_local():
    l = threading.local()

    def w(v):
        l.v = v
        return l.v

    assert parallel(lambda: w(1), lambda: w(2)) == [1, 2]


@fails
def barrier_action():
    n = [0]

    def act():
        n[0] += 1

    b = threading.Barrier(2, action=act)

    def w():
        b.wait()
        x = n[0]
        b.wait()
        return x

    r = parallel(w, w)
    assert r == [1, 1] and n[0] == 3


@holds
def shared_barrier_action():
    n = [0]

    def act():
        n[0] += 1

    b = threading.Barrier(2, action=act)

    def w():
        b.wait()
        return n[0]

    assert parallel(w, w) == [1, 1]


@fails
def condition_lost_wakeup():
    c = threading.Condition()

    def waiter():
        with c:
            c.wait()

    def waker():
        with c:
            c.notify()

    parallel(waiter, waker)


@fails
def semaphore_count():
    s = threading.Semaphore(2)
    inside = [0]
    mx = [0]

    def w():
        with s:
            inside[0] += 1
            mx[0] = max(mx[0], inside[0])
            inside[0] -= 1

    parallel(w, w)
    assert mx[0] <= 1


@fails
def future_callback_order_by_strangers():
    log = []
    f = Future()
    parallel(
        lambda: (log.append("before"), f.set_result(1)),
        lambda: f.add_done_callback(lambda _: log.append("cb")) or log.append("added"),
    )
    assert log.index("added") < log.index("cb")


@fails
def future_set_twice_by_strangers():
    f = Future()

    def s(v):
        if not f.done():
            f.set_result(v)

    parallel(lambda: s(1), lambda: s(2))


@fails
def pool_shared_list():
    xs = []

    def w(i):
        if i not in xs:
            xs.append(i)

    with ThreadPoolExecutor(2) as p:
        list(p.map(w, [1, 1]))
    assert xs == [1]


@fails
def queue_empty_then_get_by_strangers():
    q = queue.Queue()
    q.put(1)

    def take():
        if not q.empty():
            return q.get_nowait()

    parallel(take, take)


@fails
def queue_task_done():
    q = queue.Queue()
    q.put(1)
    done = []

    def w():
        q.get()
        q.task_done()
        done.append(1)

    def j():
        q.join()
        return list(done)

    assert parallel(w, j)[1] == [1]


@fails
def priorityqueue_eq():
    q = queue.PriorityQueue()
    a, b = parallel(lambda: (q.put((1, "a")), q.get())[1], lambda: (q.put((2, "b")), q.get())[1])
    assert a == (1, "a")


@fails
def logging_filter_adds_state():
    lg = logging.Logger("x")
    seen = []
    cnt = {"n": 0}

    class H(logging.Handler):
        def emit(self, r):
            seen.append(r.n)

    class F(logging.Filter):
        def filter(self, r):
            n = cnt["n"]
            cnt["n"] = n + 1
            r.n = n
            return True

    h = H()
    lg.addFilter(F())
    lg.addHandler(h)
    parallel(lambda: lg.warning("a"), lambda: lg.warning("b"))
    assert sorted(seen) == [0, 1]
