"""Streams, records, weak references, descriptors, functions as data, by the same hand."""

import contextvars
import csv
import ctypes
import enum
import hashlib
import io
import random
import sqlite3
import time
import types
import weakref
import configparser
import graphlib
import sched
import traceback
import unittest.mock
import xml.etree.ElementTree as ET
import zlib
import codecs
import html.parser
import http.cookies
import email.message

from treadle import parallel

from .truth import fails, holds


@fails
def stringio_seek_read():
    f = io.StringIO("abcd")

    def r(n):
        f.seek(n)
        return f.read(1)

    assert parallel(lambda: r(0), lambda: r(2)) == ["a", "c"]


@fails
def bytesio_tell():
    f = io.BytesIO()

    def w(b):
        p = f.tell()
        f.write(b)
        return p

    a, b = parallel(lambda: w(b"xx"), lambda: w(b"yy"))
    assert a != b


@fails
def textiowrapper():
    raw = io.BytesIO()
    t = io.TextIOWrapper(raw, write_through=True)
    parallel(lambda: t.write("a\n"), lambda: t.write("b\n"))
    assert raw.getvalue() == b"a\nb\n"


@fails
def textiowrapper_iter():
    t = io.TextIOWrapper(io.BytesIO(b"1\n2\n"))
    assert parallel(lambda: next(t), lambda: next(t)) == ["1\n", "2\n"]


@fails
def bytesio_getbuffer():
    f = io.BytesIO(b"ab")

    def a():
        with f.getbuffer() as b:
            b[0] = 0

    parallel(a, lambda: f.write(b"xyz"))


@fails
def csv_writer():
    f = io.StringIO()
    w = csv.writer(f)
    parallel(lambda: w.writerow([1]), lambda: w.writerow([2]))
    assert f.getvalue() == "1\r\n2\r\n"


@fails
def csv_dictwriter_pyfile():
    out = []

    class F:
        def write(self, s):
            n = len(out)
            out.insert(n, (n, s))

    w = csv.DictWriter(F(), ["a"])
    parallel(lambda: w.writerow({"a": 1}), lambda: w.writerow({"a": 2}))
    assert [n for n, _ in out] == [0, 1]


@fails
def csv_reader_shared():
    r = csv.reader(["a", "b"])
    assert parallel(lambda: next(r), lambda: next(r)) == [["a"], ["b"]]


@fails
def hash_update_order():
    h = hashlib.md5()
    parallel(lambda: h.update(b"a"), lambda: h.update(b"b"))
    assert h.hexdigest() == hashlib.md5(b"ab").hexdigest()


@fails
def zlib_compressobj():
    c = zlib.compressobj()
    a, b = parallel(lambda: c.compress(b"a"), lambda: c.flush())
    assert zlib.decompress(a + b) == b"a"


@fails
def random_shared():
    r = random.Random(1)
    x = random.Random(1).random()
    assert parallel(lambda: r.random(), lambda: r.random())[0] == x


@fails
def random_shuffle_shared():
    r = random.Random(1)
    xs = [1, 2, 3]

    def s():
        r.shuffle(xs)

    out = parallel(s, lambda: sorted(xs))[1]
    assert out == [1, 2, 3]


@fails
def codec_incremental():
    d = codecs.getincrementaldecoder("utf-8")()
    b = "é".encode()
    a, c = parallel(lambda: d.decode(b[:1]), lambda: d.decode(b[1:]))
    assert a + c == "é"


@fails
def et_append():
    e = ET.Element("a")

    def w():
        if len(e) == 0:
            ET.SubElement(e, "b")

    parallel(w, w)
    assert len(e) == 1


@fails
def et_attrib():
    e = ET.Element("a", n="0")

    def w():
        e.set("n", str(int(e.get("n")) + 1))

    parallel(w, w)
    assert e.get("n") == "2"


@fails
def shared_configparser():
    c = configparser.ConfigParser()
    c.add_section("s")

    def w():
        if not c.has_section("t"):
            c.add_section("t")

    parallel(w, w)


@fails
def mock_call_count():
    m = unittest.mock.Mock()
    parallel(m, m)
    assert m.call_count == 2


@fails
def topological_sorter():
    g = graphlib.TopologicalSorter({1: [], 2: []})
    g.prepare()
    a, b = parallel(g.get_ready, g.get_ready)
    assert a and (not b)


