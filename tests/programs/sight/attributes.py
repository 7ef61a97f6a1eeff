"""Attributes, classes, module variables and the life of threads."""
import abc, dataclasses, enum, functools, sys, threading, queue, types, weakref
from treadle import parallel as par
from tests.programs.sight.table import fails, passes, within_bounds

FLAG = 0
ITEMS = [0]
lower = object()
this = sys.modules[__name__]


def _sees(read, write, expected):
    seen = []
    par(lambda: seen.append(read()), write)
    assert seen == [expected]

class Base:
    flag = 0
    def hook(self): return 0
    @staticmethod
    def plain(): return 0
    @classmethod
    def made(cls): return cls.flag
class Sub(Base): pass
class Plain: pass

@fails
def class_attribute_of_the_base():
    o = Sub(); _sees(lambda: o.flag, lambda: setattr(Base, 'flag', 1), 0)
@fails
def class_attribute_set_on_the_subclass():
    o = Sub(); _sees(lambda: Sub.flag, lambda: setattr(Sub, 'flag', 1), 0)
@fails
def class_attribute_deleted():
    class C(Base): flag = 2
    def w(): del C.flag
    _sees(lambda: C().flag, w, 2)
@fails
def hasattr_against_a_later_class_attribute():
    o = Plain()
    def w(): Plain.later = 1
    _sees(lambda: hasattr(o, 'later'), w, False)
@fails
def getattr_default_against_a_later_class_attribute():
    o = Plain()
    def w(): Plain.other = 1
    _sees(lambda: getattr(o, 'other', 0), w, 0)
@fails
def method_exchanged_on_the_class():
    o = Base()
    def w(): Base.hook = lambda self: 1
    _sees(lambda: o.hook(), w, 0)
@fails
def instance_attribute_over_a_method():
    o = Base()
    def w(): o.hook = lambda: 1
    _sees(lambda: o.hook(), w, 0)
@fails
def static_method_set_to_none():
    def r():
        if Base.plain: return Base.plain()
    def w(): Base.plain = None
    par(r, w)
@fails
def class_method_reads_a_class_attribute():
    def w(): Base.flag = 1
    _sees(lambda: Base.made(), w, 0)
@fails
def class_exchanged():
    class A:
        def m(self): return 0
    class B:
        def m(self): return 1
    o = A()
    def w(): o.__class__ = B
    _sees(lambda: o.m(), w, 0)
@fails
def class_exchanged_against_isinstance():
    class A: pass
    class B: pass
    o = A()
    def w(): o.__class__ = B
    _sees(lambda: isinstance(o, A), w, True)
@fails
def counter_on_a_class():
    class C: n = 0
    def f(): C.n += 1
    par(f, f)
    assert C.n == 2
@fails
def counter_through_type():
    class C: n = 0
    o = C()
    def f(): type(o).n += 1
    par(f, f)
    assert C.n == 2
@fails
def capital_global_written_as_an_attribute():
    def w(): this.FLAG = 1
    _sees(lambda: FLAG, w, 0)
@fails
def capital_global_written_with_setattr():
    _sees(lambda: FLAG, lambda: setattr(this, 'FLAG', 1), 0)
@fails
def capital_global_written_through_globals():
    def w(): globals()['FLAG'] = 1
    _sees(lambda: FLAG, w, 0)
@fails
def capital_global_written_through_vars():
    def w(): vars(this)['FLAG'] = 1
    _sees(lambda: FLAG, w, 0)
@fails
def container_global_rebound_from_outside():
    def w(): this.ITEMS = [1]
    _sees(lambda: ITEMS[0], w, 0)
@fails
def object_global_rebound_from_outside():
    old = lower
    def w(): this.lower = None
    _sees(lambda: lower is old, w, True)
@fails
def attribute_of_an_exception():
    e = ValueError(); e.n = 0
    def f(): e.n += 1
    par(f, f)
    assert e.n == 2
@fails
def args_of_an_exception():
    e = ValueError(0)
    def w(): e.args = (1,)
    _sees(lambda: e.args[0], w, 0)
@fails
def attribute_of_an_event():
    e = threading.Event(); e.n = 0
    def f(): e.n += 1
    par(f, f)
    assert e.n == 2
