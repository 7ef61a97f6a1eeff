"""Live modules are instrumented in place, and look untouched afterwards."""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import inspect
import linecache
import py_compile
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.threads_instrument.passthrough import HOOKS, recording
from treadle.core.errors import UsageError
from treadle.threads.instrument import ModuleSelection, instrumented, rewritten_modules

Load = Callable[..., types.ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Writes a module below a project of its own and imports it."""
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def load(source: str, name: str = "subject") -> types.ModuleType:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield load
    for name in set(sys.modules) - before:
        del sys.modules[name]


def seen(module: types.ModuleType, action: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """What the hooks see while `action` runs with `module` instrumented."""
    log: list[tuple[Any, ...]] = []
    with instrumented(module, ModuleSelection.for_test(module), recording(log)):
        log.clear()
        action()
    return [entry for entry in log if entry[0] not in ("use", "function")]


def test_functions_methods_and_closures_that_already_exist(load: Load) -> None:
    module = load(
        """
        import functools
        class Account:
            def __init__(self): self.balance = 0
            def deposit(self, n): self.balance += n
            @property
            def rich(self): return self.balance > 10
            @staticmethod
            def fee(a): return a.balance
            @classmethod
            def open(cls): return cls.kind
            kind = 1
            class Inner:
                def look(self, o): return o.balance
            @functools.cached_property
            def once(self): return self.balance
            @functools.lru_cache
            def cached(self): return self.balance
        def outer():
            n = 0
            def up():
                nonlocal n
                n += 1
            return up
        live = outer()
        def traced(f):
            @functools.wraps(f)
            def wrapper(*args): return f(*args)
            return wrapper
        @traced
        def decorated(o): return o.balance
        by_default = [lambda o: o.balance]
        partial = functools.partial(lambda o, x: o.balance, x=1)
        def generator(o): yield o.balance
        async def coroutine(o): return o.balance
        """
    )
    account = module.Account()
    one = [("load", "balance")]
    assert seen(module, lambda: account.deposit(1)) == [("load", "balance"), ("iadd",), ("store", "balance")]
    assert seen(module, lambda: account.rich) == [*one, ("gt",)]
    assert seen(module, lambda: account.fee(account)) == one
    assert seen(module, module.Account.open) == [("load", "kind")]
    assert seen(module, lambda: account.Inner().look(account)) == one
    assert seen(module, lambda: account.once) == one
    assert seen(module, account.cached) == one
    assert seen(module, module.live) == [
        ("cell_read", "outer.<locals>.n"),
        ("iadd",),
        ("cell_write", "outer.<locals>.n"),
    ]
    assert seen(module, lambda: module.decorated(account)) == [("spread",), *one]
    assert seen(module, lambda: module.by_default[0](account)) == one
    assert seen(module, lambda: module.partial(account)) == one
    assert seen(module, lambda: list(module.generator(account))) == [*one, ("give",)]
    assert seen(module, lambda: asyncio.run(module.coroutine(account))) == one


def test_everything_is_undone(load: Load) -> None:
    module = load("def f(o): return o.x\nclass C:\n    def m(self): return self.y\n")
    codes = module.f.__code__, module.C.m.__code__
    names = dict(vars(module))
    finders = list(sys.meta_path)
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        assert module.f.__code__ is not codes[0]
        assert "subject" in rewritten_modules()
    assert (module.f.__code__, module.C.m.__code__) == codes
    assert module.f.__code__ is codes[0]
    assert vars(module) == names
    assert sys.meta_path == finders
    assert "subject" not in rewritten_modules()


def test_undone_when_the_body_fails(load: Load) -> None:
    module = load("def f(o): return o.x\n")
    code = module.f.__code__
    with pytest.raises(ZeroDivisionError), instrumented(module, ModuleSelection.for_test(module), HOOKS):
        1 / 0  # noqa: B018
    assert module.f.__code__ is code


DATACLASSES = """
import dataclasses
@dataclasses.dataclass(order=True, unsafe_hash=True)
class Point:
    x: int
    y: int = 0
@dataclasses.dataclass(eq=False)
class Other:
    x: int
    def __eq__(self, other): return self.x == other.x
"""


def test_generated_methods_of_dataclasses(load: Load) -> None:
    module = load(DATACLASSES)
    point, same, other = module.Point(1), module.Point(1), module.Other(1)
    code = module.Point.__eq__.__code__

    def loads(action: Callable[[], Any]) -> list[str]:
        names = [entry[1] for entry in seen(module, action) if entry[0] == "load"]
        return sorted(name for name in names if not name.startswith("__"))

    both = ["x", "x", "y", "y"]
    assert loads(lambda: point == same) == both
    assert loads(lambda: point < same) == both
    assert loads(lambda: hash(point)) == ["x", "y"]
    assert loads(lambda: repr(point)) == ["x", "y"]
    assert loads(lambda: other == other) == ["x", "x"]
    assert module.Point.__eq__.__code__ is code
    assert seen(module, lambda: module.Point(2)) == []


def test_generated_methods_of_a_module_imported_meanwhile(load: Load, tmp_path: Path) -> None:
    module = load("def f():\n    import shapes\n    return shapes.Point(1) == shapes.Point(1)\n")
    (tmp_path / "shapes.py").write_text(DATACLASSES)
    log: list[tuple[Any, ...]] = []
    with instrumented(module, ModuleSelection.for_test(module), recording(log)):
        assert module.f()
    assert [entry for entry in log if entry[1:] == ("x",)] == [("load", "x"), ("load", "x")]
    assert "_treadle_load" not in sys.modules["shapes"].Point.__eq__.__code__.co_names


def test_generated_methods_are_seen_although_a_source_of_their_name_is_known(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 3.13 on, `python -c` leaves its source under the name <string>: so start the workers of pytest-xdist."""
    source = "def __create_fn__():\n def __eq__(self, other): return 1\n"
    monkeypatch.setitem(linecache.cache, "<string>", (len(source), None, source.splitlines(True), "<string>"))
    module = load(DATACLASSES)
    point, same = module.Point(1), module.Point(1)
    loads = [entry[1] for entry in seen(module, lambda: point == same) if entry[0] == "load"]
    assert sorted(name for name in loads if not name.startswith("__")) == ["x", "x", "y", "y"]


def test_functions_made_meanwhile_are_undone_too(load: Load) -> None:
    module = load("def make():\n    def inner(o): return o.x\n    return inner\n")
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        made = module.make()
        assert "_treadle_load" in made.__code__.co_names
    assert made.__code__.co_names == ("x",)


def test_generator_suspended_in_rewritten_code_goes_on_afterwards(load: Load) -> None:
    module = load("def g(o):\n    yield o.real\n    yield o.imag\n")
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        running = module.g(5)
        assert next(running) == 5
    assert next(running) == 0


def test_instrumentations_nest(load: Load) -> None:
    module = load("def f(o): return o.x\n")
    code = module.f.__code__
    selection = ModuleSelection.for_test(module)
    with instrumented(module, selection, HOOKS):
        rewritten = module.f.__code__
        with instrumented(module, selection, HOOKS):
            assert module.f.__code__ is rewritten
        assert module.f.__code__ is rewritten
        assert "subject" in rewritten_modules()
    assert module.f.__code__ is code


def test_no_other_module_is_touched(load: Load) -> None:
    module = load("import textwrap\ndef f(s): return textwrap.dedent(s)\n")
    code = textwrap.dedent.__code__
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        assert textwrap.dedent.__code__ is code
        assert "textwrap" not in rewritten_modules()


def test_named_package_of_the_standard_library(load: Load) -> None:
    module = load("def f(): pass\n")
    code = textwrap.dedent.__code__
    with instrumented(module, ModuleSelection.for_test(module, ["textwrap"]), HOOKS):
        assert textwrap.dedent("  a") == "a"
        assert textwrap.dedent.__code__ is not code
    assert textwrap.dedent.__code__ is code


def test_imported_meanwhile(load: Load, tmp_path: Path) -> None:
    module = load("def f():\n    import later\n    return later.g()\n")
    (tmp_path / "later.py").write_text("class O: x = 1\ndef g(): return O.x\n")
    log: list[tuple[Any, ...]] = []
    with instrumented(module, ModuleSelection.for_test(module), recording(log)):
        assert module.f() == 1
        assert rewritten_modules() == ["later", "subject"]
    assert ("load", "x") in log
    later = sys.modules["later"]
    assert later.g.__code__.co_names == ("O", "x")
    assert type(later.__loader__) is type(module.__loader__)
    assert inspect.getsource(later.g) == "def g(): return O.x\n"


def test_import_error_and_syntax_error_are_the_programs_own(load: Load, tmp_path: Path) -> None:
    module = load("def f(name): return __import__(name)\n")
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "failing.py").write_text("import nothing_of_that_name\n")
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        with pytest.raises(SyntaxError) as syntax:
            module.f("broken")
        with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
            module.f("failing")
    assert (syntax.value.filename, syntax.value.lineno) == (str(tmp_path / "broken.py"), 1)


