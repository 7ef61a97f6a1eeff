"""Statements and expressions that read or write more than one thing."""

import types

from treadle import parallel as par

from .truth import fails, holds


class Box:
    def __init__(self, n=0):
        self.n = n
        self.a = self.b = n


def torn(write, read, good):
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


def both(box):
    def write():
        box.a = 1
        box.b = 1

    return write


COUNT = 0


@fails
def match_sequence_pattern():
    items = [0, 0]

    def write():
        items[0] = 1
        items[1] = 1

    def read():
        match items:
            case [x, y]:
                return x, y

    torn(write, read, [(0, 0), (1, 1)])


@fails
def star_call_arguments():
    items = [0, 0]

    def write():
        items[0] = 1
        items[1] = 1

    def f(a, b):
        return a, b

    torn(write, lambda: f(*items), [(0, 0), (1, 1)])


@fails
def slice_plus_assign():
    items = [0]

    def add():
        items[0:0] += [9]
        items[-1] += 1

    par(add, add)
    assert items == [9, 9, 2]


@fails
def tuple_swap():
    box = Box()
    box.a, box.b = 1, 2

    def swap():
        box.a, box.b = box.b, box.a

    par(swap, swap)
    assert {box.a, box.b} == {1, 2}


@fails
def with_attribute_target():
    class Held:
        def __enter__(self):
            return 5

        def __exit__(self, *_):
            pass

    box = Box()
    got = []

    def use():
        with Held() as box.n:
            got.append(box.n)

    def zero():
        box.n = 0

    par(use, zero)
    assert got == [5]


@fails
def chained_comparison():
    box = Box()
    box.a, box.b = 0, 10

    def shift():
        box.b = -1
        box.b = 10

    def read():
        return box.a < box.b and box.a < box.b

    torn(shift, lambda: box.a - 1 < box.a < box.b, [True])


@fails
def class_body_reads_global():
    space = types.SimpleNamespace(n=0)

    def add():
        class Made:
            n = space.n + 1

        space.n = Made.n

    par(add, add)
    assert space.n == 2


@fails
def import_as_global():
    global COUNT
    COUNT = 0

    def use():
        global COUNT
        import math as COUNT

    def look():
        a = COUNT
        b = COUNT
        assert a is b

    par(use, look)


@fails
def conditional_expression():
    box = Box()

    def write():
        box.n = None

    torn(write, lambda: 0 if box.n is None else box.n, [0])


@fails
def lambda_default_read_late():
    box = Box()
    read = lambda: (box.a, box.b)  # noqa: E731
    torn(both(box), read, [(0, 0), (1, 1)])


@fails
def return_in_finally_order():
    box = Box()

    def write():
        box.a = 1
        box.a = 0

    def read():
        try:
            return box.a
        finally:
            box.b = 1

    torn(write, read, [0])


@fails
def percent_format_of_lists():
    a, b = [0], [0]

    def write():
        a[0] = 1
        b[0] = 1

    torn(write, lambda: "%s%s" % (a, b), ["[0][0]", "[1][1]"])


@holds
def ok_read_once():
    box = Box()

    def write():
        box.n = 1

    torn(write, lambda: (lambda n: f"{n}{n}")(box.n), ["00", "11"])


@holds
def ok_local_walrus():
    def go():
        assert [y := x * 2 for x in (1, 2)] == [2, 4]
        assert y == 4

    par(go, go)
