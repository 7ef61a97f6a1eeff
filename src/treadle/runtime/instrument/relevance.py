"""Leaves out the other test modules of a test session, which a test cannot reach.

pytest imports every test module before it runs the first test. All of them are the project's own, but rewriting
them, and putting their globals back after each execution, would make every test pay for all others. A test module
stays when the test's module or any module that is not a test refers to something of it. Should code of one that
was left out be called after all, it is atomic, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

from treadle.runtime.instrument.selection import Selection, file_of


def without_unrelated_tests(modules: dict[str, ModuleType], selection: Selection) -> dict[str, ModuleType]:
    tests = {
        name
        for name, module in modules.items()
        if name not in selection.modules and "@pytest_ar" in vars(module) and not _is_conftest(module)
    }
    if not tests:
        return modules
    pending = [module for name, module in modules.items() if name not in tests]
    while pending and tests:
        for name in _names_used(pending.pop()):
            if name in tests:
                tests.remove(name)
                pending.append(modules[name])
    return {name: module for name, module in modules.items() if name not in tests}


def _is_conftest(module: ModuleType) -> bool:
    return Path(file_of(module) or "").name == "conftest.py"


def _names_used(module: ModuleType) -> Iterator[str]:
    """The modules that the globals of `module` come from."""
    for value in list(vars(module).values()):
        kind = type(value)
        if kind is ModuleType:
            yield value.__name__
        elif kind is FunctionType or issubclass(kind, type):
            yield str(value.__module__)
        else:
            # Not by asking the value, which may be a proxy that runs the program.
            yield str(kind.__module__)