def test_file_edited_after_import_is_an_error(load: Load, tmp_path: Path) -> None:
    module = load("def f(o): return o.x\n")
    code = module.f.__code__
    (tmp_path / "subject.py").write_text("def f(o): return o.y + 1\n")
    with pytest.raises(UsageError, match="was edited after it was imported"):
        instrumented(module, ModuleSelection.for_test(module), HOOKS).__enter__()
    assert module.f.__code__ is code
    (tmp_path / "subject.py").write_text("def f(o: return\n")
    with pytest.raises(UsageError, match=r"subject\.py:1: .* edited after it was imported"):
        instrumented(module, ModuleSelection.for_test(module), HOOKS).__enter__()


def test_code_changed_by_another_tool_is_replaced_and_given_back(load: Load) -> None:
    module = load("def f(o): return o.x\n")
    py_compile.compile(module.__file__ or "")
    module.f.__code__ = changed = module.f.__code__.replace(co_name="f", co_consts=(None, "padding"))
    log: list[tuple[Any, ...]] = []
    with instrumented(module, ModuleSelection.for_test(module), recording(log)):
        module.f(types.SimpleNamespace(x=1))
    assert ("load", "x") in log
    assert module.f.__code__ is changed


def test_function_nested_in_a_running_function() -> None:
    total = 0

    def inner() -> int:
        nonlocal total
        total += 1
        return total

    log: list[tuple[Any, ...]] = []
    with instrumented(inner, ModuleSelection.for_test(inner), recording(log)):
        assert inner() == 1
    assert log == [
        ("cell_read", "test_function_nested_in_a_running_function.<locals>.total"),
        ("iadd",),
        ("cell_write", "test_function_nested_in_a_running_function.<locals>.total"),
        ("cell_read", "test_function_nested_in_a_running_function.<locals>.total"),
    ]


