"""Stand-ins: the smallest class that an abstract class, a Protocol or a class with hooks lets exist.

Every method that must be written is written: it gives a plain value of its return hint, or None; where together they
read like a container, they keep what they are given (`keeping`). The source of the stand-in is what a written test
holds, so what was found needs nothing but the package. A stand-in promises only what the hints say; a class that needs
more of it raises, and the call is left out.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

from treadle.classes.calls import Value
from treadle.classes.keeping import NEW, kept
from treadle.observe.parameters import hints_of

# What gives a plain value for a type hint, the likeliest first.
Plain = Callable[[Any], list[Value]]


def hooks(cls: type) -> dict[str, Any]:
    """The methods that a subclass has to write: abstract ones, members of a Protocol, those that only raise
    NotImplementedError."""
    found: dict[str, Any] = {}
    for name in dir(cls):
        raw = inspect.getattr_static(cls, name)
        if name in getattr(cls, "__abstractmethods__", ()) or _is_member(cls, name, raw) or _only_raises(raw):
            found[name] = raw
    return found


def needs_stand_in(cls: type) -> bool:
    """Can the class itself not be used?"""
    return inspect.isabstract(cls) or bool(getattr(cls, "_is_protocol", False))


def definition(cls: type, base: str, plain: Plain) -> tuple[str, tuple[str, ...], str]:
    """The name of a stand-in, the lines that it needs, and its source."""
    name = f"Some{cls.__name__}"
    lines: dict[str, None] = {}
    asked = hooks(cls)
    empty, keeping = kept(asked)
    body = [line.format(empty=empty) for line in NEW] if keeping else []
    for method, raw in asked.items():
        if method in keeping:
            body += _method(method, raw, keeping[method], ["given = (*args, *kwargs.values())"])
            continue
        value = _result(raw, plain)
        lines.update(dict.fromkeys(value.needs))
        body += _method(method, raw, value.source)
    said = f'"""Written for this test: the least that {cls.__name__} asks for."""'
    source = "\n".join([f"class {name}({base}):", f"    {said}", *(f"    {line}".rstrip() for line in body)])
    return name, tuple(lines), source


def _is_member(cls: type, name: str, raw: Any) -> bool:
    """Is this a member that a Protocol asks for?"""
    if not getattr(cls, "_is_protocol", False) or (name.startswith("_") and name != "__call__"):
        return False
    return isinstance(raw, types.FunctionType | property)


def _only_raises(raw: Any) -> bool:
    """Is a method nothing but `raise NotImplementedError`?"""
    if not isinstance(raw, types.FunctionType):
        return False
    if "NotImplementedError" not in raw.__code__.co_names:
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(raw)))
    except (OSError, TypeError, SyntaxError):
        return False
    body = [line for line in tree.body[0].body if not _is_text(line)] if hasattr(tree.body[0], "body") else []
    return len(body) == 1 and isinstance(body[0], ast.Raise)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def _result(raw: Any, plain: Plain) -> Value:
    function = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
    hint = hints_of(function).get("return") if callable(function) else None
    values = plain(hint) if hint is not None else []
    return next((value for value in values if "{sout}" not in value.source), Value("None"))


def _method(name: str, raw: Any, value: str, before: Sequence[str] = ()) -> list[str]:
    function = getattr(raw, "__func__", raw)
    kind = "async def" if inspect.iscoroutinefunction(function) else "def"
    if isinstance(raw, property):
        return ["", "@property", f"def {name}(self):", f"    return {value}"]
    if isinstance(raw, staticmethod):
        return ["", "@staticmethod", f"{kind} {name}(*args, **kwargs):", f"    return {value}"]
    first, mark = ("cls", ["@classmethod"]) if isinstance(raw, classmethod) else ("self", [])
    begin = ["", *mark, f"{kind} {name}({first}, *args, **kwargs):"]
    return [*begin, *(f"    {line}" for line in before if "given" in value), f"    return {value}"]
