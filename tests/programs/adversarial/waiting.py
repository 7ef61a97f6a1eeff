"""Threads, locks, queues and pools: what waits, what wakes, and what never does."""

import concurrent.futures
import contextlib
import functools
import queue
import sched
import threading
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor

from treadle import parallel

from .truth import fails, holds


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@fails
def locks_in_two_orders():
    a, b = threading.Lock(), threading.Lock()

    def take(first, second):
        with first, second:
            pass

    run(lambda: take(a, b), lambda: take(b, a))


@fails
def locks_on_an_exit_stack():
    a, b = threading.RLock(), threading.RLock()

    def take(*locks):
        with contextlib.ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)

    run(lambda: take(a, b), lambda: take(b, a))


@fails
def three_philosophers():
    forks = [threading.Lock() for _ in range(3)]

    def eat(i):
        with forks[i], forks[(i + 1) % 3]:
            pass

    run(*(functools.partial(eat, i) for i in range(3)))


@fails
def notify_before_wait_is_lost():
    c = threading.Condition()

    def wait():
        with c:
            c.wait()

    def notify():
        with c:
            c.notify()

    run(wait, notify)


@fails
def condition_checked_with_if():
    c, items = threading.Condition(), []

    def take():
        with c:
            if not items:
                c.wait()
            items.pop()

    def put():
        with c:
            items.append(1)
            c.notify_all()

    run(take, take, put, lambda: None)


@fails
def notify_one_wakes_the_wrong_one():
    c, state = threading.Condition(), {"n": 0}

    def wait_for(n):
        with c:
            c.wait_for(lambda: state["n"] >= n)

    def step(n):
        with c:
            state["n"] = n
            c.notify()

    run(lambda: wait_for(1), lambda: wait_for(1), lambda: step(1))


@fails
def event_cleared_before_it_is_seen():
    e = threading.Event()

    def pulse():
        e.set()
        e.clear()

    run(e.wait, pulse)


@fails
def event_checked_then_set_by_two():
    e, winners = threading.Event(), []

    def claim():
        if not e.is_set():
            e.set()
            winners.append(1)

    run(claim, claim)
    assert len(winners) == 1


@fails
def semaphore_of_one_held_twice():
    s = threading.Semaphore(2)

    def take_two():
        with s, s:
            pass

    run(take_two, take_two)


@fails
def bounded_semaphore_released_too_often():
    s = threading.BoundedSemaphore(1)

    def work():
        s.acquire()
        s.release()
        if s._value == 0:
            s.release()

    parallel(work, work)


@fails
def lock_released_by_another():
    lock = threading.Lock()

    def toggle():
        if lock.locked():
            lock.release()

    lock.acquire()
    parallel(toggle, toggle)


@fails
def lock_tried_and_given_up():
    lock, done = threading.Lock(), []

    def work():
        if lock.acquire(blocking=False):
            done.append(1)
            lock.release()

    run(work, work)
    assert len(done) == 2


@fails
def two_locks_for_one_counter():
    box = {"n": 0}

    def add():
        with threading.Lock():
            box["n"] += 1

    run(add, add)
    assert box["n"] == 2


@fails
def lock_dropped_between_check_and_act():
    lock, stock = threading.Lock(), [1]

    def take():
        with lock:
            there = bool(stock)
        if there:
            with lock:
                stock.pop()

    run(take, take)


@fails
def barrier_with_one_party_too_many():
    b = threading.Barrier(3)
    run(b.wait, b.wait)


@fails
def barrier_aborted_while_waiting():
    b = threading.Barrier(2)

    def wait():
        b.wait()

    parallel(wait, wait, b.abort)


@fails
def barrier_index_is_not_the_thread():
    b = threading.Barrier(2)
    assert parallel(b.wait, b.wait) == [1, 0]


@fails
def timer_cancelled_or_not():
    log = []
    t = threading.Timer(0, log.append, [1])
    t.start()
    t.cancel()
    t.join()
    assert log == []


@fails
def queue_empty_then_get():
    q = queue.Queue()
    q.put(1)

    def take():
        if not q.empty():
            q.get()

    run(take, take)


@fails
def queue_full_raises():
    q = queue.Queue(1)

    def put():
        if not q.full():
            q.put_nowait(1)

    parallel(put, put)


@fails
def queue_bounded_without_a_reader():
    q = queue.Queue(1)
    run(lambda: q.put(1), lambda: (q.put(2), q.get()))


@fails
def queue_of_priorities():
    q = queue.PriorityQueue()
    run(lambda: q.put(2), lambda: q.put(1), lambda: q.put(q.get() + 10))
    assert q.queue[0] != 2 or q.qsize() == 3


@fails
def simple_queue_order():
    q = queue.SimpleQueue()
    run(lambda: q.put("a"), lambda: q.put("b"))
    assert q.get() == "a"


@fails
def lifo_queue_takes_the_last():
    q = queue.LifoQueue()
    q.put("a")
    assert parallel(q.get, lambda: q.put("b"))[0] == "a"


