"""A line is never said to be out of reach because nobody saw how the program gets there.

Every program here reaches its line in a way that is easy to overlook; the search finds the test, or says that it does
not know.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.machine.callgraph import CallGraph
from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

_NUMBERS = itertools.count()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Make modules importable under fresh names; `main` is written as MAIN in the texts, `other` as OTHER."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(main: str, **others: str) -> str:
        number = next(_NUMBERS)
        names = {name.upper(): f"roundabout_{number}_{name}" for name in ("main", *others)}
        for name, text in {"main": main, **others}.items():
            text = textwrap.dedent(text)
            for word, module in names.items():
                text = text.replace(word, module)
            (tmp_path / f"{names[name.upper()]}.py").write_text(text, encoding="utf-8")
        return names["MAIN"]

    return made


def _reach(module: str, text: str = "return 77", function: str = "main", file: str = "") -> tuple[str, ExploredTarget]:
    [target] = resolve(f"{module}:{function}")
    place = Path(target.file).parent / f"{file or module}.py"
    line = next(n for n, line in enumerate(place.read_text().splitlines(), 1) if line.strip() == text)
    found = Session(target, UnitOptions(summaries=False, select="points", points=(f"{place.name}:{line}",))).explore()
    assert found.selection is not None
    return found.selection.verdict(0, found.selection.met(found.cases)), found


_WAYS = {
    "a hash": """
        class Key:
            def __init__(self, n): self.n = n
            def __hash__(self):
                if self.n == 9:
                    return 77
                return 1
        def go(n):
            return len({Key(n): 1})
    """,
    "a value that an enumeration does not have": """
        import enum
        class Colour(enum.Enum):
            RED = 1
            @classmethod
            def _missing_(cls, value):
                if value == 9:
                    return 77
                return cls.RED
        def go(n):
            return Colour(n).value
    """,
    "an index of a class": """
        class Table:
            def __class_getitem__(cls, n):
                if n == 9:
                    return 77
                return 1
        def go(n):
            return Table[n]
    """,
    "the members of a module": """
        import inspect, sys
        def handler(n):
            if n == 9:
                return 77
            return 1
        def go(n):
            [found] = [f for name, f in inspect.getmembers(sys.modules[__name__]) if name == "hand" + "ler"]
            return found(n)
    """,
    "the globals of a function": """
        def handler(n):
            if n == 9:
                return 77
            return 1
        def go(n):
            return go.__globals__["hand" + "ler"](n)
    """,
    "a metaclass": """
        class Meta(type):
            def __call__(cls, n):
                if n == 9:
                    return 77
                return 1
        class Thing(metaclass=Meta): ...
        def go(n):
            return Thing(n)
    """,
    "a descriptor": """
        class Field:
            def __get__(self, obj, cls):
                if obj.n == 9:
                    return 77
                return 1
        class Thing:
            field = Field()
            def __init__(self, n): self.n = n
        def go(n):
            return Thing(n).field
    """,
    "an attribute that is not there": """
        class Thing:
            def __init__(self, n): self.n = n
            def __getattr__(self, name):
                if self.n == 9:
                    return 77
                return 1
        def go(n):
            return Thing(n).anything
    """,
    "the class above": """
        class Above:
            def __init__(self, n): self.n = n
            def ask(self):
                if self.n == 9:
                    return 77
                return 1
        class Below(Above):
            def ask(self):
                return super().ask()
        def go(n):
            return Below(n).ask()
    """,
    "a subclass found at run time": """
        class Above:
            def ask(self, n): return 1
        class Below(Above):
            def ask(self, n):
                if n == 9:
                    return 77
                return 1
        def go(n):
            return Above.__subclasses__()[0]().ask(n)
    """,
    "a default factory": """
        import collections
        def made(n):
            if n == 9:
                return 77
            return 1
        def go(n):
            return collections.defaultdict(lambda: made(n))[1]
    """,
    "a method that is added later": """
        class Thing: ...
        def made(self, n):
            if n == 9:
                return 77
            return 1
        def go(n):
            setattr(Thing, "late", made)
            return Thing().late(n)
    """,
    "a registry of its own": """
        table = {}
        def register(function):
            table[function.__name__] = function
        @register
        def handler(n):
            if n == 9:
                return 77
            return 1
        def go(n):
            return table["hand" + "ler"](n)
    """,
}

_MAIN = """

