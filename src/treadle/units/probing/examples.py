"""How a function is called where it is described and where it is used: values that somebody meant for it.

Read from the examples (`>>>`) of its docstring and of its class's, and from calls in the loaded modules of its package.
Only literals are taken; what a call of another object's method of the same name gives is tried like anything else.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

from treadle.units.target import UnitTarget
from treadle.units.value_source import quoted

_MOST_CALLS = 12
_MOST_MODULES = 40
_LONGEST = 120
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In \[\d+\]:) ?", re.MULTILINE)

# parameter -> source of the value
ExampleCall = dict[str, str]


def example_calls(target: UnitTarget) -> list[ExampleCall]:
    """Calls of the function with literal values, those of its own description first, each once."""
    found: list[ExampleCall] = []
    for call in (*_described(target), *_used(target)):
        given = _literals(call, target)
        if given and given not in found:
            found.append(given)
        if len(found) >= _MOST_CALLS:
            break
    return found


def _described(target: UnitTarget) -> Iterator[ast.Call]:
    for told in (target.function, target.cls):
        for line in _PROMPT.split(inspect.getdoc(told) or "")[1:] if told is not None else ():
            yield from _calls_in(line.strip().splitlines()[:1], _called_name(target))


def _used(target: UnitTarget) -> Iterator[ast.Call]:
    name, package = _called_name(target), target.module.__name__.partition(".")[0]
    modules = [m for n, m in sorted(sys.modules.items()) if n.partition(".")[0] == package and m is not None]
    for module in [target.module, *modules][:_MOST_MODULES]:
        yield from _calls_in([_text(module, name)], name)


def _text(module: types.ModuleType, name: str) -> str:
    file = getattr(module, "__file__", None)
    if not file or not file.endswith(".py"):
        return ""
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text if f"{name}(" in text else ""


def _calls_in(texts: Iterable[str], name: str) -> Iterator[ast.Call]:
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name == getattr(node.func, "id", getattr(node.func, "attr", None)):
                yield node


def _called_name(target: UnitTarget) -> str:
    if target.receiver == "new" and target.cls is not None:
        return target.cls.__name__
    return target.name.rpartition(".")[2]


def _literals(call: ast.Call, target: UnitTarget) -> ExampleCall:
    """The parameters that the call gives a literal to."""
    names = [p.name for p in target.parameters() if p.kind is not p.KEYWORD_ONLY]
    everything = {p.name for p in target.parameters()}
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg in everything)]
    found: ExampleCall = {}
    for name, value in given:
        try:
            meant = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        text = quoted(meant) if isinstance(meant, str) else ast.unparse(value)
        if name is not None and len(text) <= _LONGEST:
            found[name] = text
    return found
