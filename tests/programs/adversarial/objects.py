"""Classes and instances: attributes found in every roundabout way, special methods, life and death of objects."""

import abc
import copy
import dataclasses
import enum
import functools
import sys
import types
import typing
import weakref

from treadle import parallel

from .truth import fails, holds


class Box:
    def __init__(self, n=0):
        self.n = n


class Slotted:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 0


@fails
def slot_descriptor_by_hand():
    o = Slotted()
    slot = Slotted.__dict__["n"]

    def add():
        slot.__set__(o, slot.__get__(o) + 1)

    parallel(add, add)
    assert o.n == 2


@fails
def slot_deleted():
    o = Slotted()

    def remove():
        del o.n
        o.n = 0

    parallel(lambda: o.n, remove)


@fails
def vars_and_attribute_are_one():
    o = Box()

    def by_dict():
        vars(o)["n"] += 1

    def by_name():
        o.n += 1

    parallel(by_dict, by_name)
    assert o.n == 2


@fails
def dict_of_an_instance_exchanged():
    o = Box(1)

    def exchange():
        o.__dict__ = {"m": 1}

    parallel(lambda: o.n, exchange)


@fails
def class_of_an_instance_changed():
    class Closed(Box):
        def read(self):
            raise RuntimeError("closed")

    class Open(Box):
        def read(self):
            return 1

    o = Open()

    def close():
        o.__class__ = Closed

    parallel(lambda: o.read(), close)


@fails
def bases_of_a_class_changed():
    class A:
        n = 1

    class B:
        n = 2

    class C(A):
        pass

    def change():
        C.__bases__ = (B,)

    assert parallel(lambda: C.n, change)[0] == 1


@fails
def special_method_replaced_len():
    class Sized:
        def __len__(self):
            return 1

    o = Sized()

    def replace():
        Sized.__len__ = lambda self: 2

    assert parallel(lambda: len(o), replace)[0] == 1


@fails
def special_method_replaced_bool():
    class Truth:
        def __bool__(self):
            return True

    o = Truth()

    def replace():
        Truth.__bool__ = lambda self: False

    assert parallel(lambda: 1 if o else 0, replace)[0] == 1


@fails
def special_method_replaced_call():
    class Callback:
        def __call__(self):
            return 1

    o = Callback()

    def replace():
        Callback.__call__ = lambda self: 2

    assert parallel(lambda: o(), replace)[0] == 1


@fails
def special_method_replaced_eq():
    class Same:
        def __eq__(self, other):
            return True

        __hash__ = None

    o = Same()

    def replace():
        del Same.__eq__

    assert parallel(lambda: o == 3, replace)[0]


@fails
def special_method_replaced_contains():
    class Bag:
        def __contains__(self, x):
            return True

    o = Bag()

    def replace():
        setattr(Bag, "__contains__", lambda self, x: False)  # noqa: B010

    assert parallel(lambda: 1 in o, replace)[0]


@fails
def special_method_replaced_enter():
    class Manager:
        def __enter__(self):
            return 1

        def __exit__(self, *exc):
            pass

    o = Manager()

    def use():
        with o as x:
            return x

    def replace():
        Manager.__enter__ = lambda self: 2

    assert parallel(use, replace)[0] == 1


@fails
def class_attribute_by_type_setattr():
    class Config:
        level = 1

    def change():
        type.__setattr__(Config, "level", 2)

    assert parallel(lambda: Config.level, change)[0] == 1


@fails
def class_attribute_by_metaclass_property():
    class Meta(type):
        @property
        def level(cls):
            return cls._level

        @level.setter
        def level(cls, value):
            cls._level = value

    class Config(metaclass=Meta):
        _level = 0

    def add():
        Config.level += 1

    parallel(add, add)
    assert Config.level == 2


@fails
def metaclass_call_keeps_a_singleton():
    class Single(type):
        one = None

        def __call__(cls):
            if cls.one is None:
                cls.one = super().__call__()
            return cls.one

    class Service(metaclass=Single):
        pass

    a, b = parallel(Service, Service)
    assert a is b


@fails
def new_keeps_a_singleton():
    class Service:
        one = None

        def __new__(cls):
            if cls.one is None:
                cls.one = object.__new__(cls)
            return cls.one

    a, b = parallel(Service, Service)
    assert a is b