def test_pytest_keeps_its_detailed_assertions() -> None:
    def compare(value: Any) -> None:
        assert value.x == [1, 2], "context"

    with pytest.raises(AssertionError) as plain:
        compare(types.SimpleNamespace(x=[1, 3]))
    with instrumented(compare, ModuleSelection.for_test(compare), HOOKS):
        assert "_treadle_load" in compare.__code__.co_names
        with pytest.raises(AssertionError) as rewritten:
            compare(types.SimpleNamespace(x=[1, 3]))
    assert str(rewritten.value) == str(plain.value)
    assert "assert [1, 3] == [1, 2]" in str(plain.value)


def test_source_that_only_linecache_knows() -> None:
    source = "class Box:\n    def __init__(self): self.x = 1\ndef cell(b):\n    return b.x\n"
    linecache.cache["<cell 7>"] = (len(source), None, source.splitlines(keepends=True), "<cell 7>")
    notebook = types.ModuleType("notebook_session")
    sys.modules["notebook_session"] = notebook
    exec(compile(source, "<cell 7>", "exec"), vars(notebook))
    try:
        log: list[tuple[Any, ...]] = []
        cell, box = vars(notebook)["cell"], vars(notebook)["Box"]
        assert ModuleSelection.for_test(cell).selects("notebook_session", None)
        with instrumented(cell, ModuleSelection(None, (), frozenset({"notebook_session"})), recording(log)):
            cell(box())
        assert log == [("store", "x"), ("load", "x")]
    finally:
        del sys.modules["notebook_session"]


def test_test_without_source_is_an_error() -> None:
    typed = types.ModuleType("typed_at_the_prompt")
    sys.modules["typed_at_the_prompt"] = typed
    try:
        exec("def test(): pass", vars(typed))
        test = vars(typed)["test"]
        with pytest.raises(UsageError, match=r"the source of test \(<string>:1\) cannot be found"):
            instrumented(test, ModuleSelection.for_test(test), HOOKS).__enter__()
        assert "typed_at_the_prompt" not in rewritten_modules()
    finally:
        del sys.modules["typed_at_the_prompt"]


