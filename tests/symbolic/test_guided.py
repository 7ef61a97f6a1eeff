"""Guided generation: the exact results of the paper, and that a guided search finds what filtering all paths finds."""

from __future__ import annotations

import dis
import itertools
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbolic import random_programs
from tests.symbolic.exploring import explored, load
from tests.symbolic.random_flows import flows
from tests.symbolic.random_programs import facts, programs
from treadle.core.errors import UsageError
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.explore import ExploredTarget

# --- the paper ---------------------------------------------------------------------------------------------


def _line(module: str, text: str) -> int:
    lines = Path(load(module).__file__ or "").read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


def test_lcm_has_three_local_paths() -> None:
    found = explored("unit_paper:lcm", k=1, select="local-paths")
    assert len(found.cases) == found.paths == 3
    assert len(explored("unit_paper:lcm", k=1).cases) == 9
    results = {(c.arguments["a"] < c.arguments["b"], c.outcome.value == -1) for c in found.cases}
    assert results == {(False, False), (False, True), (True, False)}


def test_simplify_has_two_local_paths() -> None:
    found = explored("unit_paper:Rational.simplify", k=1, select="local-paths")
    assert [c.outcome.raises for c in found.cases] in ([None, ZeroDivisionError], [ZeroDivisionError, None])


@pytest.mark.parametrize("other", ["return absolute(a)", "return a", "d = gcd(a, b)", "while b != 0:"])
def test_two_points_of_lcm_need_one_test(other: str) -> None:
    lines = [_line("unit_paper", "return -1"), _line("unit_paper", other)]
    points = tuple(f"unit_paper.py:{n}" for n in lines)
    [case] = explored("unit_paper:lcm", k=1, select="points", points=points).cases
    assert (case.arguments, case.outcome.value) == ({"a": 0, "b": 0}, -1)


def test_mist_has_no_local_path_for_aliasing() -> None:
    assert len(explored("unit_paper:mist", k=1, select="local-paths").cases) == 4


# --- guided is filtered ------------------------------------------------------------------------------------


def _real(value: Any, made: dict[int, Any]) -> Any:
    if not isinstance(value, CaseObject):
        return value
    if value.number not in made:
        assert value.cls is not None
        made[value.number] = object.__new__(value.cls)
        vars(made[value.number]).update({"f": 1, "g": 1, "next": None})
        for name, field in value.fields.items():
            setattr(made[value.number], name, _real(field, made))
    return made[value.number]