@fails
def attribute_of_a_queue():
    q = queue.Queue(); q.n = 0
    def f(): q.n += 1
    par(f, f)
    assert q.n == 2
@fails
def attribute_of_a_thread():
    t = threading.Thread(); t.n = 0
    def f(): t.n += 1
    par(f, f)
    assert t.n == 2
class Color(enum.Enum):
    RED = 1
@fails
def attribute_of_an_enum_member():
    Color.RED.n = 0
    def f(): Color.RED.n += 1
    par(f, f)
    assert Color.RED.n == 2
@fails
def attribute_of_a_function():
    def g(): pass
    g.n = 0
    def f(): g.n += 1
    par(f, f)
    assert g.n == 2
@fails
def simple_namespace():
    o = types.SimpleNamespace(n=0)
    def f(): o.n += 1
    par(f, f)
    assert o.n == 2
class Past:
    def __init__(self): object.__setattr__(self, 'n', 0)
    def __getattribute__(self, name): return super().__getattribute__(name)
    def __setattr__(self, name, value): super().__setattr__(name, value)
@fails
def getattribute_by_super():
    o = Past()
    def f(): o.n += 1
    par(f, f)
    assert o.n == 2
class Lazy:
    def __getattr__(self, name):
        value = self.__dict__[name] = []
        return value
@fails
def getattr_makes_the_attribute():
    o = Lazy()
    par(lambda: o.l.append(1), lambda: o.l.append(2))
    assert len(o.l) == 2
class Cached:
    made = 0
    @functools.cached_property
    def value(self):
        self.made += 1
        return []
@fails
def cached_property_against_delete():
    o = Cached(); o.value; seen = []
    def w(): del o.value
    def r(): seen.append(o.made); o.value; seen.append(o.made)
    par(r, w)
    assert seen == [1, 1]
@fails
def cache_filled_twice():
    calls = []
    @functools.cache
    def f(n):
        calls.append(n)
        return n
    par(lambda: f(1), lambda: f(1))
    assert len(calls) == 1
@fails
def cache_info_against_a_call():
    @functools.lru_cache(maxsize=None)
    def f(n): return n
    _sees(lambda: f.cache_info().misses, lambda: f(1), 0)
@fails
def cache_of_a_method():
    class C:
        n = 0
        @functools.lru_cache
        def m(self):
            self.n += 1
            return self.n
    o = C()
    par(o.m, lambda: o.m())
    assert o.n == 1
@fails
def small_cache_throws_out():
    calls = []
    @functools.lru_cache(maxsize=1)
    def f(n): calls.append(n)
    f(1)
    par(lambda: f(1), lambda: f(2))
    assert calls == [1, 2]
@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0
@fails
def class_pattern():
    p = Point()
    def r():
        match p:
            case Point(x=0): return True
        return False
    def w(): p.x = 1
    _sees(r, w, True)
@fails
def mapping_pattern():
    d = {'k': {'in': 0}}; inner = d['k']
    def r():
        match d:
            case {'k': {'in': 0}}: return True
        return False
    def w(): inner['in'] = 1
    _sees(r, w, True)
@fails
def dataclass_of_a_local_class_compared():
    @dataclasses.dataclass
    class Local:
        n: int
    a, b = Local(0), Local(0)
    def w(): a.n = 1
    _sees(lambda: a == b, w, True)
@fails
def dataclass_shown():
    p = Point()
    def w(): p.x = 1
    _sees(lambda: repr(p), w, 'Point(x=0, y=0)')
@fails
def nested_lists_compared():
    a, b = [[0]], [[0]]; inner = a[0]
    def w(): inner[0] = 1
    _sees(lambda: a == b, w, True)
@fails
def tuples_of_lists_compared():
    l = [0]
    def w(): l[0] = 1
    _sees(lambda: (l,) == ([0],), w, True)
@fails
def left_operand_is_read_after_the_right_one():
    a, b = [0], [0]; order = []
    def r():
        order.append(a == (b[0], b)[1])
    def w(): b[0] = 0; a[0] = 1
    par(r, w)
    assert order == [True]
@fails
def chained_comparison_with_in():
    l = [1]
    def r():
        x = 1
        return 0 < x in l
    _sees(r, l.clear, True)
