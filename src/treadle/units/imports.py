"""What a test file imports: the names of classes, functions and modules that its tests use."""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Container
from typing import Any

from treadle.symbolic.python.contracts.conditions import as_written


class NotWritable(Exception):
    """A value that has no source text."""


class Imports:
    """The names a test file imports; clashing names get an alias."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[str, str]] = {}  # local name -> (module, name)
        self.modules: dict[str, str] = {}  # module -> local name

    def of(self, value: Any) -> str:
        """How a test refers to a class or function."""
        named = as_written(value) if isinstance(value, type) else value
        module, qualified = getattr(named, "__module__", None), getattr(named, "__qualname__", "")
        if module is None or not qualified or "<" in qualified:
            raise NotWritable(f"{value!r} cannot be imported")
        if module == "builtins" and hasattr(builtins, qualified):
            return str(qualified)
        try:
            found: Any = importlib.import_module(module)
        except ImportError as error:
            raise NotWritable(f"{qualified} cannot be imported: {error}") from None
        for part in qualified.split("."):
            found = getattr(found, part, None)
        if found is not value:
            raise NotWritable(f"{value!r} is not what its name says")
        first, _, rest = qualified.partition(".")
        local = self.local_name(module, first)
        return f"{local}.{rest}" if rest else local

    def local_name(self, module: str, name: str) -> str:
        for local, source in self.names.items():
            if source == (module, name):
                return local
        local = name
        taken = {*self.names, *self.modules.values(), *dir(builtins), "pytest"}
        if name.startswith(("test", "Test")):
            # pytest would collect it
            local = f"_{name}"
        while local in taken:
            local = f"{local}_"
        self.names[local] = (module, name)
        return local

    def module(self, name: str) -> str:
        self.modules.setdefault(name, name)
        return name

    def used_in(self, source: str) -> list[str]:
        """The lines for what a text uses, pytest included."""
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        return [*self.lines(used), *(["import pytest"] if "pytest" in used else [])]

    def lines(self, used: Container[str] | None = None) -> list[str]:
        """One for each module; only what is `used`, if that is given."""
        by_module: dict[str, list[str]] = {}
        for local, (module, name) in self.names.items():
            if used is None or local in used:
                by_module.setdefault(module, []).append(name if local == name else f"{name} as {local}")
        modules = [name for name in self.modules if used is None or name.partition(".")[0] in used]
        return [f"import {name}" for name in modules] + [
            _wrapped(f"from {module} import ", sorted(names)) for module, names in by_module.items()
        ]


def _wrapped(start: str, names: list[str]) -> str:
    line = start + ", ".join(names)
    if len(line) <= 100:
        return line
    return start + "(\n" + "".join(f"    {name},\n" for name in names) + ")"