@fails
def task_done_called_too_often():
    q = queue.Queue()
    q.put(1)

    def finish():
        if q.unfinished_tasks:
            q.task_done()

    parallel(finish, finish)


@fails
def queue_list_looked_into():
    q = queue.Queue()
    assert parallel(lambda: list(q.queue), lambda: q.put(1))[0] == []


@fails
def sentinel_taken_by_one_of_two():
    q = queue.Queue()
    q.put(None)

    def work():
        while q.get() is not None:
            pass

    run(work, work)


@fails
def thread_joined_before_it_starts():
    t = threading.Thread(target=int)
    parallel(t.start, t.join)


@fails
def thread_is_alive_or_not():
    t = threading.Thread(target=int)
    t.start()
    alive = t.is_alive()
    t.join()
    assert alive


@fails
def threads_counted():
    base = threading.active_count()
    t = threading.Thread(target=int)
    t.start()
    n = threading.active_count()
    t.join()
    assert n == base + 1


@fails
def thread_renamed():
    me = threading.current_thread()
    kept = me.name

    def rename():
        me.name = "other"
        me.name = kept

    assert parallel(lambda: me.name, rename)[0] == kept


@fails
def thread_local_leaks_through_a_dict():
    local = threading.local()
    seen = {}

    def work(n):
        local.n = n
        seen["n"] = local.n
        return seen["n"] == n

    assert all(parallel(lambda: work(1), lambda: work(2)))


@fails
def exception_in_a_thread():
    row = [1]

    def take():
        row.remove(1)

    run(take, lambda: row.clear())


@fails
def future_set_twice():
    f = Future()

    def finish(n):
        if not f.done():
            f.set_result(n)

    parallel(lambda: finish(1), lambda: finish(2))


@fails
def future_cancelled_or_not():
    f = Future()

    def work():
        if f.set_running_or_notify_cancel():
            f.set_result(1)

    assert parallel(f.cancel, work)[0]


@fails
def future_callback_order():
    log, f = [], Future()
    parallel(lambda: f.add_done_callback(lambda _: log.append("a")), lambda: (f.set_result(1), log.append("b")))
    assert log == ["a", "b"]


@fails
def pool_of_one_waits_for_itself():
    with ThreadPoolExecutor(1) as pool:

        def outer():
            return pool.submit(int).result()

        pool.submit(outer).result()


@fails
def pool_shut_down_before_submit():
    pool = ThreadPoolExecutor(1)
    parallel(lambda: pool.submit(int), pool.shutdown)


@fails
def pool_map_shares_a_list():
    total = [0]

    def add(n):
        total[0] += n

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, [1, 2]))
    assert total == [3]


@fails
def first_completed_is_any():
    with ThreadPoolExecutor(2) as pool:
        a, b = pool.submit(int, "1"), pool.submit(int, "2")
        assert next(concurrent.futures.as_completed([a, b])) is a or not a.done()


@fails
def finalizer_takes_the_lock():
    lock = threading.Lock()

    class Resource:
        def __del__(self):
            with lock:
                pass

    held = [Resource()]

    def drop():
        with lock:
            held.pop()

    run(drop)


@fails
def weak_callback_takes_a_lock_in_the_other_order():
    a, b = threading.Lock(), threading.Lock()

    class Thing:
        pass

    held = [Thing()]
    watch = weakref.ref(held[0], lambda _: b.acquire() and b.release())

    def drop():
        with a:
            held.clear()

    def other():
        with b, a:
            pass

    run(drop, other)
    assert watch() is None


@fails
def condition_of_a_shared_lock_released_early():
    lock = threading.RLock()
    c = threading.Condition(lock)
    state = {"busy": False}

    def wait():
        with lock:
            state["busy"] = True
            c.wait()
            state["busy"] = False

    def other():
        with lock:
            c.notify()
            return state["busy"]

    assert not parallel(other, wait, other)[2]


@fails
def scheduler_event_cancelled_twice():
    s = sched.scheduler()
    event = s.enter(1, 1, int)

    def cancel():
        if not s.empty():
            s.cancel(event)

    parallel(cancel, cancel)


@fails
def spinning_on_a_plain_flag_sees_half():
    box = {"ready": False, "value": None}

    def publish():
        box["ready"] = True
        box["value"] = 1

    def read():
        return not box["ready"] or box["value"] == 1

    assert parallel(read, publish)[0]


@fails
def double_checked_creation():
    lock = threading.Lock()

    class Service:
        one = None

        def __init__(self):
            Service.one = self
            self.ready = True

        @classmethod
        def get(cls):
            if cls.one is None:
                with lock:
                    if cls.one is None:
                        cls()
            return cls.one.ready

    parallel(Service.get, Service.get)


@fails
def readers_and_a_writer_without_exclusion():
    lock, readers, data = threading.Lock(), [0], [0, 0]

    def read():
        with lock:
            readers[0] += 1
        same = data[0] == data[1]
        with lock:
            readers[0] -= 1
        return same

    def write():
        with lock:
            free = readers[0] == 0
        if free:
            data[0] = 1
            data[1] = 1

    assert parallel(read, write)[0]


