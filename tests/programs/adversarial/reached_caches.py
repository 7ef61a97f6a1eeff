"""Caches that methods, properties and callables of a class keep."""

from concurrent.futures import ThreadPoolExecutor
import asyncio
import functools
import threading

from treadle import parallel as par

from .truth import fails, holds


class Box:
    def __init__(self):
        self.n = 0

    @functools.lru_cache(maxsize=1)
    def get(self, key):
        self.n += 1
        return self.n

    @classmethod
    @functools.lru_cache(maxsize=1)
    def of_class(cls, key):
        return object()

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def static(key):
        return object()


class Lazy:
    @property
    @functools.lru_cache(maxsize=1)
    def value(self):
        return object()

    @functools.lru_cache(maxsize=1)
    def __getitem__(self, key):
        return object()

    @functools.lru_cache(maxsize=1)
    def __call__(self, key):
        return object()

    @functools.lru_cache(maxsize=1)
    def __len__(self):
        return 1


def twice(ask, other):
    got = []

    def two():
        first = ask()
        got.append(first is ask())

    par(two, other)
    assert got == [True]


@fails
def method():
    box = Box()
    twice(lambda: box.get(1), lambda: box.get(2))


@fails
def method_through_class():
    box = Box()
    twice(lambda: Box.get(box, 1), lambda: box.get(2))


@fails
def method_cleared():
    box = Box()
    twice(lambda: box.get(1), Box.get.cache_clear)


@fails
def class_method():
    box = Box()
    twice(lambda: box.of_class(1), lambda: Box.of_class(2))


@fails
def static_method():
    box = Box()
    twice(lambda: box.static(1), lambda: Box.static(2))


@fails
def as_target():
    box = Box()
    got = []

    def two():
        first = box.get(1)
        got.append(first is box.get(1))

    a = threading.Thread(target=two)
    b = threading.Thread(target=box.get, args=(2,))
    a.start()
    b.start()
    a.join()
    b.join()
    assert got == [True]


@fails
def through_map():
    box = Box()
    twice(lambda: box.get(1), lambda: list(map(box.get, [2])))


@fails
def through_partial():
    box = Box()
    twice(functools.partial(box.get, 1), functools.partial(box.get, 2))


@fails
def through_pool():
    box = Box()
    got = []
    with ThreadPoolExecutor(1) as pool:
        first = box.get(1)
        f = pool.submit(box.get, 2)
        got.append(first is box.get(1))
        f.result()
    assert got == [True]


@fails
def through_to_thread():
    box = Box()

    async def main():
        first = box.get(1)
        task = asyncio.create_task(asyncio.to_thread(box.get, 2))
        await asyncio.sleep(0)
        second = box.get(1)
        await task
        return first is second

    assert asyncio.run(main())


@fails
def property_there():
    a, b = Lazy(), Lazy()
    twice(lambda: a.value, lambda: b.value)


@fails
def item():
    a = Lazy()
    twice(lambda: a[1], lambda: a[2])


@fails
def call():
    a = Lazy()
    twice(lambda: a(1), lambda: a(2))


@fails
def getattr_there():
    box = Box()
    twice(lambda: getattr(box, "get")(1), lambda: getattr(box, "get")(2))


@holds
def ok_wide_cache():
    @functools.lru_cache(maxsize=4)
    def f(key):
        return object()

    f(1)
    f(2)
    twice(lambda: f(1), lambda: f(2))


@holds
def ok_cached_method_of_own():
    class Mine:
        @functools.cache
        def get(self):
            return object()

    a, b = Mine(), Mine()
    got = []
    par(lambda: got.append(a.get() is a.get()), lambda: got.append(b.get() is b.get()))
    assert got == [True, True]
