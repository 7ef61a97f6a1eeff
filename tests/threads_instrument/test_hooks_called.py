"""Which hooks rewritten code calls, and in which order: the contract with the runtime."""

from __future__ import annotations

import textwrap
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.threads_instrument.passthrough import HOOKS, recording
from treadle.threads.instrument import install_hooks
from treadle.threads.instrument.chunks import compile_chunk


def calls(source: str, *arguments: Any) -> list[str]:
    """Define what `source` defines, call its `f`, and list the hooks called, as `hook name`."""
    log: list[tuple[Any, ...]] = []
    module = ModuleType("program")
    install_hooks(recording(log))
    try:
        exec(compile_chunk(textwrap.dedent(source).encode(), "<program>").rewritten, vars(module))
        log.clear()
        vars(module)["f"](*arguments)
    finally:
        install_hooks(HOOKS)
    return [" ".join(entry) for entry in log]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("o.x", ["load x"]),
        ("o.m()", ["callee m"]),
        ("len(d)", ["function"]),
        ("o.x = 1", ["store x"]),
        ("del o.x", ["delete x"]),
        ("d['k']", ["item k"]),
        ("d['k'] = 1", ["set_item k"]),
        ("del d['k']", ["del_item k"]),
        ("l[0:1]", ["item"]),
        ("o.x += 1", ["load x", "iadd", "store x"]),
        ("d['k'] += 1", ["item k", "iadd", "set_item k"]),
        ("n = 0; n += 1", ["iadd"]),
        ("l += [3]", ["iadd"]),
        ("l *= 2", ["imul"]),
        ("o.x += l[0]", ["load x", "item", "iadd", "store x"]),
        ("o.l += l", ["load l", "iadd", "store l"]),
        ("o.y.x += 1", ["load y", "load x", "iadd", "store x"]),
        ("o.y.l += l", ["load y", "load l", "iadd", "store l"]),
        ("d |= d2", ["ior"]),
        ("'k' in d", ["in k"]),
        ("'k' not in d", ["in k"]),
        ("1 if d else 2", ["use"]),
        ("not d", ["use"]),
        ("d and l", ["use"]),
        ("d or 1", ["use"]),
        ("d == l", ["eq"]),
        ("d == 1", ["eq"]),
        ("d == 'text' != l", ["use_both text"]),
        ("d == b'bytes'", ["eq"]),
        ("len(l) - 1", ["function", "sub"]),
        ("l * 2", ["mul"]),
        ("2 * l", ["mul"]),
        ("'%s' % l", ["mod %s"]),
        ("d is None", []),
        ("l + l", ["add"]),
        ("f'{l}'", ["show"]),
        ("print(*[], **{})", ["function"]),
        ("print(*l[2:], **d2)", ["function", "item", "spread", "merge"]),
        ("[*l]", ["star"]),
        ("for x in l: pass", ["iter"]),
        ("[x for x in l if x]", ["iter", "use", "use"]),
        ("a, b = l", ["iter"]),
        ("a, b = 1, 2", []),
        ("x = a, b = l", ["use"]),
        ("o.x, d['k'] = 1, 2", ["store x", "set_item k"]),
        ("for o.x in [1]: pass", ["store x"]),
        ("with cm: pass", ["context"]),
        ("with cm as o.x: pass", ["context", "store x"]),
        ("assert l", ["use"]),
        ("while d2: pass", ["spin_start", "use"]),
        ("o.x < d['k'] < 9", ["load x", "item k", "use_both"]),
        ("0 < o.x < 9", ["load x", "use_both", "use_both"]),
        ("(yield_from := list(g(l)))", ["function", "function", "delegate"]),
        ("vars(o)", ["function"]),
        ("vars()", []),
        ("locals(), globals(), dir()", []),
        ("x: int = 1", []),
        ("o.x: int = 1", ["store x"]),
        ("d.get('k')", ["callee get"]),
    ],
)
def test_statement(statement: str, expected: list[str]) -> None:
    source = f"""
    import contextlib
    cm = contextlib.nullcontext()
    d2 = {{}}
    def g(l): yield from l
    def f(o, d, l):
        {statement}
    """
    inner = SimpleNamespace(x=1, l=[])
    subject = SimpleNamespace(x=1, m=lambda: None, l=[], y=inner)
    assert calls(source, subject, {"k": 1}, [1, 2]) == expected


def test_method_call_evaluates_arguments_after_the_method() -> None:
    assert calls("def f(o): o.m(o.x)", SimpleNamespace(x=1, m=lambda x: None)) == ["callee m", "load x"]


def test_private_names_are_those_of_the_class() -> None:
    source = """
    class C:
        def __init__(self): self.__x = 1
        def get(self): return self.__x
    def f(): return C().get()
    """
    assert calls(source) == ["function", "store _C__x", "callee get", "load _C__x"]


