"""Descriptors, metaclasses, and methods that an operation calls by itself."""

import dataclasses
import types

from treadle import parallel as par

from .truth import fails, holds


@fails
def slot_descriptor_called():
    class Box:
        __slots__ = ("n",)

    box = Box()
    box.n = 0
    get, put = Box.n.__get__, Box.n.__set__

    def add():
        put(box, get(box) + 1)

    par(add, add)
    assert box.n == 2


@fails
def metaclass_attribute_through_class():
    class Meta(type):
        hits = 0

    class Box(metaclass=Meta):
        pass

    def add():
        Meta.hits = Box.hits + 1

    par(add, add)
    assert Meta.hits == 2


@fails
def init_subclass_registers_there():
    class Base:
        count = 0

        def __init_subclass__(cls):
            Base.count = Base.count + 1

    def make():
        class Sub(Base):
            pass

    par(make, make)
    assert Base.count == 2


@fails
def object_setattr_and_getattribute():
    class Box:
        def __setattr__(self, name, value):
            raise AttributeError

    box = Box()
    object.__setattr__(box, "n", 0)

    def add():
        object.__setattr__(box, "n", object.__getattribute__(box, "n") + 1)

    par(add, add)
    assert object.__getattribute__(box, "n") == 2


@fails
def bases_exchanged():
    class A:
        def name(self):
            return "a"

    class B:
        def name(self):
            return "b"

    class C(A):
        pass

    c = C()
    got = []

    def swap():
        C.__bases__ = (B,)

    par(swap, lambda: got.append(c.name() + c.name()))
    assert got[0] in ("aa", "bb")


@fails
def class_exchanged():
    class A:
        kind = "a"

    class B:
        kind = "b"

    o = A()
    got = []

    def swap():
        o.__class__ = B

    def look():
        if isinstance(o, A):
            got.append(o.kind)

    par(swap, look)
    assert got in ([], ["a"])


@fails
def asdict_torn():
    @dataclasses.dataclass
    class Pair:
        a: int = 0
        b: int = 0

    pair = Pair()
    got = []

    def write():
        pair.a = 1
        pair.b = 1

    par(write, lambda: got.append(dataclasses.asdict(pair)))
    assert got[0]["a"] == got[0]["b"]


@fails
def mapping_proxy_sees():
    d = {"a": 0}
    view = types.MappingProxyType(d)
    got = []

    def look():
        got.append(view.get("a") == view["a"])

    par(lambda: d.update(a=1), look)
    assert got == [True]


@fails
def prepare_gives_shared_namespace():
    shared = {"n": 0}

    class Meta(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return shared

    def make():
        class New(metaclass=Meta):
            n = n + 1  # noqa: F821

    par(make, make)
    assert shared["n"] == 2


@fails
def annotations_dict_there():
    class Box:
        a: int

    def note(name):
        Box.__annotations__ = {**Box.__annotations__, name: int}

    par(lambda: note("b"), lambda: note("c"))
    assert set(Box.__annotations__) == {"a", "b", "c"}


@fails
def class_name_changes():
    class Box:
        pass

    def rename():
        Box.__name__ = Box.__name__ + "x"

    par(rename, rename)
    assert Box.__name__ == "Boxxx"


def hook(name):
    count = {"n": 0}

    def call(self, *args):
        count["n"] = count["n"] + 1
        return RESULT.get(name, 1)

    return count, type("Hooked", (), {name: call})


RESULT = {
    "__str__": "s", "__repr__": "r", "__format__": "f", "__fspath__": "p", "__dir__": [], "__bool__": True,
    "__bytes__": b"", "__float__": 1.0, "__complex__": 1j, "__iter__": iter(()), "__copy__": 1, "__deepcopy__": 1,
    "__reduce_ex__": (int, ()),
}


def twice(name, use):
    count, cls = hook(name)
    a, b = cls(), cls()
    par(lambda: use(a), lambda: use(b))
    assert count["n"] == 2


@fails
def hook_index():
    twice("__index__", lambda o: [0, 1, 2][o])


@fails
def hook_fspath():
    import os

    twice("__fspath__", lambda o: os.path.join(o, "x"))


@fails
def hook_dir():
    twice("__dir__", dir)


@fails
def hook_bytes():
    twice("__bytes__", bytes)


@fails
def hook_matmul_in_place():
    def use(o):
        o @= 3

    twice("__imatmul__", use)


@fails
def hook_divmod():
    twice("__divmod__", lambda o: divmod(o, 2))


@fails
def descriptor_with_its_own_dict():
    class Field:
        def __init__(self):
            self.values = {}

        def __get__(self, o, owner):
            return self.values.get(id(o), 0)

        def __set__(self, o, value):
            self.values[id(o)] = value

    class Box:
        n = Field()

    box = Box()

    def add():
        box.n += 1

    par(add, add)
    assert box.n == 2


@holds
def ok_dict_swap_read_once():
    class Box:
        pass

    box = Box()
    box.state = (0, 0)
    got = []

    def swap():
        box.state = (1, 1)

    def look():
        a, b = box.state
        got.append(a == b)

    par(swap, look)
    assert got == [True]


@holds
def ok_del_hook_appends():
    dead = []

    class Noisy:
        def __del__(self):
            dead.append(1)

    class Box:
        pass

    a, b = Box(), Box()
    a.x, b.x = Noisy(), Noisy()

    def drop(box):
        del box.x

    par(lambda: drop(a), lambda: drop(b))
    assert len(dead) == 2
