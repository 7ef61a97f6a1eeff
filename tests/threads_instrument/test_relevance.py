"""Modules that a test cannot reach are left out."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from treadle.threads.instrument.relevance import related
from treadle.threads.instrument.selection import ModuleSelection


def made(folder: Path, **sources: str) -> tuple[dict[str, ModuleType], list[tuple[FunctionType, ModuleType]]]:
    modules: dict[str, ModuleType] = {}
    functions: list[tuple[FunctionType, ModuleType]] = []
    for key, source in sources.items():
        name = key.replace("__", ".")
        module = modules[name] = ModuleType(name)
        module.__file__ = str(folder / f"{key}.py")
        exec(source, vars(module))
        functions += [(one, module) for one in vars(module).values() if type(one) is FunctionType]
    return modules, functions


def reached(folder: Path, **sources: str) -> set[str]:
    modules, functions = made(folder, **sources)
    selection = ModuleSelection(folder, (), frozenset({"test"}))
    found: dict[str, Any] = related(modules, selection, functions)
    return set(found)


def test_an_import_inside_a_function_and_a_dotted_path_are_ways(tmp_path: Path) -> None:
    found = reached(
        tmp_path,
        test="def test():\n  import late\nHANDLER = 'shop.orders:handle'",
        late="",
        shop="",
        shop__orders="",
        shop__stock="",
        unrelated="",
    )
    assert found == {"test", "late", "shop", "shop.orders"}


def test_what_is_reached_leads_on_and_conftest_always_stays(tmp_path: Path) -> None:
    found = reached(tmp_path, test="USES = {'k': ['first']}", first="NEXT = 'second'", second="", conftest="", other="")
    assert found == {"test", "first", "second", "conftest"}
