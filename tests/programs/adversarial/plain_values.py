"""Attributes and contents of values that seem to be plain: heirs of numbers and texts, exceptions, containers, queues."""

import array
import contextvars
import dataclasses
import decimal
import enum
import mmap
import queue
import random
import struct
import sys
import threading
import types
import weakref
from collections import UserDict, UserList, UserString, ChainMap, Counter, OrderedDict, deque, namedtuple

from .alternating import alternating


class Box:
    pass


@alternating
def int_subclass_attr_again():
    class I(int):
        pass

    x = I(5)
    x.n = 0
    return lambda n: setattr(x, "n", n), lambda: x.n


@alternating
def str_subclass_attr_again():
    class S(str):
        pass

    x = S("a")
    x.n = 0

    def w(n):
        x.n = n

    return w, lambda: x.n


@alternating
def namedtuple_subclass_attr_again():
    class P(namedtuple("P", "a b")):
        pass

    x = P(1, 2)
    x.n = 0

    def w(n):
        x.n = n

    return w, lambda: x.n


@alternating
def float_subclass_dict_again():
    class F(float):
        pass

    x = F(5)
    x.n = 0
    return lambda n: x.__dict__.update(n=n), lambda: x.n


@alternating
def notes_again():
    e = ValueError()
    return lambda n: e.add_note(str(n)), lambda: len(getattr(e, "__notes__", ()))


@alternating
def exc_args_again():
    e = ValueError(0)

    def w(n):
        e.args = (n,)

    return w, lambda: e.args[0]


@alternating
def exc_cause_again():
    e = ValueError()
    es = [KeyError(0), KeyError(1), KeyError(2), KeyError(3)]
    e.__cause__ = es[0]

    def w(n):
        e.__cause__ = es[n]

    return w, lambda: e.__cause__.args[0]


@alternating
def exc_group_inner_again():
    g = ExceptionGroup("g", [ValueError(0)])

    def w(n):
        g.exceptions[0].args = (n,)

    return w, lambda: g.exceptions[0].args[0]


@alternating
def exc_with_traceback_again():
    e = ValueError()

    def mk(n):
        try:
            exec("\n" * n + "1/0")
        except ZeroDivisionError as z:
            return z.__traceback__

    tbs = [mk(i) for i in range(4)]
    e.__traceback__ = tbs[0]
    return lambda n: e.with_traceback(tbs[n]), lambda: tbs.index(e.__traceback__)


@alternating
def oserror_errno_again():
    e = OSError(0, "x")

    def w(n):
        e.errno = n

    return w, lambda: e.errno


@alternating
def stopiteration_value_again():
    e = StopIteration(0)

    def w(n):
        e.value = n

    return w, lambda: e.value


@alternating
def module_getattr_again():
    m = types.ModuleType("mm")
    state = {"n": 0}
    m.__getattr__ = lambda name: state[name]
    return lambda n: state.update(n=n), lambda: m.n


@alternating
def module_made_attr_again():
    m = types.ModuleType("mm")
    m.n = 0

    def w(n):
        m.n = n

    return w, lambda: m.n


@alternating
def random_state_again():
    r = random.Random(0)
    states = []
    for i in range(4):
        r.seed(i)
        states.append(r.getstate())
    r.seed(0)
    return lambda n: r.seed(n), lambda: states.index(r.getstate())


@alternating
def deque_rotate_again():
    d = deque([0, 3, 2, 1])
    return lambda n: d.rotate(1), lambda: d[0]


@alternating
def deque_maxlen_again():
    d = deque([0], maxlen=1)
    return lambda n: d.append(n), lambda: d[-1]


@alternating
def ordered_move_again():
    d = OrderedDict.fromkeys([1, 2, 3, 0])
    return lambda n: d.move_to_end(n), lambda: next(reversed(d))


@alternating
def counter_most_again():
    c = Counter()
    return lambda n: c.update(a=1), lambda: c.most_common(1)[0][1] if c else 0


@alternating
def counter_total_again():
    c = Counter()
    return lambda n: c.subtract({"a": -1}), lambda: c.total()


@alternating
def chainmap_child_again():
    base = {"n": 0}
    cm = ChainMap({}, base)
    child = cm.new_child()
    return lambda n: base.update(n=n), lambda: child["n"]


@alternating
def chainmap_maps_again():
    cm = ChainMap({"n": 0})
    return lambda n: cm.maps.insert(0, {"n": n}), lambda: cm["n"]


@alternating
def userlist_data_again():
    u = UserList([0])
    return lambda n: u.data.__setitem__(0, n), lambda: u[0]


@alternating
def userstring_data_again():
    u = UserString("0")

    def w(n):
        u.data = str(n)

    return w, lambda: int(u)


@alternating
def userdict_missing_again():
    class U(UserDict):
        def __missing__(self, k):
            return len(self.data)

    u = U()
    return lambda n: u.__setitem__(n, n), lambda: u["absent"]


@alternating
def dict_ior_again():
    d = {"n": 0}

    def w(n):
        nonlocal d
        d |= {"n": n}

    return w, lambda: d["n"]


@alternating
def dict_reversed_again():
    d = {0: 0}
    return lambda n: d.__setitem__(n, n), lambda: next(reversed(d))