@holds
def counter_under_a_lock():
    lock, box = threading.Lock(), [0]

    def add():
        with lock:
            box[0] += 1

    run(add, add)
    assert box == [2]


@holds
def locks_in_one_order():
    a, b = threading.Lock(), threading.Lock()

    def take():
        with a, b:
            pass

    run(take, take)


@holds
def reentrant_lock_in_a_property():
    class Account:
        def __init__(self):
            self.lock, self._n = threading.RLock(), 0

        @property
        def n(self):
            with self.lock:
                return self._n

        def add(self):
            with self.lock:
                self._n = self.n + 1

    o = Account()
    run(o.add, o.add)
    assert o.n == 2


@holds
def waiting_in_a_loop():
    c, items = threading.Condition(), []

    def take():
        with c:
            while not items:
                c.wait()
            return items.pop()

    def put():
        with c:
            items.append(1)
            c.notify()

    assert parallel(take, put)[0] == 1


@holds
def wait_for_a_predicate():
    c, state = threading.Condition(), {"n": 0}

    def wait():
        with c:
            c.wait_for(lambda: state["n"] == 1)

    def step():
        with c:
            state["n"] = 1
            c.notify_all()

    run(wait, wait, step)


@holds
def event_publishes():
    e, box = threading.Event(), {}

    def publish():
        box["a"] = 1
        e.set()

    def read():
        e.wait()
        return box["a"]

    assert parallel(read, publish)[0] == 1


@holds
def queue_hands_over():
    q, box = queue.Queue(), []

    def send():
        box.append(1)
        q.put(box)

    assert parallel(lambda: q.get()[0], send)[0] == 1


@holds
def barrier_separates_phases():
    b, row = threading.Barrier(2), [0, 0]

    def work(i):
        row[i] = 1
        b.wait()
        return sum(row)

    assert parallel(lambda: work(0), lambda: work(1)) == [2, 2]


@holds
def semaphore_as_a_mutex():
    s, box = threading.Semaphore(1), [0]

    def add():
        with s:
            box[0] += 1

    run(add, add)
    assert box == [2]


@holds
def thread_local_is_private():
    local = threading.local()

    def work(n):
        local.n = n
        return local.n

    assert parallel(lambda: work(1), lambda: work(2)) == [1, 2]


@holds
def join_publishes():
    box = []
    t = threading.Thread(target=box.append, args=(1,))
    t.start()
    t.join()
    assert box == [1] and not t.is_alive()


@holds
def future_result_waits():
    f = Future()
    assert parallel(f.result, lambda: f.set_result(3))[0] == 3


@holds
def pool_results_in_order():
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(int, "12")) == [1, 2]


@holds
def lock_as_decorator():
    lock, box = threading.Lock(), [0]

    def locked(f):
        @functools.wraps(f)
        def wrapper():
            with lock:
                return f()

        return wrapper

    @locked
    def add():
        box[0] = box[0] + 1

    run(add, add)
    assert box == [2]


@holds
def lock_acquired_and_released_by_hand():
    lock, box = threading.Lock(), [0]

    def add():
        lock.acquire()
        try:
            box[0] += 1
        finally:
            lock.release()

    run(add, add)
    assert box == [2]


@holds
def once_by_a_lock_that_is_never_released():
    lock, done = threading.Lock(), []

    def once():
        if lock.acquire(blocking=False):
            done.append(1)

    run(once, once)
    assert done == [1]


@holds
def double_checked_with_a_local():
    lock, cache = threading.Lock(), {}

    def get():
        value = cache.get("a")
        if value is None:
            with lock:
                value = cache.get("a")
                if value is None:
                    value = cache["a"] = object()
        return value

    a, b = parallel(get, get)
    assert a is b


@holds
def handing_a_lock_over():
    lock, box = threading.Lock(), [0]
    lock.acquire()

    def first():
        box[0] = 1
        lock.release()

    def second():
        lock.acquire()
        return box[0]

    assert parallel(second, first)[0] == 1


@holds
def sleeping_changes_nothing():
    box = [0]

    def work(i):
        time.sleep(i)
        return box[0]

    assert parallel(lambda: work(2), lambda: work(1)) == [0, 0]


@holds
def timer_joined():
    log = []
    t = threading.Timer(1, log.append, [1])
    t.start()
    t.join()
    assert log == [1]


@holds
def producer_with_a_sentinel_for_each():
    q = queue.Queue()
    q.put(None)
    q.put(None)

    def work():
        while q.get() is not None:
            pass

    run(work, work)
    assert q.empty()


@holds
def scheduler_runs_in_order():
    log = []

    def work():
        s = sched.scheduler(time.monotonic, time.sleep)
        s.enter(2, 1, log.append, ("b",))
        s.enter(1, 1, log.append, ("a",))
        s.run()

    run(work)
    assert log == ["a", "b"]


@holds
def reader_sees_both_or_neither_under_a_lock():
    lock, data = threading.Lock(), {"a": 0, "b": 0}

    def write():
        with lock:
            data["a"] = 1
            data["b"] = 1

    def read():
        with lock:
            return data["a"] == data["b"]

    assert parallel(read, write)[0]