def test_a_test_that_a_library_dressed_up_without_saying_so_is_run(load: Load) -> None:
    """As parameterized.expand does: the name of the test's module, and code of the library's own."""
    module = load("def f(o): return o.x\n")

    @functools.wraps(module.f)
    def dressed(*args: Any) -> Any:
        return module.f(*args)

    del dressed.__wrapped__
    log: list[tuple[Any, ...]] = []
    with instrumented(dressed, ModuleSelection.for_test(module), recording(log)):
        dressed(types.SimpleNamespace(x=1))
    assert log == [("load", "x")]


def test_subject_behind_partial_method_and_decorator(load: Load) -> None:
    module = load(
        """
        import functools
        class T:
            def test(self, x): return x.real
        def plain(x): return x.real
        @functools.wraps(plain)
        def wrapper(x): return plain(x)
        """
    )
    for subject in (functools.partial(module.plain, 1), module.T().test, module.wrapper, module.T):
        assert ModuleSelection.for_test(subject).modules == {"subject"}
        with instrumented(subject, ModuleSelection.for_test(subject), HOOKS):
            assert rewritten_modules() == ["subject"]


def test_frozen_objects_are_found(load: Load) -> None:
    """After gc.freeze() the collector does not list the functions any more."""
    module = load("class C:\n    def m(self): return self.x\n    x = 1\n")
    try:
        gc.freeze()
        assert seen(module, lambda: module.C().m()) == [("load", "x")]
        assert module.C.m.__code__.co_names == ("x",)
    finally:
        gc.unfreeze()


def test_code_copied_to_other_globals_finds_the_hooks(load: Load) -> None:
    module = load("def f(o): return o.x\n")
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        copy = types.FunctionType(module.f.__code__, {})
        assert copy(types.SimpleNamespace(x=3)) == 3
    assert copy(types.SimpleNamespace(x=4)) == 4


def test_modules_that_the_test_cannot_reach_are_left_alone(load: Load) -> None:
    load("def g(o): return o.x\n", "unrelated")
    load("def h(o): return o.x\n", "helper")
    load("class Plugin:\n    def run(self): pass\n", "plugin")
    load("def late(): pass\n", "lazily_imported")
    load("def by_path(): pass\n", "named_in_a_string")
    load("import helper\n", "conftest")
    load("import plugin\nREGISTRY = {'p': [plugin.Plugin()]}\ndel plugin\n", "registry")
    module = load(
        """
        import registry
        handlers = ["named_in_a_string:by_path"]
        def f(o):
            import lazily_imported
            return o.x
        """
    )
    with instrumented(module.f, ModuleSelection.for_test(module.f), HOOKS):
        assert rewritten_modules() == [
            "conftest",
            "helper",
            "lazily_imported",
            "named_in_a_string",
            "plugin",
            "registry",
            "subject",
        ]


def test_source_and_traceback_stay_those_of_the_file(load: Load, tmp_path: Path) -> None:
    module = load("def f(o):\n    return (\n        o.x\n        .missing\n    )\n")
    with instrumented(module, ModuleSelection.for_test(module), HOOKS):
        assert inspect.getsource(module.f).startswith("def f(o):\n    return (\n")
        with pytest.raises(AttributeError) as failure:
            module.f(types.SimpleNamespace(x=1))
    frames = [entry for entry in failure.traceback if str(entry.path) == str(tmp_path / "subject.py")]
    assert [entry.lineno + 1 for entry in frames] == [3]


class _Slotted:
    __slots__ = ("x",)


class _Unnamed(_Slotted):
    """As functions inside functions are that mypyc compiled: its `__dict__` is there, and cannot be read."""

    __slots__ = ()
    __dict__ = _Slotted.__dict__["x"]


_UNNAMED = [_Unnamed()]


def _looks_at_it() -> None:
    seen: list[int] = []
    treadle.parallel(lambda: seen.append(len(_UNNAMED)), lambda: seen.append(len(_UNNAMED)))


def test_an_object_whose_attributes_cannot_be_read_is_no_reason_to_end() -> None:
    assert not treadle.check(_looks_at_it).failed
