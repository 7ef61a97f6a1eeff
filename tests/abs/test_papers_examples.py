"""The worked examples of the papers: trees, test cases and prunings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treadle.abs.explore.cases import ActorCase
from treadle.abs.explore.related import related
from treadle.abs.language.load import load
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.abs.machine.statements import compile_program
from treadle.doors.actor.generated import generate

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"
FACTORIAL = str(EXAMPLES / "factorial.abs")
SUM_FACTS = str(EXAMPLES / "sum_facts.abs")


def fields(case: ActorCase, name: str) -> dict[str, Any]:
    return case.final[name].fields


def test_examples_4_and_5_aliased_reports_go_round_for_ever_and_are_cut() -> None:
    """A report sent to an actor that is its own boss, or its boss's, never ends: only the task limit ends it."""
    made = generate(
        FACTORIAL + ":Fact.rp", bounds=Bounds(2, 3, 2), selection=OrderSelection(alias=True), style="constraints"
    )
    apart = generate(FACTORIAL + ":Fact.rp", bounds=Bounds(2, 3, 2), style="constraints")
    assert made.tests == apart.tests == 3  # the aliased branches give no test
    # s0.b is s0; s1.b is s0 or s1; s2.b is s0, s1 or s2: six circles, one more chain that is too long
    assert made.cuts.to_json() == {"loop": 0, "task": 6, "actor": 1}
    assert apart.cuts.to_json() == {"loop": 0, "task": 0, "actor": 1}


@pytest.mark.parametrize("alias", [True, False])
def test_the_report_chain_as_constraints(alias: bool) -> None:
    made = generate(
        FACTORIAL + ":Fact.rp", bounds=Bounds(2, 4, 2), selection=OrderSelection(alias=alias), style="constraints"
    )
    first = made.cases[0]
    assert [first.initial[name].fields["b"] for name in ("s0", "s1", "s2")] == ["s1", "s2", None]
    assert fields(first, "s0")["r"] == "s0.r * x"
    assert fields(first, "s1")["r"] == "s0.r * s1.r * x"
    assert fields(first, "s2")["r"] == "s0.r * s1.r * s2.r * x"
    assert first.order == ["s0.rp", "s1.rp", "s2.rp"]


def test_example_6_the_bug_of_the_factorial() -> None:
    made = generate(FACTORIAL + ":Fact.ft", bounds=Bounds(1, 5, 2), style="hybrid")
    wanted = [
        case
        for case in made.cases
        if case.arguments == {"n": 3} and case.initial["s0"].fields == {"b": None, "mx": 1, "r": "s0.r"}
    ]
    assert {fields(case, "s0")["r"] for case in wanted} == {"6 * s0.r", "3 * s0.r"}
    for case in wanted:
        assert fields(case, "r1") == {"b": "s0", "mx": 1, "r": 2}
        assert fields(case, "r2") == {"b": "r1", "mx": 1, "r": 1}
        early = case.order.index("r1.rp") < case.order.index("r1.wk")
        assert (fields(case, "s0")["r"] == "3 * s0.r") == early  # the bug: reporting before working


def test_example_7_concrete_values() -> None:
    made = generate(FACTORIAL + ":Fact.ft", bounds=Bounds(1, 5, 2))
    initial = {"s0": {"class": "Fact", "fields": {"b": None, "mx": 1, "r": 1}}}
    finals = [
        {name: obj.fields for name, obj in case.final.items()}
        for case in made.cases
        if case.arguments == {"n": 3} and {n: o.to_json() for n, o in case.initial.items()} == initial
    ]
    others = {"r1": {"b": "s0", "mx": 1, "r": 2}, "r2": {"b": "r1", "mx": 1, "r": 1}}
    assert {"s0": {"b": None, "mx": 1, "r": 6}, **others} in finals
    assert {"s0": {"b": None, "mx": 1, "r": 3}, **others} in finals


@pytest.mark.parametrize("objects", ["all", "round-robin"])
@pytest.mark.parametrize("tasks", ["all", "fifo", "lifo"])
@pytest.mark.parametrize("reduce", ["none", "stable", "independent", "exact"])
def test_example_2_of_the_concurrent_objects_paper(objects: Any, tasks: Any, reduce: Any) -> None:
    made = generate(SUM_FACTS + ":A.sumFacts", bounds=Bounds(1, 2, 2), selection=OrderSelection(objects, tasks, reduce))
    assert made.tests == 2
    none, one = sorted(made.cases, key=lambda case: case.result)
    assert none.result == 0
    assert none.initial["s0"].fields["n"] <= 0
    assert none.initial["s0"].fields["ft"] >= 0
    assert one.result == 1
    assert one.initial["s0"].fields == {"n": 1, "ft": 0}
    assert fields(one, "s0") == {"n": 1, "ft": 1}


@pytest.mark.parametrize(
    ("pruning", "names"),
    [
        (0, {"sumFacts", "fact", "setN", "setFt", "set"}),
        (1, {"sumFacts", "set", "setN", "setFt"}),
        (2, {"sumFacts", "setN", "setFt"}),
        (3, {"sumFacts", "setFt"}),
    ],
)
def test_related_methods(pruning: int, names: set[str]) -> None:
    program = load(SUM_FACTS)
    cls = program.class_named("A")
    assert cls is not None
    assert set(related(compile_program(program), cls, "sumFacts", pruning)) == names


def test_a_related_method_in_the_queue_shows_the_other_branch(tmp_path: Path) -> None:
    """Section 4.3 of the tutorial: only an interleaved set() makes p() return 2."""
    model = tmp_path / "p.abs"
    model.write_text(
        """module P;
        class C(Int n, Int f) {
          Int p() { this.n = 0; await this.f > 0; if (this.n >= 0) return 1; else return 2; }
          Unit set() { this.n = 0 - 1; }
          Unit allow() { this.f = 1; }
        }"""
    )
    alone = generate(f"{model}:C.p")
    assert {case.result for case in alone.cases} == {1}
    together = generate(f"{model}:C.p", bounds=Bounds(queue=2))
    assert "set" in together.related
    results = {case.result for case in together.cases if case.result is not None}
    assert results == {1, 2}
    assert together.rejected == 0
