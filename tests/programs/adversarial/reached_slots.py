"""Special methods that are put on a class while others use its instances."""

import copy
import functools
import os
import pickle

from treadle import parallel as par

from .truth import fails, holds


class Meta(type):
    pass


def seen(cls, name, new, read, good):
    """Put `new` on the class for a while; `read` must not see it."""

    def visit():
        old = cls.__dict__.get(name)
        setattr(cls, name, new)
        if old is None:
            delattr(cls, name)
        else:
            setattr(cls, name, old)

    got = []
    par(visit, lambda: got.append(read()))
    assert got[0] in good


@fails
def slot_len_decides_truth():
    class C:
        pass

    c = C()
    seen(C, "__len__", lambda self: 0, lambda: bool(c), [True])


@fails
def slot_bool_decides_if():
    class C:
        pass

    c = C()
    seen(C, "__bool__", lambda self: False, lambda: 1 if c else 0, [1])


@fails
def slot_add():
    class C:
        def __add__(self, other):
            return 1

    c = C()
    seen(C, "__add__", lambda self, other: 2, lambda: c + c, [1])


@fails
def slot_call():
    class C:
        def __call__(self):
            return 1

    c = C()
    seen(C, "__call__", lambda self: 2, lambda: c(), [1])


@fails
def slot_call_through_map():
    class C:
        def __call__(self, x):
            return 1

    c = C()
    seen(C, "__call__", lambda self, x: 2, lambda: list(map(c, [0])), [[1]])


@fails
def slot_getitem():
    class C:
        def __getitem__(self, i):
            return 1

    c = C()
    seen(C, "__getitem__", lambda self, i: 2, lambda: c[0], [1])


@fails
def slot_iter():
    class C:
        def __iter__(self):
            return iter([1])

    c = C()
    seen(C, "__iter__", lambda self: iter([2]), lambda: list(c), [[1]])


@fails
def slot_contains():
    class C:
        def __contains__(self, x):
            return True

    c = C()
    seen(C, "__contains__", lambda self, x: False, lambda: 1 in c, [True])


@fails
def slot_eq_in_list():
    class C:
        def __eq__(self, other):
            return True

        __hash__ = None

    c = C()
    seen(C, "__eq__", lambda self, other: False, lambda: 5 in [c], [True])


@fails
def slot_hash_in_set():
    class C:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return isinstance(other, C)

    c = C()
    s = {C()}
    seen(C, "__hash__", lambda self: 2, lambda: c in s, [True])


@fails
def slot_lt_in_sorted():
    class C:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            return self.n < other.n

    a, b = C(1), C(2)
    seen(C, "__lt__", lambda self, other: self.n > other.n, lambda: [x.n for x in sorted([b, a])], [[1, 2]])


@fails
def slot_format():
    class C:
        def __format__(self, spec):
            return "1"

    c = C()
    seen(C, "__format__", lambda self, spec: "2", lambda: f"{c}", ["1"])


@fails
def slot_str():
    class C:
        def __str__(self):
            return "1"

    c = C()
    seen(C, "__str__", lambda self: "2", lambda: "".join(map(str, [c])), ["1"])


@fails
def slot_repr_inside_list():
    class C:
        def __repr__(self):
            return "1"

    items = [C()]
    seen(C, "__repr__", lambda self: "2", lambda: repr(items), ["[1]"])


@fails
def slot_index():
    class C:
        def __index__(self):
            return 0

    c = C()
    seen(C, "__index__", lambda self: 1, lambda: [10, 20][c], [10])


@fails
def slot_getattr_added():
    class C:
        pass

    c = C()
    seen(C, "__getattr__", lambda self, name: 1, lambda: hasattr(c, "missing"), [False])


@fails
def slot_getattribute_added():
    class C:
        x = 1

    c = C()
    seen(C, "__getattribute__", lambda self, name: 2, lambda: c.x, [1])


@fails
def slot_setattr_added():
    class C:
        pass

    c = C()

    def read():
        c.x = 1
        return "x" in vars(c)

    seen(C, "__setattr__", lambda self, name, value: None, read, [True])


@fails
def slot_descriptor_becomes_data():
    class D:
        def __get__(self, o, owner=None):
            return 2

    class C:
        d = D()

    c = C()
    c.__dict__["d"] = 1
    seen(D, "__set__", lambda self, o, v: None, lambda: c.d, [1])


@fails
def slot_new():
    class C:
        def __new__(cls):
            return 1

    seen(C, "__new__", staticmethod(lambda cls: 2), lambda: C(), [1])


