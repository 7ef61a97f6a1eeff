"""Making nodes: the small vocabulary that all parts of the rewriter share.

A new node always gets the location of the node it stands for, so that line numbers, tracebacks and coverage speak
of the source as it was written.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from treadle.core.parsing import mangle
from treadle.threads.instrument.scopes import NameScope, ScopeNames

HOOK_PREFIX = "_treadle_"

_Node = TypeVar("_Node", bound=ast.AST)


class NodeMaker(ast.NodeTransformer):
    """Knows the scope it is in, and makes nodes."""

    def __init__(self, names: ScopeNames, tree: ast.Module) -> None:
        self.names = names
        self.scope: NameScope = names.scopes[tree]
        self.temporaries = 0

    def _at(self, node: _Node, place: ast.AST) -> _Node:
        node.lineno, node.col_offset = place.lineno, place.col_offset  # type: ignore[attr-defined]
        node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset  # type: ignore[attr-defined]
        return node

    def _name(self, name: str, place: ast.AST, ctx: ast.expr_context | None = None) -> ast.Name:
        return self._at(ast.Name(name, ctx or ast.Load()), place)

    def _constant(self, value: str | int | None, place: ast.AST) -> ast.Constant:
        return self._at(ast.Constant(value), place)

    def _hook(self, name: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        return self._at(ast.Call(self._name(HOOK_PREFIX + name, place), list(args), []), place)

    def _method(self, owner: ast.expr, method: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        """A call of a method of one of our own objects."""
        called = self._at(ast.Attribute(owner, method, ast.Load()), place)
        return self._at(ast.Call(called, list(args), []), place)

    def _statement(self, value: ast.expr) -> ast.Expr:
        return self._at(ast.Expr(value), value)

    def _pick(self, index: int, place: ast.AST, *items: ast.expr) -> ast.expr:
        """All of `items` are evaluated in order; the one at `index` is the value."""
        both = self._at(ast.Tuple(list(items), ast.Load()), place)
        return self._at(ast.Subscript(both, self._constant(index, place), ast.Load()), place)

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"{HOOK_PREFIX}value_{self.temporaries}"

    def _mangled(self, name: str) -> str:
        return mangle(name, self.scope.class_name)

    def _cell(self, target: ast.expr) -> str | None:
        if not isinstance(target, ast.Name):
            return None
        return self.names.shared_cell(self.scope, self._mangled(target.id))

    def _is_global(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and self.names.is_shared_global(self.scope, self._mangled(target.id))

    def _announced(self, value: ast.expr, label: str, place: ast.AST) -> ast.expr:
        """`value`, and then the announcement that the cell is about to be written."""
        return self._pick(0, place, value, self._hook("cell_write", place, self._constant(label, place)))


def is_foreign(node: ast.expr) -> bool:
    """Names that pytest's assertion rewriting put in (`@pytest_ar`) are not the program's."""
    return isinstance(node, ast.Name) and node.id.startswith("@")