@fails
def init_subclass_registers():
    registry = {"n": 0}

    class Plugin:
        def __init_subclass__(cls):
            registry["n"] += 1

    def define():
        type("P", (Plugin,), {})

    parallel(define, define)
    assert registry["n"] == 2


@fails
def set_name_hook_counts():
    seen = []

    class Field:
        def __set_name__(self, owner, name):
            seen.append(len(seen))

    def define():
        class Model:
            a = Field()

    parallel(define, define)
    assert seen == [0, 1]


@fails
def subclasses_list_grows():
    class Base:
        pass

    def define():
        return type("Sub", (Base,), {})

    def look():
        return len(Base.__subclasses__()) == len(Base.__subclasses__())

    assert parallel(look, define)[0]


@fails
def property_setter_checks_then_writes():
    class Account:
        _n = 1

        @property
        def n(self):
            return self._n

        @n.setter
        def n(self, value):
            self._n = value

    o = Account()

    def take():
        if o.n > 0:
            o.n = o.n - 1

    parallel(take, take)
    assert o.n >= 0


@fails
def data_descriptor_with_weak_storage():
    class Field:
        def __init__(self):
            self.values = weakref.WeakKeyDictionary()

        def __get__(self, o, kind=None):
            return self.values.get(o, 0)

        def __set__(self, o, value):
            self.values[o] = value

    class Model:
        n = Field()

    o = Model()

    def add():
        o.n += 1

    parallel(add, add)
    assert o.n == 2


@(fails if sys.version_info >= (3, 12) else holds)  # 3.11 still holds a lock while it computes
def cached_property_computes_twice():
    class Lazy:
        made = 0

        @functools.cached_property
        def value(self):
            Lazy.made += 1
            return object()

    o = Lazy()
    a, b = parallel(lambda: o.value, lambda: o.value)
    assert a is b


@fails
def getattr_fills_in():
    class Lazy:
        made = 0

        def __getattr__(self, name):
            self.made += 1
            self.__dict__[name] = self.made
            return self.made

    o = Lazy()
    parallel(lambda: o.value, lambda: o.value)
    assert o.made == 1


@fails
def setattr_hook_counts():
    class Watched:
        writes = 0

        def __setattr__(self, name, value):
            object.__setattr__(self, "writes", self.writes + 1)
            object.__setattr__(self, name, value)

    o = Watched()

    def write():
        o.n = 1

    parallel(write, write)
    assert o.writes == 2


@fails
def delattr_hook_twice():
    o = Box(1)

    def remove():
        if hasattr(o, "n"):
            del o.n

    parallel(remove, remove)


@fails
def iter_by_getitem_protocol():
    class Row:
        def __init__(self):
            self.items = [1, 2]

        def __getitem__(self, i):
            return self.items[i]

    row = Row()

    def change():
        row.items = [5]

    assert parallel(lambda: list(row), change)[0] == [1, 2]


@fails
def index_protocol_in_a_slice():
    class End:
        n = 2

        def __index__(self):
            return self.n

    end, row = End(), [1, 2, 3]

    def change():
        end.n = 1

    assert parallel(lambda: row[:end], change)[0] == [1, 2]


@fails
def comparison_reads_both_sides():
    @functools.total_ordering
    class Size:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            return self.n < other.n

        def __eq__(self, other):
            return self.n == other.n

    a, b = Size(1), Size(1)

    def change():
        b.n = 0

    assert parallel(lambda: a <= b, change)[0]


@fails
def reflected_operator():
    class Money:
        n = 1

        def __radd__(self, other):
            return other + self.n

    o = Money()

    def change():
        o.n = 5

    assert parallel(lambda: sum([o, o]), change)[0] in (2, 10)


@fails
def in_place_operator_method():
    class Total:
        n = 0

        def __iadd__(self, x):
            n = self.n
            self.n = n + x
            return self

    box = [Total()]

    def add():
        box[0] += 1

    parallel(add, add)
    assert box[0].n == 2


@fails
def hash_changes_while_in_a_set():
    class Key:
        h = 1

        def __hash__(self):
            return self.h

    k = Key()
    s = {k}

    def change():
        k.h = 2

    assert parallel(lambda: k in s, change)[0]


@fails
def colliding_keys_compare():
    class Key:
        seen = 0

        def __hash__(self):
            return 1

        def __eq__(self, other):
            Key.seen += 1
            return self is other

    d = {Key(): 0}
    parallel(lambda: d.get(Key()), lambda: d.get(Key()))
    assert Key.seen == 2