@fails
def slot_init():
    class C:
        def __init__(self):
            self.n = 1

    def init(self):
        self.n = 2

    seen(C, "__init__", init, lambda: C().n, [1])


@fails
def slot_enter():
    class C:
        def __enter__(self):
            return 1

        def __exit__(self, *_):
            pass

    c = C()

    def read():
        with c as value:
            return value

    seen(C, "__enter__", lambda self: 2, read, [1])


@fails
def slot_match_args():
    class C:
        __match_args__ = ("a",)
        a, b = 1, 2

    c = C()

    def read():
        match c:
            case C(x):
                return x

    seen(C, "__match_args__", ("b",), read, [1])


@fails
def slot_instancecheck_on_metaclass():
    class M(type):
        pass

    class C(metaclass=M):
        pass

    seen(M, "__instancecheck__", lambda cls, o: True, lambda: isinstance(1, C), [False])


@fails
def slot_subclasshook():
    import abc

    class C(abc.ABC):
        @classmethod
        def __subclasshook__(cls, sub):
            return NotImplemented

    class D:
        pass

    seen(C, "__subclasshook__", classmethod(lambda cls, sub: True), lambda: issubclass(D, C), [False])


@fails
def slot_missing_on_dict():
    class C(dict):
        def __missing__(self, key):
            return 1

    c = C()
    seen(C, "__missing__", lambda self, key: 2, lambda: c["k"], [1])


@fails
def slot_reduce_and_copy():
    class C:
        def __reduce__(self):
            return (int, (1,))

    c = C()
    seen(C, "__reduce__", lambda self: (int, (2,)), lambda: copy.copy(c), [1])


@fails
def slot_reduce_and_pickle():
    class C:
        def __reduce__(self):
            return (int, (1,))

    c = C()
    seen(C, "__reduce__", lambda self: (int, (2,)), lambda: pickle.loads(pickle.dumps(c)), [1])


@fails
def slot_fspath():
    class C:
        def __fspath__(self):
            return "/a"

    c = C()
    seen(C, "__fspath__", lambda self: "/b", lambda: os.fspath(c), ["/a"])


@fails
def slot_next():
    class C:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

    c = C()
    seen(C, "__next__", lambda self: 2, lambda: next(c), [1])


@fails
def slot_inherited_from_exchanged_base_attribute():
    class B:
        def __neg__(self):
            return 1

    class C(B):
        pass

    c = C()
    seen(B, "__neg__", lambda self: 2, lambda: -c, [1])


@fails
def slot_del_added():
    class C:
        pass

    class Box:
        pass

    box = Box()
    box.c = C()
    ran = []

    def visit():
        C.__del__ = lambda self: ran.append(1)
        del C.__del__

    def drop():
        box.c = None

    par(visit, drop)
    assert ran == []


@fails
def slot_radd_of_builtin_operand():
    class C:
        def __radd__(self, other):
            return 1

    c = C()
    seen(C, "__radd__", lambda self, other: 2, lambda: sum([c], 5), [1])


@fails
def slot_getitem_of_class():
    class C:
        def __class_getitem__(cls, item):
            return 1

    seen(C, "__class_getitem__", classmethod(lambda cls, item: 2), lambda: C[0], [1])


@fails
def metaclass_call():
    class M(type):
        def __call__(cls):
            return 1

    class C(metaclass=M):
        pass

    seen(M, "__call__", lambda cls: 2, lambda: C(), [1])


@fails
def super_object_kept():
    class B:
        n = 1

    class C(B):
        n = 5

    c = C()
    up = super(C, c)
    seen(B, "n", 2, lambda: up.n, [1])


@fails
def total_ordering_root():
    @functools.total_ordering
    class C:
        def __eq__(self, other):
            return False

        def __lt__(self, other):
            return True

    a, b = C(), C()
    seen(C, "__lt__", lambda self, other: False, lambda: a <= b, [True])


@fails
def bases_exchanged_for_a_while():
    class A:
        n = 1

    class B:
        n = 2

    class C(A):
        pass

    c = C()
    got = []

    def visit():
        C.__bases__ = (B,)
        C.__bases__ = (A,)

    par(visit, lambda: got.append(c.n))
    assert got == [1]


@holds
def ok_class_methods_only_read():
    class C:
        def __len__(self):
            return 1

        def __add__(self, other):
            return 2

    c = C()
    got = []
    par(lambda: got.append(len(c)), lambda: got.append(c + c))
    assert sorted(got) == [1, 2]
