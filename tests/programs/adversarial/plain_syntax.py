"""Patterns, unpacking, generators, and functions that C code calls back."""

import ast
import bisect
import contextlib
import heapq
import io
import itertools
import json
import pprint
import re
import reprlib
import string
import textwrap

from .alternating import alternating


class Box:
    pass


@alternating
def gen_send_state_again():
    def g():
        x = 0
        while True:
            got = yield x
            if got is not None:
                x = got

    it = g()
    next(it)
    return lambda n: it.send(n), lambda: next(it)


@alternating
def gen_frame_locals_again():
    def g():
        x = 0
        while True:
            x += 1
            yield x

    it = g()
    next(it)

    def w(n):
        if n > 1:
            next(it)

    return w, lambda: it.gi_frame.f_locals["x"]


@alternating
def gen_throw_again():
    def g():
        n = 0
        while True:
            try:
                yield n
            except KeyError:
                n += 1

    it = g()
    next(it)
    return lambda n: it.throw(KeyError), lambda: next(it)


@alternating
def gen_return_value_again():
    box = [0]

    def g():
        yield
        return box[0]

    def read():
        def outer():
            r = yield from g()
            yield r

        it = outer()
        next(it)
        return next(it)

    return lambda n: box.__setitem__(0, n), read


@alternating
def coroutine_send_again():
    class Aw:
        def __await__(self):
            return (yield box[0])

    box = [0]

    async def co():
        return await Aw()

    def read():
        c = co()
        v = c.send(None)
        c.close()
        return v

    return lambda n: box.__setitem__(0, n), read


@alternating
def cycle_state_again():
    c = itertools.cycle([1, 2, 3])
    box = [0]

    def w(n):
        box[0] = next(c)

    return w, lambda: box[0]


@alternating
def accumulate_source_again():
    l = []
    it = itertools.accumulate(l)
    return lambda n: l.append(1), lambda: next(it, -1)


@alternating
def chain_source_again():
    l = []
    it = itertools.chain(l)
    return lambda n: l.append(n), lambda: next(it, -1) if l else -1


@alternating
def islice_source_again():
    l = [0] * 4
    it = iter(l)

    def w(n):
        l[n] = n

    next(it)
    s = itertools.islice(it, None)
    return w, lambda: next(s, -1)


@alternating
def groupby_keyfn_again():
    k = [0]

    def read():
        return next(itertools.groupby([1], key=lambda x: k[0]))[0]

    return lambda n: k.__setitem__(0, n), read


@alternating
def pairwise_src_again():
    l = [0, 0]
    return lambda n: l.__setitem__(1, n), lambda: next(itertools.pairwise(l))[1]


@alternating
def starmap_fn_again():
    k = [0]
    return lambda n: k.__setitem__(0, n), lambda: next(itertools.starmap(lambda a: a + k[0], [(0,)]))


@alternating
def ast_node_again():
    t = ast.parse("0", mode="eval")

    def w(n):
        t.body.value = n

    return w, lambda: ast.literal_eval(t)


@alternating
def ast_unparse_again():
    t = ast.parse("0", mode="eval")

    def w(n):
        t.body = ast.Constant(n)

    return w, lambda: int(ast.unparse(t))


@alternating
def json_default_again():
    box = [0]
    return lambda n: box.__setitem__(0, n), lambda: int(json.dumps(object(), default=lambda o: box[0]))


@alternating
def json_hook_again():
    box = [0]
    return lambda n: box.__setitem__(0, n), lambda: json.loads("{}", object_hook=lambda d: box[0])


@alternating
def re_sub_fn_again():
    box = [0]
    return lambda n: box.__setitem__(0, n), lambda: int(re.sub("x", lambda m: str(box[0]), "x"))


@alternating
def string_formatter_again():
    class F(string.Formatter):
        n = 0

        def get_value(self, k, a, kw):
            return self.n

    f = F()

    def w(n):
        f.n = n

    return w, lambda: int(f.format("{x}"))


@alternating
def template_mapping_again():
    d = {"n": 0}
    t = string.Template("$n")
    return lambda n: d.update(n=n), lambda: int(t.substitute(d))


@alternating
def percent_mapping_again():
    d = {"n": 0}
    return lambda n: d.update(n=n), lambda: int("%(n)s" % d)


@alternating
def format_attr_nested_again():
    b = Box()
    b.c = Box()
    b.c.n = 0

    def w(n):
        b.c.n = n

    return w, lambda: int("{0.c.n}".format(b))