@fails
def repr_of_shared_parts():
    @dataclasses.dataclass
    class Pair:
        a: int = 0
        b: int = 0

    p = Pair()

    def write():
        p.a = p.b = 1

    assert parallel(lambda: repr(p)[-10:], write)[0] in ("(a=0, b=0)", "(a=1, b=1)")


@fails
def dataclass_replace_reads_field_by_field():
    @dataclasses.dataclass
    class Pair:
        a: int = 0
        b: int = 0

    p = Pair()

    def write():
        p.a = 1
        p.b = 1

    q = parallel(lambda: dataclasses.replace(p), write)[0]
    assert q.a == q.b


@fails
def dataclass_asdict_of_nested():
    @dataclasses.dataclass
    class Leaf:
        n: int = 0

    @dataclasses.dataclass
    class Tree:
        leaf: Leaf

    t = Tree(Leaf())

    def write():
        t.leaf.n = 1

    assert parallel(lambda: dataclasses.asdict(t), write)[0] == {"leaf": {"n": 0}}


@fails
def dataclass_order_by_mutable_field():
    @dataclasses.dataclass(order=True)
    class Version:
        parts: list

    a, b = Version([1]), Version([2])

    def write():
        a.parts[0] = 3

    assert parallel(lambda: a < b, write)[0]


@fails
def dataclass_factory_shares_a_counter():
    count = [0]

    def number():
        n = count[0]
        count[0] = n + 1
        return n

    @dataclasses.dataclass
    class Item:
        id: int = dataclasses.field(default_factory=number)

    a, b = parallel(Item, Item)
    assert a.id != b.id


@fails
def frozen_dataclass_with_mutable_inside():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        log: list

    f = Frozen([])

    def write():
        f.log.append(len(f.log))

    parallel(write, write)
    assert f.log == [0, 1]


@fails
def named_tuple_carries_a_list():
    class Row(typing.NamedTuple):
        cells: list

    row = Row([0])

    def add():
        row.cells[0] += 1

    parallel(add, add)
    assert row == ([2],)


@fails
def enum_value_is_mutable():
    class Level(enum.Enum):
        LOW = [0]

    def add():
        Level.LOW.value[0] += 1

    parallel(add, add)
    assert Level.LOW.value == [2]


@fails
def enum_missing_hook():
    made = []

    class Level(enum.Enum):
        LOW = 1

        @classmethod
        def _missing_(cls, value):
            made.append(len(made))
            return cls.LOW

    parallel(lambda: Level(7), lambda: Level(8))
    assert made == [0, 1]


@fails
def abstract_class_registration():
    class Shape(abc.ABC):
        pass

    class Circle:
        pass

    def register():
        Shape.register(Circle)

    assert not parallel(lambda: issubclass(Circle, Shape), register)[0]


@fails
def subclasshook_reads_state():
    class Shape(abc.ABC):
        allowed = False

        @classmethod
        def __subclasshook__(cls, other):
            return cls.allowed

    def allow():
        Shape.allowed = True

    assert not parallel(lambda: isinstance(3, Shape), allow)[0]


@fails
def singledispatch_registration():
    @functools.singledispatch
    def name(x):
        return "any"

    def register():
        name.register(int, lambda x: "int")

    assert parallel(lambda: name(3), register)[0] == "any"


@fails
def simple_namespace_equality():
    a, b = types.SimpleNamespace(n=0), types.SimpleNamespace(n=0)

    def write():
        b.n = 1
        b.n = 0

    assert parallel(lambda: a == b, write)[0]


@fails
def finalizer_runs_in_the_dropping_thread():
    log = []

    class Resource:
        def __del__(self):
            log.append("closed")

    held = [Resource()]

    def drop():
        held.clear()

    assert parallel(lambda: len(log), drop)[0] == 0


@fails
def finalizer_counts_without_a_lock():
    closed = [0]

    class Resource:
        def __del__(self):
            n = closed[0]
            closed[0] = n + 1

    held = [Resource(), Resource()]
    parallel(lambda: held.pop() and None, lambda: held.pop() and None)
    assert closed == [2]


@fails
def weakref_callback_writes():
    log = []
    held = [Box()]
    watch = weakref.ref(held[0], lambda _: log.append(1))
    assert parallel(lambda: (len(log), watch)[0], held.clear)[0] == 0


