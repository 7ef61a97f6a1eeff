"""Special methods, metaclasses, descriptors and functions that keep something."""

import abc
import copy
import functools
import operator
import os
import weakref

from .alternating import alternating


@alternating
def property_fset_again():
    class P:
        _n = 0

        @property
        def n(self):
            return self._n

        @n.setter
        def n(self, v):
            self._n = v

    p = P()
    return lambda n: P.n.fset(p, n), lambda: P.n.__get__(p)


@alternating
def weakkey_descriptor_again():
    class D:
        def __init__(self):
            self.d = weakref.WeakKeyDictionary()

        def __get__(self, o, t=None):
            return self.d.get(o, 0)

        def __set__(self, o, v):
            self.d[o] = v

    class C:
        x = D()

    c = C()

    def w(n):
        c.x = n

    return w, lambda: c.x


@alternating
def slots_inherit_again():
    class A:
        __slots__ = ("a",)

    class B(A):
        __slots__ = ("b",)

    o = B()
    o.a = 0

    def w(n):
        o.a = n

    return w, lambda: A.a.__get__(o)


@alternating
def getattribute_swap_again():
    class A:
        def __getattribute__(self, name):
            return object.__getattribute__(self, "real") if name == "n" else object.__getattribute__(self, name)

    a = A()
    a.real = 0

    def w(n):
        a.real = n

    return w, lambda: a.n


@alternating
def class_getitem_state_again():
    class A:
        n = 0

        def __class_getitem__(cls, k):
            return cls.n

    def w(n):
        A.n = n

    return w, lambda: A["x"]


@alternating
def init_subclass_state_again():
    class A:
        n = 0

        def __init_subclass__(cls, **kw):
            A.n += 1

    def w(n):
        type("B", (A,), {})

    return w, lambda: A.n


@alternating
def metaclass_property_again():
    class M(type):
        _n = 0

        @property
        def n(cls):
            return M._n

    class A(metaclass=M):
        pass

    def w(n):
        M._n = n

    return w, lambda: A.n


@alternating
def metaclass_call_again():
    box = [0]

    class M(type):
        def __call__(cls, *a):
            return box[0]

    class A(metaclass=M):
        pass

    return lambda n: box.__setitem__(0, n), lambda: A()


@alternating
def metaclass_len_again():
    box = []

    class M(type):
        def __len__(cls):
            return len(box)

    class A(metaclass=M):
        pass

    return lambda n: box.append(n), lambda: len(A)


@alternating
def metaclass_contains_again():
    box = set()

    class M(type):
        def __contains__(cls, x):
            return x in box

    class A(metaclass=M):
        pass

    return lambda n: box.add(n), lambda: sum(i in A for i in (1, 2, 3))


@alternating
def dunder_index_again():
    class I:
        n = 0

        def __index__(self):
            return self.n

    i = I()
    l = [0, 1, 2, 3]

    def w(n):
        i.n = n

    return w, lambda: l[i]


@alternating
def dunder_bool_again():
    class I:
        n = 0

        def __bool__(self):
            return self.n > 0

    i = I()
    c = [0]

    def w(n):
        i.n = 1
        c[0] = n

    return w, lambda: c[0] if i else 0


@alternating
def dunder_format_again():
    class I:
        n = 0

        def __format__(self, s):
            return str(self.n)

    i = I()

    def w(n):
        i.n = n

    return w, lambda: int(f"{i:x}")


@alternating
def dunder_iter_old_again():
    class I:
        d = [0]

        def __getitem__(self, k):
            return self.d[k]

    i = I()
    return lambda n: i.d.__setitem__(0, n), lambda: list(i)[0]


@alternating
def dunder_radd_again():
    class I:
        n = 0

        def __radd__(self, o):
            return o + self.n

    i = I()

    def w(n):
        i.n = n

    return w, lambda: 0 + i


@alternating
def dunder_call_default_again():
    class I:
        def __init__(self):
            self.l = [0]

        def __call__(self, *, k=None):
            return self.l[-1]

    i = I()
    return lambda n: i.l.append(n), lambda: i()


@alternating
def dunder_matmul_inplace_again():
    class I:
        n = 0

        def __imatmul__(self, o):
            self.n = o
            return self

    i = I()

    def w(n):
        nonlocal i
        i @= n

    return w, lambda: i.n


@alternating
def dunder_length_hint_again():
    class I:
        n = 0

        def __length_hint__(self):
            return self.n

    i = I()

    def w(n):
        i.n = n

    return w, lambda: operator.length_hint(i)


@alternating
def dunder_fspath_again():
    class I:
        n = 0

        def __fspath__(self):
            return str(self.n)

    i = I()

    def w(n):
        i.n = n

    return w, lambda: int(os.fspath(i))


