"""`treadle actor` and `treadle run` as a user meets them: JSON, exit codes, files, and sentences for wrong use."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from treadle.cli.main import main
from treadle.doors.actor.pytest_file import cases_file
from treadle.report.pytest_file import PytestFile

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"
FACTORIAL = str(EXAMPLES / "factorial.abs")
BUFFER = str(EXAMPLES / "producer_consumer.abs")


def call(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(list(argv))
    shown = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, shown.out, shown.err


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    _, out, _ = call(capsys, *argv, "--json")
    found: dict[str, Any] = json.loads(out)
    return found


def test_json_has_what_it_promises(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(
        capsys, "actor", f"{FACTORIAL}:Fact.ft", "-k", "2", "--tasks", "4", "--actors", "2", "--no-alias",
        "--reduce", "paper-stable",
    )  # fmt: skip
    assert {"target", "tests", "states", "cuts", "deadlocks", "seconds", "cases"} <= found.keys()
    assert found["tests"] == 720
    assert found["states"] == 2430
    assert found["cuts"] == {"loop": 59, "task": 0, "actor": 278}
    assert found["deadlocks"] == 0
    assert len(found["cases"]) == 720
    for case in found["cases"]:
        assert {"initial", "arguments", "order", "final", "condition"} <= case.keys()


@pytest.mark.parametrize(("reduce", "tests"), [("stable", 15), ("independent", 9)])
def test_defaults_give_the_published_figures(capsys: pytest.CaptureFixture[str], reduce: str, tests: int) -> None:
    found = told(capsys, "actor", f"{BUFFER}:Consumer.consumeN", "-k", "2", "--reduce", reduce)
    assert found["tests"] == tests


@pytest.mark.parametrize(("reduce", "tests"), [("none", 280), ("stable", 18), ("independent", 8), ("exact", 2)])
def test_the_main_block(capsys: pytest.CaptureFixture[str], reduce: str, tests: int) -> None:
    assert told(capsys, "actor", FACTORIAL, "--reduce", reduce)["tests"] == tests


def test_selection_options(capsys: pytest.CaptureFixture[str]) -> None:
    for tasks in ("fifo", "lifo"):
        found = told(
            capsys, "actor", f"{FACTORIAL}:Runner.fact", "-k", "1", "--tasks", "8", "--actors", "2",
            "--select-objects", "round-robin", "--select-tasks", tasks,
        )  # fmt: skip
        assert found["tests"] == 5


def test_queue_option(capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{EXAMPLES / 'sum_facts.abs'}:A.sumFacts"
    alone = told(capsys, "actor", target, "-k", "1", "--tasks", "3")
    behind = told(capsys, "actor", target, "-k", "1", "--tasks", "3", "--queue", "1")
    assert behind["related"] == ["sumFacts", "setFt"]
    assert behind["tests"] > alone["tests"]


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "actor", f"{FACTORIAL}:Fact.rp")
    assert code == 0
    assert "order of tasks" in out
    assert "3 tests, " in out
    assert "cut: 0 by loop, 0 by tasks, 1 by actors" in out


def test_writing_tests_and_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where, pictures, tree = tmp_path / "tests" / "test_rp.py", tmp_path / "pictures", tmp_path / "tree.svg"
    code, out, _ = call(
        capsys, "actor", f"{FACTORIAL}:Fact.rp", "--write", str(where), "--pictures", str(pictures), "--tree", str(tree)
    )
    assert code == 0
    assert f"wrote {where}" in out
    assert where.read_text().count("def test_rp_") == 3
    drawn = sorted(pictures.glob("*.svg"))
    assert len(drawn) == 3
    for picture in (*drawn, tree):
        assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    assert "cut: actors (O)" in tree.read_text()
    dot = tmp_path / "tree.dot"
    call(capsys, "actor", f"{FACTORIAL}:Fact.ft", "-k", "1", "--tree", str(dot))
    assert dot.read_text().startswith("digraph")
    assert "pruned" in dot.read_text()


@pytest.mark.parametrize("name", ["test_rp.py", "FactTest.abs"])
def test_an_edited_file_is_not_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    where = tmp_path / name
    write = ("actor", f"{FACTORIAL}:Fact.rp", "--write", str(where))
    assert call(capsys, *write)[0] == 0
    assert call(capsys, *write)[0] == 0  # ours and unedited: replaced
    edited = where.read_text() + "mine\n"
    where.write_text(edited)
    code, _, err = call(capsys, *write)
    assert code == 2
    assert "edited by hand" in err
    assert where.read_text() == edited
    assert call(capsys, *write, "--force")[0] == 0
    assert "mine" not in where.read_text()


def test_only_tests_that_pass_in_a_fresh_process_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = cases_file

    def lies(*arguments: Any) -> PytestFile:
        made = honest(*arguments)
        made.tests["test_rp_1"] = made.tests["test_rp_1"].replace("assert run.outcome == ", "assert run.outcome != ")
        return made

    monkeypatch.setattr("treadle.cli.actor_run.cases_file", lies)
    where = tmp_path / "test_rp.py"
    code, out, _ = call(capsys, "actor", f"{FACTORIAL}:Fact.rp", "--write", str(where))
    assert code == 0
    assert "def test_rp_1" not in where.read_text()
    assert "def test_rp_2" in where.read_text()
    assert "1 case did not repeat" in out


def test_absunit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where = tmp_path / "FactTest.abs"
    code, _, _ = call(capsys, "actor", f"{FACTORIAL}:Fact.rp", "--format", "absunit", "--write", str(where))
    assert code == 0
    text = where.read_text()
    assert "module FactorialTest;" in text
    assert "[Suite]" in text
    assert "    s0!rp(" in text
    assert "product Tested(ForTest);" in text
    assert "adds Unit setRForTest(Int value)" in text


def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        "module M; class C(Int n) {"
        " Unit bad(Int x) { assert x != 3; } Unit ever() { while (True) skip; } Unit ok() {} }"
    )
    assert call(capsys, "actor", f"{model}:C.ok")[0] == 0
    assert call(capsys, "actor", f"{model}:C.bad")[0] == 1
    code, out, _ = call(capsys, "actor", f"{model}:C.ever")
    assert code == 3
    assert "nothing was covered" in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["actor", "nowhere.abs:C.m"], "there is no file 'nowhere.abs'"),
        (["actor", "tests.test_x:C.m"], "is no ABS model"),
        (["actor", f"{FACTORIAL}:Fact.tf"], "class Fact has no method 'tf'; did you mean 'ft'?"),
        (["actor", f"{FACTORIAL}:Fcat.ft"], "has no class 'Fcat'; did you mean 'Fact'?"),
        (["actor", f"{FACTORIAL}:Fact"], "names no method; write Fact.ft"),
        (["actor", f"{FACTORIAL}:Fact.ft", "-k", "0"], "'0' is no limit"),
        (["actor", f"{FACTORIAL}:Fact.ft", "--tasks", "many"], "'many' is no limit"),
        (["actor", f"{FACTORIAL}:Fact.ft", "--domain", "5"], "--domain '5' is no range"),
        (["actor", f"{FACTORIAL}:Fact.ft", "--reduce", "all"], "'all' is not one of"),
        (["actor", f"{FACTORIAL}:Fact.ft", "--tree", "x.png"], "--tree writes .svg or .dot"),
        (["actor", f"{FACTORIAL}:Fact.ft", "--values", "hybrid", "--write", "x.py"], "for reading"),
        (["actor", FACTORIAL, "--write", "x.py"], "tests are written for a method"),
        (["explore", FACTORIAL, "--preemptions", "2"], "--preemptions means nothing for an ABS model"),
        (["explore", "nowhere.abs"], "there is no file 'nowhere.abs'"),
        (["run", "nowhere.abs"], "nowhere.abs"),
        (["run", "model.txt"], "is no ABS model"),
        (["run", FACTORIAL, "--order", "main.main r9.ft"], "step 2 of the order, 'r9.ft', cannot run there"),
    ],
)
def test_wrong_use_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *argv)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())  # nothing half-written


def test_a_syntax_error_shows_the_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M;\nclass C {\n  Unit m() { Int x = 1 + ; }\n}\n")
    code, _, err = call(capsys, "actor", f"{model}:C.m")
    assert code == 2
    assert f"{model}:3:26: ';' is not expected here" in err
    assert err.splitlines()[2].endswith("^")


def test_parameters_that_cannot_be_unknown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        "module M; interface I { Unit x(); } class C { Unit f(Fut<Int> f) { await f?; } Unit i(I i) { i!x(); } }"
    )
    code, _, err = call(capsys, "actor", f"{model}:C.f")
    assert code == 2
    assert "parameter 'f' of C.f cannot be unknown: a future exists only together with the task that fills it" in err
    assert "no class implements I" in call(capsys, "actor", f"{model}:C.i")[2]


def test_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "run", FACTORIAL)
    assert code == 0
    assert "r1: Fact(b = null, mx = 2, r = 120)" in out
    code, out, _ = call(capsys, "run", FACTORIAL, "--seed", "3", "--json")
    assert json.loads(out)["outcome"] == "completed"
    dead = json.loads(call(capsys, "explore", str(EXAMPLES / "philosophers.abs"), "--json")[1])
    order = dead["findings"][0]
    assert order["kind"] == "deadlock"


def test_a_finding_of_explore_can_be_run_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = call(capsys, "explore", str(EXAMPLES / "philosophers.abs"))
    assert code == 1
    order = out.partition("--order '")[2].partition("'")[0]
    code, out, _ = call(capsys, "run", str(EXAMPLES / "philosophers.abs"), "--order", order, "--picture", "dead.svg")
    assert code == 1
    assert "deadlock" in out
    assert "deadlock" in Path("dead.svg").read_text()


# ---------------------------------------------------------------------- replay, and which orders are left out


@pytest.fixture
def philosophers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "philosophers.abs"
    model.write_text((EXAMPLES / "philosophers.abs").read_text())
    return model


def test_replay_takes_the_findings_of_models(capsys: pytest.CaptureFixture[str], philosophers: Path) -> None:
    (finding,) = told(capsys, "explore", "philosophers.abs")["findings"]
    code, out, _ = call(capsys, "replay", finding["replay"])
    assert code == 1
    assert "philosophers.abs: the schedule fails again" in out
    assert finding["message"] in out
    (saved,) = Path(".treadle/findings").glob("*.json")
    assert told(capsys, "replay", str(saved))["findings"][0]["kind"] == "deadlock"


def test_a_replay_of_a_corrected_model_does_not_fail(capsys: pytest.CaptureFixture[str], philosophers: Path) -> None:
    code, out, _ = call(capsys, "explore", "philosophers.abs")
    trail = out.partition("treadle replay '")[2].partition("'")[0]
    philosophers.write_text((EXAMPLES / "ping_pong.abs").read_text())
    code, _, err = call(capsys, "replay", trail)
    assert code == 2
    assert "the trail no longer fits philosophers.abs, which has changed since" in err


def test_a_replay_of_a_model_that_is_gone_says_so(capsys: pytest.CaptureFixture[str], philosophers: Path) -> None:
    _, out, _ = call(capsys, "explore", "philosophers.abs")
    philosophers.unlink()
    code, _, err = call(capsys, "replay", out.partition("treadle replay '")[2].partition("'")[0])
    assert (code, "there is no file 'philosophers.abs'" in err) == (2, True)


@pytest.mark.parametrize(("reduce", "runs"), [("none", 280), ("stable", 18), ("independent", 8), ("exact", 2)])
def test_explore_leaves_out_the_orders_that_it_is_told_to(
    capsys: pytest.CaptureFixture[str], reduce: str, runs: int
) -> None:
    found = told(capsys, "explore", FACTORIAL, "--reduce", reduce)
    assert (found["verdict"], found["executions"]) == ("PASSED-EXHAUSTIVE", runs)


def test_reduce_is_for_models(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "explore", "test_x.py", "--reduce", "none")
    assert (code, "--reduce is for ABS models" in err) == (2, True)
    code, _, err = call(capsys, "explore", FACTORIAL, "--reduce", "most")
    assert (code, "--reduce is one of none, stable, independent, exact, paper-stable, paper, not 'most'" in err) == (
        2,
        True,
    )


def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "folder.abs").mkdir()
    (tmp_path / "m.abs").write_text("module M; import * from Nowhere; class C { Unit m() { } } { }")
    code, _, err = call(capsys, "explore", str(tmp_path / "m.abs"))
    assert (code, "there is no module 'Nowhere'; put its .abs file beside the model" in err) == (2, True)
    code, _, err = call(capsys, "explore", f"{tmp_path / 'm.abs'}:C.m")
    assert (code, "a method is for: treadle actor" in err) == (2, True)


TWO_ASSERTIONS = """module M;
class C { Int x = 0;
  Unit a() { assert x == 0; x = 1; }
  Unit b() { assert x == 1; x = 0; }
}
{ C c = new C(); c!a(); c!b(); c!a(); }
"""


def test_each_failed_assertion_is_a_finding_with_its_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`a a b` fails in the second a, `b a a` in b as well: the same exception, and two things to mend."""
    model = tmp_path / "two.abs"
    model.write_text(TWO_ASSERTIONS)
    messages = [finding["message"] for finding in told(capsys, "explore", str(model))["findings"]]
    assert sorted("C.b, line 4" in message for message in messages) == [False, True]
    assert all("C.a, line 3" in message for message in messages)
    code, out, _ = call(capsys, "run", str(model), "--order", "main.main r1.b r1.a r1.a#2")
    assert code == 1
    assert "failed: AssertionFailException in C.b, line 4" in out