@fails
def sched_enter():
    s = sched.scheduler(time.time, time.sleep)
    log = []
    parallel(lambda: s.enter(0, 1, log.append, (1,)), lambda: s.run())
    assert log == []


@fails
def enum_member_attr():

    class E(enum.Enum):
        A = 1

    E.A.hits = 0

    def w():
        E.A.hits += 1

    parallel(w, w)
    assert E.A.hits == 2


@fails
def enum_flag_alias_cache():

    class F(enum.Flag):
        A = 1
        B = 2

    out = parallel(lambda: F.A | F.B, lambda: F.A | F.B)
    assert out[0] is out[1] and len(F._value2member_map_) == 2


@fails
def exception_note():
    e = ValueError("x")

    def w(t):
        if not getattr(e, "__notes__", None):
            e.add_note(t)

    parallel(lambda: w("a"), lambda: w("b"))
    assert len(e.__notes__) == 1


@fails
def exception_args():
    e = ValueError(0)

    def w():
        e.args = (e.args[0] + 1,)

    parallel(w, w)
    assert e.args == (2,)


@fails
def exception_context_cause():
    e = ValueError()
    a, b = (KeyError(), TypeError())

    def w(c):
        e.__cause__ = c
        return e.__cause__ is c

    assert parallel(lambda: w(a), lambda: w(b)) == [True, True]


@fails
def exception_traceback_shared():
    e = ValueError()

    def w():
        try:
            raise e
        except ValueError as x:
            return len(traceback.extract_tb(x.__traceback__))

    assert parallel(w, w) == [1, 1]


@fails
def weakref_dead():

    class O:
        pass

    box = [O()]
    r = weakref.ref(box[0])

    def drop():
        box.clear()

    def use():
        return r() is not None

    assert parallel(drop, use)[1]


@fails
def weakvaluedict_get_or_create():

    class O:
        pass

    d = weakref.WeakValueDictionary()

    def get():
        o = d.get("k")
        if o is None:
            o = d["k"] = O()
        return o

    a, b = parallel(get, get)
    assert a is b


@fails
def weakset_len():

    class O:
        pass

    s = weakref.WeakSet()
    o = [O()]
    s.add(o[0])
    assert parallel(lambda: o.pop() and None, lambda: len(s))[1] == 1


@fails
def finalize_alive():

    class O:
        pass

    o = O()
    log = []
    f = weakref.finalize(o, log.append, 1)

    def call():
        if f.alive:
            return f() is None and len(log) == 1

    def detach():
        f.detach()

    parallel(call, detach)
    assert log == [1]


@fails
def contextvar_in_copied_context():
    v = contextvars.ContextVar("v", default=0)
    ctx = contextvars.copy_context()

    def w():
        ctx.run(v.set, 1)

    def r():
        return ctx.run(v.get)

    assert parallel(w, r)[1] == 0


@fails
def contextvar_ctx_entered_twice():
    v = contextvars.ContextVar("v", default=[0])
    ctx = contextvars.copy_context()

    def f():
        v.get()[0] += 1

    parallel(lambda: ctx.run(f), lambda: ctx.run(f))


@holds
def contextvar_own():
    v = contextvars.ContextVar("v", default=0)

    def w():
        v.set(v.get() + 1)
        return v.get()

    assert parallel(w, w) == [1, 1]


@fails
def sqlite_cursor_shared_by_strangers():
    c = sqlite3.connect(":memory:", check_same_thread=False)
    c.execute("create table t(n)")
    c.execute("insert into t values(0)")

    def w():
        (n,) = c.execute("select n from t").fetchone()
        c.execute("update t set n=?", (n + 1,))

    parallel(w, w)
    assert c.execute("select n from t").fetchone() == (2,)


@fails
def sqlite_row_fetch():
    c = sqlite3.connect(":memory:", check_same_thread=False)
    cur = c.execute("select 1 union select 2")
    assert parallel(lambda: cur.fetchone(), lambda: cur.fetchone()) == [(1,), (2,)]


@fails
def sqlite_create_function():
    c = sqlite3.connect(":memory:", check_same_thread=False)
    n = [0]

    def f():
        x = n[0]
        n[0] = x + 1
        return x

    c.create_function("f", 0, f)
    c2 = sqlite3.connect(":memory:", check_same_thread=False)
    c2.create_function("f", 0, f)
    parallel(lambda: c.execute("select f()").fetchone(), lambda: c2.execute("select f()").fetchone())
    assert n[0] == 2


