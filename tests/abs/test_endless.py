"""Loops that never end: refused where that is proved, found where only some orders come into one, else cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run_command
from treadle.abs.language.errors import AbsError
from treadle.core.result import Verdict
from treadle.doors.actor.generated import generate
from treadle.doors.actor.models import explore_model, run_model

NEVER_ENDS = {
    "nothing changes": (3, "  while (True) { skip; }"),
    "two values in turn": (3, "  while (n < 2) { n = 1 - n; }"),
    "a long period": (3, "  while (n >= 0) { n = (n + 1) % 3000; }"),
    "the outer of two loops": (3, "  while (True) { Int i = 0; while (i < 5) { i = i + 1; } n = (n + 1) % 7; }"),
    "the inner of two loops": (4, "  while (n < 5) { n = n + 1;\n    while (n == 3) { skip; } }"),
    "a function that is called": (3, "  while (max(n, 0) == 0) { n = max(n, 0); }"),
    "only a number grows": (3, "  while (True) { n = n + 1; }"),
    "only what it prints grows": (3, "  while (n < 1) { Int k = k0; k0 = k + 1; println(toString(k)); }"),
    "only what it sends grows": (3, "  while (True) { c!m(); n = n + 1; }"),
    "a list grows below two loops": (
        3,
        "  while (n == 0) { Int i = 0; while (i < 5) { i = i + 1; l = Cons(i, l); } k0 = k0 + i; }",
    ),
    "an exception that is caught": (3, "  while (True) { try { n = 1 / 0; } catch { _ => skip; } }"),
}
ENDS = {
    "a counter": "  while (n < 5000) { n = n + 1; }",
    "a list that grows": "  while (length(l) < 2000) { l = Cons(1, l); }",
    "two counters": "  Int i = 0; while (n < 60) { i = 0; while (i < 60) { i = i + 1; } n = n + 1; }",
    "it leaves the loop inside": "  Int i = 0; while (n < 600) { i = 0; while (i < 7) { i = i + 1; } n = n + i; }",
    "the same loop for each": "  foreach (x in upto(500)) { Int i = 0; while (i < 5) { i = i + 1; } n = n + i; }",
    "it leaves by an exception": "  try { while (True) { n = n + 1; 1 / (3000 - n); } } catch { _ => skip; }",
    "what grows decides late": "  Bool on = True; while (on) { k0 = k0 + 1; n = k0 * 2; on = n < 4000; }",
    "a call fails later": "  try { while (True) { n = n + 1; if (n > 3000) c = null; c!m(); } } catch { _ => skip; }",
    "what it sends counts": "  while (n < 2500) { c!m(); n = n + 1; }",
}
CLASS = (
    "module M; class C { Int x = 0; Unit m() { x = 0; } } "
    "def List<Int> upto(Int n) = if n == 0 then Nil else Cons(n, upto(n - 1));"
)
VARIABLES = "Int n = 0; Int k0 = 0; List<Int> l = Nil; C c = new C();"


@pytest.mark.parametrize("name", NEVER_ENDS)
def test_a_main_block_that_is_proved_endless_is_an_error_at_its_loop(name: str, tmp_path: Path) -> None:
    line, loop = NEVER_ENDS[name]
    model = tmp_path / "m.abs"
    model.write_text(f"{CLASS}\n{{ {VARIABLES}\n{loop}\n}}")
    for command in (run_model, explore_model):
        with pytest.raises(AbsError, match="this loop never ends") as refused:
            command(str(model))
        assert refused.value.place.line == line


@pytest.mark.parametrize("name", ENDS)
def test_a_loop_that_ends_late_is_run_to_its_end(name: str, tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(f"{CLASS}\n{{ {VARIABLES}\n{ENDS[name]}\n}}")
    assert run_model(str(model)).outcome == "completed"


SPINS = """module M;
class Flag {
  Bool up = False;
  Unit raise() { up = True; }
  Unit wait() { Int n = 0; while (!up) { n = 1 - n; } }
}
{ Flag f = new Flag(); f!raise(); f!wait(); }
"""


@pytest.mark.parametrize("reduce", ["none", "stable", "independent", "exact"])
def test_a_task_that_never_ends_in_one_order_is_a_finding(reduce: str, tmp_path: Path) -> None:
    """Busy waiting without giving the actor away: who sets the flag has to come first."""
    model = tmp_path / "spins.abs"
    model.write_text(SPINS)
    result = explore_model(str(model), reduce=reduce)
    assert result.verdict is Verdict.FAILED
    assert [finding.kind for finding in result.findings] == ["livelock"]
    assert "Flag.wait, line 5" in result.findings[0].message
    assert "main.main r1.wait" in result.findings[0].explanation
    with pytest.raises(AbsError, match="this loop never ends"):
        run_model(str(model), order=["main.main", "r1.wait"])
    made = generate(str(model))
    assert (made.tests, made.exit_code) == (1, 1)


def test_commands_refuse_an_endless_main_block_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M;\n{\n  while (True) { skip; }\n}\n")
    for command in ("run", "explore", "actor"):
        code, out, err = run_command(command, str(model), capsys=capsys)
        assert (code, out) == (2, "")
        assert f"{model}:3:3: this loop never ends" in err
        assert "change what its condition reads" in err


def test_calls_on_itself_that_never_return_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M;\nclass C {\n  Unit m() { this.m(); }\n}\n{ C c = new C(); c.m(); }\n")
    code, _, err = run_command("run", str(model), capsys=capsys)
    assert code == 2
    assert f"{model}:3, C.m: calls of an object on itself are nested more than 10000 deep" in err
    code, _, err = run_command("run", str(model), "--tasks", "50", capsys=capsys)
    assert code == 2
    assert f"{model}:3, C.m: the main block had not ended after 50 tasks; raise --tasks" in err


def test_a_task_that_gives_its_actor_away_for_ever_is_cut_with_its_line(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M;\nclass C {\n  Unit run() { while (True) {\n    suspend;\n  } }\n}\n{ new C(); }\n")
    result = explore_model(str(model))
    assert result.verdict is Verdict.CUT
    assert "first at C.run, line 4; --tasks raises it" in result.reason


def test_time_is_kept_where_one_step_has_many_ways(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M; { Int n = 0; while (random(2) == 0) { n = 1 - n; } }")
    result = explore_model(str(model), seconds=0.5)
    assert result.cut_by == "seconds"
    assert result.executions < 50
