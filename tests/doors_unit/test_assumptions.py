"""Heap assumptions: the aliasing that they exclude, and nothing else, is gone."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from tests.symbolic import random_programs
from tests.symbolic.exploring import explored, load
from tests.symbolic.random_programs import facts, programs
from treadle.core.errors import UsageError
from treadle.doors.unit.suite import unit
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.assumptions import hold_for, parsed
from treadle.units.explore import ExploredTarget

_HEAPS = ["lazy", "solver"]


@pytest.mark.parametrize("heap", _HEAPS)
@pytest.mark.parametrize(
    ("target", "assume", "cases"),
    [
        ("unit_paper:mist", [], 5),
        ("unit_paper:mist", ["non_aliasing(r1, r2)"], 4),
        ("unit_paper:mist", ["non-sharing(r1,r2)"], 4),
        ("unit_paper:List.rem_all", [], 7),
        ("unit_paper:List.rem_all", ["non_sharing(self, l)"], 5),
        ("unit_paper:List.rem_all", ["non_aliasing(self, l)"], 6),
        ("unit_paper:List.rem_all", ["non_aliasing(self, l)", "non_aliasing(self.first, l.first)"], 5),
    ],
)
def test_the_programs_of_the_paper(target: str, assume: list[str], cases: int, heap: str) -> None:
    found = explored(target, k=1, assume=tuple(assume), heap=heap)
    assert len(found.cases) == cases, [c.condition for c in found.cases]


def _rings(found: ExploredTarget, name: str) -> int:
    """Cases in which the structure comes back to itself."""
    return sum(not hold_for(case, [parsed(f"acyclic({name})", "")]) for case in found.cases)


@pytest.mark.parametrize("heap", _HEAPS)
def test_a_walk_over_a_line(heap: str) -> None:
    anyhow = explored("unit_assumptions:third", heap=heap)
    line = explored("unit_assumptions:third", assume=("acyclic(node)",), heap=heap)
    assert _rings(anyhow, "node") > 0
    assert _rings(line, "node") == 0
    assert len(line.cases) == len(anyhow.cases) - _rings(anyhow, "node") == 4  # None at each step, or three nodes
    assert line.seen.complete


@pytest.mark.parametrize("heap", _HEAPS)
def test_the_decorator_says_the_same(heap: str) -> None:
    decorated = explored("unit_assumptions:third_of_a_line", heap=heap)
    assert len(decorated.cases) == 4
    both, anyhow = explored("unit_assumptions:both", heap=heap), explored("unit_assumptions:both_anyhow", heap=heap)
    assumed = [parsed("acyclic(a)", ""), parsed("non_sharing(a, b)", "")]
    assert len(explored("unit_assumptions:both_again", heap=heap).cases) == len(both.cases)
    assert len(both.cases) == sum(hold_for(case, assumed) for case in anyhow.cases) < len(anyhow.cases)


def test_a_decorated_class_speaks_of_its_methods() -> None:
    load("unit_assumptions")
    suite = unit("unit_assumptions:Stack", write_file=False)
    assert suite.assumed == ["acyclic(self)"]
    assert {c.target for c in suite.cases} == {f"unit_assumptions:Stack.{m}" for m in ("__init__", "second", "empty")}


@pytest.mark.parametrize("heap", _HEAPS)
def test_what_a_later_reference_completes_is_excluded_too(heap: str) -> None:
    """Neither a.next nor c.next breaks the assumption by itself."""
    anyhow = explored("unit_assumptions:through_a_third", heap=heap)
    apart = explored("unit_assumptions:through_a_third", assume=("non_sharing(a, b)",), heap=heap)
    ones = [[c for c in found.cases if c.outcome.value == 1] for found in (anyhow, apart)]
    assert [len(found) for found in ones] == [5, 1]
    assert ones[1][0].arguments["b"] is None  # None is no object that two could share


def test_an_assumption_is_about_the_inputs_only() -> None:
    """`tie` may make a ring of what was none."""
    found = explored("unit_assumptions:tie", assume=("acyclic(a)", "acyclic(b)"))
    assert any(case.arguments["a"] is case.arguments["b"] for case in found.cases)


# --- against filtering ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40)
@given(programs(calls=False), st.data())
def test_assuming_is_filtering(source: str, data: st.DataObject) -> None:
    """Random programs: exactly the cases whose inputs are such as was assumed, whichever heap explores them."""
    signature = source[source.index("def main(") :].partition(")")[0]
    names = [name for name in ("r", "s", "t") if f"{name}: C" in signature]
    options = [f"acyclic({a})" for a in names] + [
        f"{kind}({a}, {b})" for kind in ("non_aliasing", "non_sharing") for a in names for b in names if a < b
    ]
    chosen = data.draw(st.lists(st.sampled_from(options), min_size=1, max_size=2, unique=True))
    assumptions = [parsed(text, "") for text in chosen]
    everything = random_programs.explore(source)
    kept = Counter(facts(case) for case in everything.cases if hold_for(case, assumptions))
    for heap in _HEAPS:
        assumed = random_programs.explore(source, assume=tuple(chosen), heap=heap)
        assert Counter(map(facts, assumed.cases)) == kept, heap


def test_a_finished_case_is_judged_by_its_objects() -> None:
    inner = CaseObject(2, "instance", is_input=True)
    outer = CaseObject(1, "instance", fields={"next": inner}, is_input=True)
    case = TestCase("m:f", {"a": outer, "b": inner}, None, {}, [], ())  # type: ignore[arg-type]
    assert hold_for(case, [parsed("non_aliasing(a, b)", ""), parsed("acyclic(a)", "")])
    assert not hold_for(case, [parsed("non_sharing(a, b)", "")])
    assert not hold_for(case, [parsed("non_aliasing(a.next, b)", "")])
    inner.fields["next"] = outer
    assert not hold_for(case, [parsed("acyclic(a)", "")])


# --- inferred ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "inferred"),
    [
        ("third", ["acyclic(node)"]),
        ("depth", ["acyclic(tree)"]),  # a frozen dataclass
        ("loose", []),  # assigned elsewhere
        ("round_and_round", []),  # the constructor lets itself in
        ("grandchildren", []),  # a list can be added to
        ("leaf", []),  # no links
    ],
)
def test_what_only_constructors_link_is_acyclic(name: str, inferred: list[str]) -> None:
    load("unit_assumptions")
    suite = unit(f"unit_assumptions:{name}", infer_assumptions=True, write_file=False, k=1)
    assert [text.partition(":")[0] for text in suite.inferred] == inferred
    if name == "third":
        assert suite.inferred == [
            "acyclic(node): Node.next is assigned by constructors only (of unit_assumptions:third)"
        ]
        assert suite.tests == 4


def test_nothing_is_inferred_unless_asked() -> None:
    assert _rings(explored("unit_assumptions:third"), "node") > 0


# --- wrong use --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assume", "sentence"),
    [
        ("acyclic(nod)", "'nod' is not a parameter of 'third' (did you mean 'node'?); its parameters are node"),
        ("acyclc(node)", "no assumption is called 'acyclc'; did you mean 'acyclic'?"),
        ("disjoint(node)", "there are: non_aliasing, non_sharing, acyclic"),
        ("acyclic(node.nxt)", "'node' has no field 'nxt'; did you mean 'next'?"),
        ("acyclic(node.next.bla)", "'node.next' has no field 'bla'; the fields of Node are next, value"),
        ("acyclic(node.value)", "'node.value' is int, no object"),
        ("acyclic(node, node)", "acyclic speaks of one place in the heap, not 2"),
        ("acyclic(node[0])", "is no place in the heap"),
        ("node", "not an assumption; write non_aliasing(a, b)"),
        ("acyclic(", "not an assumption; write non_aliasing(a, b)"),
    ],
)
def test_a_wrong_assumption_is_one_sentence(assume: str, sentence: str) -> None:
    load("unit_assumptions")
    with pytest.raises(UsageError) as error:
        unit("unit_assumptions:third", assume=[assume], write_file=False)
    assert sentence in str(error.value)
    assert str(error.value).startswith(f'--assume "{assume}": ')


def test_a_wrong_decorator_says_where() -> None:
    load("unit_assumptions")
    with pytest.raises(UsageError, match=r"unit_assumptions\.py:\d+: assume\('acyclic\(nodes\)'\): 'nodes' is not"):
        unit("unit_assumptions:misspelt", write_file=False)


# --- the decorator costs nothing --------------------------------------------------------------------------


def test_the_decorator_gives_back_the_function_itself() -> None:
    def function(a: object) -> object:
        return a

    assert treadle.assume("acyclic(a)")(function) is function


def test_the_decorator_imports_nothing_of_the_engine() -> None:
    code = "import sys, treadle; treadle.assume; print([m for m in sys.modules if m.startswith(('treadle.', 'z3'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['treadle.core', 'treadle.core.assume']"