@fails
def ctypes_struct():

    class S(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int)]

    s = S()

    def w():
        s.n += 1

    parallel(w, w)
    assert s.n == 2


@fails
def ctypes_array_view():
    a = (ctypes.c_int * 2)()
    v = memoryview(a).cast("B")

    def w():
        a[0] = 1
        a[1] = 1

    s = parallel(w, lambda: bytes(v))[1]
    assert s[0] == s[4]


@fails
def simplenamespace():
    n = types.SimpleNamespace(a=0)

    def w():
        n.a += 1

    parallel(w, w)
    assert n.a == 2


@fails
def mappingproxy():
    d = {}
    p = types.MappingProxyType(d)

    def w(v):
        if "k" not in p:
            d["k"] = v
            return 1

    assert parallel(lambda: w(1), lambda: w(2)).count(1) == 1


@fails
def function_attribute():

    def f():
        f.n += 1

    f.n = 0
    parallel(f, f)
    assert f.n == 2


@fails
def function_defaults_mutated():

    def f(x=[]):
        if not x:
            x.append(1)
        return len(x)

    assert parallel(f, f) == [1, 1]


@fails
def function_code_swap():

    def f():
        return 1

    def g():
        return 2

    def sw():
        f.__code__ = g.__code__

    assert parallel(sw, lambda: f())[1] == 1


@fails
def function_dunder_defaults():

    def f(a=1):
        return a

    def sw():
        f.__defaults__ = (2,)

    assert parallel(sw, lambda: f())[1] == 1


@fails
def closure_cell():
    n = 0

    def w():
        nonlocal n
        n += 1

    parallel(w, w)
    assert n == 2


@fails
def cell_contents():
    n = 0

    def r():
        return n

    c = r.__closure__[0]

    def w():
        c.cell_contents = 1

    assert parallel(w, r)[1] == 0


@fails
def bases_assignment():

    class A:
        def f(self):
            return "A"

    class B:
        def f(self):
            return "B"

    class C(A):
        pass

    c = C()

    def w():
        C.__bases__ = (B,)

    assert parallel(w, lambda: c.f())[1] == "A"


@fails
def descriptor_with_state():

    class D:
        def __get__(self, o, t):
            return o.__dict__.setdefault("_v", [0])[0]

        def __set__(self, o, v):
            o.__dict__["_v"] = [v]

    class C:
        x = D()

    c = C()

    def w():
        c.x += 1

    parallel(w, w)
    assert c.x == 2


@fails
def slots():

    class C:
        __slots__ = ("x",)

    c = C()

    def w():
        if not hasattr(c, "x"):
            c.x = 0
        c.x += 1

    parallel(w, w)
    assert c.x == 2


@fails
def vars_update():

    class C:
        pass

    c = C()
    c.n = 0

    def w():
        vars(c).update(n=c.n + 1)

    parallel(w, w)
    assert c.n == 2


@fails
def type_setattr():

    class C:
        n = 0

    def w():
        type.__setattr__(C, "n", C.n + 1)

    parallel(w, w)
    assert C.n == 2


@fails
def object_setattr():

    class C:
        pass

    c = C()
    c.n = 0

    def w():
        object.__setattr__(c, "n", object.__getattribute__(c, "n") + 1)

    parallel(w, w)
    assert c.n == 2


@fails
def annotations_dict():

    class C:
        a: int

    def w():
        C.__annotations__["b"] = int

    assert parallel(w, lambda: len(C.__annotations__))[1] == 1


@fails
def shared_cookie():
    c = http.cookies.SimpleCookie()

    def w(v):
        if "a" not in c:
            c["a"] = v
            return 1

    assert parallel(lambda: w("1"), lambda: w("2")).count(1) == 1


@fails
def email_header():
    m = email.message.Message()

    def w(v):
        if "To" not in m:
            m["To"] = v

    parallel(lambda: w("1"), lambda: w("2"))
    assert len(m.get_all("To")) == 1


@fails
def html_parser():

    class P(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags = []

        def handle_starttag(self, t, a):
            self.tags.append(t)

    p = P()
    parallel(lambda: p.feed("<a"), lambda: p.feed("b>"))
    assert p.tags == ["ab"]
