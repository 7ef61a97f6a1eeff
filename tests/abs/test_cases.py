"""Cases: told in three ways, repeatable, the same on every run, and tests of their own once written to a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.actors import replay
from treadle.core.errors import UsageError
from treadle.doors.actor.generated import generate
from treadle.doors.actor.pytest_file import cases_file
from treadle.report import tree_picture

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"
FACTORIAL = EXAMPLES / "factorial.abs"


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_json_in_pieces_is_the_same_json(keep: int) -> None:
    made = generate(f"{FACTORIAL}:Fact.ft", bounds=Bounds(1, 4, 1), keep=keep)
    text = "".join(made.json_pieces())
    assert text == json.dumps(made.to_json())
    assert [bool(case["replay"]) for case in json.loads(text)["cases"]] == [True] * keep


def test_objects_that_were_there_come_before_those_that_are_made(tmp_path: Path) -> None:
    """Also when the case is run again: the order on objects does not depend on how much is known of them."""
    model = tmp_path / "m.abs"
    model.write_text("""module M; class A(Int n, A mine) {
      Unit hit(A o) { if (this.mine < o) { this.n = this.n + 1; } } Unit m() { this.hit(new A(1, null)); } }""")
    made = generate(f"{model}:A.m")
    assert (made.tests, made.rejected) == (2, 0)


@pytest.mark.parametrize(
    "target",
    [
        "factorial.abs:Fact.ft",
        "factorial.abs:Fact.rp",
        "producer_consumer.abs:Consumer.consumeN",
        "producer_consumer.abs:Producer.produceList",
        "sum_facts.abs:A.sumFacts",
        "quicksort.abs:Client.qsort",
        "pipeline_sort.abs:Stage.insert",
        "registration.abs:Simulator.simulate",
        "hash_table.abs:User.use",
        "mail_server.abs:Client.send",
        "sleeping_barber.abs:Barber.work",
        "philosophers.abs:Philosopher.eat",
        "database.abs:Db.makesConnection",
        "ping_pong.abs:Ping.start",
    ],
)
@pytest.mark.parametrize("alias", [False, True])
def test_every_case_repeats_on_known_data(target: str, alias: bool) -> None:
    made = generate(str(EXAMPLES / target), bounds=Bounds(1, 4, 1), selection=OrderSelection(alias=alias), states=3000)
    assert made.tests > 0
    assert made.rejected == 0
    assert all(case.verified for case in made.cases)


def test_the_same_tests_every_time() -> None:
    def told() -> list[dict[str, Any]]:
        return [case.to_json() for case in generate(f"{FACTORIAL}:Fact.ft", bounds=Bounds(2, 4, 1)).cases]

    assert told() == told()


def test_replay_by_hand() -> None:
    run = replay(
        FACTORIAL,
        "Fact.ft",
        initial={"s0": {"class": "Fact", "fields": {"b": None, "mx": 2, "r": 1}}},
        arguments={"n": 3},
        order=["s0.ft", "s0.dg", "r1.ft", "r1.rp", "s0.rp", "s0.wk", "r1.wk"],
    )
    assert run.outcome == "completed"
    assert run.final == {"s0": {"b": None, "mx": 2, "r": 6}, "r1": {"b": "s0", "mx": 2, "r": 1}}


def test_replay_of_the_main_block() -> None:
    run = replay(EXAMPLES / "ping_pong.abs", order=["main.main", "r2.start"])
    assert run.outcome == "unfinished"
    assert run.final["r2"] == {"sent": 1}


def test_replay_tells_tasks_of_one_name_apart(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        "module M; class C(List<Int> l) { Unit go() { this!add(1); this!add(2); } Unit add(Int x) { l = Cons(x, l); } }"
    )
    initial = {"s0": {"class": "C", "fields": {"l": "list[]"}}}
    forwards = replay(model, "C.go", initial=initial, order=["s0.go", "s0.add", "s0.add#2"])
    backwards = replay(model, "C.go", initial=initial, order=["s0.go", "s0.add#2", "s0.add"])
    assert forwards.final["s0"]["l"] == "list[2, 1]"
    assert backwards.final["s0"]["l"] == "list[1, 2]"


def test_a_step_that_cannot_be_taken_says_what_can() -> None:
    initial = {"s0": {"class": "Fact", "fields": {"b": None, "mx": 2, "r": 1}}}
    with pytest.raises(UsageError, match=r"step 2 .*'s0.rp', cannot run there; what can run: s0.wk, s0.dg"):
        replay(FACTORIAL, "Fact.ft", initial=initial, arguments={"n": 3}, order=["s0.ft", "s0.rp"])
    with pytest.raises(UsageError, match="no step of an order"):
        replay(FACTORIAL, "Fact.ft", initial=initial, arguments={"n": 3}, order=["ft"])


def test_values_of_all_kinds_survive_a_round_trip(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        """module M; data D = D(Int x, List<Bool> l) | E;
        class C(D d, Rat r, String s, Map<String, Maybe<Int>> m, C other, Bool b) { Unit m() { skip; } }"""
    )
    fields = {
        "d": "D(3, list[True, False])",
        "r": "-1/2",
        "s": '"a \\"quoted\\" word"',
        "m": 'InsertAssoc(Pair("k", Just(1)), EmptyMap)',
        "other": "s0",
        "b": True,
    }
    run = replay(model, "C.m", initial={"s0": {"class": "C", "fields": fields}}, order=["s0.m"])
    assert run.final["s0"] == fields


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "bounds"),
    [
        ("factorial.abs:Fact.ft", Bounds(1, 5, 1)),
        ("producer_consumer.abs:Producer.produceList", Bounds(2)),
        ("database.abs:Db.makesConnection", Bounds()),
        ("sum_facts.abs:A.sumFacts", Bounds(1, 3, 2)),
    ],
)
def test_the_written_file_passes(tmp_path: Path, target: str, bounds: Bounds) -> None:
    made = generate(str(EXAMPLES / target), bounds=bounds)
    where = tmp_path / "test_written.py"
    where.write_text(cases_file(made.target, made.cases, EXAMPLES / target.partition(":")[0]).source(where.parent))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(where)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert f"{len(made.cases)} passed" in done.stdout, done.stdout


def test_a_written_test_fails_when_the_model_is_wrong(tmp_path: Path) -> None:
    model = tmp_path / "factorial.abs"
    model.write_text(FACTORIAL.read_text().replace("this.r = this.r * x;", "this.r = this.r + x;"))
    initial = {"s0": {"class": "Fact", "fields": {"b": None, "mx": 2, "r": 1}}}
    order = ["s0.ft", "s0.wk", "s0.rp"]
    right = replay(FACTORIAL, "Fact.ft", initial=initial, arguments={"n": 2}, order=order)
    wrong = replay(model, "Fact.ft", initial=initial, arguments={"n": 2}, order=order)
    assert right.final["s0"]["r"] == 2
    assert wrong.final["s0"]["r"] == 3


def test_a_deadlocking_case_expects_the_deadlock(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(
        """module M;
        class A(B b) { Int n = 0; Int ask() { Fut<Int> f = b!answer(this); return f.get; } Int own() { return n; } }
        class B { Int answer(A a) { Fut<Int> f = a!own(); return f.get; } }"""
    )
    made = generate(f"{model}:A.ask")
    assert [case.outcome for case in made.cases] == ["deadlock"]
    assert made.exit_code == 1
    text = cases_file(made.target, made.cases, model).source(tmp_path)
    assert "def test_ask_1_deadlocks() -> None:" in text
    assert "assert run.deadlocked" in text


def test_the_tree_tells_what_was_decided_and_joins_steps_without_a_choice(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("""module M; class C { Int n = 0; Unit a(Int x) { if (x > 3) this!b(); else this.n = 1; }
      Unit b() { C c = new C(); c!d(); } Unit d() { this.n = 2; } } { }""")
    made = generate(f"{model}:C.a", record=True)
    assert made.tree is not None
    drawn = tree_picture.dot(made.tree)
    assert 'label="x >= 4"' in drawn
    assert "s0.a \N{RIGHTWARDS ARROW} s0.b \N{RIGHTWARDS ARROW} r1.d" in drawn
    assert drawn.count("->") == 2  # one edge per way
