"""Concurrent objects: groups, futures, synchronous calls, waiting and deadlock, seen through all orders of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treadle.abs.machine.criteria import SOUND_REDUCTIONS, OrderSelection
from treadle.core.result import Verdict
from treadle.doors.actor.generated import GeneratedCases, generate
from treadle.doors.actor.models import explore_model
from treadle.report.console import advice

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"


def all_runs(tmp_path: Path, text: str, reduce: str = "none") -> GeneratedCases:
    model = tmp_path / "m.abs"
    model.write_text("module M;\n" + text)
    return generate(str(model), selection=OrderSelection(reduce=reduce))  # type: ignore[arg-type]


def values(made: GeneratedCases, name: str, field: str) -> set[object]:
    return {case.final[name].fields[field] for case in made.cases}


def test_a_task_runs_to_its_end_without_others_in_between(tmp_path: Path) -> None:
    text = """class C { Int a = 1; Unit double() { a = a * 2; a = a * 2; } Unit add() { a = a + 1; a = a + 1; } }
    { C c = new C(); c!double(); c!add(); }"""
    assert values(all_runs(tmp_path, text), "r1", "a") == {6, 12}


def test_suspend_lets_others_in(tmp_path: Path) -> None:
    text = """class C { Int a = 1; Unit double() { a = a * 2; suspend; a = a * 2; } Unit add() { a = a + 1; } }
    { C c = new C(); c!double(); c!add(); }"""
    assert values(all_runs(tmp_path, text), "r1", "a") == {5, 6, 8}


def test_await_releases_the_object_and_get_does_not(tmp_path: Path) -> None:
    text = """class Slow { Int answer() { return 7; } }
    class C(Slow s) {
      Int a = 0;
      Unit ask() { Fut<Int> f = s!answer(); %s a = a + f.get; a = a * 10; }
      Unit add() { a = a + 1; }
    }
    { Slow s = new Slow(); C c = new C(s); c!ask(); c!add(); }"""
    blocking = all_runs(tmp_path, text % "a = 2;")
    assert values(blocking, "r2", "a") == {91, 90}  # add comes after everything or before, never between
    waiting = all_runs(tmp_path, text % "a = 2; await f?;")
    assert values(waiting, "r2", "a") == {91, 90, 100}


def test_objects_of_one_group_do_not_overlap(tmp_path: Path) -> None:
    """With `new local` both objects share one lock: the blocked one keeps the other from running."""
    text = """class S { Int answer() { return 1; } }
    class Part(S s) { Int done = 0; Unit m() { Fut<Int> f = s!answer(); f.get; done = 1; } }
    class Main(S s) {
      Part p = null;
      Unit start() { p = new %s Part(s); p!m(); Fut<Int> f = s!answer(); f.get; }
    }
    { S s = new S(); Main m = new Main(s); m!start(); }"""
    for kind in ("local", ""):
        made = all_runs(tmp_path, text % kind)
        assert values(made, "r3", "done") == {1}
    model = tmp_path / "m.abs"
    model.write_text("module M;\n" + text % "local")
    grouped = generate(str(model), selection=OrderSelection(reduce="none"))
    assert {case.final["r3"].group for case in grouped.cases} == {"r2"}


def test_a_synchronous_call_on_itself_does_not_block(tmp_path: Path) -> None:
    text = """class C { Int a = 0; Int inc() { a = a + 1; return a; } Unit m() { Int x = this.inc(); a = a + x; } }
    { C c = new C(); c!m(); }"""
    made = all_runs(tmp_path, text)
    assert values(made, "r1", "a") == {2}
    assert made.deadlocks == 0


def test_synchronous_calls_in_a_circle_deadlock(tmp_path: Path) -> None:
    text = """class C(C other) {
      Int n = 0;
      Unit meet(C o) { this.other = o; }
      Int ask() { n = n + 1; Int x = this.other.answer(); return x; }
      Int answer() { return n; }
    }
    { C a = new C(null); C b = new C(a); a.meet(b); a!ask(); b!ask(); }"""
    for reduce in SOUND_REDUCTIONS:
        made = all_runs(tmp_path, text, reduce)
        outcomes = {case.outcome for case in made.cases}
        assert outcomes == {"completed", "deadlock"}, reduce
        assert made.exit_code == 1
        dead = next(case for case in made.cases if case.outcome == "deadlock")
        assert any("ask at line" in waiting for waiting in dead.waiting)


def test_waiting_for_a_condition_nobody_makes_true_is_not_a_deadlock(tmp_path: Path) -> None:
    made = all_runs(tmp_path, "class C { Int a = 0; Unit m() { await a > 0; } } { C c = new C(); c!m(); }")
    assert [case.outcome for case in made.cases] == ["waiting"]
    assert made.deadlocks == 0


def test_await_on_several_futures_and_a_condition(tmp_path: Path) -> None:
    text = """class S { Int answer(Int n) { return n; } }
    class C {
      Int a = 0; Bool open = False;
      Unit m(S s, S t) {
        Fut<Int> f = s!answer(1); Fut<Int> g = t!answer(2);
        await f? & g? & this.open;
        Int x = f.get; Int y = g.get; a = x + y;
      }
      Unit unlock() { open = True; }
    }
    { S s = new S(); S t = new S(); C c = new C(); c!m(s, t); c!unlock(); }"""
    made = all_runs(tmp_path, text)
    assert {case.outcome for case in made.cases} == {"completed"}
    assert values(made, "r3", "a") == {3}


def test_random_results_are_all_explored(tmp_path: Path) -> None:
    text = "class C { Int a = 0; Unit m() { a = random(3); } } { C c = new C(); c!m(); }"
    assert values(all_runs(tmp_path, text), "r1", "a") == {0, 1, 2}


@pytest.mark.parametrize(("name", "kind"), [("philosophers", "deadlock"), ("database", "deadlock")])
def test_the_examples_with_a_deadlock(name: str, kind: str) -> None:
    result = explore_model(str(EXAMPLES / f"{name}.abs"))
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].kind == kind
    assert "treadle run" in result.findings[0].explanation


@pytest.mark.parametrize(
    "name", ["factorial", "ping_pong", "quicksort", "registration", "hash_table", "mail_server", "sleeping_barber"]
)
def test_the_other_examples_pass(name: str) -> None:
    result = explore_model(str(EXAMPLES / f"{name}.abs"))
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.exhaustive


def test_quicksort_sorts_in_every_order() -> None:
    made = generate(str(EXAMPLES / "quicksort.abs"), selection=OrderSelection(reduce="exact"))
    assert values(made, "r1", "answer") == {"list[1, 2, 3]"}


def test_a_main_block_that_does_not_end_is_cut_and_says_where(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M; class C { Unit m() { this!m(); } } { C c = new C(); c!m(); }")
    result = explore_model(str(model))
    assert result.verdict is Verdict.CUT
    assert result.bounds == {"task switches per actor": 200}
    assert "at most 200 task switches per actor (first at C.m, line 1; --tasks raises it)" in result.reason
    model.write_text("module M;\n{\n  Int n = 0;\n  while (n >= 0)\n    n = n + 1;\n}")
    endless = explore_model(str(model), loop=5000)
    assert endless.verdict is Verdict.CUT
    assert "at most 5000 loop turns in one step (first at main, line 4; --loop raises it)" in endless.reason
    assert advice(endless) == "raise --loop if the loop comes to its end some time, or give it one"


@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
@pytest.mark.parametrize("tasks", ["fifo", "lifo"])
def test_queues_served_in_order_still_fill_in_any_order(tmp_path: Path, reduce: Any, tasks: Any) -> None:
    """Two actors write to a third one: whoever is first is first in the queue."""
    model = tmp_path / "m.abs"
    model.write_text(
        """module M;
        class Log { List<Int> seen = Nil; Unit add(Int x) { seen = appendright(seen, x); } }
        class Sender(Log log, Int n) { Unit go() { log!add(n); } }
        { Log l = new Log(); Sender a = new Sender(l, 1); Sender b = new Sender(l, 2); a!go(); b!go(); }"""
    )
    made = generate(str(model), selection=OrderSelection("all", tasks, reduce))
    assert values(made, "r1", "seen") == {"list[1, 2]", "list[2, 1]"}


def test_division_of_unknowns_does_not_branch_on_signs(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        "module M; class C { Int r = 0; Unit m(Int a, Int b) { if (b != 0) this.r = a % b + a / b; } } { }"
    )
    made = generate(f"{model}:C.m")
    assert (made.tests, made.rejected) == (2, 0)  # b is zero or not


@pytest.mark.parametrize(("delay", "verdict"), [("1, 5", "PASSED-WITHIN-BOUNDS"), ("2, 2", "PASSED-EXHAUSTIVE")])
def test_a_delay_that_may_be_longer_is_run_at_its_least_and_bounds_the_pass(
    tmp_path: Path, delay: str, verdict: str
) -> None:
    model = tmp_path / "delays.abs"
    model.write_text(
        "module M; interface I { Unit go(); }\n"
        f"class C implements I {{ Unit go() {{ await duration({delay}); }} }}\n"
        "{ I a = new C(); I b = new C(); a!go(); b!go(); }\n"
    )
    assert explore_model(str(model)).verdict.value == verdict
