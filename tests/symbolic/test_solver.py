"""The solver chain: every stage agrees with brute force, and unknown is not unsat."""

import dataclasses
import itertools
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.symbolic.expr import terms
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import BOOL, INT, REAL, STR, Expr, Value
from treadle.symbolic.solve.answers import KNOWN_ANSWERS, KnownAnswer, question_of
from treadle.symbolic.solve.label import label
from treadle.symbolic.solve.pins import reduced
from treadle.symbolic.solve.solver import Answer, Solver, connected

x: Any = terms  # everything built here has an unknown in it, and is an Expr

A, B, C = (x.var(name, INT) for name in "abc")
S, T = x.var("s", STR), x.var("t", STR)
P = x.var("p", BOOL)


def _random_condition(rng: random.Random) -> Any:
    def term(depth: int) -> Any:
        kind = rng.randrange(7 if depth else 3)
        if kind == 0:
            return rng.randint(-3, 3)
        if kind < 3:
            return rng.choice((A, B))
        left, right = term(depth - 1), term(depth - 1)
        if kind == 3:
            return x.add(left, right)
        if kind == 4:
            return x.sub(left, right)
        if kind == 5:
            return x.mul(left, right)
        return x.mod(left, rng.choice((2, 3, -3)))

    compare: Callable[[Value, Value], Value] = rng.choice((x.lt, x.le, x.eq, x.ne, x.gt, x.ge))
    return compare(term(2), term(2))


@pytest.mark.parametrize("seed", range(40))
def test_answers_agree_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    box = [x.ge(A, -4), x.le(A, 4), x.ge(B, -4), x.le(B, 4)]
    solver = Solver()
    path: list[Expr] = [c for c in box if isinstance(c, Expr)]
    points = [{A: a, B: b} for a, b in itertools.product(range(-4, 5), repeat=2)]
    for _ in range(6):
        condition = _random_condition(rng)
        possible = any(evaluate(condition, p) and all(evaluate(c, p) for c in path) for p in points)
        verdict = solver.check(path, condition)
        assert verdict.answer is (Answer.SAT if possible else Answer.UNSAT), (path, condition)
        if verdict.model is not None and isinstance(condition, Expr):
            assert all(evaluate(c, verdict.model) for c in [*path, condition])
            path.append(condition)


def test_the_chain_answers_without_z3_when_it_can() -> None:
    solver = Solver()
    path = [x.gt(A, 3)]
    assert solver.check(path, x.gt(A, 2), {A: 5}).possible
    assert solver.check(path, x.lt(A, 0)).answer is Answer.UNSAT
    assert solver.counts["model in hand"] == 1
    assert solver.counts["bounds"] == 1
    assert not any(stage.startswith("z3") for stage in solver.counts)


def test_products_of_unknowns() -> None:
    solver = Solver()
    assert solver.check([x.gt(A, 1), x.gt(B, 1)], x.eq(x.mul(A, B), 35)).possible
    assert solver.check([x.eq(B, 0)], x.lt(x.mul(A, B), 0)).answer is Answer.UNSAT


def test_what_the_solver_cannot_decide_is_unknown() -> None:
    cube = x.mul(x.mul(A, A), A)
    cubes = x.add(x.mul(x.mul(B, B), B), x.mul(x.mul(C, C), C))
    sum_of_three_cubes = x.eq(x.add(cube, cubes), 42)  # the smallest solution has 17 digits
    assert Solver(timeout=0.05).check([], sum_of_three_cubes).answer is Answer.UNKNOWN


def test_strings() -> None:
    solver = Solver()
    path = [x.prefix(S, "ab"), x.eq(x.length(S), 4)]
    found = solver.check(path, x.contains(S, "xy"))
    assert found.model is not None
    assert found.model[S] == "abxy"
    assert solver.check(path, x.suffix(S, "abc")).answer is Answer.UNSAT
    back = solver.check([], x.eq(S, 'a\\u{41}"\u00e9\n'))
    assert back.model is not None
    assert back.model[S] == 'a\\u{41}"\u00e9\n'


def test_only_connected_conditions_are_asked() -> None:
    path = [x.gt(A, 0), x.lt(B, A), x.gt(C, 5)]
    assert connected(path, x.gt(B, 3)) == path[:2]


def test_labels_are_small_varied_and_on_the_edge() -> None:
    assert label([], [A, B, S]) == {A: 2, B: 3, S: "ef"}
    assert label([x.gt(A, 0)], [A]) == {A: 1}
    assert label([x.ne(A, B)], [A, B]) == {A: 2, B: 1}
    assert label([x.gt(x.length(S), 2)], [S]) == {S: "abc"}
    assert label([x.eq(x.mul(A, A), 49)], [A]) == {A: 7}


def test_labels_do_not_depend_on_history() -> None:
    first = label([x.gt(x.mul(A, B), 20)], [A, B])
    label([x.lt(x.mul(A, B), -7)], [A, B])
    assert label([x.gt(x.mul(A, B), 20)], [A, B]) == first


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3), st.booleans()), min_size=1, max_size=6))
def test_a_base_model_changes_no_answer(parts: list[tuple[int, int, bool]]) -> None:
    """Answering on the related conditions only gives the same verdict, with a model of the whole path."""
    unknowns = [x.var(f"b{i}", x.INT) for i in range(4)]
    solver = Solver()
    path: list[x.Expr] = []
    model: dict[x.Expr, x.Const] = {}
    for place, bound, less in parts:
        condition = x.lt(unknowns[place], bound) if less else x.ge(x.add(unknowns[place], unknowns[place - 1]), bound)
        plain = Solver().check(path, condition)
        found = solver.check(path, condition, base=model)
        assert found.answer is plain.answer
        if found.model is None:
            continue
        path.append(condition)
        model = dict(found.model)
        assert all(evaluate(c, model) for c in path)


def test_a_named_real_is_an_exact_number() -> None:
    """0 / 1 was a float, of which `floor` cannot be taken."""
    real = x.var("r", REAL)
    pins, left = reduced([x.eq(real, 0), x.ge(x.floor(x.rmul(real, x.to_real(A))), B)]) or ({}, [])
    assert [type(value) for value in pins.values()] == [Fraction]
    assert len(left) == 1


def test_what_was_answered_about_strings_is_known_to_other_processes() -> None:
    """The answer goes as plain data, and comes back as a model of the same unknowns; no solver is asked."""
    conditions = [x.contains(S, "ab"), x.eq(x.length(S), 4), x.not_(x.prefix("ab", S))]
    asked = Solver()
    KNOWN_ANSWERS.forget()
    told: list[KnownAnswer] = []
    KNOWN_ANSWERS.told = told.extend
    try:
        known = [c for c in conditions if isinstance(c, Expr)]
        verdict = asked._known_or_asked(known)
        kept = KNOWN_ANSWERS.get(question_of(known, asked.timeout))
        assert kept is not None
        KNOWN_ANSWERS.forget()
        KNOWN_ANSWERS.learn([pickle.loads(pickle.dumps(kept))])
        again = Solver()
        assert again._known_or_asked(known) == verdict
        assert (again.counts["remembered"], again.counts["z3 strings"]) == (1, 0)
        assert again._known_or_asked(known[:2]).answer is Answer.SAT  # another question
        assert again.counts["z3 strings"] == 1
        wrong = dataclasses.replace(kept, values=(("s", "str", "xxxx"),))
        KNOWN_ANSWERS.learn([wrong])
        assert Solver()._known_or_asked(known) == verdict  # a model that is none is not believed
    finally:
        KNOWN_ANSWERS.told = None
