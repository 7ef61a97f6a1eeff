"""Soundness: with and without each reduction a user sees the same initial states, arguments and final states."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.abs.handing_programs import differing_reductions
from tests.abs.small_programs import Compiled, final_states, programs
from tests.abs.timed_programs import timed_program
from tests.abs.unknown_programs import lost
from treadle.abs.explore.replaying import known_root
from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, Bounds, OrderSelection
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.system import find_method, unknown_root
from treadle.doors.actor.generated import generate
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import INT, Expr, var

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"
MOST_STATES = 3000
LOW, HIGH = -1, 2


@settings(max_examples=60)
@given(programs())
@pytest.mark.slow
def test_known_data(text: str) -> None:
    compiled = Compiled.of(text)
    truth = final_states(compiled, "none", MOST_STATES)
    assume(truth is not None)
    for reduce in SOUND_REDUCTIONS[1:]:
        assert final_states(compiled, reduce) == truth, reduce


@pytest.mark.parametrize(
    "name",
    [
        "factorial",
        "ping_pong",
        "philosophers",
        "database",
        "sleeping_barber",
        "registration",
        "hash_table",
        "sum_facts",
    ],
)
def test_examples(name: str) -> None:
    compiled = Compiled.of((EXAMPLES / f"{name}.abs").read_text())
    truth = final_states(compiled, "none", 30_000)
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert final_states(compiled, reduce) == truth, reduce


def triples(target: object, reduce: Any, bounds: Bounds, alias: bool) -> set[str]:
    made = generate(str(target), bounds=bounds, selection=OrderSelection(reduce=reduce, alias=alias))
    assert not made.rejected
    told = [case.to_json() for case in made.cases]
    keys = ("initial", "arguments", "final", "outcome", "result")
    return {json.dumps({key: case[key] for key in keys}, sort_keys=True) for case in told}


@pytest.mark.parametrize("alias", [False, True])
@pytest.mark.parametrize(
    "target",
    [
        "producer_consumer.abs:Consumer.consumeN",
        "producer_consumer.abs:Producer.produceList",
        "registration.abs:Simulator.simulate",
        "mail_server.abs:Client.send",
        "sum_facts.abs:A.sumFacts",
        "philosophers.abs:Philosopher.eat",
        "sleeping_barber.abs:Barber.work",
    ],
)
def test_examples_with_unknown_inputs(target: str, alias: bool) -> None:
    """The same initial states, arguments and final states."""

    truth = triples(EXAMPLES / target, "none", Bounds(2, 6, 2), alias)
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert triples(EXAMPLES / target, reduce, Bounds(2, 6, 2), alias) == truth, reduce


TWO_LOOK_AT_A_LIST = """module M; class C(Int a, Int b) {
  Unit m(List<Int> l) { this!deep(l); this!write(l); }
  Unit deep(List<Int> l) { case l { Nil => skip; Cons(h, t) => { if (this.a == 0) {
    case t { Nil => this.b = 5; Cons(x, y) => this.b = 7; } } } } }
  Unit write(List<Int> l) { case l { Nil => skip; Cons(h, t) => this.a = 1; } } }"""
RESULT_OR_EXCEPTION = """module M; exception Bad; class C(Int a, Int b) {
  Unit m(Int x) { Fut<Int> f = this!may(x); this!write(); this!look(f); }
  Int may(Int x) { if (this.a == x) { throw Bad; } return this.a; }
  Unit write() { this.a = 3; }
  Unit look(Fut<Int> f) { await f?; try { this.b = f.get; } catch { Bad => this.b = 0; } } }"""
PARTNER_OF_AN_UNKNOWN = """module M; interface I { Unit hit(); Unit look(); } interface J { Unit go(); }
class A(Int n) implements I { Unit hit() { this.n = 2; } Unit look() { this.n = this.n * 3; } }
class B(I a) implements J { Unit go() { this.a!hit(); } }
class D(J u) { Unit later() { this.u!go(); } }
class C(I a, D d) { Unit m() { this.d!later(); this.a!look(); } }"""
WAITING_IS_A_SWITCH = """module M; class B { Int one() { return 1; } } class C(Int a) {
  Unit m() { B b = new B(); Fut<Int> f = b!one(); this!set(f); this!twice(f); }
  Unit set(Fut<Int> f) { await f?; this.a = 3; }
  Unit twice(Fut<Int> f) { await f?; this.a = this.a * 2; } }"""

WHO_WAITS_LAST = """module M; class C(Int a) {
  Unit m() { this!later(); this!look(); this!look(); }
  Unit later() { await this.a > 2; }
  Int look() { return this.a; } }"""


@pytest.mark.parametrize(
    ("text", "tasks", "alias"),
    [
        (TWO_LOOK_AT_A_LIST, 6, False),
        (RESULT_OR_EXCEPTION, 6, False),
        (PARTNER_OF_AN_UNKNOWN, 6, True),
        (WAITING_IS_A_SWITCH, 2, False),
        (WHO_WAITS_LAST, 3, False),
    ],
    ids=[
        "a list known less far in one order",
        "a result or an exception",
        "partner of an unknown",
        "switches limited",
        "who waits last",
    ],
)
def test_small_programs_with_unknown_inputs(tmp_path: Path, text: str, tasks: int, alias: bool) -> None:
    model = tmp_path / "m.abs"
    model.write_text(text)
    truth = triples(f"{model}:C.m", "none", Bounds(2, tasks, 2), alias)
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert triples(f"{model}:C.m", reduce, Bounds(2, tasks, 2), alias) == truth, reduce


@pytest.mark.slow
def test_random_programs_with_unknown_inputs(tmp_path: Path) -> None:
    judged = 0
    for seed in range(24):
        found = lost(tmp_path, seed)
        assert not found, f"seed {seed}"
        judged += found is not None
    assert judged > 18


# ---- unknown data: what the symbolic leaves say about every concrete input, against running that input


def _evaluated(value: Any, model: dict[Expr, Any]) -> Any:
    return evaluate(value, model) if isinstance(value, Expr) else value


def _seen(fields: tuple[Any, ...], waiting: list[Any]) -> Any:
    return fields, frozenset((t.code.name, t.code.lines[t.pc]) for t in waiting)


def symbolic_outcomes(compiled: Compiled, reduce: Any) -> dict[tuple[int, ...], set[Any]] | None:
    """For each (a, b, x): the final fields and waiting tasks that the leaves give for it."""
    machine = ActorMachine(compiled.image, Bounds(None, None, None), OrderSelection(reduce=reduce), (LOW, HIGH))
    cls, method = find_method(compiled.program, "C.m0")
    root = unknown_root(machine, cls, method.name)
    explorer = TreeExplorer(machine, root.entry.key)
    explorer.on_state = lambda progress: progress.states <= MOST_STATES
    leaves = [(leaf.state, leaf.waiting) for leaf in explorer.leaves(root.state)]
    if explorer.stopped:
        return None
    unknowns = [var("s0.a", INT), var("s0.b", INT), var("x", INT)]
    found: dict[tuple[int, ...], set[Any]] = {}
    for values in product(range(LOW, HIGH + 1), repeat=3):
        model = dict(zip(unknowns, values, strict=True))
        found[values] = {
            _seen(tuple(_evaluated(v, model) for v in state.fields[root.entry.this]), waiting)
            for state, waiting in leaves
            if all(evaluate(c, model) for c in state.path.conditions)
        }
    return found


def concrete_outcomes(compiled: Compiled) -> dict[tuple[int, ...], set[Any]]:
    found: dict[tuple[int, ...], set[Any]] = {}
    cls, method = find_method(compiled.program, "C.m0")
    for values in product(range(LOW, HIGH + 1), repeat=3):
        machine = ActorMachine(compiled.image, Bounds(None, None, None), OrderSelection(reduce="none"), None)
        a, b, x = values
        objects: dict[str, Any] = {"s0": ("C", {"a": a, "b": b}, "")}
        root, _ = known_root(machine, cls, method.name, {"x": x}, objects)
        explorer = TreeExplorer(machine, root.entry.key)
        found[values] = {
            _seen(leaf.state.fields[root.entry.this], leaf.waiting) for leaf in explorer.leaves(root.state)
        }
    return found


@st.composite
def classes(draw: st.DrawFn) -> str:
    """One class with two fields; m0 starts m1 and m2 in several ways."""
    out = ["module T;", "class C(Int a, Int b) {"]
    for level in range(3):
        out.append(f"  Unit m{level}(Int x) {{ {_statements(draw, level)} }}")
    out.append("}")
    return "\n".join(out)


def _statements(draw: st.DrawFn, level: int) -> str:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        field, other = draw(st.sampled_from("ab")), draw(st.sampled_from("ab"))
        number = draw(st.integers(-1, 2))
        later = f"m{min(level + 1, 2)}"
        choices = [
            f"this.{field} = this.{other} + x;",
            f"this.{field} = this.{field} * x;",
            f"this.{field} = {number};",
            f"if (this.{field} > x) this.{other} = {number};",
            f"await this.{field} > {number};",
            "suspend;",
        ]
        if level < 2:
            choices += [
                f"this!{later}(x);",
                f"this!{later}(this.{field});",
                f"if (x > {number}) this!m2({number});",
            ] * 2
        found.append(draw(st.sampled_from(choices)))
    return " ".join(found)


@settings(max_examples=40)
@given(classes())
@pytest.mark.slow
def test_unknown_data(text: str) -> None:
    compiled = Compiled.of(text)
    truth = symbolic_outcomes(compiled, "none")
    assume(truth is not None)
    assert truth == concrete_outcomes(compiled)
    for reduce in SOUND_REDUCTIONS[1:]:
        assert symbolic_outcomes(compiled, reduce) == truth, reduce


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_programs_with_delays_exceptions_and_loops(first: int) -> None:
    judged = [differing_reductions(Compiled.of(timed_program(seed))) for seed in range(first, first + 20)]
    assert [found for found in judged if found] == []
    assert judged.count(None) < 15


def test_a_reference_to_oneself_that_is_called_with(tmp_path: Path) -> None:
    """What a call on oneself goes on with was lost where the object's own field may be itself."""
    assert lost(tmp_path, 900127) == []
