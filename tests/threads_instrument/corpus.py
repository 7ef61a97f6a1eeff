"""Small programs that together use every construct of the language; each leaves what matters in `result`.

They are run plain and rewritten and must be indistinguishable. Programs that need a newer Python say so.
"""

# ruff: noqa: E501  (the programs are data; dense on purpose)

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "attributes and items": """
class Box: pass
b = Box(); b.x = [1, 2, 3]; b.x[0] = 9; b.x[1:2] = [7, 7]; b.y = b.x[-1]; del b.x[0], b.y
result = (vars(b), b.x[::2], hasattr(b, "y"))
""",
    "order of evaluation": """
def t(name, value=None):
    log.append(name); return value
class O: pass
def o(name): log.append(name); return O1
O1 = O(); O1.x = 1; d = {0: 1, 1: 2}
def dd(name): log.append(name); return d
o("owner").x = t("value", 5)
dd("dict")[t("key", 0)] = t("value", 6)
o("owner").x += t("value", 1)
dd("dict")[t("key", 1)] += t("value", 1)
o("a").x, dd("d")[t("k", 2)] = t("v", (1, 2))
for o("loop").x in t("iterable", [1, 2]): log.append(O1.x)
[*t("star", [1])], {**t("twostar", {})}
t("f", print)(*t("args", [1]), sep=t("kw", ""), **t("kwargs", {}))
t("left", 1) < t("middle", 2) < t("right", 3)
t("a", 0) and t("b") or t("c", 1)
t("yes", 1) if t("test", 0) else t("no", 2)
o("x").y = o("y").z = t("both", 3)
del o("deleted").y
t("m", [1, 2])[t("from", 0):t("to", 1):t("step", 1)]
result = d, vars(O1)
""",
    "chained and nested targets": """
class O: pass
o = O(); l = [0] * 5
a = o.p = l[0] = 3
(o.q, (l[1], *l[2:4])), [b, o.r] = (1, (2, 3, 4)), [5, 6]
i, l[i] = 4, 9
*o.rest, last = range(4)
result = a, vars(o), l, b, last
""",
    "targets of loops, with and except": """
import contextlib
class O: pass
o = O(); d = {}
for o.i in range(2): pass
for d["k"], (o.a, o.b) in [(1, (2, 3))]: pass
with contextlib.nullcontext(5) as o.c, contextlib.nullcontext((6, 7)) as (o.d, d["e"]): pass
pairs = [(o.x, d) for o.x, d["y"] in [(1, 2), (3, 4)]]
try: 1 / 0
except ZeroDivisionError as error: o.message = str(error)
result = vars(o), d, pairs
""",
    "augmented assignment of every kind": """
class O:
    def __init__(self, v): self.v = v
    def __iadd__(self, other): log.append("iadd"); self.v += other; return self
    def __repr__(self): return f"O({self.v})"
o = O(1); o.n = 10; d = {"k": 7}; l = [1, 2]
o.n += 1; o.n -= 2; o.n *= 3; o.n //= 2; o.n %= 7; o.n **= 2; o.n <<= 1; o.n >>= 1; o.n |= 8; o.n ^= 3; o.n &= 31
o.n /= 2
d["k"] += 1; l[0] += 5; l[:] += [3]
o.inner = O(5); o.inner += 1
def local(p, k):
    p.n += 1; l[k] += 1; p.inner.v += (k := 0) + 1; d["k"] += k
    return p.n, k
class M:
    def __imatmul__(self, other): return ("imatmul", other)
o.m = M(); o.m @= 3
result = o.n, d, l, o.inner, local(o, 1), o.m
""",
    "augmented assignment of containers": """
from collections import Counter, deque, OrderedDict, defaultdict
def f():
    l = m = [1]; l += (2,); l *= 2
    s = t = {1}; s |= {2}; s -= {1}; s ^= {5}; s &= {5}
    d = e = {}; d |= {"a": 1}; d |= [("b", 2)]
    q = r = deque([1]); q += [2]; q *= 2
    b = c = bytearray(b"x"); b += b"y"
    n = k = Counter("ab"); n += Counter("a"); n -= Counter("b")
    x = 1; x += x; t2 = (1,); t2 += (2,); w = "a"; w += "b"
    class O: pass
    o = O(); o.l = m; o.l += [9]; o.d = {"k": [0]}; o.d["k"] += [1]; o.d["k"] *= 2
    return l is m, l, s is t, s, d is e, d, q is r, q, b is c, b, n is k, n, x, t2, w, o.l is m, o.d
def bad(kind):
    try:
        if kind == 0: x = []; x += 5
        if kind == 1: x = {}; x |= 5
        if kind == 2: x = set(); x |= [1]
        if kind == 3: x = [1]; x -= [1]
        if kind == 4: x = (1,); x += [1]
        if kind == 5: x = None; x **= 2 + bool(kind)
        if kind == 6: x = [1]; x *= "a"
        if kind == 7: y += [1]; y = 1
    except Exception as e: return type(e).__name__, str(e)
result = f(), [bad(k) for k in range(8)]
""",
    "augmented assignment fails as it does": """
class O: pass
o = O(); o.x = 1
def f():
    o.x += "a"
f()
""",
    "missing attribute": """
class Thing:
    def method(self):
        return self.missing.more
Thing().method()
""",
    "missing key": """
d = {}
def f(k):
    return (
        d
        [k]
    )
f("a")
""",
    "calling what cannot be called": """
x = 5
def f(): return x(1,
   2)
f()
""",
    "wrong arguments": """
def g(a): return a
def f(): return g(1, 2, z=3)
f()
""",
    "not iterable": """
def f():
    for x in 5: pass
f()
""",
    "unpacking too few": """
def f():
    a, b, c = [1, 2]
f()
""",
    "star argument that is none": """
def f(*a): return a
f(*5)
""",
    "two star argument that is none": """
def f(**a): return a
f(**5)
""",
    "not a context manager": """
def f():
    with 5: pass
f()
""",
    "in something that has no in": """
def f(): return 1 in 5
f()
""",
    "error in several frames": """
def a(x): return b(x) + 1
def b(x):
    try:
        return c(x)
    except ValueError as e:
        raise KeyError("k") from e
def c(x):
    raise ValueError(x.upper())
a("text")
""",
    "globals that functions rebind": """
count = 0
def bump():
    global count
    count += 1
    return count
def forget():
    global count
    del count
def loop():
    global count
    for count in range(3): log.append(count)
    (count := count + 10)
    with open(__import__("os").devnull) as count: pass
    import os as count
    from os import sep as count
    a, count, b = 1, 2, 3
    [count, c] = 4, 5
    def count(): return 1
    class count: value = 7
    try: raise ValueError("v")
    except ValueError as count: log.append(str(count))
    return "count" in globals()
x = [bump(), bump(), count]
gone = loop()
count = 3
reads = (lambda: count)(), [count for _ in range(1)], [bump() for _ in range(2)]
forget()
def missing():
    return count
try: missing()
except NameError as error: message = str(error), error.name
try: forget()
except NameError as error: message += (str(error),)
count: int = 8
result = x, gone, reads, message, bump()
""",
    "global in class and nested function": """
state = 1
class C:
    global state
    state = 2
    seen = state
    def set(self):
        def inner():
            global state
            state = "inner"
        inner(); return state
result = state, C.seen, C().set(), state, "state" in vars(C)
""",
    "private names": """
class _Outer:
    __field = 1
    def __init__(self): self.__own = self.__field; self.__own += 1
    def __hidden(self): return self.__own
    def show(self):
        del self.__field2 if False else None
        return self.__hidden(), [self.__own for _ in (1,)]
""".replace("        del self.__field2 if False else None\n", "")
    + """
    class __Inner:
        def __init__(self): self.__x = 5
        def get(self): return self.__x
    def inner(self): return self.__Inner().get(), vars(self.__Inner())
class ___:
    def __init__(self): self.__plain = 1
__shared = 0
class G:
    def bump(self):
        global __shared
        __shared = 3
        return __shared
result = _Outer().show(), vars(_Outer()), _Outer().inner(), vars(___()), G().bump(), __shared, _G__shared
""",
    "closures": """
def counter():
    n: int = 0
    def up(by=1):
        nonlocal n
        n += by
        return n
    def reset():
        nonlocal n
        del n
        try: n
        except NameError as e: log.append(str(e))
        n, other = 0, 1
        for n in range(3): pass
        (n := n + 1)
        with __import__("contextlib").nullcontext(9) as n: log.append(n)
        a, n, b = n, 1, 2
        try: raise KeyError("x")
        except KeyError as n: log.append(repr(n))
        n = 7
        def n(): return "def"
        log.append(n())
        class n: value = 1
        import os.path as n
        log.append(n.__name__)
        match {"k": 3}:
            case {"k": n} if n > 2: log.append(n)
        match [1, 2, 3]:
            case [_, *n]: log.append(n)
        n = 0
    return up, reset
up, reset = counter()
first = up(), up(5)
reset()
result = first, up(), up.__code__.co_freevars, reset.__code__.co_freevars
""",
    "late binding": """
def make():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    gs = [lambda: j for j in range(3)]
    hs = list((lambda: (k, m)) for k, m in [(1, 2), (3, 4)])
    ps = {n: (lambda: n) for n in range(2)}
    return [f() for f in fs], [g() for g in gs], [h() for h in hs], [p() for p in ps.values()]
def later():
    def show(): return x
    x = 1
    a = show()
    x = 2
    b = show()
    x += 5
    return a, b, show()
def recursive():
    def fact(n): return 1 if n < 2 else n * fact(n - 1)
    fib = lambda n: n if n < 2 else fib(n - 1) + fib(n - 2)
    return fact(5), fib(10)
result = make(), later(), recursive()
""",
    "unbound local and free": """
def f():
    def g(): return x
    try: g()
    except NameError as e: log.append(str(e))
    x = 1
    try: y
    except UnboundLocalError as e: log.append(str(e))
    y = 2
    return g()
result = f()
""",
    "classes": """
class Meta(type):
    def __new__(m, name, bases, ns, **kw): log.append((name, sorted(k for k in ns if k[0] != "_"), kw)); return super().__new__(m, name, bases, ns)
    def __init__(cls, *a, **kw): super().__init__(*a)
    @property
    def shout(cls): return cls.__name__.upper()
class A(metaclass=Meta, flag=1):
    x = [1]; y = x[0]; z = [q for q in x]
    def f(self): return "A", __class__.__name__
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def s(v): return v.real
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): self._p = v * 2
    @p.deleter
    def p(self): del self._p
class B(A):
    def f(self): return super().f() + (super(B, self).f(),)
    def g(self): return [super(B, self).f() for _ in range(1)]
b = B.make(); b.p = 4; seen = b.p; del b.p
result = b.f(), b.g(), B.shout, A.s(3), seen, hasattr(b, "p"), A.y, A.z
""",
    "slots and descriptors": """
class S:
    __slots__ = ("a", "__b", "__dict__")
    def __init__(self): self.a = 1; self.__b = 2; self.c = 3
    def read(self): return self.a, self.__b, self.c
class D:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, owner=None): log.append(("get", self.name)); return self if obj is None else obj.__dict__.get(self.name)
    def __set__(self, obj, value): log.append(("set", value)); obj.__dict__[self.name] = value
    def __delete__(self, obj): log.append("del"); del obj.__dict__[self.name]
class U:
    d = D()
    def __getattr__(self, name): return "dynamic " + name
u = U(); u.d = 3; u.d += 1; x = u.d; del u.d
result = S().read(), x, u.other, u.d
""",
    "dataclasses and enums": """
import dataclasses, enum, typing
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: list = dataclasses.field(default_factory=list, compare=False)
    z: typing.ClassVar[int] = 5
    def __post_init__(self): self.x += 1
@dataclasses.dataclass(frozen=True, slots=True)
class F:
    a: int = 1
class E(enum.Enum):
    A = enum.auto(); B = enum.auto()
    @property
    def low(self): return self.name.lower()
class Fl(enum.Flag):
    R = 1; W = 2; RW = R | W
class N(typing.NamedTuple):
    a: int
    b: str = "x"
    def both(self): return self.a, self.b
try: F().a = 2
except dataclasses.FrozenInstanceError as e: frozen = str(e)
result = P(1), P(1) < P(2), dataclasses.asdict(P(3)), F(), frozen, list(E), E.B.low, Fl.RW, N(1).both(), E["A"], sorted(vars(E)["_member_map_"])
""",
    "generators": """
def inner():
    x = yield 1
    log.append(x)
    try: yield 2
    except ValueError as e: log.append(str(e)); yield 3
    return "done"
def outer():
    r = yield from inner()
    yield r
    yield from [4, 5]
    yield from (i.real for i in range(2))
g = outer()
a = [next(g), g.send("sent"), g.throw(ValueError("thrown")), next(g)]
a += list(g)
def closing():
    try: yield 1
    finally: log.append("closed")
c = closing(); next(c); c.close()
result = a
""",
    "coroutines": """
import asyncio, contextlib
class AC:
    async def __aenter__(self): log.append("enter"); return self
    async def __aexit__(self, *a): log.append("exit")
class AI:
    def __init__(self): self.n = 0
    def __aiter__(self): return self
    async def __anext__(self):
        self.n += 1
        if self.n > 3: raise StopAsyncIteration
        return self.n
async def agen():
    for i in range(3):
        yield i
        await asyncio.sleep(0)
class O: pass
async def main():
    o = O(); o.total = 0
    async with AC() as o.ac: o.total += await asyncio.sleep(0, 5)
    async for o.i in AI(): o.total += o.i
    xs = [x async for x in agen() if x]
    ys = {y: await asyncio.sleep(0, y) async for y in agen()}
    return o.total, xs, ys, [await asyncio.sleep(0, z) for z in (1, 2)]
result = asyncio.run(main())
""",
    "coroutine error": """
import asyncio
async def fails(x):
    await asyncio.sleep(0)
    return x.nothing
async def main():
    return await fails(1)
asyncio.run(main())
""",
    "comprehensions": """
rows = [[1, 2], [3, 4]]
class C:
    k = 2
    a = [x * 2 for x in range(3)]
    b = [x for x in [k]]
result = ([x for r in rows for x in r if x % 2], {x: y for x, y in rows}, {x for r in rows for x in r},
  list(x for x in rows[0]), [[y for y in r] for r in rows], C.a, C.b, [(lambda: x)() for x in range(3)],
  [z := 1, z + 1], [w for q in range(3) if (w := q * 2)], w)
""",
    "lambdas and defaults": """
class O: v = 3
f = lambda a, *b, c=O.v, **d: (a, b, c, d)
def g(a, /, b=[], *, c=O().v): b.append(a); return b, c
result = f(1, 2, z=4), g(1), g(2, c=1), (lambda: (yield))().__class__.__name__
""",
    "conditions": """
class T:
    def __init__(self, v): self.v = v
    def __bool__(self): log.append(self.v); return bool(self.v)
t, f = T(1), T(0)
x = []
if t and not f: x.append(1)
if f or t: x.append(2)
while t:
    x.append(3); break
else: x.append(4)
y = t if f else x
assert t, "message"
x.append([q for q in (t, f) if q][0].v)
result = x, (f or t).v, (t and f).v, not t, y is x, 1 < 2 < 3, t is not None, 1 in [1] in [[1]], 3 not in x
""",
    "assertion": """
def f(o):
    assert o.x == 2, f"x is {o.x}"
class O: x = 1
f(O)
""",
    "formatted strings": """
class O: name = "n"; width = 6; l = [1, 2]
o = O()
result = f"{o.name!r:>{o.width}}|{o.l[0]:03d}|{o.name=}|{{}}|{[x for x in o.l]}|{'a' 'b'}", f"{o.l}" "x", "%s" % o.name
""",
    "pattern matching": """
import dataclasses
@dataclasses.dataclass
class P: x: int; y: int
class K: RED = 1; BLUE = 2
def kind(v):
    match v:
        case K.RED: return "red"
        case P(x=0, y=b): return "on y", b
        case P(a, b) if a == b: return "diagonal", a
        case [first, *rest] if rest: return first, rest
        case {"k": k, **others}: return k, others
        case (1 | 2 | 3) as small: return "small", small
        case str() as s if s.isupper(): return s
        case None | True: return "const"
        case _: return "other"
class O: v = [1, 2]
result = [kind(v) for v in (1, P(0, 3), P(4, 4), P(1, 2), [1, 2], [1], {"k": 1, "z": 2}, 2, "UP", "low", None, O.v)]
""",
    "global captured by a pattern": """
found = None
def look(v):
    global found
    match v:
        case {"a": found}: pass
        case [found, *_] if found > 5: pass
        case found: pass
    return found
result = look({"a": 1}), look([9, 1]), look([1, 1]), look(7), found
""",
    "exceptions": """
def f(n):
    try:
        if n == 0: raise ValueError("v")
        if n == 1: return "returned"
        if n == 2: [].pop()
    except ValueError as e: log.append(e.args); return "value"
    except (IndexError, KeyError): return "lookup"
    else: return "else"
    finally: log.append(n)
class Eg(Exception): pass
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2), Eg(3)])
except* ValueError as g: log.append([str(x) for x in g.exceptions])
except* (TypeError, Eg) as g: log.append(len(g.exceptions))
result = [f(i) for i in range(4)], "e" in globals()
""",
    "context managers": """
import contextlib
class C:
    def __init__(self, n, swallow=False): self.n, self.swallow = n, swallow
    def __enter__(self): log.append(("in", self.n)); return self
    def __exit__(self, kind, value, tb): log.append(("out", self.n, kind and kind.__name__)); return self.swallow
with C(1) as a, C(2, True) as b:
    a.x = b.n; raise ValueError
with (C(3), C(4) as c): pass
@contextlib.contextmanager
def gen():
    log.append("start")
    try: yield 5
    finally: log.append("end")
with gen() as v: pass
result = a.x, c.n, v
""",
    "decorators": """
import functools
def deco(arg):
    def wrap(f):
        @functools.wraps(f)
        def inner(*a, **k): log.append(arg); return f(*a, **k)
        inner.tag = arg
        return inner
    return wrap
class D:
    reg = {}
    def register(self, f): self.reg[f.__name__] = f; return f
d = D()
@deco(1)
@deco("x")
def f(a): "doc"; return a
@d.register
class K:
    @deco(2)
    def m(self): return self.m.tag
    @functools.cached_property
    def c(self): log.append("once"); return 9
    @functools.lru_cache
    def l(self, x): return x + 1
k = K()
result = f(3), f.__doc__, f.__wrapped__.__name__, k.m(), k.c + k.c, d.reg["K"] is K, k.l(1), inner if False else None
""",
    "imports": """
import os.path, os.path as p, collections.abc
from os import path as q, sep
from collections import *
def f():
    import json, json.decoder as jd
    from math import pi
    return json.dumps([pi]), jd.JSONDecoder.__name__
result = os.path is p is q, sep, f(), OrderedDict(a=1), "_treadle_load" in dir()
""",
    "builtins that look at the frame": """
class O: pass
def f(a):
    b = 2
    o = O(); o.z = 1
    for o.i in range(1): pass
    return sorted(locals()), sorted(vars()), dir(), eval("a + b"), vars(o), "f" in globals(), len(dir(o)) > 3
class C:
    x = 1
    names = sorted(k for k in locals() if k[0] != "_")
exec("made = 3")
import sys
def caller(): return sys._getframe(1).f_code.co_name, sys._getframe().f_lineno
def g(): return caller()
result = f(1), C.names, made, g(), [sys._getframe(0).f_code.co_name for _ in (1,)][0] in ("<listcomp>", "<module>")
""",
    "inspect": """
import inspect
class A:
    '''The doc.'''
    def m(self, x: int, *, y: str = "d") -> bool:
        '''Method doc.'''
        z = self.attr
        return z
def f(a, /, b, *c, d=1, **e): pass
result = (str(inspect.signature(f)), str(inspect.signature(A.m)), A.__doc__, A.m.__doc__, A.m.__annotations__, inspect.getsource(A.m),
   inspect.getsourcelines(f)[1], A.m.__code__.co_varnames, A.m.__qualname__)
""",
    "pickling and copying": """
import pickle, copy
class P:
    def __init__(self): self.a = [1]; self.b = self
    def __getstate__(self): return dict(self.__dict__, extra=1)
    def __setstate__(self, s): self.__dict__.update(s)
class Q(list):
    def __reduce__(self): return Q, (), None, iter(self)
p = pickle.loads(pickle.dumps(P())); q = copy.deepcopy(Q([1, 2]))
result = p.a, p.b is p, p.extra, q, pickle.loads(pickle.dumps(P.__init__)) is P.__init__
""",
    "operators": """
class V:
    def __init__(self, v): self.v = v
    def __add__(self, o): return V(self.v + getattr(o, "v", o))
    __radd__ = __add__
    def __eq__(self, o): return self.v == getattr(o, "v", o)
    def __lt__(self, o): return self.v < o.v
    def __neg__(self): return V(-self.v)
    def __invert__(self): return "inv"
    def __matmul__(self, o): return "mat"
    def __getitem__(self, k): return k
    def __contains__(self, x): return "yes"
    def __call__(self, *a, **k): return a, k
    def __len__(self): return 0
    def __iter__(self): return iter([1, 2])
    def __repr__(self): return f"V({self.v})"
    __hash__ = None
v, w = V(1), V(2)
a, b = v
result = v + w, 1 + v, v + 1, v == w, v < w, -v, ~v, v @ w, v[1:2, ..., 3], 5 in v, 5 not in v, v(1, x=2), bool(v), [*v], a, b, v[()], v[1:2:3]
""",
    "spin loops": """
class F: n = 0
f = F()
def done():
    f.n += 1
    return f.n > 3
def wait():
    while not done(): pass
    while True:
        if done(): break
    while f.n < 8:
        if done(): continue
        if f.n > 100: raise TimeoutError
    while not done():
        continue
    else: return "else"
result = wait(), f.n
""",
    "strings, bytes, numbers": """
result = "a" "b", b"x"[0], 1_000, 0x1F, 1e3, 2j, ..., None is None, __name__, 7 // 2, 7 % 3, 2 ** 8, -7 >> 1, "x" * 3, "%d%%" % 5
""",
    "walrus everywhere": """
def f(xs):
    if (n := len(xs)) > 2: log.append(n)
    while (m := xs.pop()) != 1: log.append(m)
    return n, m, [y for x in [3, 4] if (y := x + 1)], y, any((hit := z) > 3 for z in [1, 5, 2]), hit
result = f([1, 2, 3])
""",
    "star expressions": """
a, *b = [1, 2, 3]
def f(): return *b, a
def g(*args, **kw): return args, kw
for x, *y in [(1, 2, 3)]: pass
result = f(), [*b, *b], {*b}, {**{"k": 1}, "z": 2}, g(*b, *[9], k=1, **{"q": 2}), y, (*range(2), 5)
""",
    "annotations": """
from __future__ import annotations
x: undefined.attr = 1
class C:
    y: also.undefined
    z: list[int] = []
    def f(self, a: no.such = 1) -> nothing.here:
        self.w: who.cares = a
        loc: not_.evaluated = 2
        return self.w, loc
result = x, C().f(), C.__annotations__, __annotations__
""",
    "evaluated annotations": """
class T: int = int
def ann(x): log.append(x); return T
x: ann("x").int = 1
class C:
    y: ann("y").int
    ann("obj").z: ann("attr") = 5
def f(a: ann("a").int = ann("default").int) -> ann("r").int:
    local: ann("never") = 1
    return local
result = f(), C.__annotations__, T.z
""",
    "docstrings": '''
"""Module doc."""
def f():
    """Function doc."""
class C:
    """Class doc."""
    x = 1
async def g(): "short"
result = __doc__, f.__doc__, C.__doc__, g.__doc__
''',
    "future first": '''
"""Doc."""
from __future__ import annotations
class O: pass
O.x = 1
result = __doc__, O.x
''',
    "delete forms": """
class O: pass
o = O(); o.a = o.b = 1; l = [1, 2, 3, 4]; d = {1: {2: 3}}; x = y = 1
del o.a, l[0], (l[-1], [d[1][2]]), x
del (y)
del l[:1]
result = vars(o), l, d, "x" in globals(), "y" in globals()
""",
    "deep nesting": """
class A:
    class B:
        class C:
            def m(self):
                def n():
                    class D:
                        def o(self): return __class__.__qualname__
                    return D().o()
                return n()
result = A.B.C().m(), A.B.C.m.__qualname__
""",
    "try finally with inner functions": """
def f():
    try:
        x = 1
        return [lambda: x][0]()
    finally:
        g = lambda v: v.real
        log.append(g(2))
def h():
    for i in range(2):
        try: continue
        finally: log.append((lambda: i)())
    with open(__import__("os").devnull) as fh: return (lambda: fh.closed)()
result = f(), h(), f()
""",
    "conditional code": """
if __debug__:
    def f(): return 1
else:
    def g(): return 2
if 0:
    def h(): return lambda: 3
while 0: lambda: 4
result = f(), "g" in globals(), not __debug__
""",
    "weak references and deletion": """
import weakref, gc
class O:
    def __init__(self, n): self.n = n
    def __del__(self): log.append(self.n)
def f():
    o = O(1)
    w = weakref.ref(o)
    o.n += 1
    for o.k in [1]: pass
    a, o.z = 1, 2
    del o
    return w() is None
def cells():
    def set():
        nonlocal o
        o = O("b")
    o = O("a")
    set()
    log.append("now")
    o = None
    log.append("gone")
result = f(), cells()
""",
}

