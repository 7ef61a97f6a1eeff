"""Rewrites stores and deletions: assignments of every form, and what is inside a larger target.

Where a target sits inside a larger one (`a, o.x = it`, `for o.x in it`, `f().x += 1`) it becomes the attribute
`value` of a place object (see places.py), which keeps Python's order of evaluation without temporary variables.
Only shared closure variables need temporaries there: they can be written by the function's own code alone.
"""

from __future__ import annotations

import ast

from treadle.threads.instrument.expressions import ExpressionRewriter
from treadle.threads.instrument.nodes import is_foreign

INPLACE_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.MatMult: "imatmul",
    ast.Div: "itruediv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.BitAnd: "iand",
    ast.FloorDiv: "ifloordiv",
}


class TargetRewriter(ExpressionRewriter):
    def _target(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """A target inside a larger statement, or one of several.

        From the first shared cell on, values go through temporaries and are stored by the statements added to
        `after`, in order, so that each announcement is followed by its write at once.
        """
        if after or self._cell(target) is not None:
            return self._stored_after(target, after)
        if isinstance(target, ast.Tuple | ast.List):
            return self._unpacking(target, after)
        if isinstance(target, ast.Attribute | ast.Subscript) or self._is_global(target):
            return self._place(target)
        return target

    def _stored_after(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        temporary = self._temporary()
        after.extend(self._store(target, self._name(temporary, target)))
        after.append(self._at(ast.Delete([self._name(temporary, target, ast.Del())]), target))
        return self._name(temporary, target, ast.Store())

    def _unpacking(self, target: ast.Tuple | ast.List, after: list[ast.stmt]) -> ast.expr:
        for number, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            if self._has_cell(inner) and isinstance(inner, ast.Tuple | ast.List):
                # As a whole: what it holds is taken apart only when its turn has come.
                inner = self._stored_after(inner, after)
            else:
                inner = self._target(inner, after)
            if isinstance(element, ast.Starred):
                element.value = inner
            else:
                target.elts[number] = inner
        return target

    def _has_cell(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Tuple | ast.List):
            return any(self._has_cell(element) for element in target.elts)
        return self._cell(target.value if isinstance(target, ast.Starred) else target) is not None

    def _store(self, target: ast.expr, value: ast.expr, whole: ast.AST | None = None) -> list[ast.stmt]:
        """`target = value` with `value` rewritten already."""
        place = whole or target
        match target:
            case ast.Attribute() if not is_foreign(target.value):
                name = self._constant(self._mangled(target.attr), target)
                return [self._statement(self._hook("store", place, value, self._load(target.value), name))]
            case ast.Subscript():
                owner, key = self._load(target.value), self._load(target.slice)
                return [self._statement(self._hook("set_item", place, value, owner, key))]
            case ast.Name() if self._is_global(target):
                name = self._constant(self._mangled(target.id), target)
                globals_ = self._hook("globals", target)
                return [self._statement(self._hook("set_global", place, value, globals_, name))]
        label = self._cell(target)
        if label is not None:
            value = self._announced(value, label, target)
        after: list[ast.stmt] = []
        if isinstance(target, ast.Tuple | ast.List):
            target = self._unpacking(target, after)
        return [self._at(ast.Assign([target], value), place), *after]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        if len(node.targets) == 1:
            value = self._iterable(node.value) if unpacks else self._load(node.value)
            return self._store(node.targets[0], value, node)
        # `x = a, b = it` keeps the value itself, so it cannot be replaced by an iterator.
        value = self._use(node.value) if unpacks else self._load(node.value)
        after: list[ast.stmt] = []
        node.targets = [self._target(target, after) for target in node.targets]
        node.value = value
        return [node, *after]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return node
        node.value = self._load(node.value)
        label = self._cell(node.target)
        if label is not None:
            node.value = self._announced(node.value, label, node.target)
        elif isinstance(node.target, ast.Attribute | ast.Subscript):
            node.target = self._place(node.target)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """The old value may be a container that the operator changes in place, so the operator is a hook too."""
        target = node.target
        if not isinstance(target, ast.Name) and not self._evaluates_once(target, node.value):
            loaded = self._method(self._place(target).value, "loaded", target)
            name = self._constant(INPLACE_OPERATORS[type(node.op)], node)
            return self._statement(self._method(loaded, "augment", node, name, self._load(node.value)))
        old = self._load(_copy_as_load(target))
        return self._store(
            target, self._hook(INPLACE_OPERATORS[type(node.op)], node, old, self._load(node.value)), node
        )

    def _evaluates_once(self, target: ast.Attribute | ast.Subscript, value: ast.expr) -> bool:
        """Can the owner and key of `target` be written twice without being evaluated twice?"""
        if isinstance(target, ast.Subscript) and not self._keeps(target.slice, value):
            return False
        return isinstance(target.value, ast.Name) and self._keeps(target.value, value)

    def _keeps(self, operand: ast.expr, value: ast.expr) -> bool:
        """Does `operand` certainly mean the same before and after `value` is evaluated?"""
        if isinstance(operand, ast.Constant):
            return True
        if not isinstance(operand, ast.Name):
            return False
        if not self.names.is_private(self.scope, self._mangled(operand.id)):
            return False
        return not any(isinstance(node, ast.NamedExpr) and node.target.id == operand.id for node in ast.walk(value))

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        return [statement for target in node.targets for statement in self._delete(target, node)]

    def _delete(self, target: ast.expr, whole: ast.AST) -> list[ast.stmt]:
        match target:
            case ast.Tuple() | ast.List():
                return [statement for part in target.elts for statement in self._delete(part, whole)] or [
                    self._at(ast.Delete([target]), whole)
                ]
            case ast.Attribute():
                name = self._constant(self._mangled(target.attr), target)
                return [self._statement(self._hook("delete", target, self._load(target.value), name))]
            case ast.Subscript():
                owner, key = self._load(target.value), self._load(target.slice)
                return [self._statement(self._hook("del_item", target, owner, key))]
            case ast.Name() if self._is_global(target):
                name = self._constant(self._mangled(target.id), target)
                return [self._statement(self._hook("del_global", target, self._hook("globals", target), name))]
        delete = self._at(ast.Delete([target]), target)
        label = self._cell(target)
        if label is None:
            return [delete]
        return [self._statement(self._hook("cell_write", target, self._constant(label, target))), delete]


def _copy_as_load(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    copy: ast.expr
    match target:
        case ast.Name():
            copy = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            copy = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            copy = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(copy, target)
