"""What decides how a loop goes on: a loop in which nothing else changes never ends, however much its other values grow.

Looked at is the text of one loop. Whatever is not understood makes the answer "unknown": then all values count.
"""

from __future__ import annotations

from collections.abc import Iterable

from treadle.abs.language import syntax as S

# They give a value for any operands; a division may throw.
_TOTAL = frozenset({"+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_TOTAL_FUNCTIONS = frozenset({"println", "print", "toString"})
_SIMPLE = (S.Literal_, S.This, S.Null, S.Var, S.Con, S.Unary, S.Binary, S.IfExp)


class _NotUnderstood(Exception):
    """Something that may wait, leave the loop or run other code."""


def deciding(loop: S.While) -> frozenset[str] | None:
    """The local variables on which the turns of a loop depend; None if that is not known.

    It can have only statements that neither wait nor leave it. A value decides if a condition asks for it, if an
    expression that may throw reads it, if it is the receiver of a call, or if a deciding one is made of it.
    """
    course = _Course()
    try:
        course.statement(loop)
    except _NotUnderstood:
        return None
    return course.closed()


class _Course:
    def __init__(self) -> None:
        self.needed: set[str] = set()
        self.made_of: dict[str, set[str]] = {}

    def closed(self) -> frozenset[str]:
        found, todo = set(self.needed), list(self.needed)
        while todo:
            for name in self.made_of.get(todo.pop(), set()) - found:
                found.add(name)
                todo.append(name)
        return frozenset(found)

    def statement(self, statement: S.Statement | None) -> None:
        if isinstance(statement, S.StatementBlock):
            for inner in statement.body:
                self.statement(inner)
        elif isinstance(statement, S.VarDecl):
            self._becomes(statement.name, statement.value)
        elif isinstance(statement, S.Assignment):
            self._becomes(_target(statement.target), statement.value)
        elif isinstance(statement, S.ExpStatement):
            self._reads(statement.value)
        elif isinstance(statement, S.If):
            self.needed |= self._reads(statement.condition)
            self.statement(statement.then)
            self.statement(statement.otherwise)
        elif isinstance(statement, S.While):
            self.needed |= self._reads(statement.condition)
            self.statement(statement.body)
        elif not isinstance(statement, S.Skip | None):
            raise _NotUnderstood

    def _becomes(self, name: str, value: S.Exp | None) -> None:
        if value is not None:
            self.made_of.setdefault(name, set()).update(self._reads(value))

    def _reads(self, exp: S.Exp) -> set[str]:
        """The variables of an expression; those of what may throw are noted as needed."""
        if isinstance(exp, S.Send):
            self.needed |= self._reads(exp.receiver)
            self._all(exp.args)
            return set()
        if isinstance(exp, S.FunctionCall):
            read = self._all(exp.args)
            if exp.function.decl is None or exp.function.name.rpartition(".")[2] not in _TOTAL_FUNCTIONS:
                self.needed |= read
            return read
        if isinstance(exp, S.Field) and isinstance(exp.target, S.This):
            return {_field(exp.name)}
        if not isinstance(exp, _SIMPLE):
            raise _NotUnderstood
        return self._of_simple(exp)

    def _of_simple(self, exp: S.Exp) -> set[str]:
        if isinstance(exp, S.Var):
            return {_field(exp.name) if exp.kind == "field" else exp.name}
        if isinstance(exp, S.Con):
            return self._all(exp.args)
        if isinstance(exp, S.Unary):
            return self._reads(exp.operand)
        if isinstance(exp, S.IfExp):
            return self._all((exp.condition, exp.then, exp.otherwise))
        if isinstance(exp, S.Binary):
            read = self._all((exp.left, exp.right))
            if exp.op not in _TOTAL:
                self.needed |= read
            return read
        return set()

    def _all(self, exps: Iterable[S.Exp]) -> set[str]:
        return set[str]().union(*(self._reads(exp) for exp in exps))


def _target(target: S.Exp) -> str:
    if isinstance(target, S.Var):
        return _field(target.name) if target.kind == "field" else target.name
    if isinstance(target, S.Field):
        return _field(target.name)
    raise _NotUnderstood


def _field(name: str) -> str:
    """A name that no local variable has."""
    return f"this.{name}"
