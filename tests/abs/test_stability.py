"""Theorem 1 on the states of Example 3: which actors are temporarily stable."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.abs.explore.reduction import Reduction
from treadle.abs.language.load import load, loads
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.statements import compile_program
from treadle.abs.machine.system import StartingState, find_method, main_root, unknown_root
from treadle.abs.machine.values import ObjectRef

FACTORIAL = Path(__file__).parents[2] / "examples" / "abs" / "factorial.abs"


def start(alias: bool = False) -> tuple[ActorMachine, StartingState]:
    program = load(FACTORIAL)
    machine = ActorMachine(compile_program(program), Bounds(), OrderSelection(alias=alias), (-10, 10))
    cls, method = find_method(program, "Fact.ft")
    return machine, unknown_root(machine, cls, method.name)


def after(machine: ActorMachine, state: State, ref: ObjectRef, method: str, branch: int = 0) -> State:
    task = named(state, ref, method)
    found = [s for s in machine.macro_step(state, task) if isinstance(s, State)]
    return found[branch]


def named(state: State, ref: ObjectRef, method: str) -> ActorTask:
    return next(t for t in state.queues[ref] if t.code.name == method)


def test_example_3() -> None:
    """Node (2): s0 has wk left, r1 has ft. wk calls nobody, so r1 is stable; ft may report to s0, so s0 is not."""
    machine, root = start()
    first = root.entry.this
    one = after(machine, root.state, first, "ft")
    two = after(machine, one, first, "dg")
    second = next(ref for ref in two.fields if not ref.assumed)
    reduction = Reduction(machine)
    assert reduction.stable(two, second)
    assert not reduction.stable(two, first)


def test_condition_2_what_arrives_is_independent_of_what_is_there() -> None:
    """With dg on the one and ft on the other, nothing that can arrive touches what they read: both are stable."""
    machine, root = start()
    first = root.entry.this
    one = after(machine, root.state, first, "ft")
    two = after(machine, one, first, "dg")
    second = next(ref for ref in two.fields if not ref.assumed)
    two.queues[first] = (named(one, first, "dg"),)
    reduction = Reduction(machine)
    assert reduction.stable(two, first)
    assert reduction.stable(two, second)


def test_condition_3_nobody_knows_the_actor() -> None:
    """Without a reference to it, no chain of calls can reach an actor."""
    machine, root = start()
    first = root.entry.this
    one = after(machine, root.state, first, "ft")
    two = after(machine, one, first, "dg")
    second = next(ref for ref in two.fields if not ref.assumed)
    two.fields[second] = (None, *two.fields[second][1:])  # r1.b = null
    assert Reduction(machine).stable(two, first)


@pytest.mark.parametrize(("method", "apart"), [("dg", True), ("rp", False)])
def test_independence_of_wk(method: str, apart: bool) -> None:
    machine, root = start()
    first = root.entry.this
    branch = 0 if method == "dg" else 1
    one = after(machine, root.state, first, "ft", branch)
    reduction = Reduction(machine)
    assert reduction.independent(one, named(one, first, "wk"), named(one, first, method)) is apart


def test_tasks_that_write_the_same_field_may_still_be_exchangeable_here() -> None:
    """wk and rp both multiply r; without a boss to report to, the order does not matter."""
    program = loads(
        FACTORIAL.read_text().partition("class Runner")[0]
        + "{ Fact f = new Fact(null, 2); f ! wk(5, 2); f ! rp(3); Fact g = new Fact(f, 2); g ! wk(3, 2); g ! rp(1); }"
    )
    machine = ActorMachine(compile_program(program), Bounds(None, None, None), OrderSelection(reduce="exact"), None)
    root = main_root(machine, program)
    state = after(machine, root.state, root.entry.this, "main")
    f, g = [ref for ref in state.fields if ref.cls.name == "Fact"]
    reduction = Reduction(machine)
    for ref, exchangeable in ((f, True), (g, False)):
        one, two = named(state, ref, "wk"), named(state, ref, "rp")
        assert not reduction.independent(state, one, two)
        assert reduction.exchangeable(state, one, two) is exchangeable
