"""A synchronous call of an actor on itself: at once, as in the ABS tools, or awaited, as in the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abs.handing_programs import handing_program
from tests.abs.small_programs import Compiled, final_states
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, Bounds, OrderSelection, SelfCalls
from treadle.cli.main import main
from treadle.core.result import Verdict
from treadle.doors.actor.generated import generate
from treadle.doors.actor.models import explore_model, run_model

BETWEEN = """module M;
class C { Int a = 0;
  Int inc() { a = a + 1; return a; }
  Unit other() { a = a + 10; }
  Unit m() { Int before = a; Int x = this.inc(); assert x == before + 1; assert a == x; } }
{ C c = new C(); c!m(); c!other(); }
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "m.abs"
    file.write_text(BETWEEN)
    return file


@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
def test_nobody_comes_between_a_call_at_once(model: Path, reduce: str) -> None:
    assert explore_model(str(model), reduce=reduce).verdict is Verdict.PASSED_EXHAUSTIVE


@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
def test_somebody_comes_between_an_awaited_call(model: Path, reduce: str) -> None:
    assert explore_model(str(model), reduce=reduce, self_calls="awaited").verdict is Verdict.FAILED


def test_a_callee_that_waits_lets_others_in(tmp_path: Path) -> None:
    file = tmp_path / "m.abs"
    file.write_text(BETWEEN.replace("Int inc() {", "Int inc() { suspend;"))
    assert explore_model(str(file)).verdict is Verdict.FAILED


def test_the_caller_goes_on_before_others(tmp_path: Path) -> None:
    """The callee waits; when it ends, its callers (there are two, nested) go on at once."""
    text = """module M;
    class C { Int a = 0; Bool go = False;
      Unit deep() { await go; a = 1; }
      Unit middle() { this.deep(); assert a == 1; a = 2; }
      Unit m() { this.middle(); assert a == 2; }
      Unit start() { go = True; } Unit spoil() { a = 7; } }
    { C c = new C(); c!m(); c!start(); c!spoil(); }"""
    file = tmp_path / "m.abs"
    file.write_text(text)
    for reduce in SOUND_REDUCTIONS:
        assert explore_model(str(file), reduce=reduce).verdict is Verdict.PASSED_EXHAUSTIVE


def test_an_object_of_the_same_group_is_called_at_once(tmp_path: Path) -> None:
    text = """module M;
    class D { Int n = 0; Int inc() { n = n + 1; return n; } }
    class C { D d; { d = new local D(); } Unit m() { Int x = d.inc(); Int y = d.inc(); assert y == x + 1; } }
    { C c = new C(); c!m(); c!m(); }"""
    file = tmp_path / "m.abs"
    file.write_text(text)
    assert explore_model(str(file)).verdict is Verdict.PASSED_EXHAUSTIVE
    assert explore_model(str(file), self_calls="awaited").verdict is Verdict.FAILED


def test_an_exception_of_the_callee_reaches_the_caller(tmp_path: Path) -> None:
    text = """module M; exception Broken;
    class C { Unit bad() { throw Broken; } Unit m() { try this.bad(); catch { Broken => println("caught"); } } }
    { C c = new C(); c!m(); }"""
    file = tmp_path / "m.abs"
    file.write_text(text)
    run = run_model(str(file))
    assert (run.output, run.failures) == ("caught\n", [])


def test_recursion_on_unknown_data_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "m.abs"
    file.write_text(
        "module M; class C { Int fact(Int n) { Int r = 1; if (n > 0) { r = this.fact(n - 1); r = r * n; } return r; } }"
    )
    made = generate(f"{file}:C.fact", bounds=Bounds(2, 4, 2), selection=OrderSelection(reduce="none"))
    assert made.cuts.task == 1
    assert [case.result for case in made.cases] == [24, 6, 2, 1, 1]
    assert made.rejected == 0


def test_a_run_calls_at_once(model: Path) -> None:
    for seed in range(8):
        assert run_model(str(model), seed=seed).failures == []


@pytest.mark.parametrize("calls", ["at-once", "awaited"])
def test_what_was_found_replays(model: Path, calls: SelfCalls) -> None:
    made = generate(f"{model}:C.m", bounds=Bounds(queue=1), selection=OrderSelection(self_calls=calls), pruning=0)
    assert made.rejected == 0
    assert made.assertions == (0 if calls == "at-once" else made.assertions)
    assert bool(made.assertions) == (calls == "awaited")


@pytest.mark.parametrize("command", ["explore", "actor"])
@pytest.mark.parametrize(("options", "code"), [([], 0), (["--self-calls", "awaited"], 1)])
def test_options(model: Path, command: str, options: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, str(model), *options])
    assert ended.value.code == code


# The first twenty from 7000 on whose states without a reduction are few enough to be compared with.
_SEEDS = (*range(7001, 7009), 7010, 7011, 7012, 7015, 7018, 7020, 7021, 7022, 7026, 7029, 7030, 7031)


@pytest.mark.parametrize("seed", _SEEDS)
def test_reductions_agree_when_calls_are_awaited(seed: int) -> None:
    compiled = Compiled.of(handing_program(seed))
    truth = final_states(compiled, "none", 600, "awaited")
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert final_states(compiled, reduce, None, "awaited") == truth, reduce


RETURNS_BEFORE_OTHERS = {
    "a call": """module M;
class C { Int x = 0; Int a = 0;
  Unit m() { this.waits(); assert x == 0; }
  Unit waits() { Fut<Unit> f = this!sends(); await f?; a = 2; }
  Unit sends() { this!set(); }
  Unit set() { x = 1; } }
{ C c = new C(); c!m(); }
""",
    "a creation": """module M;
class Part(C owner) { Int a = 0; { Fut<Unit> f = owner!sends(); await f?; a = 2; } }
class C { Int x = 0;
  Unit m() { new local Part(this); assert x == 0; }
  Unit sends() { this!set(); }
  Unit set() { x = 1; } }
{ C c = new C(); c!m(); }
""",
}


@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
@pytest.mark.parametrize("name", RETURNS_BEFORE_OTHERS)
def test_what_a_caller_does_after_the_call_counts_as_part_of_it(name: str, reduce: str, tmp_path: Path) -> None:
    """`set` and the rest of what was called touch different fields, but the caller that goes on with it does not."""
    file = tmp_path / "m.abs"
    file.write_text(RETURNS_BEFORE_OTHERS[name])
    result = explore_model(str(file), reduce=reduce)
    assert (result.verdict, result.executions) == (Verdict.FAILED, 2)
