"""Deadlock-guided testing: fewer executions, and no deadlock is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.abs.handing_programs import MOST_STATES, handing_program
from tests.abs.small_programs import Compiled
from treadle.abs.explore.deadlock import DeadlockGoal
from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.system import main_root
from treadle.core.result import Verdict
from treadle.doors.actor.models import explore_model

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"


def test_the_database() -> None:
    """Six executions of which two deadlock; the search for deadlocks runs those two."""
    model = str(EXAMPLES / "database.abs")
    assert explore_model(model, reduce="none").executions == 6
    guided = explore_model(model, reduce="none", goal="deadlock")
    assert (guided.executions, guided.statistics["deadlocks"]) == (2, 2)
    assert "Db (makesConnection:17) -> Worker (work:31) -> Db" in guided.statistics["candidates"]


def test_a_model_without_deadlocks_is_not_called_correct() -> None:
    result = explore_model(str(EXAMPLES / "factorial.abs"), goal="deadlock")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert not result.exhaustive


def test_a_search_that_was_stopped_is_no_pass(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    calls = " ".join(f"c!m(d); d!m(c); c!n({n});" for n in range(6))
    text = """module M; class C { Int a = 0; Int n(Int x) { this.a = this.a * 2 + x; return x; }
      Unit m(C other) { Fut<Int> f = other!n(1); await f?; } }
    { C c = new C(); C d = new C(); CALLS }"""
    model.write_text(text.replace("CALLS", calls))
    result = explore_model(str(model), reduce="none", goal="deadlock", seconds=0.0)
    assert result.verdict is Verdict.CUT


@pytest.mark.parametrize(
    "text",
    [
        "class C { Int m() { return 1; } } { C c = new local C(); Fut<Int> f = c!m(); Int x = f.get; }",
        """interface I { Int m(); } class C implements I { Int m() { return 1; }
          Unit start() { I me = this; Fut<Rat> f = me!m(); Rat x = f.get; } } { C c = new C(); c!start(); }""",
    ],
    ids=["the main block waits for its own group", "a number of another type"],
)
def test_an_actor_that_waits_for_itself(tmp_path: Path, text: str) -> None:
    model = tmp_path / "m.abs"
    model.write_text(f"module M; {text}")
    assert explore_model(str(model), reduce="none", goal="deadlock").statistics["deadlocks"] == 1


def deadlocks(compiled: Compiled, guided: bool) -> tuple[set[Any], int] | None:
    """Who waits where at every deadlock, and the number of executions."""
    machine = ActorMachine(compiled.image, Bounds(None, None, None), OrderSelection(reduce="none"), None)
    root = main_root(machine, compiled.program)
    explorer = TreeExplorer(machine, root.entry.key)
    explorer.on_state = lambda progress: progress.states <= MOST_STATES
    if guided:
        explorer.hopeless = DeadlockGoal(machine).hopeless
    found = set()
    for leaf in explorer.leaves(root.state):
        if leaf.deadlock:
            found.add(frozenset((t.this.cls.name, t.code.name, t.code.lines[t.pc]) for t in leaf.waiting))
    return None if explorer.stopped else (found, explorer.progress.tests)


@pytest.mark.slow
def test_no_deadlock_is_lost_in_random_programs() -> None:
    fewer = with_deadlocks = 0
    for seed in range(2000, 2120):
        compiled = Compiled.of(handing_program(seed))
        everything = deadlocks(compiled, guided=False)
        if everything is None:
            continue
        guided = deadlocks(compiled, guided=True)
        assert guided is not None
        assert guided[0] == everything[0], f"seed {seed}"
        fewer += guided[1] < everything[1]
        with_deadlocks += bool(everything[0])
    assert fewer > 5
    assert with_deadlocks >= 5
