"""The rooms of symbolic execution beside the machine: expressions, heap, flow, guides, contracts, summaries, paths."""

from __future__ import annotations

import ast
import functools
import itertools
import textwrap
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import z3

from tests.symbolic.machine import DOMAIN, N, P, S, machine
from treadle.core.choice import ConditionGoes
from treadle.symbolic import explore
from treadle.symbolic import types as t
from treadle.symbolic.expr import characters, node, terms, text
from treadle.symbolic.expr import json as expression_json
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.guide import guided, joins, local_paths
from treadle.symbolic.heap import aliasings, assumptions
from treadle.symbolic.heap.objects import LazyHeap
from treadle.symbolic.ir import flow
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment
from treadle.symbolic.path import BoundReached, CannotFollow, CodePlace, Limit, SymbolicPath
from treadle.symbolic.python.compile import expressions, match, scopes, statements
from treadle.symbolic.python.contracts import checks, conditions, contracts, deciding
from treadle.symbolic.python.machine import binding
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.summaries import joined_calls, signatures, table
from treadle.symbolic.python.summaries import json as summary_json
from treadle.symbolic.python.values.values import FunctionValue
from treadle.symbolic.solve.definitions import Definitions
from treadle.symbolic.solve.solver import Solver
from treadle.symbolic.summary import recording

x: Any = terms  # everything built here has an unknown in it, and is an Expr


def compiled(source: str) -> ir.CompiledFunction:
    definition = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return statements.compile_function(definition, "program.py")


def real_function(vm: VM, function: Any) -> FunctionValue:
    return binding.function_value(vm, function)


def every_step(code: ir.CompiledFunction) -> list[ir.IrStep]:
    return [*(step for block in code.blocks for step in block.steps), *(b.end for b in code.blocks if b.end)]


# ---------------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("name", "method"), [("digit", str.isdigit), ("alpha", str.isalpha), ("space", str.isspace), ("upper", str.isupper)]
)
def test_a_class_of_characters_is_pythons_on_ascii(name: str, method: Any) -> None:
    assert [c for c in map(chr, range(128)) if characters.MATCHERS[name].fullmatch(c)] == [
        c for c in map(chr, range(128)) if method(c)
    ]


def test_a_complement_and_its_class_are_everything_once() -> None:
    some = characters.ranges("0-9a-c_")
    both = sorted([*some, *characters.complement(some)])
    assert both[0][0] == 0
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(both))


def test_equal_nodes_are_one_object_and_have_no_truth() -> None:
    assert node.var("n", node.INT) is N
    assert x.add(N, 1) is x.add(N, 1)
    with pytest.raises(TypeError):
        bool(x.lt(N, 1))
    assert node.sort_of(Fraction(1, 2)) is node.REAL
    assert N in set(node.parts(x.add(N, 1)))


@pytest.mark.parametrize("value", [x.add(x.mul(N, 2), 3), x.lt(N, 4), x.length(S), x.ite(P, N, 1), Fraction(1, 3), 7])
def test_an_expression_is_read_as_it_was_written(value: Any) -> None:
    writer = expression_json.ExpressionWriter()
    written = writer.value(value)
    read = expression_json.ExpressionReader(writer.nodes).value(written)
    assert read is value or (not isinstance(value, x.Expr) and read == value)


# ---------------------------------------------------------------------- what z3 is told


def test_the_definition_of_a_stripped_text_holds_for_what_python_strips() -> None:
    stripped = text.strip(S, "", "lr")
    assert isinstance(stripped, x.Expr)
    context = z3.Context()

    def term(value: Any, _: Any) -> Any:
        return z3.StringVal(value, context) if isinstance(value, str) else z3.String("s", context)

    definitions = Definitions(term, context)
    solver = z3.Solver(ctx=context)
    solver.add(*definitions.of(stripped), z3.String("s", context) == z3.StringVal("  ab ", context))
    assert solver.check() == z3.sat
    assert solver.model()[definitions.constant(stripped)].as_string() == "  ab ".strip()


# ---------------------------------------------------------------------- the heap


def graph(**roots: Any) -> assumptions.Graph:
    """Dictionaries as objects."""
    return assumptions.Graph(
        roots,
        lambda value, name: value.get(name),
        lambda value: list(value.values()) if isinstance(value, dict) else [],
        lambda value: id(value) if isinstance(value, dict) else None,
    )


