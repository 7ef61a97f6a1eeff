"""Functions as data: defaults, cells, code, exceptions, contexts."""

import contextvars
import functools
import operator
import sys
import threading
import types

from treadle import parallel as par

from .truth import fails, holds


def plain():
    return 0


@fails
def kwdefaults_changed():
    def f(*, a=0):
        return a

    got = []
    par(lambda: f.__kwdefaults__.update(a=1), lambda: got.append(f() + f()))
    assert got[0] in (0, 2)


@fails
def cell_contents_there():
    n = 0

    def read():
        return n

    cell = read.__closure__[0]

    def add():
        cell.cell_contents = cell.cell_contents + 1

    par(add, add)
    assert read() == 2


@fails
def cell_contents_against_variable():
    n = 0

    def read():
        return n

    cell = read.__closure__[0]

    def add():
        nonlocal n
        n = n + 1

    def other():
        cell.cell_contents += 1

    par(add, other)
    assert n == 2


@fails
def made_cell():
    cell = types.CellType(0)

    def add():
        cell.cell_contents += 1

    par(add, add)
    assert cell.cell_contents == 2


LEVEL = 0


@fails
def function_annotations():
    def f():
        pass

    f.__annotations__["n"] = 0

    def add():
        f.__annotations__["n"] += 1

    par(add, add)
    assert f.__annotations__["n"] == 2


@fails
def exec_in_shared_namespace():
    space = {"n": 0}
    code = compile("n = n + 1", "<code>", "exec")
    par(lambda: exec(code, space), lambda: exec(code, space))
    assert space["n"] == 2


@fails
def iadd_operator():
    items = [[0]]

    def add(x):
        old = operator.getitem(items, 0)
        operator.setitem(items, 0, operator.concat(old, [x]))

    par(lambda: add(1), lambda: add(2))
    assert len(items[0]) == 3


@fails
def reduce_callback_there():
    calls = {"n": 0}

    def add(a, b):
        calls["n"] += 1
        return a + b

    par(lambda: functools.reduce(add, [1, 2]), lambda: functools.reduce(add, [3, 4]))
    assert calls["n"] == 2


@fails
def exception_args_there():
    error = ValueError(0)

    def add():
        error.args = (error.args[0] + 1,)

    par(add, add)
    assert error.args == (2,)


@fails
def exception_group_members():
    group = ExceptionGroup("g", [ValueError(0)])

    def add():
        inner = group.exceptions[0]
        inner.args = (inner.args[0] + 1,)

    par(add, add)
    assert group.exceptions[0].args == (2,)


@fails
def context_entered_twice_there():
    context = contextvars.copy_context()
    seen = []

    def inside():
        seen.append(1)

    par(lambda: context.run(inside), lambda: context.run(inside))


@fails
def wrapped_exchanged():
    def f():
        return "f"

    @functools.wraps(f)
    def wrapper():
        return wrapper.__wrapped__() + wrapper.__wrapped__()

    got = []

    def swap():
        wrapper.__wrapped__ = lambda: "g"

    par(swap, lambda: got.append(wrapper()))
    assert got[0] in ("ff", "gg")


@fails
def lambda_captures_loop_variable():
    got = []

    def main():
        for i in range(2):
            thread = threading.Thread(target=lambda: got.append(i))
            threads.append(thread)
            thread.start()

    threads = []
    main()
    for thread in threads:
        thread.join()
    assert sorted(got) == [0, 1]


@fails
def from_import_of_changing_name():
    module = types.ModuleType("attack_made")
    module.a = module.b = 0
    sys.modules["attack_made"] = module
    got = []
    try:

        def write():
            module.a = 1
            module.b = 1

        def read():
            from attack_made import a, b

            got.append(a == b)

        par(write, read)
        assert got == [True]
    finally:
        del sys.modules["attack_made"]


@holds
def ok_exec_in_own_namespace():
    got = []

    def go():
        space = {"n": 0}
        exec("n = n + 1", space)
        got.append(space["n"])

    par(go, go)
    assert got == [1, 1]


@holds
def ok_itemgetter_under_lock():
    d = {"a": 0, "b": 0}
    both = operator.itemgetter("a", "b")
    lock = threading.Lock()
    got = []

    def write():
        with lock:
            d["a"] = 1
            d["b"] = 1

    def read():
        with lock:
            got.append(both(d))

    par(write, read)
    assert got[0] in ((0, 0), (1, 1))