@alternating
def dict_items_view_again():
    d = {"n": 0}
    v = d.items()
    return lambda n: d.update(n=n), lambda: next(iter(v))[1]


@alternating
def keys_view_isdisjoint_again():
    d = {}
    v = d.keys()
    return lambda n: d.__setitem__(n, 1), lambda: sum(not v.isdisjoint([i]) for i in (1, 2, 3))


@alternating
def array_frombytes_again():
    a = array.array("b", [0])

    def w(n):
        a[:] = array.array("b", [n])

    return w, lambda: a.tobytes()[0]


@alternating
def struct_into_again():
    b = bytearray(4)
    return lambda n: struct.pack_into("i", b, 0, n), lambda: struct.unpack_from("i", b, 0)[0]


@alternating
def memview_cast_again():
    b = bytearray(4)
    m = memoryview(b).cast("i")

    def w(n):
        m[0] = n

    return w, lambda: int.from_bytes(b, sys.byteorder)


@alternating
def mmap_bytes_again():
    m = mmap.mmap(-1, 8)

    def w(n):
        m[0] = n

    return w, lambda: m[0]


@alternating
def bytes_view_of_bytearray_again():
    b = bytearray(1)

    def w(n):
        b[0] = n

    return w, lambda: bytes(memoryview(b))[0]


@alternating
def enum_member_attr_again():
    class E(enum.Enum):
        A = 1

    E.A.n = 0

    def w(n):
        E.A.n = n

    return w, lambda: E["A"].n


@alternating
def simplenamespace_eq_again():
    s = types.SimpleNamespace(n=0)
    cmp = [types.SimpleNamespace(n=i) for i in range(4)]

    def w(n):
        s.n = n

    return w, lambda: cmp.index(s)


@alternating
def mappingproxy_class_again():
    class A:
        n = 0

    v = vars(A)

    def w(n):
        A.n = n

    return w, lambda: v["n"]


@alternating
def dataclass_replace_again():
    @dataclasses.dataclass
    class D:
        n: int = 0

    d = D()

    def w(n):
        d.n = n

    return w, lambda: dataclasses.replace(d).n


@alternating
def dataclass_astuple_again():
    @dataclasses.dataclass
    class D:
        n: int = 0

    d = D()

    def w(n):
        d.n = n

    return w, lambda: dataclasses.astuple(d)[0]


@alternating
def dataclass_order_again():
    @dataclasses.dataclass(order=True)
    class D:
        n: int = 0

    d = D()
    cmp = [D(i) for i in (1, 2, 3)]

    def w(n):
        d.n = n

    return w, lambda: sum(c <= d for c in cmp)


@alternating
def thread_name_again():
    t = threading.Thread(name="0")

    def w(n):
        t.name = str(n)

    return w, lambda: int(t.name)


@alternating
def timer_interval_again():
    t = threading.Timer(0, print)

    def w(n):
        t.interval = n

    return w, lambda: t.interval


@alternating
def queue_deque_again():
    q = queue.Queue()
    return lambda n: q.put(n), lambda: len(q.queue)


@alternating
def priority_peek_again():
    q = queue.PriorityQueue()
    return lambda n: q.put(-n), lambda: -q.queue[0] if q.queue else 0


@alternating
def simplequeue_size_again():
    q = queue.SimpleQueue()
    return lambda n: q.put(n), lambda: q.qsize()


@alternating
def queue_maxsize_again():
    q = queue.Queue(9)

    def w(n):
        q.maxsize = n

    return w, lambda: q.maxsize


@alternating
def queue_unfinished_again():
    q = queue.Queue()
    return lambda n: q.put(n), lambda: q.unfinished_tasks


@alternating
def sem_value_again():
    s = threading.Semaphore(0)
    return lambda n: s.release(), lambda: s._value


@alternating
def event_attr_again():
    e = threading.Event()
    e.n = 0

    def w(n):
        e.n = n

    return w, lambda: e.n


@alternating
def lock_in_dict_attr_again():
    class L:
        def __init__(self):
            self.lock = threading.Lock()
            self.n = 0

    l = L()

    def w(n):
        with l.lock:
            l.n = n

    return w, lambda: l.n


@alternating
def decimal_prec_again():
    c = decimal.getcontext().copy()
    c.prec = 10

    def w(n):
        c.prec = 10 + n

    return w, lambda: len(str(c.divide(1, 3))) - 12


@alternating
def decimal_flags_again():
    c = decimal.Context()
    c.traps[decimal.Inexact] = False
    box = [0]

    def w(n):
        box[0] = n
        c.flags[decimal.Rounded] = n

    return w, lambda: c.flags[decimal.Rounded] and box[0]


@alternating
def contextvar_in_ctx_again():
    v = contextvars.ContextVar("v")
    box = Box()
    box.n = 0
    v.set(box)
    ctx = contextvars.copy_context()

    def w(n):
        box.n = n

    return w, lambda: ctx[v].n


@alternating
def weakset_len_again():
    keep = []
    s = weakref.WeakSet()

    def w(n):
        b = Box()
        keep.append(b)
        s.add(b)

    return w, lambda: len(s)


@alternating
def weakvalue_get_again():
    keep = []
    d = weakref.WeakValueDictionary()

    def w(n):
        b = Box()
        b.n = n
        keep.append(b)
        d["k"] = b

    return w, lambda: d["k"].n if "k" in d else 0
