"""Threads, locks, queues and pools asked what they are doing."""

from concurrent.futures import ThreadPoolExecutor
import atexit
import concurrent.futures
import multiprocessing.dummy
import queue
import threading

from treadle import parallel as par

from .truth import fails, holds


@fails
def barrier_waiting():
    b = threading.Barrier(2)
    got = []

    def use():
        got.append(b.n_waiting)
        b.wait()

    par(use, use)
    assert got == [0, 0]


@fails
def event_cleared_by_other():
    e = threading.Event()

    def a():
        e.set()
        assert e.is_set()

    par(a, e.clear)


@fails
def enumerate_names():
    got = []
    t = threading.Thread(target=lambda: None, name="short")
    t.start()
    names = [x.name for x in threading.enumerate()]
    t.join()
    assert "short" in names or got


@fails
def stack_size():
    old = threading.stack_size()

    def use():
        before = threading.stack_size()
        threading.stack_size(65536 * 4)
        threading.stack_size(before)

    try:
        par(use, use)
        assert threading.stack_size() == old
    finally:
        threading.stack_size(old)


@fails
def local_hands_out_a_shared_object():
    shared = [0]

    class Mine(threading.local):
        def __init__(self):
            self.box = shared

    mine = Mine()

    def add():
        mine.box[0] += 1

    par(add, add)
    assert shared == [2]


@fails
def queue_empty_then_get_there():
    q = queue.Queue()
    q.put(1)

    def take():
        if not q.empty():
            q.get_nowait()

    par(take, take)


@fails
def task_done_counted_twice():
    q = queue.Queue()
    q.put(1)

    def done():
        if q.unfinished_tasks:
            q.task_done()

    par(done, done)


@fails
def future_result_set_twice():
    f = concurrent.futures.Future()

    def finish():
        if not f.done():
            f.set_result(1)

    par(finish, finish)


@fails
def as_completed_order_there():
    with ThreadPoolExecutor(2) as pool:
        a, b = pool.submit(int), pool.submit(int)
        first = next(concurrent.futures.as_completed([a, b]))
        assert a.done()
        assert first is a or b.done() and a.done() and first is not b


@fails
def future_done_callback_loses():
    box = {"n": 0}

    def done(_):
        box["n"] = box["n"] + 1

    with ThreadPoolExecutor(2) as pool:
        for f in [pool.submit(int), pool.submit(int)]:
            f.add_done_callback(done)
    assert box["n"] == 2


@fails
def dummy_manager_dict():
    d = multiprocessing.dummy.Manager().dict(n=0)

    def add():
        d["n"] += 1

    par(add, add)
    assert d["n"] == 2


@fails
def atexit_callbacks_counted():
    before = atexit._ncallbacks()
    got = []

    def later():
        pass

    try:
        par(lambda: atexit.register(later), lambda: got.append(atexit._ncallbacks()))
        assert got == [before]
    finally:
        atexit.unregister(later)


@fails
def trace_function_installed():
    old = threading.gettrace()

    def use():
        before = threading.gettrace()
        threading.settrace(print)
        threading.settrace(before)

    try:
        par(use, use)
        assert threading.gettrace() is old
    finally:
        threading.settrace(old)


@fails
def lock_order():
    a, b = threading.Lock(), threading.Lock()

    def f():
        with a, b:
            pass

    def g():
        with b, a:
            pass

    par(f, g)


@holds
def ok_barrier_orders():
    b = threading.Barrier(2)
    got = []

    def use(i):
        got.append(i)
        b.wait()
        assert len(got) == 2

    par(lambda: use(0), lambda: use(1))


@holds
def ok_event_publishes():
    e = threading.Event()
    box = {}
    got = []

    def put():
        box["x"] = 1
        e.set()

    def get():
        e.wait()
        got.append(box["x"])

    par(put, get)
    assert got == [1]


@holds
def ok_ordered_by_chained_locks():
    first = threading.Lock()
    first.acquire()
    got = []

    def a():
        got.append("a")
        first.release()

    def b():
        with first:
            got.append("b")

    par(a, b)
    assert got == ["a", "b"]