def test_a_main_block_that_never_ends_is_told_as_that(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "endless.abs"
    model.write_text("module M; { Int n = 0; while (n >= 0) { n = n + 1; } }")
    code, out, _ = call(capsys, "actor", str(model))
    assert code == 3
    assert "a loop had not ended after 100000 turns" in out
    code, _, err = call(capsys, "run", str(model), "--loop", "2000")
    assert code == 2
    assert f"{model}:1: a task had made 2000 turns" in err


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (":C.k", "m.abs:3: numerator and denominator of an unknown rational cannot be explored; give it a known one"),
        (":C.d", "m.abs:4: a delay of unknown length cannot be explored; give it a known number"),
        ("", "m.abs:6: random(1000): only 1 to 64 different results are explored; let the model draw from fewer"),
        (":C", "'C' names no method; write C.k"),
    ],
)
def test_what_is_refused_when_it_is_met_says_where(
    target: str, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        "module M;\nclass C {\n  Int k(Rat r) { return numerator(r); }\n"
        "  Unit d(Int n) { await duration(n, n); }\n}\n{ Int x = random(1000); }\n"
    )
    code, _, err = call(capsys, "actor", f"{model}{target}")
    assert code == 2
    assert sentence in err


MEETS_A_REFUSAL = """module M;
class C(Int a) {
  Int m(Int n) {
    if (n == 7) { this.a = numerator(this.half()); }
    return n;
  }
  Rat half() { return this.a / 2; }
  Unit stuck(Int n) { if (n == 7) { Fut<Unit> f = this!stuck(0); f.get; } else { await duration(this.a, this.a); } }
}
{ C c = new C(1); Fut<Unit> f = c!stuck(7); Int x = random(2); if (x == 1) { x = random(1000); } }
"""


