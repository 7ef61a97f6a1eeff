"""Leaves out the modules of a project that a test cannot reach.

A test session has often imported the whole project, and every other test module with it. Rewriting all of that, and
above all putting all of its globals back after every execution, would make each test pay for everything. A module
stays when the test's module leads to it: through what its globals refer to, also inside containers and instances,
or by its name, as an identifier or a string in its functions (an import inside a function, a dotted path). Modules
that were asked for by name and conftest.py always stay. Should code of a module that was left out be called after
all, it is atomic, and the report says so.
"""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from treadle.threads.instrument.selection import ModuleSelection, file_of
from treadle.threads.unasked import globals_of, home_of, kept_attributes

# Values looked at below one global; a registry of more than this many entries names its modules early enough.
_MOST_VALUES = 10_000


def related(
    modules: dict[str, ModuleType], selection: ModuleSelection, functions: Iterable[tuple[FunctionType, ModuleType]]
) -> dict[str, ModuleType]:
    """Those of `modules` that the test can reach; `functions` are the live functions of all of them."""
    found = {name: module for name, module in modules.items() if _always_stays(name, module, selection)}
    if len(found) == len(modules):
        return modules
    by_module: defaultdict[int, list[FunctionType]] = defaultdict(list)
    for function, module in functions:
        by_module[id(module)].append(function)
    by_last_name: defaultdict[str, list[str]] = defaultdict(list)
    for name in modules:
        by_last_name[name.rpartition(".")[2]].append(name)
    pending = list(found.values())
    while pending and len(found) < len(modules):
        module = pending.pop()
        for word in _words(module, by_module[id(module)]):
            for name in (word, *by_last_name.get(word, ())):
                for reached in _with_packages(name):
                    if reached in modules and reached not in found:
                        found[reached] = modules[reached]
                        pending.append(modules[reached])
    return found


def _always_stays(name: str, module: ModuleType, selection: ModuleSelection) -> bool:
    return selection.names(name) or Path(file_of(module) or "").name == "conftest.py"


def _with_packages(name: str) -> Iterator[str]:
    """`a.b.c`, `a.b` and `a`: reaching a module means that its packages were run. `a.b:c` is `a.b`."""
    name = name.partition(":")[0]
    while name:
        yield name
        name = name.rpartition(".")[0]


def _words(module: ModuleType, functions: list[FunctionType]) -> set[str]:
    """The names of modules that `module` may lead to, among other words."""
    words: set[str] = set()
    seen: set[int] = set()
    for function in functions:
        _add_code_words(function.__code__, words)
    # The module's own papers (`__spec__`, `__builtins__`, pytest's `@pytest_ar`) lead everywhere.
    pending: list[Any] = [value for name, value in globals_of(module).items() if not name.startswith(("__", "@"))]
    while pending and len(seen) < _MOST_VALUES:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = type(value)
        if kind is str:
            words.add(value)
        elif kind is ModuleType:
            words.add(value.__name__)
        elif kind is FunctionType:
            words.add(str(value.__module__))
            words.add(str(value.__globals__.get("__name__")))
        elif issubclass(kind, type):
            words.update(home_of(base) for base in type.mro(value))
        else:
            # By its type, without asking the value: it may be a proxy that runs the program.
            words.update(home_of(base) for base in kind.__mro__)
            pending.extend(_parts(value, kind))
    return words


def _add_code_words(code: CodeType, words: set[str]) -> None:
    words.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, str):
            words.add(constant)
        elif isinstance(constant, CodeType):
            _add_code_words(constant, words)


def _parts(value: Any, kind: type) -> Iterable[Any]:
    """What a value of a type other than a function, class or module refers to."""
    if issubclass(kind, dict):
        return [*dict.keys(value), *dict.values(value)]
    for container in (list, tuple, set, frozenset, deque):
        if issubclass(kind, container):
            return list(container.__iter__(value))
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if kind is functools.partial:
        return [value.func, *value.args, *value.keywords.values()]
    return list((kept_attributes(value) or {}).values())