@fails
def thread_started_twice():
    t = threading.Thread(target=int)
    def f():
        if not t.is_alive() and t.ident is None: t.start()
    par(f, f)
@fails
def joined_before_it_is_started():
    t = threading.Thread(target=int)
    par(t.start, t.join)
@fails
def alive_depends_on_the_start():
    gate = threading.Event()
    t = threading.Thread(target=gate.wait)
    def r():
        alive = t.is_alive()
        gate.set()
        return alive
    _sees(r, t.start, False)
@fails
def weak_reference_in_a_dict():
    class B: pass
    d = {'k': B()}; r = weakref.ref(d['k'])
    _sees(lambda: r() is None, lambda: d.pop('k') and None, False)
@fails
def weak_value_dictionary():
    class B: pass
    keep = [B()]; d = weakref.WeakValueDictionary(k=keep[0])
    _sees(lambda: len(d), keep.clear, 1)
@fails
def weak_set():
    class B: pass
    keep = [B()]; s = weakref.WeakSet(keep)
    _sees(lambda: len(s), keep.clear, 1)
@fails
def finalizer_runs():
    class B: pass
    keep = [B()]; seen = []; done = []
    weakref.finalize(keep[0], done.append, 1)
    par(lambda: seen.append(len(done)), keep.clear)
    assert seen == [0]

@passes
def different_class_attributes():
    class C: a = b = 0
    def f(): C.a += 1
    def g(): C.b += 1
    par(f, g, lambda: setattr(C, 'c', C.a))
    assert (C.a, C.b) == (1, 1)
@passes
def cached_values_agree():
    @functools.lru_cache
    def f(n): return n + 1
    assert par(lambda: f(1), lambda: f(2), lambda: f(1)) == [2, 3, 2]
@passes
def a_thread_of_ones_own():
    done = []
    lock = threading.Lock()
    def f():
        t = threading.Thread(target=lambda: done.append(1))
        t.start()
        with lock: t.join()
    par(f, f)
    assert done == [1, 1]
@passes
def locked_counter():
    lock = threading.Lock(); o = Plain(); o.n = 0
    def f():
        with lock: o.n += 1
    par(f, f)
    assert o.n == 2


@fails
def value_pattern_of_match():
    state = types.SimpleNamespace(phase=1)
    def look():
        match 2:
            case state.phase: return True
        return False
    def put(): state.phase = 2
    assert not par(look, put)[0]
@fails
def class_registered_with_an_abstract_one():
    class Shape(abc.ABC): pass
    class Circle: pass
    assert not par(lambda: issubclass(Circle, Shape), lambda: Shape.register(Circle))[0]
@fails
def wrapped_function_exchanged():
    def one(): return 1
    wrapper = functools.wraps(one)(lambda: wrapper.__wrapped__())
    def put(): wrapper.__wrapped__ = lambda: 2
    assert par(lambda: wrapper(), put)[0] == 1
@fails
def class_attribute_set_past_its_class():
    class C: n = 1
    assert par(lambda: C.n, lambda: type.__setattr__(C, 'n', 2))[0] == 1
@within_bounds('C.__len__, which is exchanged')
def special_method_exchanged():
    class C:
        def __len__(self): return 1
    c = C()
    def put(): C.__len__ = lambda self: 1
    assert par(lambda: len(c), put)[0] == 1

@passes
def a_dict_whose_own_contains_asks_its_own_methods():
    class Keys(dict):
        def __init__(self): super().__init__(); super().setdefault('a', 1)
        def __contains__(self, key): return super().__contains__(self.changed(key))
        def get(self, key): raise AssertionError('nobody asked')
        def changed(self, key): return str(key)
    par(lambda: 1 in Keys(), lambda: 1 in Keys())
@fails
def numbers_that_python_refuses_to_write():
    box = [0, {}]
    def add():
        n = box[0]
        box[1][n + 7 ** 9000] = 1
        box[0] = n + 7 ** 9000
    par(add, add)
    assert len(box[1]) == 2
@passes
def such_numbers_under_a_lock():
    lock = threading.Lock(); box = [0, {}]
    def add():
        with lock:
            box[0] += 7 ** 9000
            box[1][box[0], 1] = box[1][box[0]] = box[0]
    par(add, add)
    assert len(box[1]) == 4
