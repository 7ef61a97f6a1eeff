"""Cases of a method carry their inputs and order as a trail, and `treadle replay` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abs.test_cli import call, told
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.core.trail import Trail
from treadle.core.verdict import Verdict
from treadle.doors.actor.case_trail import trail_of_case
from treadle.doors.actor.generated import generate
from treadle.doors.actor.replay import replay_trail

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"


def no_test(trail: Trail) -> Result:
    raise AssertionError("a model is no test")


@pytest.mark.parametrize(
    ("target", "queue"),
    [
        ("philosophers.abs:Philosopher.eat", 0),
        ("sum_facts.abs:A.sumFacts", 1),
        ("mail_server.abs:Client.send", 0),
        ("sleeping_barber.abs:Barber.work", 0),
    ],
)
def test_every_case_is_replayed_from_its_string(target: str, queue: int) -> None:
    made = generate(
        str(EXAMPLES / target), bounds=Bounds(1, 6, 1, queue), selection=OrderSelection(alias=True), keep=40
    )
    assert made.cases
    for case in made.cases:
        trail = Trail.parse(str(trail_of_case(made.target, case)))
        again = replay_trail(trail, no_test)
        fails = case.outcome in ("failed", "deadlock")
        assert again.verdict is (Verdict.FAILED if fails else Verdict.CUT), case
        if fails:
            assert again.findings[0].message == trail.message


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, "actor", str(EXAMPLES / "philosophers.abs:Philosopher.eat"), "--alias")
    case = next(case for case in made["cases"] if case["outcome"] == "deadlock")
    assert told(capsys, "replay", case["replay"])["verdict"] == "FAILED"


def test_a_case_that_never_failed_is_not_said_to_fail_no_longer(capsys: pytest.CaptureFixture[str]) -> None:
    target = str(EXAMPLES / "sum_facts.abs:A.sumFacts")
    case = next(case for case in told(capsys, "actor", target)["cases"] if case["outcome"] == "completed")
    code, out, _ = call(capsys, "replay", case["replay"])
    assert code == 0
    assert "the same case again, one order of tasks, which does not fail: completed" in " ".join(out.split())
    assert "no longer" not in out
    assert f"treadle actor '{target}'" in out


def test_a_trail_of_another_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("module M; class C { Unit m(Int x) { assert x == 0; } } { }")
    made = generate(f"{model}:C.m")
    trail = trail_of_case(made.target, next(c for c in made.cases if c.outcome == "failed"))
    model.write_text("module M; class C { Unit n() { } } { }")
    with pytest.raises(UsageError, match=r"the trail no longer fits .*class C has no method 'm'"):
        replay_trail(trail, no_test)


@pytest.mark.parametrize(("wanted", "number"), [("3", 3), ("none", 0), ("all", 159)])
def test_as_many_cases_as_asked_for(capsys: pytest.CaptureFixture[str], wanted: str, number: int) -> None:
    target = str(EXAMPLES / "producer_consumer.abs:Consumer.consumeN")
    found = told(capsys, "actor", target, "-k", "3", "--reduce", "stable", "--cases", wanted)
    assert (found["tests"], len(found["cases"])) == (159, number)


def test_an_exception_of_the_model_is_no_assertion_whatever_its_name(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("""
        module M;
        exception AssertionFailureLogged;
        interface I { Unit m(Int n); }
        class C implements I {
          Unit m(Int n) { assert n != 1; if (n == 2) throw AssertionFailureLogged; }
        }
    """)
    made = generate(f"{model}:C.m", domain=(0, 3))
    kinds = {case.failures[0]: trail_of_case(made.target, case).kind for case in made.cases if case.failures}
    assert kinds == {"AssertionFailException": "assertion", "AssertionFailureLogged": "exception"}
