"""The heap solver: branches only where the program does, and gives the same tests as lazy initialisation."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from tests.symbolic import random_programs
from tests.symbolic.alias_programs import alias_programs, list_programs
from tests.symbolic.exploring import explored, load
from treadle.core.errors import UsageError
from treadle.doors.unit.result_json import suite_facts
from treadle.symbolic.expr import terms as x
from treadle.symbolic.heap.objects import InstanceObj
from treadle.symbolic.heap.open_values import identity
from treadle.symbolic.heap.solver import SolverHeap
from treadle.symbolic.path import Limit
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.units.explore import ExploredTarget


def _branches(found: ExploredTarget) -> dict[str, int]:
    return {name: len(branches) for name, branches in found.seen.calls.items()}


def _both(target: str, **options: Any) -> tuple[ExploredTarget, ExploredTarget]:
    return explored(target, heap="lazy", **options), explored(target, heap="solver", **options)


def _cases(found: ExploredTarget) -> Counter[Any]:
    return Counter((case.condition, random_programs.facts(case)) for case in found.cases)


# --- the paper -------------------------------------------------------------------------------------------


def test_figure_3_has_two_paths_and_lazily_five() -> None:
    lazy, solver = _both("unit_heap:m", none=False)
    assert (lazy.paths, solver.paths) == (5, 2)
    assert _branches(lazy) == {"a": 2, "b": 5, "c": 2, "d": 3}
    assert _branches(solver) == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert _cases(lazy) == _cases(solver)


def test_figure_3_with_none_adds_only_the_paths_that_raise() -> None:
    lazy, solver = _both("unit_heap:m")
    assert (lazy.paths, solver.paths) == (9, 5)
    assert _branches(lazy) == {"a": 2, "b": 5, "c": 2, "d": 3}
    raising = [case for case in solver.cases if case.outcome.raises is not None]
    # x is None; z is None; y is None, with z an alias of x or not
    assert len(raising) == 4
    assert _cases(lazy) == _cases(solver)


def possibly_same(heap: SolverHeap, a: InstanceObj, b: InstanceObj) -> bool:
    """Whether the path, all its conditions taken together, leaves it open that two inputs are one object."""
    known = heap.known_same(a, b)
    if known is not None:
        return known
    path = heap.path
    return path.solver.check(path.conditions, x.eq(identity(a), identity(b)), path.model).possible


def _calls(monkeypatch: pytest.MonkeyPatch, target: str) -> dict[str, tuple[Any, dict[tuple[str, str], bool]]]:
    """Function -> its argument at the call, and which inputs may be one object at that moment."""
    seen: dict[str, tuple[Any, dict[tuple[str, str], bool]]] = {}
    run = PythonMachine.run_function

    def watched(vm: Any, function: Any, args: Any, named: Any) -> Any:
        heap: SolverHeap = vm.heap
        if function.name in ("c", "d"):
            objects: list[InstanceObj] = heap.instances
            pairs = itertools.combinations(sorted(objects, key=lambda o: o.name), 2)
            seen[function.name] = (
                heap.settled(args[0]),
                {(a.name, b.name): possibly_same(heap, a, b) for a, b in pairs},
            )
        return run(vm, function, args, named)

    monkeypatch.setattr(PythonMachine, "run_function", watched)
    explored(target, heap="solver", none=False)
    return seen


def test_what_a_comparison_reveals_works_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fig. 3: once x is z is decided, y.f has one value, though it was written before."""
    seen = _calls(monkeypatch, "unit_heap:m")
    assert seen["c"][0] == -4
    assert seen["d"][0] == 2


