"""What a thread, a timer, a pool or a loop is given, and calls for the program: arguments, targets, functions in C."""

import _thread
import asyncio
import functools
import threading
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait

from treadle import parallel as par

from .truth import fails, holds

def _w(items):
    items.append(1)
    items.pop()


def _holds(items):
    before = len(items)
    return before == len(items)


@fails
def thread_kwargs_changed_after_start():
    got = []; kw = {'x': 1}
    t = threading.Thread(target=lambda x: got.append(x), kwargs=kw)
    t.start()
    kw['x'] = 2
    t.join()
    assert got == [1]


@fails
def thread_args_list_changed_after_start():
    got = []; args = [1]
    t = threading.Thread(target=got.append, args=args)
    t.start()
    args[0] = 2
    t.join()
    assert got == [1]


@fails
def run_replaced_after_start():
    got = []
    t = threading.Thread(target=lambda: got.append(1))
    t.start()
    t.run = lambda: got.append(2)
    t.join()
    assert got == [1]


@fails
def class_run_replaced_after_start():
    got = []
    class T(threading.Thread):
        def run(self): got.append(1)
    t = T(); t.start()
    T.run = lambda self: got.append(2)
    t.join()
    assert got == [1]


@fails
def private_target_replaced():
    got = []
    t = threading.Thread(target=lambda: got.append(1))
    t.start()
    try: t._target = lambda: got.append(2)
    except AttributeError: pass
    t.join()
    assert got == [1]


@fails
def timer_kwargs():
    got = []; kw = {'x': 1}
    t = threading.Timer(0, lambda x: got.append(x), kwargs=kw)
    t.start(); kw['x'] = 2; t.join()
    assert got == [1]


@fails
def pool_initargs_list():
    got = []; args = [1]
    with ThreadPoolExecutor(1, initializer=got.append, initargs=args) as pool:
        f = pool.submit(int)
        args[0] = 2
        f.result()
    assert got == [1]


@fails
def two_threads_share_kwargs():
    kw = {'x': 1}; got = []
    def first(x): kw['x'] = 2
    def second(x): got.append(x)
    a = threading.Thread(target=first, kwargs=kw); b = threading.Thread(target=second, kwargs=kw)
    a.start(); b.start(); a.join(); b.join()
    assert got == [1]


@fails
def raw_thread_append():
    l = []; lock = threading.Lock()
    _thread.start_new_thread(l.append, (1,))
    ok = _holds(l)
    assert ok


@fails
def pool_initializer_append():
    l = []
    with ThreadPoolExecutor(1, initializer=l.append, initargs=(1,)) as pool:
        f = pool.submit(int)
        ok = _holds(l)
        f.result()
    assert ok


@fails
def thread_subclass_run_is_c():
    l = []
    class T(threading.Thread):
        run = staticmethod(l.clear)
    l.append(1)
    t = T(); t.start()
    ok = _holds(l)
    t.join()
    assert ok


@fails
def thread_instance_run_is_c():
    l = [1]
    t = threading.Thread(); t.run = l.pop
    t.start()
    ok = _holds(l)
    t.join()
    assert ok


@fails
def done_callback_append():
    l = []; f = Future(); f.add_done_callback(l.append)
    assert par(lambda: f.set_result(1), lambda: _holds(l))[1]


@fails
def barrier_action_pop():
    l = [1]; b = threading.Barrier(1, action=l.pop)
    assert par(b.wait, lambda: _holds(l))[1]


@fails
def call_soon_threadsafe_append():
    l = []
    async def main():
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(l.append, 1)
        await asyncio.sleep(0); await asyncio.sleep(0)
    t = threading.Thread(target=lambda: asyncio.run(main())); t.start()
    ok = _holds(l)
    t.join()
    assert ok


@fails
def task_done_callback_append():
    l = []
    async def work(): return 1
    async def main():
        t = asyncio.create_task(work()); t.add_done_callback(l.append)
        await t
        await asyncio.sleep(0)
    t = threading.Thread(target=lambda: asyncio.run(main())); t.start()
    ok = _holds(l)
    t.join()
    assert ok


