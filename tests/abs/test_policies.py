"""In which order an actor takes its tasks: by the model's annotations, or by --select-tasks, per class."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.abs.language.errors import AbsUnsupported
from treadle.abs.machine.criteria import OBJECT_SELECTIONS, SOUND_REDUCTIONS, OrderSelection
from treadle.abs.machine.policies import parse_policies
from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.doors.actor.generated import generate
from treadle.doors.actor.models import explore_model, run_model
from treadle.doors.actor.table import summary

MODEL = """module M; import * from ABS.Scheduler;
def Process fifo(List<Process> queue) = head(queue);
def Process own(List<Process> queue) = if method(head(queue)) == "one" then head(queue) else head(tail(queue));
%s class C { Int a = 0; Unit one() { a = a + 1; } Unit two() { a = a * 2; } Unit look() { assert a == 2; } }
class D { Int a = 0; Unit one() { a = a + 1; } Unit two() { a = a * 2; } }
{ %s C c = new C(); c!one(); c!two(); c!look(); D d = new D(); d!one(); d!two(); }
"""


def model(folder: Path, of_class: str = "", of_new: str = "") -> Path:
    file = folder / "m.abs"
    file.write_text(MODEL % (of_class, of_new))
    return file


FIFO = "[Scheduler: fifo(queue)]"


@pytest.mark.parametrize(("of_class", "of_new"), [(FIFO, ""), ("", FIFO), ("[Scheduler: lifo(queue)]", FIFO)])
@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
def test_the_model_says_the_order(tmp_path: Path, of_class: str, of_new: str, reduce: str) -> None:
    """Tasks of the one actor run in order, those of the other (which says nothing) in both."""
    file = model(tmp_path, of_class, of_new)
    assert explore_model(str(file), reduce=reduce).verdict is Verdict.PASSED_EXHAUSTIVE
    made = generate(str(file), selection=OrderSelection(reduce=reduce))  # type: ignore[arg-type]
    assert {case.final["r2"].fields["a"] for case in made.cases} == {1, 2}
    assert {case.final["r1"].fields["a"] for case in made.cases} == {2}


@pytest.mark.parametrize("name", ["", "[Scheduler: randomscheduler(queue)]"])
def test_any_order(tmp_path: Path, name: str) -> None:
    assert explore_model(str(model(tmp_path, name))).verdict is Verdict.FAILED


def test_a_run_keeps_the_order(tmp_path: Path) -> None:
    file = model(tmp_path, FIFO)
    assert {run_model(str(file), seed=seed).final["r1"]["a"] for seed in range(20)} == {2}


def test_a_scheduler_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AbsUnsupported) as caught:
        explore_model(str(model(tmp_path, "[Scheduler: own(queue)]")))
    assert "the user-defined scheduler 'own'" in str(caught.value)


def test_what_schedulers_look_at_is_refused_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "m.abs"
    file.write_text(
        "module M; import * from ABS.Scheduler; class C { Unit m(Process p) { String s = method(p); } } { }"
    )
    with pytest.raises(AbsUnsupported):
        explore_model(str(file))


def test_classes_by_option(tmp_path: Path) -> None:
    common, of_class = parse_policies(("C=fifo",))
    made = generate(str(model(tmp_path)), selection=OrderSelection(tasks=common, reduce="none", of_class=of_class))
    assert {case.final["r1"].fields["a"] for case in made.cases} == {2}
    assert {case.final["r2"].fields["a"] for case in made.cases} == {1, 2}


@pytest.mark.parametrize("text", ["first", "C=first", "=fifo"])
def test_bad_policies(text: str) -> None:
    with pytest.raises(UsageError, match="--select-tasks is all, fifo, lifo, or Class=fifo"):
        parse_policies((text,))


# p and q can each be given a task by the other, so neither is stable; two tasks speak against q, one against p
NOBODY_STABLE = """module M;
class P { Int n = 0; Unit go(Q q) { this.n = this.n + 1; q!got(); } Unit got() { this.n = this.n * 2; } }
class Q { Int n = 0; Unit go(P p) { this.n = this.n + 1; p!got(); } Unit got() { this.n = this.n * 2; } }
{ P p = new P(); Q q = new Q(); p!go(q); p!go(q); q!go(p); }"""


def test_the_likeliest_actor_where_none_is_stable(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(NOBODY_STABLE)
    found = {}
    for objects in OBJECT_SELECTIONS:
        selection = OrderSelection(objects=objects, reduce="stable")
        made = generate(str(model), selection=selection)
        finals = {tuple(obj.fields["n"] for obj in case.final.values() if "n" in obj.fields) for case in made.cases}
        first = {case.order[1].partition(".")[0] for case in made.cases}
        found[objects] = (finals, first)
        assert ("orders that matter can be missing" in " ".join(summary(made))) == (objects == "likeliest")
    assert found["likeliest"][0] < found["all"][0]
    assert (found["all"][1], found["likeliest"][1]) == ({"r1", "r2"}, {"r1"})


def test_the_order_of_a_class_that_is_not_there_is_refused(tmp_path: Path) -> None:
    selection = OrderSelection(of_class=(("Cc", "fifo"),))
    with pytest.raises(UsageError, match="there is no class 'Cc'; did you mean 'C'"):
        generate(str(model(tmp_path)), selection=selection)
