"""What `treadle actor` says the tests cover: nothing that only a branch that was cut has seen."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from treadle.abs.explore.coverage import ActorCoverage
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.doors.actor.generated import GeneratedCases, generate
from treadle.doors.actor.table import show


def made(tmp_path: Path, text: str, method: str = ":C.m", **options: object) -> GeneratedCases:
    model = tmp_path / "model.abs"
    model.write_text("module M;\n" + text)
    return generate(f"{model}{method}", **options)  # type: ignore[arg-type]  # the options of generate


def covered(tmp_path: Path, text: str, method: str = ":C.m", **options: object) -> ActorCoverage:
    return made(tmp_path, text, method, **options).coverage


def test_both_sides_of_a_branch_on_unknown_data(tmp_path: Path) -> None:
    found = covered(tmp_path, "class C { Int a; Unit m(Int n) { if (n > 0) { this.a = 1; } } }")
    assert (found.branches.covered, found.branches.of, found.branches.missed) == (2, 2, [])


def test_a_side_that_no_run_reaches_is_named(tmp_path: Path) -> None:
    text = "class C { Int a;\n Unit m(Int n) { if (n > 0) {\n if (n < 0) { this.a = 1; } } } }"
    found = covered(tmp_path, text)
    assert found.branches.missed == ["C.m, line 4: yes"]
    assert (found.branches.covered, found.branches.of) == (3, 4)


def test_what_only_a_cut_branch_has_seen_is_not_covered(tmp_path: Path) -> None:
    """The third turn is beyond k, so `late` and the side that leads to it belong to no test."""
    text = """class C {
      Unit m() { Int i = 0; while (i < 3) { i = i + 1; if (i == 2) { this!late(); } } }
      Unit late() { skip; } }"""
    cut = covered(tmp_path, text, bounds=Bounds(loop=2))
    assert (cut.tasks.covered, cut.tasks.missed) == (0, ["C.late", "C.m"])
    assert cut.branches.covered == 0
    assert covered(tmp_path, text, bounds=Bounds(loop=3)).tasks.missed == []


def test_branches_of_switch_foreach_and_the_making_of_objects(tmp_path: Path) -> None:
    text = """class B(Int n) { Int a; { if (n > 5) { this.a = 1; } } }
    class C { Int a;
      Unit m(List<Int> l, Maybe<Int> o) {
        foreach (x in l) { this.a = x; }
        switch (o) { Nothing => skip; _ => { B b = new B(3); } } } }"""
    found = covered(tmp_path, text)
    assert found.branches.missed == ["B.new, line 2: yes"]
    assert found.branches.of == 6  # `_` is no branch: it always holds


def test_pairs_of_tasks_in_both_orders(tmp_path: Path) -> None:
    text = """class C { Int a = 1;
      Unit m() { this!twice(); this!more(); }
      Unit twice() { this.a = this.a * 2; } Unit more() { this.a = this.a + 1; } }"""
    pairs = covered(tmp_path, text).interleavings
    assert (pairs.pairs, pairs.both_orders) == (3, 1)
    assert pairs.one_order == ["C.m before C.more", "C.m before C.twice"]


def test_a_reduction_sees_fewer_pairs(tmp_path: Path) -> None:
    text = """class C { Int a = 1; Int b = 1;
      Unit m() { this!x(); this!y(); } Unit x() { this.a = 2; } Unit y() { this.b = 2; } }"""
    assert covered(tmp_path, text).interleavings.both_orders == 0
    assert covered(tmp_path, text, selection=OrderSelection(reduce="none")).interleavings.both_orders == 1


def test_the_main_block_is_no_task_and_its_branches_count(tmp_path: Path) -> None:
    text = (
        "class C { Unit m() { skip; } Unit other() { skip; } } { C c = new C(); if (c == null) { c!other(); } c!m(); }"
    )
    found = covered(tmp_path, text, "")
    assert (found.tasks.covered, found.tasks.of, found.tasks.missed) == (1, 2, ["C.other"])
    assert found.branches.missed == ["main, line 2: yes"]


def test_the_summary_tells_it(tmp_path: Path) -> None:
    out = StringIO()
    show(made(tmp_path, "class C { Unit m(Bool b) { if (b) { this!n(); } } Unit n() { skip; } }"), file=out, width=200)
    assert "covered: 2 of 2 methods as tasks, 2 of 2 sides of branches, 0 of 1 pairs of tasks" in out.getvalue()
