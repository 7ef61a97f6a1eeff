"""Objects that take more than a constructor with plain values."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from tests.classes.drive import always, campaign, kinds, subject
from treadle.classes.calls import MethodCall
from treadle.classes.interleavings import InterleavingExplorer
from treadle.classes.pools import Pools, heirs
from treadle.classes.result import Options
from treadle.classes.stage import Stage, Test
from treadle.classes.subject import find_class
from treadle.classes.ways import factories
from treadle.core.verdict import Verdict
from treadle.doors.class_.campaign import ClassCampaign
from treadle.observe.parameters import Parameter
from treadle.observe.recorded import Expression, GivenArgument, RecordedUse


def test_subclasses_are_found() -> None:
    assert list(heirs(find_class("class_reach:Store"))) == [find_class("class_reach:MemoryStore")]


def test_a_parameter_of_an_abstract_class_is_given_an_heir() -> None:
    result = campaign("class_reach:Counts")
    assert kinds(result) == {"add": "linearizability"}
    assert str(result.faults[0].witness.test.root) == "Counts(MemoryStore())"


def test_a_parameter_that_no_class_fits_is_given_a_stand_in() -> None:
    result = campaign("class_reach:Guarded")
    assert kinds(result) == {"add": "linearizability"}
    assert "class SomeSink(Sink):" in "\n".join(result.faults[0].witness.test.root.lines())


def test_a_function_that_returns_a_protocol_makes_objects_of_it_alone() -> None:
    found = {
        name: [method.name for method in factories(made, Pools(made, {}))]
        for name in ("Sink", "Meter")
        for made in [subject(f"class_reach:{name}")]
    }
    assert found == {"Sink": ["open_sink"], "Meter": []}


def test_an_abstract_class_is_judged_through_a_stand_in() -> None:
    result = campaign("class_reach:Meter")
    assert kinds(result) == {"turn": "linearizability"}
    assert str(result.faults[0].witness.test.root) == "SomeMeter()"


def test_a_class_as_a_value_and_results_by_identity() -> None:
    result = campaign("class_reach:Registry")
    assert kinds(result) == {"get": "linearizability"}
    assert "sout.get(Something)" in str(result.faults[0].witness.test)


def test_a_class_that_is_named_is_given_itself_and_its_heirs() -> None:
    store: type = find_class("class_reach:Store")
    values = Pools(subject("class_reach:Registry"), {}).of(Parameter("cls", types.GenericAlias(type, (store,))))
    assert [str(value) for value in values] == ["MemoryStore"]


@pytest.mark.slow
def test_an_object_with_a_thread_of_its_own_from_the_programs_own_factory() -> None:
    result = campaign("class_reach:Worker", budget=600.0)
    assert kinds(result) == {"ask || stop": "deadlock"}
    assert str(result.faults[0].witness.test.root) == "Hub.worker()"


def test_two_threads_that_do_the_same_on_a_fresh_object_come_first() -> None:
    made = ClassCampaign(subject("class_reach:Registry"), Options())
    with Stage(made.subject) as made.stage:
        made._prepare()
        first = min(made.roots[0].queue)[-1]
    assert first.one == first.other
    assert first.alpha == ()


@pytest.mark.slow
def test_operations_that_the_other_call_does_not_touch_cost_nothing() -> None:
    result = campaign("class_reach:Busy", budget=600.0)
    assert kinds(result) == {"add": "linearizability"}


def test_objects_and_values_from_a_recording() -> None:
    needs = ("from class_reach import MemoryStore, Counts",)
    seen = RecordedUse(made={"class_reach:Counts": [Expression("Counts(MemoryStore())", needs)]})
    seen.called["class_reach:Registry.get"] = [(GivenArgument(Expression("list")),)]
    result = campaign("class_reach:Counts", recorded=seen)
    assert result.faults[0].witness.test.root.method == "recorded"
    registry = subject("class_reach:Registry")
    calls = list(Pools(registry, {}, recorded=seen).calls(registry.methods[0]))
    assert str(calls[0]) == "sout.get(list)"


def test_a_class_whose_coroutines_have_twins_is_judged_in_threads() -> None:
    found = subject("class_reach:Twice")
    assert not found.in_tasks
    assert found.skipped == {"add_async": "a coroutine; its twin add is called, in threads"}
    assert kinds(campaign("class_reach:Twice")) == {"add": "linearizability"}


def test_a_call_of_a_callback_that_does_nothing_is_no_step() -> None:
    result = campaign("class_reach:Applied")
    assert (result.verdict, result.reason) == (
        Verdict.NOTHING_TO_EXPLORE,
        "no two calls touch anything in common that one of them changes",
    )


def test_a_decorator_without_wraps_does_not_hide_what_a_method_takes() -> None:
    taken = {method.name: [p.name for p in method.parameters] for method in subject("class_reach:Wrapped").methods}
    assert taken == {"[]=": ["key", "value"], "raise_by": ["key", "amount"]}


def test_what_an_object_holds_is_asked_too() -> None:
    result = campaign("class_reach:Crew", methods=("hire", "begin"), calls=1)
    assert "begin || hire" in kinds(result)
    asked = [str(call) for call in result.faults[0].witness.test.omega]
    assert "sorted(one.is_ready() for one in sout.hands)" in asked


def test_a_twin_may_have_its_async_in_the_middle_of_its_name() -> None:
    found = subject("class_reach:TwiceEach")
    assert not found.in_tasks
    assert [method.name for method in found.methods] == ["add", "add_each"]


def test_a_parameter_without_a_hint_is_given_what_is_called_like_it_and_a_bucket_keeps_what_it_gets() -> None:
    result = campaign("class_reach:Limited", calls=1)
    assert [(fault.kind, fault.methods) for fault in result.faults] == [("linearizability", ["enter"])]
    source = "\n".join(result.faults[0].witness.test.root.lines())
    assert "class SomeBucket(Bucket):" in source
    assert "return self.kept.append(given[0])" in source


def test_arguments_are_found_by_how_others_are_refused() -> None:
    """Five parameters without hints, of which no two take the same kind of thing."""
    result = campaign("class_refusing:Aggregator")
    assert kinds(result) == {"add_point || due": "exception"}
    assert not result.not_called
    assert "Gauge)" in str(result.faults[0].witness.test)


def test_a_method_that_a_base_has_too_is_read_in_the_class() -> None:
    assert "due" in subject("class_refusing:Silent").changing
    assert "due" not in subject("class_refusing:Aggregator").changing


def test_what_a_decorator_that_a_method_makes_is_put_around_is_called() -> None:
    result = campaign("class_reach:Remembering")
    assert kinds(result) == {"memoize()()": "linearizability"}


def test_a_module_may_make_temporary_files_when_it_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import os, tempfile\nmade = os.mkdir(os.path.join(tempfile.gettempdir(), 'class_reach'))\n"
    (tmp_path / "makes_a_folder.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_class("makes_a_folder:").__name__ == "makes_a_folder"


def test_a_thread_that_only_polls_keeps_nothing_from_being_compared_nor_does_a_call_that_waits_for_it() -> None:
    calls = {name: MethodCall(name, f"{{sout}}.{name}()") for name in ("schedule", "start", "finish")}
    alive = MethodCall("alive", "sorted(one.is_alive() for one in {sout}.feeders)")
    root = MethodCall("Watcher", "Watcher(Feeder)", needs=("from class_polling import Feeder, Watcher",))
    test = Test(root, (), ((calls["schedule"],), (calls["start"],)), (alive,), (calls["finish"],))
    with Stage(subject("class_polling:Watcher")) as stage:
        explored = InterleavingExplorer(stage).explore(test, 60, always)
    assert [witness.violation.where for witness in explored.witnesses] == [("observed", 0, 0)]
    assert explored.test.later == ()