class Traced:
    """A case run for real: every line of the program, and the instructions of the function itself, in order."""

    def __init__(self, function: Callable[..., Any], case: TestCase) -> None:
        self.lines: set[int] = set()
        self.local: list[Any] = []
        self._own = function.__code__
        made: dict[int, Any] = {}
        arguments = {name: _real(value, made) for name, value in case.arguments.items()}
        sys.settrace(self._start)
        try:
            function(**arguments)
        except Exception:
            pass
        finally:
            sys.settrace(None)

    def _is_own(self, code: types.CodeType) -> bool:
        """A comprehension is part of the function around it, as it is for Python from 3.12 on."""
        inside = code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>") and code in self._own.co_consts
        return code is self._own or inside

    def _start(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = self._is_own(frame.f_code)
        return self._event if frame.f_code.co_filename == self._own.co_filename else None

    def _event(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        if self._is_own(frame.f_code):
            if event == "exception":
                # raised here, or by somebody who was called: then the class is the callee's business
                here = arg[2].tb_next is None or self._is_own(arg[2].tb_next.tb_frame.f_code)
                self.local.append((frame.f_lasti, arg[0].__name__ if here else ""))
            elif event == "opcode":
                self.local.append(frame.f_lasti if frame.f_code is self._own else (frame.f_lasti,))
        return self._event

    @property
    def trace(self) -> tuple[Any, ...]:
        return tuple(self.local)

    @property
    def arcs(self) -> set[tuple[int, int]]:
        """Where each condition of the function went, as instructions; that an exception goes on is no condition."""
        jumps = set()
        for step in dis.get_instructions(self._own):
            line = step.positions.lineno if step.positions is not None else None
            text = linecache.getline(self._own.co_filename, line or 0).strip()
            if ("JUMP_IF" in step.opname or step.opname == "FOR_ITER") and not text.startswith(("except", "with")):
                jumps.add(step.offset)
        return {(a, b) for a, b in itertools.pairwise(self.local) if a in jumps and isinstance(b, int)}


def _function(found: ExploredTarget) -> Callable[..., Any]:
    function: Callable[..., Any] = found.target.function
    return function


def _all(source: str) -> tuple[ExploredTarget, list[Traced]]:
    found = random_programs.explore(source)
    return found, [Traced(_function(found), case) for case in found.cases]


_SETTINGS = settings(max_examples=30)
_PROGRAMS = st.one_of(programs(), flows())


@pytest.mark.slow
@given(_PROGRAMS)
@_SETTINGS
def test_local_paths_are_the_local_traces_of_all_paths(source: str) -> None:
    every, traced = _all(source)
    guided = random_programs.explore(source, select="local-paths")
    found = [Traced(_function(guided), case).trace for case in guided.cases]
    if every.seen.complete:
        assert set(found) == {t.trace for t in traced}
        assert len(found) == len(set(found))
        assert all(facts(c) in [facts(e) for e in every.cases] for c in guided.cases)
        assert guided.selection is not None
        assert guided.selection.doubts == []


@pytest.mark.slow
@given(_PROGRAMS, st.data())
@_SETTINGS
def test_a_point_is_found_exactly_if_some_path_reaches_it(source: str, data: st.DataObject) -> None:
    every, traced = _all(source)
    reached = set().union(*(t.lines for t in traced)) if traced else set()
    within = [
        n for n, line in enumerate(source.splitlines(), 1) if line.startswith("    ") and _has_code(line) and n > 6
    ]
    for line in sorted(set(data.draw(st.lists(st.sampled_from(within), min_size=1, max_size=4)))):
        try:
            guided = random_programs.explore(source, select="points", points=(str(line),))
        except UsageError:
            assert line not in reached  # the head of a function
            continue
        assert guided.selection is not None
        verdict = guided.selection.verdict(0, guided.selection.met(guided.cases))
        if line in reached:
            [case] = guided.cases
            assert line in Traced(_function(guided), case).lines
            assert facts(case) in [facts(c) for c in every.cases]
        elif every.seen.complete:
            assert (verdict in ("none", "dead"), guided.cases) == (True, [])


def _has_code(line: str) -> bool:
    return line.strip() not in ("else:", "try:", "finally:", "case _:")


@pytest.mark.slow
@given(_PROGRAMS, st.data())
@_SETTINGS
def test_two_points_of_one_path_need_one_test(source: str, data: st.DataObject) -> None:
    _, traced = _all(source)
    if not traced:
        return
    path = data.draw(st.sampled_from(traced))
    lines = [n for n in sorted(path.lines) if _has_code(source.splitlines()[n - 1])]
    a, b = data.draw(st.sampled_from(lines)), data.draw(st.sampled_from(lines))
    guided = random_programs.explore(source, select="points", points=(f"{a},{b}",))
    [case] = guided.cases
    assert {a, b} <= Traced(_function(guided), case).lines


@pytest.mark.slow
@given(_PROGRAMS)
@_SETTINGS
def test_statements_and_branches_are_those_of_all_paths(source: str) -> None:
    every, traced = _all(source)
    first = _function(every).__code__.co_firstlineno
    # the line of an except clause is no statement
    own = {n for n, text in enumerate(source.splitlines(), 1) if n >= first and not text.strip().startswith("except")}
    for select in ("statements", "branches"):
        guided = random_programs.explore(source, select=select)
        found = [Traced(_function(guided), case) for case in guided.cases]
        assert len(found) <= len(traced)
        assert all(facts(c) in [facts(e) for e in every.cases] for c in guided.cases)
        if select == "statements":
            assert _lines(found, own) == _lines(traced, own)
        else:
            assert _arcs(found) == _arcs(traced)
        for one in guided.cases:
            others = [c for c in guided.cases if c is not one]
            assert guided.selection is not None
            assert guided.selection.met(others) != guided.selection.met(guided.cases)


_MORE_BEHIND_FALSE = """\
def main(a: int) -> int:
    if a > 0:
        return 1
    b = a + 2
    return b
"""


def test_the_true_side_left_for_later_is_not_taken_for_the_false_one() -> None:
    """More lies behind the false side, which goes first: what is ahead of the other is the true side's."""
    found = random_programs.explore(_MORE_BEHIND_FALSE, select="statements")
    assert sorted(case.arguments["a"] > 0 for case in found.cases) == [False, True]


def _lines(traced: list[Traced], own: set[int]) -> set[int]:
    return {n for t in traced for n in t.lines if n in own}


def _arcs(traced: list[Traced]) -> set[tuple[int, int]]:
    return {arc for t in traced for arc in t.arcs}


@pytest.mark.slow
@given(_PROGRAMS)
@settings(_SETTINGS, max_examples=10)
def test_the_same_program_gives_the_same_tests(source: str) -> None:
    for select in ("local-paths", "branches"):
        first, again = (random_programs.explore(source, select=select) for _ in range(2))
        assert [facts(c) for c in first.cases] == [facts(c) for c in again.cases]


@pytest.mark.parametrize("text", ["n = -1", "n = 60", "n = 100"])
def test_a_line_behind_thousands_of_paths_takes_few(text: str) -> None:
    """Conditions on the way are passed with both their sides at once: the search never sees most of the tree."""
    line = _line("unit_wide", text)
    found = explored("unit_wide:wide", select="points", points=(str(line),))
    assert (len(found.cases), found.seen.cut) == (1, {})
    assert found.selection is not None
    assert found.selection.verdict(0, found.selection.met(found.cases)) == "reached"
    assert len(found.seen.ends) <= 3
    assert Traced(load("unit_wide").wide, found.cases[0]).lines >= {line}


def test_a_line_behind_thousands_of_paths_is_refuted_at_once() -> None:
    line = _line("unit_wide", "n = -2")
    found = explored("unit_wide:wide", select="points", points=(str(line),))
    assert (found.cases, found.seen.cut, found.seen.pending) == ([], {}, [])
    assert found.selection is not None
    assert found.selection.verdict(0, 0) == "none"


def test_few_tests_cover_all_statements_and_branches_of_thousands_of_paths() -> None:
    assert len(explored("unit_wide:wide", select="statements").cases) == 4
    assert len(explored("unit_wide:wide", select="branches").cases) <= 6


# --- effect ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_local_paths_are_a_selection_of_all_paths() -> None:
    for name in ("unit_paper:lcm", "unit_paper:List.rem_all", "unit_arithmetic:grid"):
        every = [facts(c) for c in explored(name, k=2).cases]
        chosen = [facts(c) for c in explored(name, k=2, select="local-paths").cases]
        assert all(c in every for c in chosen)


def test_ways_through_callees_are_passed_at_once() -> None:
    """Six calls with three ways each would be 729 paths; there is one way through the function itself."""
    found = explored("unit_points:six_calls", select="local-paths")
    assert len(found.cases) == 1
    assert len(found.seen.ends) == 1


# --- calls -------------------------------------------------------------------------------------------------

_ROUNDABOUT = [
    "by_table",
    "by_argument",
    "by_closure",
    "by_key",
    "by_generator",
    "halves",
    "by_property",
    "by_operator",
    "by_truth",
    "by_name",
    "by_bound_method",
    "by_partial",
    "by_decorator",
    "even",
    "by_override",
    "by_map",
    "by_with",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", _ROUNDABOUT)
def test_lines_reached_through_any_kind_of_call_are_found(name: str) -> None:
    """What no path may be given up for: every line that some path reaches is found, and no other."""
    target = f"unit_callgraph:{name}"
    every = explored(target, k=1)
    assert every.seen.complete
    reached = {line for case in every.cases for line in case.lines}
    own = set(range(every.target.body()[0], every.target.body()[1] + 1))
    for line in sorted(reached | own):
        try:
            found = explored(target, k=1, select="points", points=(str(line),))
        except UsageError:
            assert line not in reached
            continue
        assert found.selection is not None
        verdict = found.selection.verdict(0, found.selection.met(found.cases))
        assert (line, verdict) == (line, "reached" if line in reached else "none")