def test_tests_found_beside_what_is_refused_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = tmp_path / "m.abs"
    model.write_text(MEETS_A_REFUSAL)
    monkeypatch.chdir(tmp_path)
    refused = f"{model}:8: a delay of unknown length cannot be explored; give it a known number"
    for workers in ("1", "2"):
        code, out, _ = call(capsys, "actor", f"{model}:C.stuck", "--workers", workers)
        assert code == 1  # the deadlock
        assert "1 test, " in out
        assert refused in out.replace("\n", " ").replace("  ", " ")
    code, out, _ = call(capsys, "actor", f"{model}:C.m", "--write", "test_m.py", "--tree", "tree.dot", "--json")
    assert code == 2
    told = json.loads(out)
    assert told["refused"].startswith(f"{model}:4: numerator and denominator of an unknown rational")
    assert 7 not in [case["arguments"]["n"] for case in told["cases"]]
    assert told["tests"] == len(told["cases"]) > 0
    assert "unsupported: not executed" in Path("tree.dot").read_text()
    assert Path("test_m.py").exists()


def test_a_failure_found_beside_what_is_refused_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(MEETS_A_REFUSAL)
    code, out, _ = call(capsys, "explore", str(model), "--json")
    assert code == 1
    told = json.loads(out)
    assert ([finding["kind"] for finding in told["findings"]], told["exhaustive"]) == (["deadlock"], False)
    assert "m.abs:10: random(1000)" in told["reason"]