@alternating
def bisect_key_again():
    box = [0]

    def read():
        return bisect.bisect_left([1, 2, 3], box[0] + 1, key=lambda x: x)

    return lambda n: box.__setitem__(0, n), read


@alternating
def heapq_merge_again():
    l = [0]
    return lambda n: l.__setitem__(0, n), lambda: next(heapq.merge(l, [9]))


@alternating
def heap_list_again():
    h = [0]
    return lambda n: heapq.heappush(h, -n), lambda: -h[0]


@alternating
def min_default_again():
    l = []
    return lambda n: l.append(-n), lambda: -min(l, default=0)


@alternating
def sum_start_again():
    l = []
    return lambda n: l.append([1]), lambda: len(sum(l, []))


@alternating
def redirected_stdout_again():
    buf = io.StringIO()
    return lambda n: print("x", end="", file=buf), lambda: len(buf.getvalue())


@alternating
def closing_obj_again():
    class C:
        n = 0

        def close(self):
            pass

    c = C()
    cl = contextlib.closing(c)

    def w(n):
        c.n = n

    return w, lambda: cl.thing.n


@alternating
def nullcontext_result_again():
    nc = contextlib.nullcontext([0])

    def w(n):
        nc.enter_result[0] = n

    def read():
        with nc as l:
            return l[0]

    return w, read


@alternating
def match_mapping_again():
    d = {"n": 0}

    def read():
        match d:
            case {"n": x}:
                return x

    return lambda n: d.update(n=n), read


@alternating
def match_rest_again():
    d = {"a": 1}

    def read():
        match d:
            case {"a": _, **rest}:
                return len(rest)

    return lambda n: d.__setitem__(n, n), read


@alternating
def match_sequence_star_again():
    l = []

    def read():
        match l:
            case [*x]:
                return len(x)

    return lambda n: l.append(n), read


@alternating
def match_class_args_again():
    class P:
        __match_args__ = ("n",)
        n = 0

    p = P()

    def w(n):
        p.n = n

    def read():
        match p:
            case P(x):
                return x

    return w, read


@alternating
def match_guard_again():
    b = [0]

    def read():
        match 1:
            case x if (v := b[0]) >= 0:
                return v

    return lambda n: b.__setitem__(0, n), read


@alternating
def walrus_chain_again():
    b = Box()
    b.n = 0

    def w(n):
        b.n = n

    return w, lambda: (x := b).n


@alternating
def star_assign_again():
    l = [0]

    def read():
        *_, last = l
        return last

    return lambda n: l.append(n), read


@alternating
def slice_aug_again():
    l = []

    def w(n):
        l[0:0] = [n]

    return w, lambda: len(l[:])


@alternating
def nonlocal_two_deep_again():
    x = 0

    def mid():
        def inner(n):
            nonlocal x
            x = n

        return inner

    return mid(), lambda: x


@alternating
def genexp_lazy_again():
    l = [0]

    def read():
        g = (x for x in l)
        return next(g)

    return lambda n: l.__setitem__(0, n), read


@alternating
def default_arg_eval_again():
    b = [0]

    def read():
        def f(x=b[0]):
            return x

        return f()

    return lambda n: b.__setitem__(0, n), read


@alternating
def decorator_arg_again():
    b = [0]

    def deco(v):
        return lambda f: v

    def read():
        @deco(b[0])
        def f():
            pass

        return f

    return lambda n: b.__setitem__(0, n), read


@alternating
def fstring_nested_spec_again():
    b = [0]
    return lambda n: b.__setitem__(0, n), lambda: len(f"{'':{b[0]}}")


@alternating
def chained_compare_again():
    b = Box()
    b.n = 0

    def w(n):
        b.n = n

    return w, lambda: sum(0 < i <= b.n for i in (1, 2, 3))


@alternating
def cond_expr_attr_again():
    b = Box()
    b.n = 0

    def w(n):
        b.n = n

    return w, lambda: b.n if b.n is not None else -1


@alternating
def reprlib_limit_again():
    r = reprlib.Repr()
    r.maxlist = 1

    def w(n):
        r.maxlist = n + 1

    return w, lambda: r.repr([1] * 9).count("1") - 1


@alternating
def pprint_width_again():
    b = [0]

    class P(pprint.PrettyPrinter):
        def format(self, o, c, m, l):
            return str(b[0]), True, False

    p = P()
    return lambda n: b.__setitem__(0, n), lambda: int(p.pformat(1))


@alternating
def textwrap_width_again():
    t = textwrap.TextWrapper(width=1)

    def w(n):
        t.width = n + 1

    return w, lambda: len(t.wrap("abcdefgh")[0]) - 1