def test_what_a_value_reveals_works_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Example 3: x.f == 1 says that neither y nor z is x.

    The paper says that x, y and z do not alias. That y is z remains possible: it changes neither x.f nor y.f.
    """
    seen = _calls(monkeypatch, "unit_heap:m_by_value")
    value, may_be_same = seen["c"]
    assert value == 2
    assert may_be_same == {("x", "y"): False, ("x", "z"): False, ("y", "z"): True}
    assert seen["d"][1] == {("x", "y"): True, ("x", "z"): True, ("y", "z"): True}


@pytest.mark.parametrize(("target", "paths", "cases"), [("mist", 4, 5), ("List.rem_all", 5, 7)])
def test_the_examples_of_the_paper_have_the_same_cases(target: str, paths: int, cases: int) -> None:
    lazy, solver = _both(f"unit_paper:{target}", k=1)
    assert (lazy.paths, solver.paths, len(solver.cases)) == (cases, paths, cases)
    assert _cases(lazy) == _cases(solver)


@pytest.mark.parametrize(
    ("target", "lazily", "with_solver"), [("two", 2, 2), ("three", 5, 2), ("four", 15, 2), ("five", 52, 2)]
)
def test_growth(target: str, lazily: int, with_solver: int) -> None:
    """n references, one branch: the Bell numbers against two paths."""
    lazy, solver = _both(f"unit_heap:{target}", none=False)
    assert (lazy.paths, solver.paths) == (lazily, with_solver)
    assert _cases(lazy) == _cases(solver)


def test_growth_with_none_is_linear() -> None:
    found = [_both(f"unit_heap:{name}") for name in ("two", "three", "four", "five")]
    assert [lazy.paths for lazy, _ in found] == [4, 9, 24, 76]
    assert [solver.paths for _, solver in found] == [4, 5, 6, 7]
    assert all(_cases(lazy) == _cases(solver) for lazy, solver in found)


def test_arrays_by_index() -> None:
    lazy, solver = _both("unit_heap:swap_and_add")
    assert (lazy.paths, solver.paths) == (27, 11)
    assert _cases(lazy) == _cases(solver)


# --- lists -----------------------------------------------------------------------------------------------


def test_figure_3_with_lists_in_place_of_fields() -> None:
    """One path that goes all the way for either side of the condition; the others are lists that are too short."""
    lazy, solver = _both("unit_heap_lists:m", none=False)
    assert (lazy.paths, solver.paths) == (9, 5)
    assert _branches(lazy) == {"a": 2, "b": 5}
    assert _branches(solver) == {"a": 1, "b": 1}
    assert _cases(lazy) == _cases(solver)


def test_growth_of_lists_is_linear() -> None:
    found = [_both(f"unit_heap_lists:{name}", none=False) for name in ("two", "three", "four")]
    assert [lazy.paths for lazy, _ in found] == [4, 9, 24]
    assert [solver.paths for _, solver in found] == [4, 5, 6]
    assert all(_cases(lazy) == _cases(solver) for lazy, solver in found)


@pytest.mark.parametrize(
    ("target", "lazily", "with_solver"),
    [("indexed", 25, 13), ("walked", 8, 6), ("held", 7, 6), ("passed_on", 11, 10), ("compared", 5, 2)],
)
def test_lists_are_carried_along(target: str, lazily: int, with_solver: int) -> None:
    lazy, solver = _both(f"unit_heap_lists:{target}")
    assert (lazy.paths, solver.paths) == (lazily, with_solver)
    assert _cases(lazy) == _cases(solver)


@pytest.mark.parametrize(
    "target",
    [
        *["appended", "appended_first", "popped", "equal", "ordered", "extended", "of_objects", "no_number"],
        *["kept_method", "given_to_compiled_code"],
    ],
)
def test_which_list_it_is_is_decided_by_what_changes_its_shape(target: str) -> None:
    lazy, solver = _both(f"unit_heap_lists:{target}", k=1)
    assert _cases(lazy) == _cases(solver)
    assert solver.paths <= lazy.paths
    assert not solver.seen.unsupported


@pytest.mark.parametrize(
    "target",
    [
        *["asked_before", "place_depends", "never_seen", "one_reference", "inside", "twice_written"],
        *["settled_later", "through_another", "none_through_another", "asked_again"],
    ],
)
@pytest.mark.parametrize("none", [True, False])
def test_found_by_random_programs(target: str, none: bool) -> None:
    lazy, solver = _both(f"unit_heap_lists:{target}", k=1, none=none)
    assert _cases(lazy) == _cases(solver)
    assert solver.paths <= lazy.paths


def test_the_limit_on_paths_holds_for_cases() -> None:
    found = explored("unit_heap:five", heap="solver", none=False, paths=10)
    assert len(found.cases) <= 20
    assert found.seen.cut[Limit.PATHS] > 0
    assert not found.seen.complete


# --- against lazy initialisation, and against all small heaps --------------------------------------------

_SETTINGS = settings(max_examples=40)


def _agree(source: str, **options: Any) -> None:
    lazy = random_programs.explore(source, heap="lazy", paths=300, **options)
    if lazy.seen.cut[Limit.PATHS] or lazy.seen.cut[Limit.TIME]:
        return
    solver = random_programs.explore(source, heap="solver", paths=300, **options)
    assert _cases(lazy) == _cases(solver)
    assert solver.paths <= lazy.paths
    assert lazy.seen.complete == solver.seen.complete


@pytest.mark.slow
@_SETTINGS
@given(random_programs.programs(), st.booleans())
def test_random_programs_have_the_same_cases(source: str, none: bool) -> None:
    _agree(source, none=none)


@pytest.mark.slow
@_SETTINGS
@given(alias_programs(), st.booleans())
def test_programs_full_of_aliases_have_the_same_cases(source: str, none: bool) -> None:
    _agree(source, none=none)


@pytest.mark.slow
@_SETTINGS
@given(list_programs(), st.booleans())
def test_programs_full_of_lists_have_the_same_cases(source: str, none: bool) -> None:
    _agree(source, none=none)


@pytest.mark.slow
@_SETTINGS
@given(alias_programs(lists=False, odd=False), st.data())
def test_every_heap_falls_into_exactly_one_case(source: str, data: st.DataObject) -> None:
    """Heaps drawn from a small universe, run for real: one condition holds, and its case foretells how it ends."""
    found = random_programs.explore(source, heap="solver", paths=300)
    if not found.seen.complete:
        return
    module = sys.modules[found.target.text.partition(":")[0]]
    for _ in range(20):
        heap = _heap(data, module, found)
        fitting = [case for case in found.cases if _holds(case.conditions, heap)]
        assert len(fitting) == 1, [case.condition for case in fitting]
        assert _raised(module.main, heap) is fitting[0].outcome.raises


def _raised(function: Any, arguments: dict[str, Any]) -> type | None:
    try:
        function(**arguments)
    except Exception as error:
        return type(error)
    return None


def _heap(data: st.DataObject, module: Any, found: ExploredTarget) -> dict[str, Any]:
    """Arguments among None and two objects, whose links lead anywhere."""
    objects = [module.C(data.draw(st.integers(-1, 2))) for _ in range(2)]
    owned = module.D()
    for obj in objects:
        obj.next = data.draw(st.sampled_from([None, *objects]))
        obj.own = data.draw(st.sampled_from([None, owned]))
    names = [p.name for p in found.target.parameters()]
    choices = st.sampled_from([None, *objects, *objects])
    return {name: data.draw(st.integers(-1, 2)) if name == "n" else data.draw(choices) for name in names}


def _holds(conditions: list[str], heap: dict[str, Any]) -> bool:
    return all(eval(condition, {}, heap) for condition in conditions)


@pytest.mark.slow
def test_the_files_are_the_same_whatever_the_heap() -> None:
    """The same tests in the same order; the solver is the default; --json counts branches.

    The trails beside the tests differ: they name the heap, and the choices that were made with it.
    """
    load("unit_heap")
    solver = treadle.unit("unit_heap:m", none=False, write_file=False, trails=True)
    lazy = treadle.unit("unit_heap:m", none=False, write_file=False, trails=True, heap="lazy")
    (tests, trails), (lazy_tests, lazy_trails) = (re.subn(r"# tr2:\S+", "", one.source) for one in (solver, lazy))
    assert (tests, trails) == (lazy_tests, lazy_trails)
    assert trails == 5
    told, lazily = suite_facts(solver).to_json(), suite_facts(lazy).to_json()
    assert (told["paths"], told["tests"], told["complete"]) == (2, 5, True)
    assert (lazily["paths"], lazily["tests"], lazily["complete"]) == (5, 5, True)
    assert told["branches"] == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert lazily["branches"] == {"a": 2, "b": 5, "c": 2, "d": 3}


def test_an_unknown_heap_is_refused() -> None:
    load("unit_heap")
    with pytest.raises(UsageError, match="--heap eager: write solver or lazy"):
        treadle.unit("unit_heap:m", heap="eager", write_file=False)


# --- what is decided all the same ------------------------------------------------------------------------


def test_no_alias() -> None:
    lazy, solver = _both("unit_heap:m", none=False, alias=False)
    assert lazy.paths == solver.paths == 1
    assert _cases(lazy) == _cases(solver)


@pytest.mark.parametrize("name", ["shared_list", "by_class", "by_name", "compiled", "cached", "equal_or_not", "union"])
def test_what_cannot_be_carried_is_decided(name: str) -> None:
    """Lists, overridden methods, deleted fields, calls of compiled code: never more paths, and the same cases."""
    load("unit_heap")
    lazy, solver = _both(f"unit_heap:{name}")
    assert _cases(lazy) == _cases(solver)
    assert solver.paths <= lazy.paths
    assert not solver.seen.unsupported


@pytest.mark.parametrize(
    "name",
    [
        *["rounds", "rounds_or_unknown", "asked_in_a_loop", "nested", "called", "repeated", "to_the_power"],
        *["every_nth", "by_unknown_name", "letters", "zeros", "element_counts", "element_repeats"],
    ],
)
@pytest.mark.parametrize("none", [True, False])
def test_where_a_known_value_is_needed_aliasing_is_decided(name: str, none: bool) -> None:
    """A loop that ends by itself whatever the aliasing has no bound, and nothing is sampled that is known lazily."""
    lazy, solver = _both(f"unit_heap:{name}", none=none)
    assert _cases(lazy) == _cases(solver)
    assert solver.paths <= lazy.paths
    assert (solver.seen.complete, +solver.seen.cut) == (lazy.seen.complete, +lazy.seen.cut)


@pytest.mark.parametrize(
    ("name", "lazily", "with_solver"),
    [
        *[("unused_tables", 4, 3), ("written_tables", 19, 16), ("compared_tables", 15, 15)],
        *[("compared_sets", 27, 20), ("key_depends", 12, 11)],
    ],
)
def test_dicts_and_sets_are_decided_when_they_are_used(name: str, lazily: int, with_solver: int) -> None:
    lazy, solver = _both(f"unit_heap:{name}", k=1)
    assert _cases(lazy) == _cases(solver)
    assert (lazy.paths, solver.paths) == (lazily, with_solver)


def test_a_division_that_one_aliasing_makes_impossible() -> None:
    """Seen through an alias the divisor is 0: the condition before it has ruled that aliasing out."""
    lazy, solver = _both("unit_heap:divided")
    assert _cases(lazy) == _cases(solver)
    assert any("s is r" in case.conditions for case in solver.cases)
