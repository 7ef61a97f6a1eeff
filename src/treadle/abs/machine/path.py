"""Path conditions: what is known about the unknown inputs on one branch, and which conditions can join it.

Paths with the same conditions are one object, whatever the order in which tasks met the conditions, and each remembers
the answers it has had. Interleavings ask the same questions again and again: most answers are one dictionary look-up
and the solver chain is asked once per different question.
"""

from __future__ import annotations

from collections import Counter

from treadle.abs.machine import finite, texts
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import INT, Const, Expr, Model, Truth, ge, le, not_
from treadle.symbolic.solve.solver import Answer, Solver, connected


class PathConditions:
    """All path conditions of one exploration."""

    def __init__(self, domain: tuple[int, int] | None) -> None:
        self.domain = domain
        self._solver: Solver | None = None
        self.counts: Counter[str] = Counter()
        self.undecided: set[str] = set()  # what the solver could not decide, in words: the same in every process
        self._known: dict[frozenset[Expr], PathCondition] = {}
        self.root = PathCondition(self, (), frozenset(), {})
        self._known[frozenset()] = self.root

    @property
    def solver(self) -> Solver:
        """The solver chain, made when it is first needed: most explorations of known data never do."""
        if self._solver is None:
            self._solver = Solver(self.domain or (-10, 10))
        return self._solver

    def limits(self, unknowns: frozenset[Expr]) -> list[Expr]:
        """The range of each integer unknown, as conditions."""
        if self.domain is None:
            return []
        low, high = self.domain
        numbers = [v for v in sorted(unknowns, key=lambda v: v.id) if v.sort is INT]
        return [c for v in numbers for c in (ge(v, low), le(v, high)) if isinstance(c, Expr)]

    def extend(self, path: PathCondition, condition: Expr) -> PathCondition | None:
        if condition in path.known:
            return path
        if not_(condition) in path.known:
            return None
        known = path.known | {condition}
        found = self._known.get(known)
        if found is not None:
            return found
        self.counts["questions"] += 1
        found = self._solve(path, condition, known)
        if found is not None:
            self._known[known] = found
        return found

    def _solve(self, path: PathCondition, condition: Expr, known: frozenset[Expr]) -> PathCondition | None:
        conditions = (*path.conditions, condition)
        if path.proved and evaluate(condition, path.model) and self._in_domain(condition, path.model):
            self.counts["model in hand"] += 1
            return PathCondition(self, conditions, known, path.model)
        if path.proved:
            # what shares no unknown with the new condition keeps the values it has
            related = [*connected(path.conditions, condition), condition]
            answer = texts.decide(related)
            if answer is None and self.domain is not None:
                answer = finite.decide(related, self.domain)
            if answer is not None:
                self.counts["decided here"] += 1
            if answer is False:
                return None
            if isinstance(answer, dict):
                return PathCondition(self, conditions, known, {**path.model, **answer})
        self.counts["solver chain"] += 1
        limits = self.limits(condition.vars.union(*(c.vars for c in path.conditions)))
        verdict = self.solver.check([*limits, *path.conditions], condition, hint=None)
        if verdict.answer is Answer.UNSAT:
            return None
        found = PathCondition(self, conditions, known, dict(verdict.model or {}))
        if verdict.answer is Answer.UNKNOWN:
            found.proved = False
            self.undecided.add(" and ".join(sorted(map(show, known))))
        return found

    def _in_domain(self, condition: Expr, model: Model) -> bool:
        """Unknowns that are new in the condition default to 0, which must be inside the domain."""
        if self.domain is None or self.domain[0] <= 0 <= self.domain[1]:
            return True
        return all(v in model or v.sort is not INT for v in condition.vars)


class PathCondition:
    """One conjunction of conditions that can hold together; `proved` is False where the solver did not know."""

    __slots__ = ("_answers", "_splits", "conditions", "known", "model", "owner", "proved")

    def __init__(
        self,
        owner: PathConditions,
        conditions: tuple[Expr, ...],
        known: frozenset[Expr],
        model: dict[Expr, Const] | Model,
    ) -> None:
        self.owner = owner
        self.conditions = conditions
        self.known = known
        self.model = model
        self.proved = True
        self._answers: dict[Expr, PathCondition | None] = {}
        self._splits: dict[Expr, tuple[PathCondition | None, PathCondition | None]] = {}

    def assume(self, condition: Truth) -> PathCondition | None:
        """The path with one more condition; None when they cannot hold together."""
        if not isinstance(condition, Expr):
            return self if condition else None
        answers = self._answers
        if condition in answers:
            return answers[condition]
        answer = answers[condition] = self.owner.extend(self, condition)
        return answer

    def split(self, condition: Expr) -> tuple[PathCondition | None, PathCondition | None]:
        """The path on which the condition holds and the one on which it does not."""
        found = self._splits.get(condition)
        if found is None:
            found = self._splits[condition] = (self.assume(condition), self.assume(not_(condition)))
        return found