def test_global_is_hooked_only_where_a_function_rebinds_it() -> None:
    source = """
    count = 0
    CONSTANT = 1
    def bump():
        global count
        count += CONSTANT
    def f():
        bump()
        return count
    """
    assert calls(source) == ["function", "global count", "iadd", "set_global count", "global count"]


def test_module_state_is_hooked_where_it_is_read_because_other_modules_may_rebind_it() -> None:
    source = """
    stop = False
    LIMIT = 3
    table = {}
    _level: int = 0
    def f():
        return stop, LIMIT, table, _level, len
    """
    assert calls(source) == ["global stop", "global _level"]


def test_local_of_the_same_name_is_not_the_global() -> None:
    source = """
    count = 0
    def bump():
        global count
        count = 1
    def f():
        count = 5
        def inner(): return count
        return inner(), [count for count in (1, 2)]
    """
    assert calls(source) == ["function"]


def test_closure_variable_rebound_by_the_inner_function() -> None:
    source = """
    def f():
        n = 0
        def up():
            nonlocal n
            n = n + 1
        up()
        return n
    """
    label = "f.<locals>.n"
    assert [call for call in calls(source) if "cell" in call] == [
        f"cell_write {label}",
        f"cell_read {label}",
        f"cell_write {label}",
        f"cell_read {label}",
    ]


def test_closure_variable_rebound_by_its_owner_after_the_inner_function_exists() -> None:
    source = """
    def f():
        done = False
        def look(): return done
        look()
        done = True
    """
    label = "f.<locals>.done"
    assert calls(source) == [f"cell_write {label}", "function", f"cell_read {label}", f"cell_write {label}"]


def test_loop_variable_captured_by_a_function_made_in_the_loop() -> None:
    source = """
    def f():
        made = []
        for i in (1, 2):
            made.append(lambda: i)
        return made[0]()
    """
    assert [call for call in calls(source) if "cell" in call] == [
        "cell_write f.<locals>.i",
        "cell_write f.<locals>.i",
        "cell_read f.<locals>.i",
    ]


def test_comprehension_variable_captured_by_a_function_made_in_it() -> None:
    source = """
    def f():
        return [(lambda: i)() for i in (1, 2)]
    """
    label = "f.<locals>.<listcomp>.<locals>.i"
    assert [call for call in calls(source) if "cell" in call] == [f"cell_write {label}", f"cell_read {label}"] * 2


def test_closure_variable_that_is_never_rebound_needs_no_hook() -> None:
    source = """
    def f(x):
        y = x
        def look(): return x, y
        return look()
    """
    assert calls(source, 1) == ["function"]


def test_announcement_comes_right_before_the_write() -> None:
    """Between the point and the write nothing else may happen, also inside an unpacking."""
    source = """
    def f(o):
        n = m = 0
        def swap():
            nonlocal n, m
            n, o.x, m = o.y, n, 7
        swap()
    """
    seen = calls(source, SimpleNamespace(x=1, y=2))
    assert [call for call in seen if call.split()[0] in ("cell_write", "store", "load")][2:] == [
        "load y",
        "cell_write f.<locals>.n",
        "store x",
        "cell_write f.<locals>.m",
    ]


@pytest.mark.parametrize(
    "loop",
    [
        "while not o.x: pass",
        "while not o.x: continue",
        "while o.x == 0: time.sleep(0.1)",
        "while not o.is_set(): sleep(1)",
        "while True:\n            if o.x: break",
        "while True:\n            if o.x: return\n            time.sleep(1)",
        "while not o.x:\n            if o.late: raise TimeoutError\n            continue",
        "while not o.x: ...",
    ],
)
def test_spin_loop_is_marked(loop: str) -> None:
    assert _marks(loop) >= 1


@pytest.mark.parametrize(
    "loop",
    [
        "while o.x: o.x -= 1",
        "while not o.x: n = 1",
        "while o.pop(): pass",
        "while next(o): pass",
        "while (n := o.x): pass",
        "while o.x: o.step()",
        "while o.x:\n            for _ in (): pass",
    ],
)
def test_loop_that_gets_somewhere_by_itself_is_not_marked(loop: str) -> None:
    assert _marks(loop) == 0


def _marks(loop: str) -> int:
    source = f"def f(o):\n        {loop}\n"
    code = compile_chunk(source.encode(), "<program>").rewritten.co_consts[0]
    return code.co_names.count("_treadle_spin")  # type: ignore[no-any-return]


def test_spin_is_called_once_per_iteration_also_before_continue() -> None:
    source = """
    class Flag:
        n = 0
        def __bool__(self):
            Flag.n += 1
            return Flag.n > 4
    def f():
        flag = Flag()
        while not flag:
            if flag is None: break
            if flag is not None: continue
            pass
    """
    assert calls(source).count("spin") == 4