NEWER_PROGRAMS: dict[tuple[int, int], dict[str, str]] = {
    (3, 12): {
        "type parameters": """
type Pair[T] = tuple[T, T]
T = "outer"
class Stack[T]:
    items: list[T]
    def __init__(self): self.items = []
    def push[U: int](self, x: U) -> U: self.items.append(x); return x
    def name(self): return T.__name__
def first[S](xs: list[S], d=T) -> S: return xs[0], d, S.__name__
s = Stack[int](); s.push(4)
count = 0
def generic[N]():
    global count
    count += 1
    def inner():
        nonlocal_ = N
        return N.__name__
    return inner(), count
class Base: tag = "base"
class Sub[T](Base): pass
result = s.items, first([1]), Pair.__name__, s.name(), generic(), Sub.tag, Stack.push.__qualname__
""",
        "nested quotes in formatted strings": """
d = {"a": [1]}
class O: x = "v"
result = f"{d["a"][0]} {f"{O.x}"} {"\\n".join([O.x])}"
""",
        "comprehension in class": """
class C:
    x = 5
    y = [x for _ in range(1)] if False else [x for x in (1, 2)]
    z = [(lambda: v)() for v in range(2)]
result = C.y, C.z, C.x
""",
    },
    (3, 13): {
        "type parameter defaults": """
class Box[T = int]:
    def __init__(self): self.v = T.__name__
result = Box().v, Box.__type_params__[0].__default__
""",
    },
}
