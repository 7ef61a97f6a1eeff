"""Other ways to ordinary state, and objects in C that have a lock of their own while they call the program."""

import collections
import contextlib
import contextvars
import ctypes
import dataclasses
import functools
import io
import itertools
import operator
import sqlite3
import tempfile
import weakref

from treadle import parallel as par

from .truth import fails, holds

class Box:
    def __init__(self, n=0):
        self.n = n


def _torn(write_two, read):
    seen = []
    par(write_two, lambda: seen.append(read()))
    return seen[0]


class Count:
    def __init__(self): self.n = 0
    def bump(self):
        self.n += 1
        return self.n
    def __float__(self): return float(self.bump())
    def __int__(self): return self.bump()
    def __floor__(self): return self.bump()
    def __round__(self, k=0): return self.bump()
    def __divmod__(self, o): return (self.bump(), o)
    def __pow__(self, o, m=None): return self.bump()
    def __abs__(self): return self.bump()
    def __complex__(self): return complex(self.bump())
    def __bytes__(self): return b'%d' % self.bump()
    def __sizeof__(self): return self.bump()
    def __reversed__(self): self.bump(); return iter(())
    def __str__(self): return str(self.bump())
    def __getstate__(self): self.bump(); return {'n': 0}
    def __rmul__(self, o): return self.bump()
    def __ilshift__(self, o): self.bump(); return self


@fails
def dict_of_object_by_map_setitem():
    o = Box(); d = o.__dict__
    def w():
        list(map(d.__setitem__, ['n', 'n'], [1]))
        o.n = 0
    assert _torn(w, lambda: o.n) == 0


@fails
def exec_into_object_dict():
    o = Box()
    def w():
        exec('n = 1', {}, o.__dict__)
        o.n = 0
    assert _torn(w, lambda: o.n) == 0


@fails
def methodcaller_setattr():
    o = Box(); call = operator.methodcaller('__setattr__', 'n', 1)
    def w():
        call(o)
        o.n = 0
    assert _torn(w, lambda: o.n) == 0


@fails
def partial_setattr_in_any():
    o = Box()
    def w():
        any(map(functools.partial(setattr, o), ['n'], [1]))
        o.n = 0
    assert _torn(w, lambda: o.n) == 0


@fails
def proxy_against_attribute():
    o = Box(); p = weakref.proxy(o)
    def f(): p.n += 1
    def g(): o.n += 1
    par(f, g)
    assert o.n == 2


@fails
def pythonapi_list_append():
    l = []
    app = ctypes.pythonapi.PyList_Append
    app.argtypes = [ctypes.py_object, ctypes.py_object]
    def w(): app(l, 1)
    seen = []
    def r():
        a = len(l)
        seen.append(a == len(l))
    par(w, r)
    assert seen == [True]


@fails
def exitstack_callback_c_method():
    l = []
    def w():
        with contextlib.ExitStack() as s:
            s.callback(l.clear)
            l.append(1)
    assert _torn(w, lambda: len(l)) == 0


@fails
def context_run_c_method():
    l = []; ctx = contextvars.copy_context()
    def w(): ctx.run(l.append, 1); l.pop()
    assert _torn(w, lambda: len(l)) == 0


@fails
def starmap_setitem_deque0():
    d = {'a': 0}
    def w():
        collections.deque(itertools.starmap(d.__setitem__, [('a', 1)]), maxlen=0)
        d['a'] = 0
    assert _torn(w, lambda: d['a']) == 0


@fails
def new_class_from_shared_namespace():
    ns = {'n': 0}; seen = []
    def w(): ns['n'] = 1; ns['n'] = 0
    par(w, lambda: seen.append(type('C', (), ns).n))
    assert seen == [0]


@fails
def dataclass_hash_changes():
    @dataclasses.dataclass(unsafe_hash=True)
    class P:
        a: int
    p = P(1); d = {p: 1}
    def w(): p.a = 2; p.a = 1
    par(w, lambda: d[p])


@fails
def match_args_changed():
    class P:
        __match_args__ = ('a', 'b')
        def __init__(self): self.a, self.b = 1, 2
    p = P(); seen = []
    def w(): P.__match_args__ = ('b', 'a')
    def r():
        match p:
            case P(x): seen.append(x)
    par(w, r)
    assert seen == [1]


@fails
def mro_override():
    calls = {'n': 0}
    class M(type):
        def mro(cls):
            calls['n'] += 1
            return super().mro()
    par(lambda: M('A', (), {}), lambda: M('B', (), {}))
    assert calls['n'] == 2


@fails
def ctypes_pointer_contents():
    x = ctypes.c_int(0); p = ctypes.pointer(x)
    def f(): p.contents.value += 1
    def g(): x.value += 1
    par(f, g)
    assert x.value == 2


@fails
def expat_handlers():
    import xml.parsers.expat
    c = Count()
    def f():
        p = xml.parsers.expat.ParserCreate()
        p.StartElementHandler = lambda *a: c.bump()
        p.Parse('<a/>')
    par(f, f)
    assert c.n == 2


@holds
def buffered_writer_over_python_raw():
    class Raw(io.RawIOBase):
        def __init__(self): self.l = []
        def writable(self): return True
        def write(self, b):
            self.l.append(bytes(b))
            return len(b)
    raw = Raw(); w = io.BufferedWriter(raw, 4)
    def f(): w.write(b'ab'); w.flush()
    par(f, f)
    assert b''.join(raw.l) == b'abab'


@holds
def buffered_reader_over_python_raw():
    class Raw(io.RawIOBase):
        def __init__(self): self.n = 0
        def readable(self): return True
        def readinto(self, b):
            self.n += 1
            b[0] = self.n
            return 1
    r = io.BufferedReader(Raw(), 1)
    assert sorted(par(lambda: r.read(1), lambda: r.read(1))) == [b'\1', b'\2']


@fails
def buffered_random_over_python_raw():
    class Raw(io.RawIOBase):
        def __init__(self): self.b = bytearray(b'abcd'); self.p = 0
        def readable(self): return True
        def writable(self): return True
        def seekable(self): return True
        def seek(self, p, w=0): self.p = p if w == 0 else self.p + p; return self.p
        def tell(self): return self.p
        def readinto(self, b):
            d = self.b[self.p:self.p + len(b)]; b[:len(d)] = d; self.p += len(d); return len(d)
        def write(self, b): self.b[self.p:self.p + len(b)] = b; self.p += len(b); return len(b)
    r = io.BufferedRandom(Raw(), 2)
    def f(): r.seek(0); return r.read(1)
    def g(): r.seek(2); return r.read(1)
    assert par(f, g) == [b'a', b'c']


@fails
def sqlite_row_factory_one_connection():
    c = sqlite3.connect(':memory:', check_same_thread=False); n = {'n': 0}
    def row(cur, r): n['n'] += 1; return r
    c.row_factory = row
    def f(): c.cursor().execute('select 1').fetchall()
    par(f, f)
    assert n['n'] == 2


@holds
def tempfile_each_own():
    def f():
        with tempfile.TemporaryFile() as t:
            t.write(b'x'); t.seek(0)
            return t.read()
    assert par(f, f) == [b'x', b'x']
