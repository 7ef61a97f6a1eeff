"""Is there an input that takes this path? The cheapest stage that can answer does.

The chain: constants; the model in hand; the last few models; interval bounds; and only then z3, incremental
on the conditions shared with the previous question. Linear integer questions go to one `QF_LIA` solver; products of
unknowns and rationals to a general one with a time limit, inside a small finite domain first, then wider, then
without bounds; strings to a new one each time, after the values that conditions name have been put in.

API
    solver = Solver(domain=(-10, 10), timeout=2.0)      timeout: seconds of an idle core, counted in z3's steps
    solver.check(conditions, extra, hint=model) -> Verdict
                     conditions: a sequence of BOOL `Expr`, known to be satisfiable together (a path
                     condition) extra: one more condition; hint: a model of `conditions`, if the caller has
                     one
    verdict.answer   Answer.SAT | Answer.UNSAT | Answer.UNKNOWN; unknown is never taken for unsat
    verdict.model    dict of var -> value when SAT (an unknown not in it may take any value: read it with
                     meaning.evaluate, which fills in defaults)
    solver.counts    how many questions each stage answered, for benchmarks

`label.py` turns a path condition into the values of a written test; it uses a fresh solver and never a model
found here, because a z3 model depends on the questions asked before.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import prod
from typing import Any

import z3

from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import BOOL, INT, REAL, REF, STR, Const, Expr, Model, Sort, Value, not_
from treadle.symbolic.solve import bounds
from treadle.symbolic.solve.answers import KNOWN_ANSWERS, question_of
from treadle.symbolic.solve.definitions import instances
from treadle.symbolic.solve.pins import reduced
from treadle.symbolic.solve.translate import Translator, value_of

# Models kept for the second stage. A probe on tree-shaped path conditions answered 17 % of all questions
# with 8 models; more models cost more evaluations than they save.
RECENT = 8


# A limit on z3's own steps, not on the clock: a busy machine must not change an answer. The rate is that of an idle
# core; the clock still ends what the steps do not, much later.
_STEPS_PER_SECOND = 2_000_000
_PATIENCE = 15


# Values tried when z3 gives up, and how many combinations of them at most.
_TEXTS = ("", "a", "b", "ab", "ba", "abc", " ", "0", "1", "A", "x", "aa", "a b", "a,b")
_GUESSES: dict[Sort, tuple[Const, ...]] = {
    INT: (0, 1, 2, 3, -1, -2, 10),
    BOOL: (True, False),
    REAL: (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-1), Fraction(2), Fraction(1, 4)),
    REF: (0, 1, 2),
}
_MOST_GUESSES = 5000
# How often z3 is asked again after a model that is not one.
_MOST_REFINEMENTS = 12


class Answer(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SolverVerdict:
    answer: Answer
    model: Model | None = None

    @property
    def possible(self) -> bool:
        return self.answer is Answer.SAT


_UNSAT = SolverVerdict(Answer.UNSAT)
_UNKNOWN = SolverVerdict(Answer.UNKNOWN)


@dataclass(slots=True)
class _Stack:
    """One z3 solver whose assertions follow the current path: popped and pushed to the common prefix."""

    z3: Any
    conditions: list[Expr] = field(default_factory=list)

    def follow(self, conditions: Sequence[Expr], translator: Translator) -> None:
        shared = 0
        for mine, wanted in zip(self.conditions, conditions, strict=False):
            if mine is not wanted:
                break
            shared += 1
        if len(self.conditions) > shared:
            self.z3.pop(len(self.conditions) - shared)
            del self.conditions[shared:]
        for condition in conditions[shared:]:
            self.z3.push()
            self.z3.add(translator.term(condition, BOOL))
            self.conditions.append(condition)


def _is_lia(e: Expr) -> bool:
    """Linear integers and booleans only: no rationals, no strings, no products of unknowns."""
    return e.linear and all(v.sort in (INT, BOOL, REF) for v in e.vars)


class Solver:
    """Answers questions about paths. `apart`: from nothing but what it is asked itself, at the price of 2 ms; z3's
    models otherwise depend on everything that the process has done before."""

    def __init__(self, domain: tuple[int, int] = (-10, 10), timeout: float = 2.0, apart: bool = False) -> None:
        self.domain = domain
        self.timeout = timeout
        self.words: tuple[str, ...] = ()  # strings that the program mentions
        self.counts: Counter[str] = Counter()
        self._recent: deque[Model] = deque(maxlen=RECENT)
        self._answers: dict[tuple[Expr, ...], SolverVerdict] = {}
        self._apart = apart

    # z3's side is made when a question gets that far: for most paths of most functions none does

    @functools.cached_property
    def _context(self) -> Any:
        return z3.Context() if self._apart else None

    @functools.cached_property
    def _translator(self) -> Translator:
        return Translator(self._context)

    @functools.cached_property
    def _lia(self) -> _Stack:
        return _Stack(z3.SolverFor("QF_LIA", self._context))

    @functools.cached_property
    def _general(self) -> _Stack:
        return _Stack(z3.Solver(ctx=self._context))

    def check(
        self, conditions: Sequence[Expr], extra: Value = True, hint: Model | None = None, base: Model | None = None
    ) -> SolverVerdict:
        """Whether `extra` can hold on the path described by `conditions`; `base` is any model of them."""
        if not isinstance(extra, Expr):
            if not extra:
                self.counts["constant"] += 1
                return _UNSAT
            if hint is not None and all(evaluate(c, hint) for c in conditions):
                self.counts["constant"] += 1
                return SolverVerdict(Answer.SAT, hint)
            if not conditions:
                return SolverVerdict(Answer.SAT, {})
            return self.check(conditions[:-1], conditions[-1], hint)
        if extra in conditions and hint is not None:
            self.counts["constant"] += 1
            return SolverVerdict(Answer.SAT, hint)
        if not_(extra) in conditions:
            self.counts["constant"] += 1
            return _UNSAT
        for stage, model in (("model in hand", hint), *(("recent model", m) for m in self._recent)):
            if (
                model is not None
                and evaluate(extra, model)
                and (stage == "model in hand" or all(evaluate(c, model) for c in conditions))
            ):
                self.counts[stage] += 1
                return SolverVerdict(Answer.SAT, model)
        if base is not None:
            # conditions that share no unknown with the question stay as they are
            related = connected(conditions, extra)
            if len(related) < len(conditions):
                verdict = self.check(related, extra)
                if verdict.model is None:
                    return verdict
                asked = extra.vars.union(*(c.vars for c in related))
                return SolverVerdict(Answer.SAT, {**base, **{v: evaluate(v, verdict.model) for v in asked}})
        if bounds.impossible(conditions, extra):
            self.counts["bounds"] += 1
            return _UNSAT
        if len(extra.vars) == 1 and all(c.vars == extra.vars for c in conditions):
            value = bounds.single(conditions, extra)
            if value is not None:
                self.counts["bounds"] += 1
                return SolverVerdict(Answer.SAT, {next(iter(extra.vars)): value})
        key = (*conditions, extra)
        found = self._answers.get(key)
        if found is not None:
            self.counts["remembered"] += 1
            return found
        found = self._answers[key] = self._ask(conditions, extra)
        if found.model is not None:
            self._recent.appendleft(found.model)
        return found

    def _ask(self, conditions: Sequence[Expr], extra: Expr) -> SolverVerdict:
        if _is_lia(extra) and all(_is_lia(c) for c in conditions):
            self.counts["z3 linear"] += 1
            return self._run(self._lia, conditions, extra, ())
        # The path is satisfiable: conditions that share no unknown with the question cannot change its
        # answer.
        related = connected(conditions, extra)
        if _is_lia(extra) and all(_is_lia(c) for c in related):
            self.counts["z3 linear"] += 1
            return self._completed(self._run(self._lia, related, extra, ()), conditions)
        unknowns = sorted(extra.vars.union(*(c.vars for c in related)), key=lambda v: v.order)
        if any(v.sort is STR for v in unknowns):
            return self._completed(self._ask_of_strings(related, extra, unknowns), conditions)
        self.counts["z3 general"] += 1
        integers = [v for v in unknowns if v.sort is INT]
        low, high = self.domain
        # Small domains make products of unknowns finite; z3 finds these first and fast.
        widths = ((low, high), (low * 10, high * 10)) if integers and not _all_linear(related, extra) else ()
        for lower, upper in widths:
            within = self._bounded(integers, lower, upper)
            verdict = self._run(self._general, related, extra, within, self.timeout / 4)
            if verdict.possible:
                return self._completed(verdict, conditions)
        verdict = self._run(self._general, related, extra, (), self.timeout)
        if verdict.answer is Answer.UNKNOWN:
            verdict = self._guess(related, extra, unknowns)
        return self._completed(verdict, conditions)

    def _ask_of_strings(self, related: Sequence[Expr], extra: Expr, unknowns: Sequence[Expr]) -> SolverVerdict:
        """Values that conditions name are put in; z3 is asked about the rest, from nothing: only then does it use the
        equations of the path to get rid of unknowns, which is worth more than what it has learned before."""
        found = reduced([*related, extra])
        if found is None:
            self.counts["pins"] += 1
            return _UNSAT
        pins, left = found
        verdict = SolverVerdict(Answer.SAT, {})
        if left:
            verdict = self._known_or_asked(left)
            if verdict.answer is Answer.UNKNOWN:
                verdict = self._guess(left[:-1], left[-1], [v for v in unknowns if v not in pins])
        else:
            self.counts["pins"] += 1
        return verdict if verdict.model is None else SolverVerdict(Answer.SAT, {**verdict.model, **pins})

    def _known_or_asked(self, conditions: Sequence[Expr]) -> SolverVerdict:
        question = question_of(conditions, self.timeout)
        known = KNOWN_ANSWERS.get(question)
        if known is not None:
            model = known.model()
            if model is None or all(evaluate(c, model) for c in conditions):
                self.counts["remembered"] += 1
                return SolverVerdict(Answer(known.answer), model)
        self.counts["z3 strings"] += 1
        begun = time.monotonic()
        verdict = self._refined(conditions)
        KNOWN_ANSWERS.keep(question, verdict.answer.value, verdict.model, time.monotonic() - begun)
        return verdict

    def _refined(self, conditions: Sequence[Expr]) -> SolverVerdict:
        """Ask a z3 that knows nothing else, and believe only a model that our evaluator confirms.

        z3 gives some partial operations a meaning of their own, and knows others by a definition that leaves something
        open: what such a function really gives for the values of a wrong model is told, and the question repeated.
        """
        # a context of its own costs 2 ms, and the answer does not depend on what was asked before
        context = z3.Context()
        translator = Translator(context)
        asserted = [term for c in conditions for term in translator.assertions(c)]
        try:
            for again in range(_MOST_REFINEMENTS):
                solver = z3.Solver(ctx=context)
                self._limit(solver, self.timeout / 4 if again else self.timeout)
                solver.add(*asserted)
                result = solver.check()
                if result == z3.unsat:
                    return _UNSAT
                if result != z3.sat:
                    return _UNKNOWN
                model = _read(translator, solver.model(), conditions)
                if all(evaluate(c, model) for c in conditions):
                    return SolverVerdict(Answer.SAT, model)
                self.counts["model rejected"] += 1
                facts = list(_instances(translator, conditions, model))
                if not facts:
                    return _UNKNOWN
                asserted += facts
        except z3.Z3Exception:
            pass
        return _UNKNOWN

    def _limit(self, solver: Any, effort: float) -> None:
        solver.set("ctrl_c", False)  # else z3 takes it for itself, and nobody else hears of it
        solver.set("rlimit", max(1000, int(effort * _STEPS_PER_SECOND)))
        solver.set("timeout", max(1, int(effort * 1000 * _PATIENCE)))

    def _guess(self, related: Sequence[Expr], extra: Expr, unknowns: Sequence[Expr]) -> SolverVerdict:
        """Where z3 gives up (much of string replacement), a handful of plain values often does it."""
        choices = [_GUESSES.get(v.sort, ()) if v.sort is not STR else (*self.words, *_TEXTS) for v in unknowns]
        if not unknowns or prod(map(len, choices)) > _MOST_GUESSES:
            return _UNKNOWN
        for values in itertools.product(*choices):
            model = dict(zip(unknowns, values, strict=True))
            if evaluate(extra, model) and all(evaluate(c, model) for c in related):
                self.counts["guess"] += 1
                return SolverVerdict(Answer.SAT, model)
        return _UNKNOWN

    def _completed(self, verdict: SolverVerdict, conditions: Sequence[Expr]) -> SolverVerdict:
        """A model of the related conditions only: unrelated ones are solved apart and joined."""
        if verdict.model is None:
            return verdict
        model = dict(verdict.model)
        rest = [c for c in conditions if not evaluate(c, model)]
        if not rest:
            return SolverVerdict(Answer.SAT, model)
        apart = [c for c in conditions if not (c.vars & model.keys())]
        found = self._ask([c for c in apart if c is not rest[0]], rest[0])
        if found.model is None:
            return _UNKNOWN
        joined = {**found.model, **model}
        return SolverVerdict(Answer.SAT, joined) if all(evaluate(c, joined) for c in conditions) else _UNKNOWN

    def _bounded(self, integers: Sequence[Expr], lower: int, upper: int) -> list[Any]:
        terms = [self._translator.term(v, INT) for v in integers]
        return [z3.And(t >= lower, t <= upper) for t in terms]

    def _run(
        self,
        stack: _Stack,
        conditions: Sequence[Expr],
        extra: Expr,
        within: Sequence[Any],
        timeout: float | None = None,
    ) -> SolverVerdict:
        try:
            stack.follow(conditions, self._translator)
            self._limit(stack.z3, timeout if timeout is not None else self.timeout)
            stack.z3.push()
            try:
                stack.z3.add(self._translator.term(extra, BOOL), *within)
                result = stack.z3.check()
                if result == z3.unsat:
                    return _UNSAT
                if result != z3.sat:
                    return _UNKNOWN
                model = _read(self._translator, stack.z3.model(), [*conditions, extra])
            finally:
                stack.z3.pop()
        except z3.Z3Exception:
            return _UNKNOWN
        # z3 gives some partial operations a meaning of their own; trust only what our evaluator confirms.
        if not evaluate(extra, model) or not all(evaluate(c, model) for c in conditions):
            self.counts["model rejected"] += 1
            return _UNKNOWN
        return SolverVerdict(Answer.SAT, model)


def _read(translator: Translator, found: Any, conditions: Sequence[Expr]) -> dict[Expr, Const]:
    model: dict[Expr, Const] = {}
    for v in sorted(frozenset().union(*(c.vars for c in conditions)), key=lambda v: v.order):
        term = found.eval(translator.term(v, v.sort), model_completion=True)
        model[v] = value_of(term, v.sort)
    return model


def _instances(translator: Translator, conditions: Sequence[Expr], model: Model) -> Iterable[Any]:
    """What the functions of the conditions that z3 knows in part give for the values of a model."""
    for condition in conditions:
        for part, arguments, result in instances(condition, lambda v: evaluate(v, model)):
            given = [translator.term(a, a.sort) == translator.term(v, a.sort) for a, v in arguments]
            yield z3.Implies(z3.And(*given), translator.term(part, part.sort) == translator.term(result, part.sort))


def _all_linear(conditions: Sequence[Expr], extra: Expr) -> bool:
    return extra.linear and all(c.linear for c in conditions)


def connected(conditions: Sequence[Expr], extra: Expr) -> list[Expr]:
    """The conditions that share unknowns with `extra`, directly or through one another, in path order."""
    reached = set(extra.vars)
    inside: set[Expr] = set()
    grew = True
    while grew:
        grew = False
        for condition in conditions:
            if condition not in inside and not reached.isdisjoint(condition.vars):
                inside.add(condition)
                reached |= condition.vars
                grew = True
    return [c for c in conditions if c in inside]
