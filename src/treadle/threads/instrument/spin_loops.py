"""Recognises spin loops: loops that only look, and so can do nothing new before another strand acts.

`while not flag: pass` and its relatives end each iteration with `_treadle_spin()`, which lets the runtime wait for
somebody to change what was read, instead of exploring how often one can look.
"""

from __future__ import annotations

import ast

# Calls that by their name do more than look: a loop around them gets somewhere by itself.
_TAKING = frozenset(
    {"next", "pop", "popleft", "popitem", "get_nowait", "put_nowait", "read", "readline", "recv", "send", "write"}
    | {"append", "appendleft", "add", "remove", "discard", "insert", "extend", "update", "setdefault", "clear"}
    | {"setattr", "delattr", "setitem"}
)


def is_spin_loop(loop: ast.While) -> bool:
    """Does an iteration of `loop` only look, so that it can do nothing new before another strand acts?"""
    return _only_looks(loop.test) and _only_waits(loop.body)


def _only_looks(node: ast.expr) -> bool:
    return not any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) or _takes(part)
        for part in ast.walk(node)
    )


def _takes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TAKING
    return False


def _only_waits(body: list[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=ast.Call(func=ast.Name(id="sleep") | ast.Attribute(attr="sleep"))):
                continue
            case ast.If() if _only_looks(statement.test):
                if _leaves_or_waits(statement.body) and _leaves_or_waits(statement.orelse):
                    continue
        return False
    return True


def _leaves_or_waits(body: list[ast.stmt]) -> bool:
    if body and isinstance(body[-1], ast.Break | ast.Return | ast.Raise):
        return _only_waits(body[:-1])
    return _only_waits(body)