def test_an_assumption_about_the_heap_is_broken_by_what_it_forbids() -> None:
    leaf: dict[str, Any] = {}
    one, two = {"next": leaf}, {"next": leaf}
    ring: dict[str, Any] = {}
    ring["next"] = ring
    made = graph(a=one, b=two, same=one, ring=ring)
    broken = functools.partial(assumptions.broken, graph=made)
    assert broken(assumptions.HeapAssumption("non_aliasing", ("a", "same")))
    assert not broken(assumptions.HeapAssumption("non_aliasing", ("a", "b")))
    assert broken(assumptions.HeapAssumption("non_aliasing", ("a.next", "b.next")))
    assert broken(assumptions.HeapAssumption("non_sharing", ("a", "b")))
    assert broken(assumptions.HeapAssumption("acyclic", ("ring",)))
    assert not broken(assumptions.HeapAssumption("acyclic", ("a",)))


def test_a_path_on_which_everything_is_decided_is_its_own_only_aliasing() -> None:
    path = SymbolicPath(Solver(DOMAIN))
    (only,) = aliasings.aliasings(LazyHeap(path), path, Solver(DOMAIN))
    assert only.conditions == path.conditions
    assert aliasings.in_lazy_order([]) == []


# ---------------------------------------------------------------------- flow and guides

LOOP = """
def f(n):
    found = 0
    while n > found:
        found += 1
    if found == 3:
        return -1
    return found
"""


def test_a_goal_behind_a_place_is_reachable_from_it_and_one_before_it_is_not() -> None:
    code = compiled(LOOP)
    goals = flow.FlowGoals({("program.py", 3): 1, ("program.py", 7): 2})
    known = flow.Flow(code, goals, lambda step: 0)
    assert goals.every() == 3
    assert known.from_block(0) == 3
    after = next(n for n, b in enumerate(code.blocks) if any(step.line == 7 for step in b.steps) or b.end.line == 7)  # type: ignore[union-attr]
    assert known.from_block(after) & 1 == 0
    assert known.distance(0, 0, 2) < flow.FAR
    assert {7, 8} <= flow.code_lines(code)
    assert len(flow.branches(code)) == 4


def test_a_trace_has_its_test_once_and_stands_for_its_beginnings() -> None:
    covered = local_paths.Covered()
    assert covered.add(["a", "b"])
    assert not covered.add(["a"])
    assert covered.add(["a", "c"])
    assert sorted(covered.traces()) == [("a", "b"), ("a", "c")]
    assert covered.find(["x"]) is None


def test_two_values_are_put_together_by_their_condition() -> None:
    both = joins.either(P, N, 1)
    assert [evaluate(both, {P: side, N: 5}) for side in (True, False)] == [5, 1]
    assert joins.either(P, N, N) is N
    assert joins.is_number_or_truth(N)
    assert not joins.is_number_or_truth("a")
    assert joins.size_of(x.add(N, 1)) > joins.size_of(1)


class WantsAll(guided.Walk):
    """Every path that ends well is a test case."""

    def __init__(self) -> None:
        self.kept, self.cut_aside, self.given_up = True, False, False

    def prefers_false(self) -> bool:
        return False

    def prospect(self, choice: Any) -> Any:
        return None


class Stack(guided.Guide):
    """Hands out the youngest trace first; some test cases are enough."""

    def __init__(self, enough: int) -> None:
        self.traces: list[Any] = []
        self.kept, self.enough = 0, enough

    def offer(self, alternatives: Any) -> None:
        self.traces += alternatives

    def next_trace(self) -> Any:
        return self.traces.pop() if self.traces else None

    def keep(self, walk: Any) -> None:
        self.kept += 1

    @property
    def satisfied(self) -> bool:
        return self.kept >= self.enough

    def pending(self) -> list[Any]:
        return self.traces


@pytest.mark.parametrize(("enough", "most", "found", "cut"), [(2, 9, 2, 0), (9, 9, 3, 0), (9, 1, 1, 1)])
def test_a_guided_search_ends_when_nothing_more_is_wanted_and_says_what_a_limit_left(
    enough: int, most: int, found: int, cut: int
) -> None:
    def run(path: SymbolicPath) -> int:
        path.walk = WantsAll()
        return sign(path)

    seen, guide = explore.Exploration(), Stack(enough)
    results: list[Any] = []
    for ran in guided.guided(run, Solver(DOMAIN), seen, guide, full=lambda: len(results) >= most):
        results.append(ran.result)
    assert len(results) == found
    assert (len(seen.pending) > 0) == bool(cut)
    assert seen.complete is not bool(cut)