@alternating
def dunder_reduce_copy_again():
    class I:
        n = 0

        def __reduce__(self):
            return (int, (self.n,))

    i = I()

    def w(n):
        i.n = n

    return w, lambda: copy.copy(i)


@alternating
def dunder_deepcopy_again():
    class I:
        n = 0

        def __deepcopy__(self, memo):
            return self.n

    i = I()

    def w(n):
        i.n = n

    return w, lambda: copy.deepcopy([i])[0]


@alternating
def dunder_instancecheck_again():
    class M(type):
        n = 0

        def __instancecheck__(cls, o):
            return M.n

    class A(metaclass=M):
        pass

    box = [0]

    def w(n):
        box[0] = n
        M.n = n

    return w, lambda: box[0] if isinstance(1, A) else 0


@alternating
def dunder_dir_again():
    class I:
        def __init__(self):
            self.l = []

        def __dir__(self):
            return ["x"] * len(self.l)

    i = I()
    return lambda n: i.l.append(1), lambda: len(dir(i))


@alternating
def singledispatch_register_again():
    @functools.singledispatch
    def f(x):
        return 0

    def w(n):
        f.register(int, lambda x: n)

    return w, lambda: f(1)


@alternating
def cached_property_del_again():
    class A:
        src = 0

        @functools.cached_property
        def n(self):
            return self.src

    a = A()

    def w(n):
        a.src = n
        a.__dict__.pop("n", None)

    return w, lambda: a.n


@alternating
def lru_hits_again():
    @functools.lru_cache
    def f(x):
        return x

    f(0)
    return lambda n: f(0), lambda: f.cache_info().hits


@alternating
def lru_params_state_again():
    box = [0]

    @functools.lru_cache
    def f(x):
        return box[0]

    def w(n):
        box[0] = n
        f.cache_clear()

    return w, lambda: f(0)


@alternating
def reduce_fn_again():
    box = [0]
    return lambda n: box.__setitem__(0, n), lambda: functools.reduce(lambda a, b: box[0], [1, 2])


@alternating
def partialmethod_obj_again():
    class A:
        def __init__(self):
            self.l = [0]

        def get(self, i):
            return self.l[i]

        last = functools.partialmethod(get, -1)

    a = A()
    return lambda n: a.l.append(n), lambda: a.last()


@alternating
def cmp_to_key_state_again():
    box = [0]

    def cmp(a, b):
        return (a > b) - (a < b) if box[0] == 0 else (b > a) - (b < a)

    def read():
        return sorted([1, 2], key=functools.cmp_to_key(cmp))[0] and box[0]

    return lambda n: box.__setitem__(0, n), read


@alternating
def class_body_read_again():
    b = [0]

    def read():
        class C:
            n = b[0]

        return C.n

    return lambda n: b.__setitem__(0, n), read


@alternating
def del_attr_fallback_again():
    class C:
        n = 0

    c = C()
    c.n = 0
    vals = []

    def w(n):
        vals.append(n)
        C.n = n
        c.__dict__.pop("n", None)

    return w, lambda: c.n


@alternating
def super_attr_again():
    class A:
        n = 0

    class B(A):
        def get(self):
            return super().n

    b = B()

    def w(n):
        A.n = n

    return w, lambda: b.get()


@alternating
def mro_entries_again():
    b = [0]

    class X:
        def __mro_entries__(self, bases):
            return (type("Y", (), {"n": b[0]}),)

    x = X()

    def read():
        class Z(x):
            pass

        return Z.n

    return lambda n: b.__setitem__(0, n), read


@alternating
def prepare_ns_again():
    b = [0]

    class M(type):
        @classmethod
        def __prepare__(mcs, name, bases):
            return {"n": b[0]}

    def read():
        class Z(metaclass=M):
            pass

        return Z.n

    return lambda n: b.__setitem__(0, n), read


@alternating
def set_name_read_again():
    b = [0]

    class D:
        def __set_name__(self, o, name):
            o.n = b[0]

    def read():
        class Z:
            d = D()

        return Z.n

    return lambda n: b.__setitem__(0, n), read


@alternating
def typing_get_hints_again():
    class C:
        x: int

    C.__annotations__["n"] = 0
    return lambda n: C.__annotations__.__setitem__("n", n), lambda: C.__annotations__["n"]


@alternating
def abc_registry_again():
    class A(abc.ABC):
        pass

    cl = [type(f"K{i}", (), {}) for i in range(4)]
    return lambda n: A.register(cl[n]), lambda: sum(issubclass(cl[i], A) for i in (1, 2, 3))
