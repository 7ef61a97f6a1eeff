"""Expressions as JSON: a table of nodes, each after its arguments, so that what is shared is written once.

Reading goes through the constructors again, because their normal form depends on the order in which unknowns were
made in this process.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.meaning import weighted_sum
from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.terms import Expr, Sort, Value, var


class ExpressionWriter:
    """Collects nodes; `value` gives the JSON of a scalar or an expression."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._known: dict[Expr, int] = {}

    def value(self, value: Value) -> Any:
        if isinstance(value, Expr):
            return {"e": self._node(value)}
        if isinstance(value, Fraction):
            return {"q": [value.numerator, value.denominator]}
        assert isinstance(value, bool | int | str), value
        return value

    def _node(self, value: Expr) -> int:
        if value not in self._known:
            if value.op == "var":
                made: list[Any] = ["var", value.sort.value, value.args[0]]
            elif value.op == "sum":
                terms = [[self.value(atom), self.value(factor)] for atom, factor in value.args[1]]
                made = ["sum", value.sort.value, self.value(value.args[0]), terms]
            else:
                made = [value.op, value.sort.value, *(self.value(a) for a in value.args)]
            self._known[value] = len(self.nodes)
            self.nodes.append(made)
        return self._known[value]


class ExpressionReader:
    def __init__(self, nodes: list[Any]) -> None:
        self._values: list[Value] = []
        for node in nodes:
            self._values.append(self._build(*node))

    def value(self, written: Any) -> Value:
        if isinstance(written, dict):
            if "e" in written:
                return self._values[written["e"]]
            return Fraction(*written["q"])
        if not isinstance(written, bool | int | str):
            raise ValueError(f"not a value: {written!r}")
        return written

    def _build(self, op: str, sort: str, *args: Any) -> Value:
        if op == "var":
            return var(args[0], Sort(sort))
        if op == "sum":
            terms = [(self.value(atom), self.value(factor)) for atom, factor in args[1]]
            return weighted_sum(self.value(args[0]), terms, Sort(sort))
        return OPERATORS[op].build(*(self.value(a) for a in args))
