"""Which code a suite depends on, and what of it has changed since.

A file falls into its outermost functions and the rest. Of a function that was entered everything counts but comments,
layout and docstrings. One that was not does not count, except that fields get their types from what methods assign.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from treadle.core.files import from_here
from treadle.symbolic.python.compile import source

# file -> part -> digest; the part '' is what stands outside functions, '*' is everything
Code = dict[str, dict[str, str]]
_ALL = "*"

_Def = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    first: int
    last: int
    node: _Def


def code_of(followed: Iterable[tuple[str, int]], classes: Iterable[type], stubs: Iterable[str] = ()) -> Code:
    """Digests of the functions at these places, of everything around them, of where these classes live, and of all
    that stands in these files of stubs."""
    places: dict[str, set[int]] = {}
    for file, line in followed:
        places.setdefault(file, set()).add(line)
    for cls in classes:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
        if file.endswith(".py"):
            places.setdefault(file, set())
    found: Code = {}
    for file, lines in sorted(places.items()):
        try:
            tree, _ = source.tree_of(file)
        except source.NoSource:
            continue
        parts = list(_parts(tree, ""))
        entered = {p.name for p in parts for line in lines if p.first <= line <= p.last}
        found[from_here(file)] = {"": _rest(tree), **{n: _digest(parts, n) for n in sorted(entered)}}
    for file in stubs:
        tree, _ = source.tree_of(file)
        found.setdefault(from_here(file), {})[_ALL] = _hash(_text(tree))
    return found


def changes(code: Code) -> list[str]:
    """The parts that are no longer what they were, in words."""
    found: list[str] = []
    for file, digests in code.items():
        try:
            tree, _ = source.tree_of(os.path.abspath(file))
        except source.NoSource:
            found.append(f"{file} is gone")
            continue
        parts = list(_parts(tree, ""))
        names = {p.name for p in parts}
        for name, digest in digests.items():
            if name == _ALL:
                if _hash(_text(tree)) != digest:
                    found.append(f"{file} changed")
            elif name and name not in names:
                found.append(f"{name} is gone from {file}")
            elif name and _digest(parts, name) != digest:
                found.append(f"{name} in {file} changed")
            elif not name and _rest(tree) != digest:
                found.append(f"{file} changed outside its functions")
    return found


def _parts(tree: ast.AST, prefix: str) -> Iterator[_Part]:
    """The functions that are in no other function, by qualified name."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            yield _Part(f"{prefix}{child.name}", first, child.end_lineno or first, child)
        else:
            inner = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            yield from _parts(child, inner)


def _digest(parts: list[_Part], name: str) -> str:
    """Of all definitions with this name: a property and its setter share one."""
    return _hash("".join(_text(p.node) for p in parts if p.name == name))


@functools.cache
def _rest(tree: ast.Module) -> str:
    return _hash(_text(tree, whole=False))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _text(node: ast.AST, whole: bool = True) -> str:
    """The tree as text, without positions and docstrings; not `whole`: of functions only what they assign to
    attributes."""
    if isinstance(node, _Def) and not whole:
        return "".join(_text(n) for n in ast.walk(node) if _sets_attribute(n))
    parts: list[str] = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(value, list) and _starts_with_text(value):
            value = value[1:]
        children = value if isinstance(value, list) else [value]
        shown = [_text(c, whole) if isinstance(c, ast.AST) else repr(c) for c in children]
        parts.append(f"{name}=[{','.join(filter(None, shown))}]")
    return f"{type(node).__name__}({' '.join(parts)})"


def _sets_attribute(node: ast.AST) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(t, ast.Attribute) for t in targets)


def _starts_with_text(body: list[ast.stmt]) -> bool:
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
