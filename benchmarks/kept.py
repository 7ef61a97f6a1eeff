"""QSort of Table 1 as a solver would count it that never refutes x > y together with x < y before values are chosen.

    python -m benchmarks.kept

Two unknown numbers are the same once they were found equal, and are never equal once they were found different; bounds
of one number are exact; any other contradiction between two numbers is kept, and dropped at the end of a run. The
published states and cuts lie neither here nor where Treadle counts: docs/benchmarks-actor.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest.mock import patch

from benchmarks.rows import Rows
from benchmarks.table1 import DOMAIN, TABLE, explored, figures
from treadle.abs.explore.tree import TreeExplorer, TreeLeaf, TreeNode
from treadle.abs.machine import finite
from treadle.abs.machine.path import PathCondition, PathConditions
from treadle.abs.machine.state import State
from treadle.symbolic.expr.terms import Expr, terms_of

_FAR = 10**6


def _refuted(conditions: Sequence[Expr]) -> bool:
    """Whether a solver that looks at numbers one by one, and at which of them are equal, sees a contradiction."""
    same: dict[Expr, Expr] = {}

    def root(number: Expr) -> Expr:
        while number in same:
            number = same[number]
        return number

    forms = [(c.op, terms_of((c.args[0] if c.op == "not" else c).args[0])) for c in conditions]
    for op, (constant, terms) in forms:
        if op == "eq0" and constant == 0 and len(terms) == 2:
            one, two = (root(number) for number, _ in terms)
            if one is not two:
                same[one] = two
    alone: list[Expr] = []
    for condition, (op, (constant, terms)) in zip(conditions, forms, strict=True):
        factors: dict[Expr, int] = {}
        for number, factor in terms:
            factors[root(number)] = factors.get(root(number), 0) + factor
        if not any(factors.values()):
            holds = {"ge0": constant >= 0, "eq0": constant == 0, "not": constant != 0}[op]
            if not holds:
                return True
        elif len(terms) == 1:
            alone.append(condition)
    return bool(alone) and finite.decide(alone, (-_FAR, _FAR)) is False


def _extend(paths: PathConditions, path: PathCondition, condition: Expr) -> PathCondition | None:
    known = path.known | {condition}
    if known not in paths._known:
        conditions = (*path.conditions, condition)
        if _refuted(conditions):
            return None
        paths._known[known] = PathCondition(paths, conditions, known, {})
    return paths._known[known]


_leaf = TreeExplorer._leaf


def _possible(explorer: TreeExplorer, state: State, node: TreeNode | None) -> Iterator[TreeLeaf]:
    """No test where no values can be chosen."""
    conditions = state.path.conditions
    if not conditions or finite.decide(conditions, DOMAIN) is not False:
        yield from _leaf(explorer, state, node)


def table() -> None:
    rows = Rows("actor: QSort of Table 1, contradictions kept", ["row", "paper", "kept", "refuted"])
    for row in (row for row in TABLE if row.program == "QSort"):
        refuted = figures(explored(row, False))
        with (
            patch.object(PathConditions, "extend", _extend),
            patch.object(TreeExplorer, "_leaf", _possible),
            patch.object(finite, "MOST_NODES", _FAR),
        ):
            kept = figures(explored(row, False))
        rows.add(row=row.name, paper=row.ignoring, kept=kept, refuted=refuted)
    rows.table()


if __name__ == "__main__":
    table()