# ---------------------------------------------------------------------- walking the tree


def sign(path: SymbolicPath) -> int:
    if path.decide(x.lt(N, 0)):
        return -1
    return 0 if path.decide(x.eq(N, 0)) else 1


def test_every_path_is_run_once_and_what_is_left_is_told() -> None:
    seen = explore.Exploration()
    found = [ran.result for ran in explore.explore(sign, Solver(DOMAIN), seen)]
    assert sorted(found) == [-1, 0, 1]  # type: ignore[type-var]
    assert (seen.runs, seen.complete) == (3, True)
    cut = explore.Exploration()
    enough: list[Any] = []
    for ran in explore.explore(sign, Solver(DOMAIN), cut, full=lambda: len(enough) >= 1):
        enough.append(ran.result)
    assert (len(enough), cut.complete, cut.cut[Limit.PATHS]) == (1, False, len(cut.pending))


@pytest.mark.parametrize(
    ("problem", "how"),
    [
        (CannotFollow("a thing"), explore.End.UNSUPPORTED),
        (explore.MachineFault("ours"), explore.End.INTERNAL_ERROR),
        (BoundReached(Limit.DEPTH), explore.End.CUT),
    ],
)
def test_each_way_to_end_early_is_told_as_itself_and_no_search_with_one_is_complete(
    problem: Exception, how: explore.End
) -> None:
    def run(path: SymbolicPath) -> None:
        path.place = CodePlace("a.py", 1, "")
        raise problem

    seen = explore.Exploration()
    assert list(explore.explore(run, Solver(DOMAIN), seen)) == []
    ((_, end),) = seen.ends
    assert end.how is how
    assert not seen.complete


# ---------------------------------------------------------------------- compiling


def test_names_belong_to_who_binds_them() -> None:
    definition = ast.parse("def f(a):\n  global g\n  g = b = 1\n  [c for c in a if (d := c)]\n  yield").body[0]
    assert isinstance(definition, ast.FunctionDef)
    scope, is_generator = scopes.scope_of(definition, None)
    assert is_generator
    assert {name: scope.kind(name) for name in "abcdg"} == {
        "a": "local",
        "b": "local",
        "c": "global",
        "d": "local",
        "g": "global",
    }
    inner = scopes.CompilerScope({"x"}, outer=scope)
    assert (inner.kind("a"), inner.outer_slot("a")) == ("outer", "a")


def builder() -> statements.Compiler:
    function = ir.CompiledFunction("f", "program.py", 1, [], [], False, None)
    return statements.Compiler(function, scopes.CompilerScope({"a", "v"}))


def test_an_operand_that_a_later_part_could_bind_anew_is_copied_first() -> None:
    def copied(source: str) -> bool:
        made = builder()
        assert isinstance(made, expressions.Expressions)
        made.expression(ast.parse(source, mode="eval").body)
        first = made.current.steps[0]
        return isinstance(first, ir.AssignStep) and first.value == "a"

    assert copied("a + (a := 5)")
    assert not copied("a + 5")


def test_a_chain_of_comparisons_looks_at_its_middle_once() -> None:
    code = compiled("def f(a, g):\n    return 0 < g() < a")
    assert len([step for step in every_step(code) if isinstance(step, ir.CallStep)]) == 1


def test_what_no_case_of_a_match_fits_goes_on_behind_it() -> None:
    made = builder()
    statement = ast.parse("match v:\n  case 1 | 2: return 1\n  case [first, *_]: return first").body[0]
    assert isinstance(statement, ast.Match)
    match.compile_match(made, statement, made.statements)
    assert made.current.end is None  # what comes next is compiled here
    ways = [block.end for block in made.function.blocks if isinstance(block.end, ir.JumpStep | ir.BranchStep)]
    behind = made.current.number
    assert any(behind in (getattr(end, "target", -1), getattr(end, "orelse", -1)) for end in ways)