def main(n: int) -> int:
    if n > 5:
        return go(n)
    return 0
"""


@pytest.mark.parametrize("way", _WAYS)
def test_a_line_is_reached_through(way: str, write: Callable[..., str]) -> None:
    verdict, found = _reach(write(textwrap.dedent(_WAYS[way]) + _MAIN))
    assert (verdict, [case.arguments for case in found.cases]) == ("reached", [{"n": 9}])


_HANDLER = """
    def handler(n):
        if n == 9:
            return 77
        return 1
"""


def test_a_module_that_nobody_imports_registers_a_function(write: Callable[..., str]) -> None:
    main = "import HOOKS\ndef main(n: int) -> int:\n    return HOOKS.table['a'](n) if n > 5 else 0\n"
    plugin = "import HOOKS, GOAL\ndef via(n):\n    return GOAL.handler(n)\nHOOKS.table['a'] = via\n"
    module = write(main, hooks="table = {}\n", goal=_HANDLER, plugin=plugin)
    __import__(module.replace("main", "plugin"))
    verdict, found = _reach(module, file=module.replace("main", "goal"))
    assert (verdict, [case.arguments for case in found.cases]) == ("reached", [{"n": 9}])


@pytest.mark.parametrize(
    "imports", ["import OTHER as found", "import importlib; found = importlib.import_module('OTH' + 'ER')"]
)
def test_a_module_that_is_loaded_by_the_call_itself_calls_back(imports: str, write: Callable[..., str]) -> None:
    imports = imports.replace("'OTH' + 'ER'", "'' + 'OTHER'")
    main = f"{textwrap.dedent(_HANDLER)}\ndef go(n):\n    {imports}\n    return found.back(n)\n{_MAIN}"
    verdict, found = _reach(write(main, other="def back(n):\n    import MAIN\n    return MAIN.handler(n)\n"))
    assert (verdict, [case.arguments for case in found.cases]) == ("reached", [{"n": 9}])


def test_a_postcondition_is_run_after_the_function(write: Callable[..., str]) -> None:
    main = """
        import icontract

        def fine(n):
            if n == 9:
                return 77
            return n < 1000

        @icontract.ensure(lambda result: fine(result))
        def main(n: int) -> int:
            return n if n > 5 else 0
    """
    verdict, found = _reach(write(main))
    assert (verdict, [case.arguments for case in found.cases]) == ("reached", [{"n": 9}])


def test_when_a_call_surprises_what_was_given_up_comes_back(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call graph is made to know nothing; the surprise comes on a path that is only run for the first line."""
    main = """
        def handler(n):
            if n == 9:
                return 77
            return 1

        def main(n: int) -> int:
            if n > 5:
                return handler(n)
            if n > 3:
                return handler(n) + 1
            return 0
    """

    def nothing(self: CallGraph, function: Any, step: ir.IrStep) -> int:
        return 0

    monkeypatch.setattr(CallGraph, "reach", nothing)
    module = write(main)
    [target] = resolve(f"{module}:main")
    lines = (f"{module}.py:4", f"{module}.py:11")
    found = Session(target, UnitOptions(summaries=False, select="points", points=lines)).explore()
    assert found.selection is not None
    assert [found.selection.verdict(n, found.selection.met(found.cases)) for n in (0, 1)] == ["reached", "reached"]


@pytest.mark.parametrize("statement", ["break", "continue"])
def test_leaving_a_loop_through_a_finally_that_raises_is_reached(statement: str, write: Callable[..., str]) -> None:
    main = f"""
        def main(n: int) -> int:
            for _ in range(1):
                try:
                    n = 6 // n
                except ZeroDivisionError:
                    {statement}
                finally:
                    raise ValueError
            return n
    """
    verdict, found = _reach(write(main), statement)
    assert (verdict, [case.arguments for case in found.cases]) == ("reached", [{"n": 0}])
