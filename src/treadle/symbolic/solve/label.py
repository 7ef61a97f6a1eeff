"""Values for a written test: small, varied, readable, and the same on every run.

A z3 model depends on the questions asked before it; here every path condition is solved from scratch by a
fixed procedure, so the same program gives the same tests. The procedure prefers values on the edge of the
path's conditions (n == 1 for n > 0), because that is where programs are wrong, and small distinct numbers
elsewhere. Unknowns that no condition connects are chosen apart, and what was chosen for a group of conditions is
remembered: most of a path is shared with its neighbours.

API
    label(conditions, unknowns, solver_options...) -> dict of var -> value, or None when the solver gives up
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import BOOL, INT, REAL, REF, STR, Const, Expr, Value, add, eq, in_class, sub, terms_of
from treadle.symbolic.solve.solver import Solver

# Where nothing is asked of an unknown: distinct, and neither 0 nor 1, which hide too many mistakes.
_INTEGERS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
_SMALL = (1, 0, -1, 2, -2, 3, -3, 4, -4, 5, 6, 7, 8, 9, 10, -5, -10)
_WORDS = ("ab", "cd", "ef", "gh", "ij", "kl", "mn")
_SHORT = ("a", "b", "", "ab", "abc", " ", "0", "1", "A", " ab ", "Ab", "AB")


def label(
    conditions: Sequence[Expr],
    unknowns: Iterable[Expr],
    *,
    domain: tuple[int, int] = (-10, 10),
    timeout: float = 2.0,
    hint: dict[Expr, Const] | None = None,
    words: Sequence[str] = (),
    wishes: Sequence[Value] = (),
) -> dict[Expr, Const] | None:
    """Values for all the unknowns that satisfy the conditions; `hint` is one model, `wishes` should hold if they
    can, `words` strings to prefer."""
    wanted = sorted({*unknowns, *(v for c in conditions for v in c.vars)}, key=lambda v: str(v.args[0]))
    wanted = list(dict.fromkeys((*unknowns, *wanted)))
    found: dict[Expr, Const] = {}
    for part in _parts(conditions, [w for w in wishes if isinstance(w, Expr)], wanted):
        values = _chosen(part, domain, timeout, tuple(words))
        if values is None and hint is not None:
            values = _choose(part, domain, timeout, words, hint)
        if values is None:
            return None
        found.update(values)
    return {v: found[v] for v in wanted}


class _Part(NamedTuple):
    """Conditions that share unknowns; what is chosen for them has no bearing on the rest of the path."""

    conditions: tuple[Expr, ...]
    wishes: tuple[Expr, ...]
    unknowns: tuple[tuple[Expr, int], ...]  # with their places among all unknowns of the path


def _parts(conditions: Sequence[Expr], wishes: Sequence[Expr], wanted: Sequence[Expr]) -> list[_Part]:
    leader: dict[Expr, Expr] = {}

    def find(v: Expr) -> Expr:
        while leader.setdefault(v, v) is not v:
            leader[v] = v = leader[leader[v]]
        return v

    for expression in (*conditions, *wishes):
        first, *others = expression.vars
        for other in others:
            leader[find(other)] = find(first)
    unknowns: dict[Expr, list[tuple[Expr, int]]] = {}
    asked: dict[Expr, list[Expr]] = {}
    wished: dict[Expr, list[Expr]] = {}
    for number, unknown in enumerate(wanted):
        unknowns.setdefault(find(unknown), []).append((unknown, number))
    for inside, expressions in ((asked, conditions), (wished, wishes)):
        for expression in expressions:
            inside.setdefault(find(next(iter(expression.vars))), []).append(expression)
    return [_Part(tuple(asked.get(g, ())), tuple(wished.get(g, ())), tuple(u)) for g, u in unknowns.items()]


# Neighbouring paths share most of their conditions, and so do most of their parts.
@functools.lru_cache(4096)
def _chosen(part: _Part, domain: tuple[int, int], timeout: float, words: tuple[str, ...]) -> dict[Expr, Const] | None:
    return _choose(part, domain, timeout, words, None)


def _choose(
    part: _Part, domain: tuple[int, int], timeout: float, words: Sequence[str], hint: dict[Expr, Const] | None
) -> dict[Expr, Const] | None:
    wanted = [unknown for unknown, _ in part.unknowns]
    solver = Solver(domain, timeout, apart=True)
    path = list(part.conditions)
    model = _first_model(solver, path, part.unknowns, hint)
    if model is None:
        return None

    def keep(extra: Value) -> bool:
        """Add a wish to the path if the path allows it."""
        nonlocal model
        if not isinstance(extra, Expr):
            return bool(extra)
        assert model is not None
        verdict = solver.check(path, extra, model if evaluate(extra, model) else None)
        if verdict.model is None:
            return False
        model = dict(verdict.model)
        path.append(extra)
        return True

    for wish in part.wishes:
        keep(wish)
    # the last decision first: it is the one that tells this path from its neighbour
    for condition in reversed(part.conditions):
        for edge in _edges(condition):
            if keep(edge):
                break
    for unknown, number in part.unknowns:
        _settle(unknown, number, keep, words)
    return {v: evaluate(v, model) for v in wanted}


def _first_model(
    solver: Solver, path: Sequence[Expr], wanted: Sequence[tuple[Expr, int]], hint: dict[Expr, Const] | None
) -> dict[Expr, Const] | None:
    """One model of the path: a guess that happens to fit, a fresh answer, or the one the search had."""
    guess: dict[Expr, Const] = {}
    for unknown, number in wanted:
        guess[unknown] = next(iter(_candidates(unknown, number, ())))
    if all(evaluate(c, guess) for c in path):
        return guess
    growing: list[Expr] = []
    model: dict[Expr, Const] | None = {}
    if any(unknown.sort is STR for unknown, _ in wanted):
        # the solver takes nothing from one question about strings to the next
        growing, model = list(path[:-1]), None
    for condition in path[len(growing) :]:
        fits = model is not None and evaluate(condition, model)
        verdict = solver.check(growing, condition, model if fits else None)
        if verdict.model is None:
            return hint if hint is not None and all(evaluate(c, hint) for c in path) else None
        model = dict(verdict.model)
        growing.append(condition)
    return model


def _edges(condition: Expr) -> Iterable[Value]:
    """The tightest way to satisfy a comparison: equality, or the nearest neighbour of an excluded value."""
    if condition.op == "ge0" and condition.args[0].sort is INT and condition.linear:
        constant, terms = terms_of(condition.args[0])
        if constant == -1 and len(terms) == 1 and terms[0][0].op == "len":
            return  # "not empty" says nothing about an edge: a longer text shows more
        yield eq(condition.args[0], 0)
    elif condition.op == "not" and condition.args[0].op == "eq0" and condition.linear:
        inner = condition.args[0].args[0]
        if inner.sort is INT:
            yield eq(sub(inner, 1), 0)
            yield eq(add(inner, 1), 0)


def _candidates(unknown: Expr, number: int, words: Sequence[str]) -> Iterable[Const]:
    if unknown.sort is INT:
        yield _INTEGERS[number % len(_INTEGERS)]
        yield from _SMALL
    elif unknown.sort is REAL:
        yield Fraction(_INTEGERS[number % len(_INTEGERS)] * 2 + 1, 2)
        yield from (Fraction(n) for n in _SMALL)
        yield Fraction(1, 2)
        yield Fraction(1, 4)
    elif unknown.sort is BOOL:
        yield True
        yield False
    elif unknown.sort is STR:
        yield _WORDS[number % len(_WORDS)]
        # a word of the program inside other text shows more than the word alone
        for pattern in ("ab{}cd", "{}ab", "ab{}", " ab{}cd ", " {}ab "):
            yield from (pattern.format(word) for word in words if word and "{" not in word)
        yield from words
        yield from _SHORT
    elif unknown.sort is REF:
        yield number + 1


def _settle(unknown: Expr, number: int, keep: Callable[[Value], bool], words: Sequence[str]) -> None:
    """Fix one unknown to the first candidate the path allows."""
    for candidate in _candidates(unknown, number, words):
        if keep(eq(unknown, candidate)):
            return
    if unknown.sort is STR:
        # no ready-made word fits: at least letters, at least visible
        for name in ("lower", "alnum", "ascii"):
            if keep(in_class(unknown, name)):
                return


__all__ = ["label"]
