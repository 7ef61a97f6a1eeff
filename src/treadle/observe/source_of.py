"""Values as source text that needs nothing of the program they were seen in.

Plain values are written down; containers part by part; functions and classes by an import from outside the tests, or,
for classes that the tests define, by their own source with the imports it uses; other objects by the call that was seen
to make them. What has no such form is None.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

from treadle.observe.recorded import Expression

_LONGEST = 300
_DEEPEST = 4
_PLAIN = (int, float, complex, str, bytes, bool, type(None))

# Is a module part of the tests, which a written test must not need?
IsTest = Callable[[str], bool]
# The call that was seen to make an object, if any.
Made = Callable[[Any], "Expression | None"]


def source_of(value: Any, made: Made, is_test: IsTest, depth: int = 0) -> Expression | None:
    """A value as source."""
    if depth > _DEEPEST:
        return None
    if type(value) in _PLAIN:
        text = repr(value)
        return Expression(text) if len(text) <= _LONGEST and "nan" not in text and "inf" not in text else None
    if type(value) in (list, tuple, set, dict):
        return _container(value, made, is_test, depth)
    if isinstance(value, enum.Enum):
        owner = _by_name(type(value), is_test)
        return Expression(f"{owner.source}.{value.name}", owner.needs) if owner is not None and value.name else None
    if isinstance(value, types.ModuleType):
        return None if is_test(value.__name__) else Expression(value.__name__, (f"import {value.__name__}",))
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return _by_name(value, is_test) or (_definition(value, is_test) if isinstance(value, type) else None)
    return made(value)


def _container(value: Any, made: Made, is_test: IsTest, depth: int) -> Expression | None:
    parts = list(value) if not isinstance(value, dict) else [one for pair in value.items() for one in pair]
    if len(parts) > 20:
        return None
    inner = [source_of(part, made, is_test, depth + 1) for part in parts]
    if any(one is None for one in inner):
        return None
    known = [one for one in inner if one is not None]
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


def _by_name(value: Any, is_test: IsTest) -> Expression | None:
    """Something that a module outside the tests offers by its name."""
    home, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not home or "<" in path:
        return None
    if home == "builtins":
        return Expression(path)
    found: Any = sys.modules.get(home)
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is not value or is_test(home):
        return None
    return Expression(path, (f"from {home} import {path.partition('.')[0]}",))


def _definition(cls: type, is_test: IsTest) -> Expression | None:
    """A class of the tests, by its own source and the imports that it uses."""
    home = sys.modules.get(cls.__module__)
    if home is None or getattr(home, cls.__qualname__, None) is not cls:
        return None
    try:
        source = textwrap.dedent(inspect.getsource(cls))
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError):
        return None
    bound = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    needs: dict[str, None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in bound or hasattr(builtins, node.id):
            continue
        line = _import_line(node.id, vars(home), is_test)
        if line is None:
            return None
        needs.update(dict.fromkeys(line))
    return Expression(cls.__qualname__, (*needs, source.rstrip()))


def _import_line(name: str, names: dict[str, Any], is_test: IsTest) -> tuple[str, ...] | None:
    """The lines that give a name of a test module its meaning."""
    if name not in names:
        return None
    value: Any = names[name]
    if isinstance(value, types.ModuleType):
        return None if is_test(value.__name__) else (f"import {value.__name__} as {name}",)
    if type(value) in _PLAIN:
        return (f"{name} = {value!r}",)
    if isinstance(value, type) and is_test(value.__module__):
        found = _definition(value, is_test)
        return found.needs if found is not None and found.source == name else None
    home = getattr(value, "__module__", "")
    if not home or is_test(home) or getattr(sys.modules.get(home), getattr(value, "__name__", ""), None) is not value:
        return None
    own = str(getattr(value, "__name__", name))
    return (f"from {home} import {own}" + ("" if own == name else f" as {name}"),)
