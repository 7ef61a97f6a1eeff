"""From a live function object to its IR: finds the source file, the syntax tree, the definition in it.

Compiled code is kept per code object. A function whose source cannot be found has no IR; the caller decides what
to do about it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import linecache
import os
import re
import types

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile.scopes import CompilerScope, FunctionNode, scope_of
from treadle.symbolic.python.compile.statements import compile_function


class NoSource(Exception):
    """There is no Python source for this function."""


@functools.cache
def tree_of(file: str) -> tuple[ast.Module, dict[ast.AST, ast.AST]]:
    """The parsed file, and every node's parent."""
    text = "".join(linecache.getlines(file))
    if not text:
        try:
            with open(file, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError):
            raise NoSource(f"no source file '{file}'") from None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        raise NoSource(f"cannot parse '{file}'") from None
    parents: dict[ast.AST, ast.AST] = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
    return tree, parents


def file_of(code: types.CodeType) -> str:
    """The source file of a code object; modules frozen into the interpreter have theirs in the library."""
    frozen = re.fullmatch(r"<frozen ([\w.]+)>", code.co_filename)
    if frozen is None:
        return code.co_filename
    found = os.path.join(os.path.dirname(os.__file__), *frozen[1].split(".")) + ".py"
    return found if os.path.exists(found) else code.co_filename


def _first_line(node: FunctionNode) -> int:
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return node.lineno
    return min(node.lineno, *(d.lineno for d in node.decorator_list))


@functools.lru_cache(256)
def _definitions(tree: ast.Module) -> dict[tuple[str, int], list[FunctionNode]]:
    """Every function of a file by its name and first line."""
    found: dict[tuple[str, int], list[FunctionNode]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            found.setdefault((name, _first_line(node)), []).append(node)
    return found


def node_of(code: types.CodeType) -> FunctionNode:
    """The definition that a code object was compiled from."""
    tree, _ = tree_of(file_of(code))
    found = _definitions(tree).get((code.co_name, code.co_firstlineno), [])
    if len(found) > 1:
        columns = {position[2] for position in code.co_positions() if position[2] is not None}
        body = [n for n in found if isinstance(n, ast.Lambda) and n.body.col_offset in columns]
        near: list[FunctionNode] = [*body] or found
        arity = [n for n in near if len(n.args.args) == code.co_argcount]
        found = arity or near
    if not found:
        raise NoSource(f"cannot find the definition of '{code.co_name}' in '{code.co_filename}'")
    return found[0]


def _enclosing(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> tuple[str | None, CompilerScope | None]:
    """The class directly around a definition, and the scopes of the functions around it."""
    owner: str | None = None
    functions: list[FunctionNode] = []
    current = parents.get(node)
    while current is not None:
        if isinstance(current, ast.ClassDef) and owner is None:
            owner = current.name
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            functions.append(current)
        current = parents.get(current)
    outer: CompilerScope | None = None
    for function in reversed(functions):
        outer, _ = scope_of(function, outer)
    return owner, outer


def code_of(code: types.CodeType) -> ir.CompiledFunction:
    """The IR of a code object."""
    return _code_in(code, file_of(code))


@functools.cache
def _code_in(code: types.CodeType, file: str) -> ir.CompiledFunction:
    """Kept per file as well: equal functions of two files are equal code objects."""
    if file.startswith("<"):
        raise NoSource(f"'{code.co_name}' was generated and has no source file")
    node = node_of(code)
    owner, outer = _enclosing(node, tree_of(file)[1])
    return compile_function(node, file, owner, outer)


# C modules and the module that holds the same functions in Python.
_ACCELERATED = {
    "_heapq": "heapq",
    "_bisect": "bisect",
    "_operator": "operator",
    "_functools": "functools",
    "_statistics": "statistics",
    "_datetime": "_pydatetime",
    "_collections": "collections",
    "_colorize": "_colorize",
}


@functools.cache
def python_version(module: str, name: str) -> tuple[ir.CompiledFunction, dict[str, object], ast.FunctionDef] | None:
    """The pure-Python definition that a C function replaces: (code, globals, definition)."""
    source = _ACCELERATED.get(module)
    if source is None:
        return None
    try:
        loaded = importlib.import_module(source)
        tree, _ = tree_of(inspect.getsourcefile(loaded) or "")
    except (ImportError, NoSource, TypeError):
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            file = inspect.getsourcefile(loaded) or ""
            return compile_function(node, file), vars(loaded), node
    return None


def defining_class(function: types.FunctionType) -> type | None:
    """The class whose body holds the function, as super() sees it."""
    if function.__closure__:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            if name == "__class__":
                try:
                    contents = cell.cell_contents
                except ValueError:
                    return None
                return contents if isinstance(contents, type) else None
    return None


@functools.cache
def returned_expression(function: types.FunctionType) -> ast.expr | None:
    """The one expression that a function returns; None if it does more than that."""
    try:
        node = node_of(function.__code__)
    except NoSource:
        return None
    if isinstance(node, ast.Lambda):
        return node.body
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    only = body[0] if len(body) == 1 and isinstance(node, ast.FunctionDef) else None
    return only.value if isinstance(only, ast.Return) else None


def class_around(function: types.FunctionType) -> str | None:
    """The class around a function's"""
    try:
        return code_of(function.__code__).owner
    except NoSource:
        return None
