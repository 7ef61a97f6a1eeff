"""Containers, buffers, memory and weak references."""

import array
import collections
import ctypes
import heapq
import mmap
import threading
import weakref

from treadle import parallel as par

from .truth import fails, holds


def torn(write, read, good):
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


@fails
def counter_update():
    c = collections.Counter()
    par(lambda: c.update("a"), lambda: c.update("a"))
    assert c["a"] == 2


@fails
def chain_map_lower_layer():
    low = {"a": 0, "b": 0}
    chain = collections.ChainMap({}, low)

    def write():
        low["a"] = 1
        low["b"] = 1

    torn(write, lambda: (chain["a"], chain["b"]), [(0, 0), (1, 1)])


@fails
def user_string():
    s = collections.UserString("a")

    def add(x):
        s.data = s.data + x

    par(lambda: add("b"), lambda: add("c"))
    assert len(s) == 3


@fails
def heap_pop_after_peek():
    heap = [1, 2, 3]
    got = []

    def take():
        smallest = heap[0]
        got.append(heapq.heappop(heap) == smallest)

    par(take, take)
    assert all(got)


@fails
def array_update():
    a = array.array("i", [0])

    def add():
        a[0] += 1

    par(add, add)
    assert a[0] == 2


@fails
def memoryview_cast_aliases():
    data = bytearray(4)
    words = memoryview(data).cast("H")

    def low():
        words[0] = words[0] + 1

    def high():
        data[1] = data[1] + 1

    par(low, high)
    assert bytes(data) == b"\x01\x01\0\0"


@fails
def mmap_position():
    m = mmap.mmap(-1, 16)
    m[0:4] = b"abcd"
    got = []

    def read():
        m.seek(0)
        got.append(m.read(1))

    par(read, read)
    assert got == [b"a", b"a"]


@fails
def ctypes_from_buffer():
    data = bytearray(4)
    n = ctypes.c_uint32.from_buffer(data)

    def write():
        n.value = 0x01010101

    torn(write, lambda: (data[0], data[3]), [(0, 0), (1, 1)])


@fails
def weak_value_dictionary_dies():
    class Thing:
        pass

    class Holder:
        pass

    holder = Holder()
    holder.thing = Thing()
    d = weakref.WeakValueDictionary(k=holder.thing)

    def look():
        if "k" in d:
            d["k"]

    def drop():
        holder.thing = None

    par(look, drop)


@fails
def finalize_called_by_two():
    class Thing:
        pass

    ran = []
    thing = Thing()
    end = weakref.finalize(thing, ran.append, 1)
    got = []

    def call():
        if end.alive:
            got.append(end.detach() is not None)

    par(call, call)
    assert got == [True]


@fails
def dict_view_isdisjoint():
    d, e = {"a": 1}, {"b": 1}

    def swap():
        d["b"] = d.pop("a")
        e["a"] = e.pop("b")

    torn(swap, lambda: d.keys().isdisjoint(e), [True])


@fails
def list_index_then_delete():
    items = [1, 2]

    def drop(x):
        del items[items.index(x)]

    par(lambda: drop(1), lambda: drop(2))
    assert items == []


@fails
def list_sort_reverse_flag_length():
    items = [3, 1]
    seen = []

    def key(x):
        return -x

    def look():
        seen.append(items[0])

    par(lambda: items.sort(key=key), look)


@holds
def ok_deque_append():
    d = collections.deque()
    par(lambda: d.append(1), lambda: d.appendleft(2))
    assert list(d) == [2, 1]


@holds
def ok_heap_push_under_lock():
    heap = [2]
    lock = threading.Lock()

    def push(x):
        with lock:
            heapq.heappush(heap, x)

    par(lambda: push(1), lambda: push(3))
    assert heap[0] == 1 and len(heap) == 3


@holds
def ok_set_discard():
    s = {1, 2}
    par(lambda: s.discard(1), lambda: s.discard(1))
    assert s == {2}