# ---------------------------------------------------------------------- contracts


def positive(n: int) -> bool:
    return n > 0


def given(n: int) -> int:
    return n


def condition(test: Any) -> conditions.Condition:
    return conditions.Condition("precondition", "--pre", test, "n > 0", "", 0)


def test_what_is_assumed_leaves_only_the_paths_on_which_it_holds() -> None:
    vm = machine()
    call = deciding.bound(vm, given, [N], {})
    deciding.assume(vm, condition(positive), call)
    assert not vm.path.decide(x.lt(N, 0))


def test_a_condition_knows_whose_it_is_and_what_it_gave() -> None:
    broken = checks.BrokenCondition(condition(positive), "given", own=True)
    assert not broken.has_returned
    broken.returned = None
    assert broken.has_returned  # None is a value
    assert not checks.is_guarded(int)


def test_a_plain_function_has_no_conditions_and_no_layers() -> None:
    assert conditions.preconditions(given) == []
    assert conditions.postconditions(given) == []
    assert conditions.invariants(Plain) == []
    assert not conditions.has_invariants(Plain)


def test_a_function_without_contracts_is_called_as_it_is() -> None:
    vm = machine()
    core = real_function(vm, given)
    assert contracts.call_target(vm, given, core, [N], {}, lambda value: value, False) is N
    contracts.check_inputs(vm, N, None)
    assert vm.checks.left is None


class Plain:
    pass


# ---------------------------------------------------------------------- summaries


def test_the_kinds_of_arguments_are_as_general_as_they_can_be() -> None:
    vm = machine()
    assert signatures.kind_of(3, None) == t.INT
    assert signatures.kind_of(N, t.INT) == t.INT
    flag = signatures.kind_of(True, None)
    assert isinstance(flag, signatures.ConstantArgument)
    assert signatures.declared_types(real_function(vm, given)) == {"n": t.INT}
    one: signatures.Signature = (("flag", signatures.ConstantArgument(True)),)
    other: signatures.Signature = (("flag", signatures.ConstantArgument(1)),)
    assert signatures.same_signature(one, one)
    assert not signatures.same_signature(one, other)  # True == 1, and is another argument


def test_only_what_its_name_finds_again_is_stored() -> None:
    assert summary_json.path_of(Plain) == f"{__name__}:Plain"
    assert summary_json.found_at(summary_json.path_of(Plain)) is Plain

    def inner() -> None:
        pass

    with pytest.raises(summary_json.Unstorable):
        summary_json.path_of(inner)
    with pytest.raises(ValueError, match="no 'os:nowhere'"):
        summary_json.found_at("os:nowhere")


def test_a_case_of_a_summary_is_told_in_the_columns_of_the_paper() -> None:
    vm = machine()
    vm.path.decide(x.lt(N, 0))
    told = table.describe({"n": N}, vm, "return", x.add(N, 1))
    assert (told.arguments, told.result, told.exception) == (("n=n",), "n + 1", "")
    assert len(told.constraints) == 1


def test_a_recording_path_writes_down_what_it_decides_and_refuses_what_no_summary_holds() -> None:
    path = recording.RecordingPath(Solver(DOMAIN))
    side = path.decide(x.lt(N, 0))
    ((event, taken),) = path.events
    assert taken is side
    assert event is not None
    with pytest.raises(recording.NotSummarised):
        path.pick([N], "a value that was picked")
    with pytest.raises(recording.NotSummarised):
        path.choose([ConditionGoes(True), ConditionGoes(False)])


def absolute(a: int) -> int:
    return a if a >= 0 else -a


@pytest.mark.parametrize("passes", [True, False])
def test_a_call_is_one_expression_where_a_search_does_not_want_what_is_in_it(passes: bool) -> None:
    vm = machine()
    function = real_function(vm, absolute)
    vm.walk = SimpleNamespace(passes=lambda called: passes, cut_aside=False)  # type: ignore[assignment]
    vm.frames.append(SimpleNamespace(code=compiled(LOOP)))  # type: ignore[arg-type]
    env = Environment()
    env["a"] = N
    found = joined_calls.JoinedCalls(2).call(vm, function, env)
    if passes:
        assert [evaluate(found, {N: value}) for value in (-3, 0, 4)] == [3, 0, 4]
    else:
        assert found is NOT_ANSWERED