def test_a_guard_that_is_refused_says_where(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M; class C(Rat r) {\n  Unit m() { await numerator(this.r) > 0; } }")
    code, _, err = call(capsys, "actor", f"{model}:C.m")
    assert code == 2
    assert f"{model}:2: numerator and denominator of an unknown rational" in err


def test_only_the_bound_that_cut_is_to_be_raised(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M; class C { Unit m() { this!m(); } } { C c = new C(); c!m(); }")
    code, out, _ = call(capsys, "actor", str(model))
    assert code == 3
    assert "nothing was covered: every branch was cut; raise --tasks\n" in out


def test_the_seed_0_is_a_seed(capsys: pytest.CaptureFixture[str]) -> None:
    """It is another order than without one, and the same each time."""
    orders = {
        seed: {json.dumps(told(capsys, "run", FACTORIAL, *seed)["order"]) for _ in range(3)}
        for seed in ((), ("--seed", "0"), ("--seed", "1"))
    }
    assert all(len(found) == 1 for found in orders.values())
    assert orders["--seed", "0"] != orders[()]


def test_a_pass_within_bounds_says_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "explore", str(EXAMPLES / "factorial.abs"), "--reduce", "paper")
    assert code == 0
    assert "no schedule that was run fails (8 executions), but --reduce paper can leave out orders that matter" in out


def test_one_deadlock_is_one_finding_in_whatever_order_it_comes_about(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "explore", str(EXAMPLES / "database.abs"), "--reduce", "none")
    assert (found["statistics"]["deadlocks"], len(found["findings"])) == (2, 1)
