"""Values as source text that needs nothing of the program they were seen in.

Plain values are written down; containers part by part; functions and classes by an import from outside the tests, or by
their own source with the lines it uses; other objects by the call that was seen to make them. A callable that has no
such form becomes one that does nothing, which is a guess; anything else is None. A name means one thing in all that one
writer writes: what would give it a second meaning is None.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

from treadle.observe.recorded import Expression

DO_NOTHING = "def do_nothing(*args, **kwargs):\n    return None"
_DO_NOTHING_LATER = "async def do_nothing_later(*args, **kwargs):\n    return None"

_LONGEST = 300
_LONGEST_DEFINITION = 3_000
_DEEPEST = 4
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
# Modules whose objects say how they are made again, and the line after which that holds.
_TELLING = {
    "datetime": "import datetime",
    "decimal": "from decimal import Decimal",
    "fractions": "from fractions import Fraction",
    "uuid": "from uuid import UUID",
    "pathlib": "from pathlib import *",
}


class SourceWriter:
    """Writes values of one program down.

    `made` gives the call that was seen to make an object, if any; `is_test` says whether a module is part of the tests,
    which what is written must not need; `packages` are those that the tests are about.
    """

    def __init__(
        self, made: Callable[[Any], Expression | None], is_test: Callable[[str], bool], packages: tuple[str, ...] = ()
    ) -> None:
        self.made, self.is_test, self.packages = made, is_test, packages
        self._meanings: dict[str, str] = {}  # name -> the line that gives it its meaning

    def of(self, value: Any, depth: int = 0) -> Expression | None:
        """A value as source."""
        if depth > _DEEPEST:
            return None
        if type(value) in _PLAIN:
            text = repr(value)
            return Expression(text) if len(text) <= _LONGEST and "nan" not in text and "inf" not in text else None
        if type(value) in (list, tuple, set, dict):
            return self._container(value, depth)
        if isinstance(value, enum.Enum):
            owner = self._by_name(type(value))
            return Expression(f"{owner.source}.{value.name}", owner.needs) if owner is not None and value.name else None
        if isinstance(value, types.ModuleType):
            line = None if self.is_test(value.__name__) else self._meaning(value.__name__, f"import {value.__name__}")
            return Expression(value.__name__, (line,)) if line else None
        if type(value).__module__ in _TELLING:
            return Expression(repr(value), (_TELLING[type(value).__module__],))
        if isinstance(value, type):
            return self._by_name(value) or self._definition(value)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            return self._by_name(value) or self._definition(value) or _nothing(value)
        return self.made(value) or self._bare(value) or (_nothing(value) if callable(value) else None)

    def _bare(self, value: Any) -> Expression | None:
        """An object of a class of the tests that needs nothing to be made and has nothing yet, such as a model."""
        kind: Any = type(value)
        plain = kind.__init__ is object.__init__ and kind.__new__ is object.__new__
        if not plain or not self.is_test(kind.__module__) or getattr(value, "__dict__", None):
            return None
        owner = self._definition(kind)
        return None if owner is None else Expression(f"{owner.source}()", owner.needs)

    def _meaning(self, name: str, line: str) -> str | None:
        return line if self._meanings.setdefault(name, line) == line else None

    def _container(self, value: Any, depth: int) -> Expression | None:
        parts = list(value) if not isinstance(value, dict) else [one for pair in value.items() for one in pair]
        if len(parts) > 20:
            return None
        known = [one for one in (self.of(part, depth + 1) for part in parts) if one is not None]
        if len(known) < len(parts):
            return None
        sources = [one.source for one in known]
        if isinstance(value, dict):
            pairs = zip(sources[::2], sources[1::2], strict=True)
            text = "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        elif isinstance(value, tuple):
            text = f"({', '.join(sources)}{',' * (len(sources) == 1)})"
        else:
            opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}") if value else ("set(", ")")
            text = f"{opening}{', '.join(sources)}{closing}"
        needs = tuple(dict.fromkeys(line for one in known for line in one.needs))
        return Expression(text, needs) if len(text) <= _LONGEST else None

    def _by_name(self, value: Any) -> Expression | None:
        """Something that a module outside the tests offers by its name."""
        home, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if not home or "<" in path:
            return None
        if home == "builtins":
            return Expression(path)
        found: Any = sys.modules.get(home)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not value or self.is_test(home):
            return None
        outer = path.partition(".")[0]
        line = self._meaning(outer, f"from {home} import {outer}")
        return Expression(path, (line,)) if line else None

    def _definition(self, value: Any) -> Expression | None:
        """A class or function of the tests, by its own source and the lines that it uses."""
        home = sys.modules.get(getattr(value, "__module__", None) or "")
        found = _source(value) if home is not None and self.is_test(home.__name__) else None
        if home is None or found is None:
            return None
        name, tree, source = found
        bound = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        bound |= {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
        bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        names = vars(home) | _captured(value)
        needs: dict[str, None] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Nonlocal | ast.Global):
                return None
            if isinstance(node, ast.Name) and node.id not in bound and not hasattr(builtins, node.id):
                lines = self._lines_for(node.id, names)
                if lines is None:
                    return None
                needs.update(dict.fromkeys(lines))
        if not name:
            return Expression(source, tuple(needs))
        line = self._meaning(name, source)
        return Expression(name, (*needs, line)) if line else None

    def _lines_for(self, name: str, names: dict[str, Any]) -> tuple[str, ...] | None:
        """The lines that give a name of a definition its meaning."""
        if name not in names:  # an import of the function around it, most likely
            homes = (package for package in self.packages if hasattr(sys.modules.get(package), name))
            line = self._meaning(name, f"from {home} import {name}") if (home := next(homes, "")) else None
            return (line,) if line else None
        value: Any = names[name]
        if isinstance(value, types.ModuleType):
            line = None if self.is_test(value.__name__) else self._meaning(name, f"import {value.__name__} as {name}")
        elif type(value) in _PLAIN:
            line = self._meaning(name, f"{name} = {value!r}")
        elif isinstance(value, type | types.FunctionType) and self.is_test(value.__module__):
            found = self._definition(value)
            return found.needs if found is not None and found.source == name else None
        else:
            home, own = getattr(value, "__module__", ""), str(getattr(value, "__name__", name))
            if not home or self.is_test(home) or getattr(sys.modules.get(home), own, None) is not value:
                return None
            line = self._meaning(name, f"from {home} import {own}" + ("" if own == name else f" as {name}"))
        return (line,) if line else None


def _nothing(value: Any) -> Expression:
    """In place of a callable that cannot be written down."""
    if inspect.iscoroutinefunction(value):
        return Expression("do_nothing_later", (_DO_NOTHING_LATER,))
    return Expression("do_nothing", (DO_NOTHING,))


def _source(value: Any) -> tuple[str, ast.AST, str] | None:
    """The name of a class or function, its syntax and its source; a lambda has no name."""
    try:
        if value.__name__ == "<lambda>":
            code = value.__code__
            here = [node for node in _lambdas(code.co_filename) if node.lineno == code.co_firstlineno]
            return ("", here[0], f"({ast.unparse(here[0])})") if len(here) == 1 else None
        source = textwrap.dedent(inspect.getsource(value)).rstrip()
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    named = getattr(tree.body[0], "name", "") == value.__name__
    return (value.__name__, tree, source) if named and len(source) <= _LONGEST_DEFINITION else None


@functools.cache
def _lambdas(file: str) -> list[ast.Lambda]:
    with open(file, encoding="utf-8") as opened:
        return [node for node in ast.walk(ast.parse(opened.read())) if isinstance(node, ast.Lambda)]


def _captured(value: Any) -> dict[str, Any]:
    """What a definition takes from the functions around it: its bases, and the variables of these functions."""
    found: dict[str, Any] = {base.__name__: base for base in getattr(value, "__bases__", ())}
    for function in vars(value).values() if isinstance(value, type) else [value]:
        if isinstance(function, types.FunctionType):
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                if name != "__class__" and cell.cell_contents is not value:
                    found[name] = cell.cell_contents
    return found