@fails
def wait_for_len():
    l = []; c = threading.Condition()
    def a():
        with c: return c.wait_for(l.__len__, 0)
    assert par(a, lambda: _w(l))[0] == 0


@fails
def loop_callback_extend():
    l = []; d = []
    async def main():
        asyncio.get_running_loop().call_soon(d.extend, l)
        await asyncio.sleep(0)
    par(lambda: asyncio.run(main()), lambda: _w(l))
    assert d == []


@fails
def call_later_extend():
    l = []; d = []
    async def main():
        asyncio.get_running_loop().call_later(0, d.extend, l)
        await asyncio.sleep(0.1)
    par(lambda: asyncio.run(main()), lambda: _w(l))
    assert d == []


@fails
def initializer_extend():
    l = []; d = []
    with ThreadPoolExecutor(1, initializer=d.extend, initargs=(l,)) as pool:
        f = pool.submit(int); _w(l); f.result()
    assert d == []


@fails
def as_completed_over_shared_list():
    f, g = Future(), Future(); f.set_result(1); g.set_result(2); l = [f]
    def w(): l.append(g); l.pop()
    assert len(par(lambda: list(as_completed(l)), w)[0]) == 1


@fails
def wait_over_shared_list():
    f, g = Future(), Future(); f.set_result(1); g.set_result(2); l = [f]
    def w(): l.append(g); l.pop()
    assert len(par(lambda: wait(l).done, w)[0]) == 1


@fails
def executor_map_over_shared_list():
    l = [1]
    def w(): l.append(2); l.pop()
    def r():
        with ThreadPoolExecutor(1) as pool: return list(pool.map(int, l))
    assert par(r, w)[0] == [1]


@fails
def daemon_set_after_start():
    t = threading.Thread(target=lambda: None)
    def a(): t.daemon = True
    def b(): t.start()
    par(a, b); t.join()


@holds
def submit_copies_its_arguments():
    got = []; kw = {'x': 1}
    with ThreadPoolExecutor(1) as pool:
        f = pool.submit(lambda x: got.append(x), **kw)
        kw['x'] = 2
        f.result()
    assert got == [1]


@holds
def thread_args_tuple():
    got = []; x = [1]
    t = threading.Thread(target=got.append, args=(x[0],))
    t.start(); x[0] = 2; t.join()
    assert got == [1]


@holds
def thread_kwargs_changed_after_join():
    got = []; kw = {'x': 1}
    t = threading.Thread(target=lambda x: got.append(x), kwargs=kw)
    t.start(); t.join(); kw['x'] = 2
    assert got == [1]


@holds
def thread_kwargs_changed_before_start():
    got = []; kw = {'x': 1}
    t = threading.Thread(target=lambda x: got.append(x), kwargs=kw)
    kw['x'] = 2
    t.start(); t.join()
    assert got == [2]


@holds
def executor_map_reads_at_once():
    l = [1, 2]
    with ThreadPoolExecutor(2) as pool:
        r = pool.map(int, l)
        l.clear()
        assert list(r) == [1, 2]


@holds
def done_callback_before_result_is_seen():
    l = []; f = Future(); f.add_done_callback(l.append)
    def a(): f.set_result(1)
    par(a, lambda: None)
    assert l == [f]


@holds
def initializer_then_task():
    l = []
    with ThreadPoolExecutor(1, initializer=l.append, initargs=(1,)) as pool:
        assert pool.submit(l.copy).result() == [1]


@holds
def barrier_action_before_all():
    l = []; b = threading.Barrier(2, action=functools.partial(l.append, 1))
    def a(): b.wait(); return len(l)
    assert par(a, a) == [1, 1]


@holds
def wait_for_c_predicate():
    l = []; c = threading.Condition()
    def a():
        with c:
            c.wait_for(l.__len__)
            return l.pop()
    def b():
        with c: l.append(1); c.notify()
    assert par(a, b)[0] == 1


@holds
def wait_for_len_locked():
    l = []; c = threading.Condition()
    def a():
        with c: return c.wait_for(l.__len__, 0)
    def b():
        with c: _w(l)
    assert par(a, b)[0] == 0