@fails
def weak_value_dictionary_loses_it():
    cache = weakref.WeakValueDictionary()
    held = [Box()]
    cache["a"] = held[0]

    def reader():
        if "a" in cache:
            return cache["a"].n

    parallel(reader, held.clear)


@fails
def weakref_proxy_dies():
    held = [Box()]
    proxy = weakref.proxy(held[0])
    parallel(lambda: proxy.n, held.clear)


@fails
def weak_method_dies():
    class Listener:
        def hear(self):
            return 1

    held = [Listener()]
    method = weakref.WeakMethod(held[0].hear)
    assert parallel(lambda: method() is not None, held.clear)[0]


@fails
def finalize_object_alive():
    held = [Box()]
    end = weakref.finalize(held[0], int)
    assert parallel(lambda: end.alive, held.clear)[0]


@fails
def deepcopy_between_two_writes():
    o = Box([0, 0])

    def write():
        o.n[0] = 1
        o.n[1] = 1

    c = parallel(lambda: copy.deepcopy(o), write)[0]
    assert c.n[0] == c.n[1]


@fails
def copy_hook_reads_twice():
    class Pair:
        a = b = 0

        def __copy__(self):
            new = Pair()
            new.a = self.a
            new.b = self.b
            return new

    p = Pair()

    def write():
        p.a = p.b = 1

    q = parallel(lambda: copy.copy(p), write)[0]
    assert q.a == q.b


@fails
def exception_object_is_shared():
    error = ValueError("a")

    def change():
        error.args = ("b",)

    assert parallel(lambda: str(error), change)[0] == "a"


@fails
def exception_notes_are_shared():
    error = ValueError()
    parallel(lambda: error.add_note("a"), lambda: error.add_note("b"))
    assert error.__notes__ == ["a", "b"]


@fails
def raising_a_shared_exception_sets_its_context():
    error = ValueError()

    def inside():
        try:
            raise KeyError
        except KeyError:
            try:
                raise error
            except ValueError:
                pass

    assert parallel(lambda: error.__context__, inside)[0] is None


@fails
def traceback_of_a_shared_exception():
    error = ValueError()

    def throw():
        try:
            raise error
        except ValueError:
            pass

    assert parallel(lambda: error.__traceback__, throw)[0] is None


@fails
def stop_iteration_value_is_shared():
    stop = StopIteration([])

    def add():
        stop.value.append(len(stop.value))

    parallel(add, add)
    assert stop.value == [0, 1]


@holds
def slotted_objects_are_separate():
    a, b = Slotted(), Slotted()

    def add(o):
        o.n += 1

    parallel(lambda: add(a), lambda: add(b))
    assert (a.n, b.n) == (1, 1)


@holds
def instance_attribute_over_class_attribute():
    class Config:
        level = 1

    a, b = Config(), Config()

    def change():
        a.level = 2

    assert parallel(lambda: b.level, change)[0] == 1


@holds
def singleton_made_by_setdefault():
    made = {}

    def get():
        return made.setdefault("one", object())

    a, b = parallel(get, get)
    assert a is b


@holds
def frozen_dataclasses_compare():
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int

    assert parallel(lambda: Point(1) == Point(1), lambda: Point(1) == Point(2)) == [True, False]


@holds
def strong_reference_keeps_it_alive():
    o = Box(1)
    ref = weakref.ref(o)
    held = [o]
    assert parallel(lambda: ref().n, held.clear)[0] == 1


@holds
def enum_lookup_is_constant():
    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2

    assert parallel(lambda: Level(1).name, lambda: Level["HIGH"].value) == ["LOW", 2]


@holds
def copy_of_a_list_is_one_step():
    o = Box([0, 0])

    def write():
        o.n = [1, 1]

    c = parallel(lambda: copy.copy(o.n), write)[0]
    assert c[0] == c[1]


@holds
def one_finalizer_only_once():
    log = []

    class Resource:
        def __del__(self):
            log.append(1)

    held = [Resource()]

    def drop():
        held.clear()

    parallel(drop, drop)
    assert log == [1]


@holds
def property_that_writes_nothing():
    class Square:
        side = 2

        @property
        def area(self):
            return self.side * self.side

    s = Square()
    assert parallel(lambda: s.area, lambda: s.area) == [4, 4]


@holds
def class_attribute_written_once_to_the_same():
    class Flag:
        on = True

    def switch_on():
        Flag.on = True

    assert parallel(lambda: Flag.on, switch_on)[0]
