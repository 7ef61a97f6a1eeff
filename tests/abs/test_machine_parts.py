"""The machine, room by room: operators, code and its effects, unknown values and what is told of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.abs.small_programs import Compiled
from treadle.abs.explore.names import decided_since, object_names
from treadle.abs.language import syntax as S
from treadle.abs.language.parser import parse_expression
from treadle.abs.machine import builtins, operators
from treadle.abs.machine.code import Code, TaskWait
from treadle.abs.machine.course import deciding
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.abs.machine.defaults import default_value, smallest
from treadle.abs.machine.effects import Calls, places_from, remaining
from treadle.abs.machine.emitting import EFFECTS
from treadle.abs.machine.expressions import Compilation, ExpCompiler, Slots
from treadle.abs.machine.guards import holds
from treadle.abs.machine.labels import labelled
from treadle.abs.machine.machine import ActorMachine, MacroStep, Thrown
from treadle.abs.machine.path import PathConditions
from treadle.abs.machine.polynomial import MOST_TERMS, expanded, identical
from treadle.abs.machine.state import State
from treadle.abs.machine.system import find_method, main_root, unknown_root
from treadle.abs.machine.unknowns import Unknowns
from treadle.symbolic.expr import terms as E

X, Y = E.var("x", E.INT), E.var("y", E.INT)


def machine_of(text: str, domain: tuple[int, int] = (-10, 10)) -> tuple[Compiled, ActorMachine]:
    compiled = Compiled.of(text)
    machine = ActorMachine(compiled.image, Bounds(2, None, None), OrderSelection(), domain)
    return compiled, machine


@pytest.fixture
def step() -> MacroStep:
    _, machine = machine_of("module M; { }")
    return MacroStep(machine, State(machine.paths.root), [])


def method(compiled: Compiled, name: str) -> Code:
    cls, found = find_method(compiled.program, name)
    return compiled.image.methods[cls, found.name]


# ---- numbers


@pytest.mark.parametrize(("left", "right"), [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, -3)])
def test_division_and_remainder_truncate_and_fit_together(step: MacroStep, left: int, right: int) -> None:
    whole, rest = operators.quotient(step, left, right), operators.remainder(step, left, right)
    assert whole == int(Fraction(left, right))
    assert whole * right + rest == left
    assert rest == 0 or (rest < 0) == (left < 0)


def test_a_division_by_zero_is_an_exception_of_the_model(step: MacroStep) -> None:
    with pytest.raises(Thrown) as raised:
        operators.divide(step, 1, 0)
    assert raised.value.value[0].name == "DivisionByZeroException"


def test_an_unknown_remainder_is_one_term_and_no_branch(step: MacroStep) -> None:
    assert isinstance(operators.remainder(step, X, 3), E.Expr)
    assert step.choices == []


@pytest.mark.parametrize(
    ("name", "argument", "result"), [("truncate", Fraction(-7, 2), -3), ("floor", Fraction(-7, 2), -4)]
)
def test_rounding(step: MacroStep, name: str, argument: Fraction, result: int) -> None:
    assert builtins.BUILTINS[name](step, argument) == result


def test_products_are_equal_in_any_order_and_an_exploding_one_is_left_to_the_solver() -> None:
    assert identical(E.mul(E.mul(X, 3), Y), E.mul(Y, E.mul(3, X)))
    assert not identical(E.mul(X, X), E.mul(X, Y))
    product = E.add(X, 1)
    for number in range(MOST_TERMS.bit_length()):
        product = E.mul(product, E.add(E.var(f"z{number}", E.INT), 1))
    assert expanded(product) is None


# ---- unknown values


def test_a_path_refuses_what_contradicts_it_and_forgets_nothing() -> None:
    paths = PathConditions((0, 10))
    above = paths.root.assume(E.gt(X, Y))
    assert above is not None
    assert above.assume(E.lt(X, Y)) is None
    assert above.assume(E.gt(X, Y)) is above
    assert above.assume(E.gt(Y, 9)) is None, "x would be 11"


def test_the_same_conditions_are_one_path_in_whatever_order_they_come() -> None:
    paths = PathConditions((0, 10))
    one, two = E.gt(X, 3), E.gt(Y, 4)
    first, second = paths.root.assume(one), paths.root.assume(two)
    assert first is not None
    assert second is not None
    assert first.assume(two) is second.assume(one)


def test_values_of_a_test_are_not_zero_where_another_will_do() -> None:
    paths = PathConditions((-10, 10))
    path = paths.root.assume(E.le(X, 5))
    assert path is not None
    assert labelled(path, [X, Y]) == {X: 1, Y: 1}
    negative = paths.root.assume(E.lt(X, 0))
    assert negative is not None
    assert labelled(negative, [X]) == {X: -1}


def test_an_unknown_list_is_built_as_far_as_it_is_looked_at() -> None:
    compiled, machine = machine_of("module M; class C { Int m(List<Int> l) { return length(l); } }")
    assert isinstance(machine.unknowns, Unknowns)
    cls, _ = find_method(compiled.program, "C.m")
    root = unknown_root(machine, cls, "m")
    unknown = root.arguments["l"]
    found = [
        value[0].name for _, value in machine.cases_of(root.state, lambda run: machine.unknowns.built(run, unknown))
    ]
    assert sorted(found) == ["Cons", "Nil"]


def test_what_a_variable_holds_before_it_is_assigned() -> None:
    compiled, _ = machine_of(
        "module M; data D = A(Int, Bool) | B; class C { D d; Int n; Bool b; String s; C c; List<Int> l; Maybe<D> m; }"
    )
    cls = compiled.program.classes[-1]
    told = {name: default_value(type_) for name, type_ in cls.fields}
    assert [told[name] for name in "nbsc"] == [0, False, "", None]
    assert {name: told[name][0].name for name in "dlm"} == {"d": "B", "l": "Nil", "m": "Nothing"}
    assert smallest(dict(cls.fields)["d"])[0].name == "B"  # type: ignore[arg-type]  # settled by the checker


def test_objects_are_told_by_when_they_came_and_steps_by_what_they_decided() -> None:
    compiled, machine = machine_of("module M; class C { Int a; Unit m(Int n) { if (n > this.a) { C c = new C(); } } }")
    cls, _ = find_method(compiled.program, "C.m")
    root = unknown_root(machine, cls, "m")
    after = [state for state in machine.macro_step(root.state, root.entry) if isinstance(state, State)]
    assert [decided_since(root.state, state) for state in after] == [["n > s0.a"], ["s0.a >= n"]]
    assert [list(object_names(state).values()) for state in after] == [["s0", "r1"], ["s0"]]


# ---- code


def test_what_a_method_may_still_do_shrinks_as_it_goes_on() -> None:
    compiled, _ = machine_of("module M; class C { Int a; Int b; Unit m() { this.a = this.b; suspend; this.b = 1; } }")
    code = method(compiled, "C.m")
    assert remaining(code, 0).writes == {"a", "b"}
    assert remaining(code, 0).reads == {"b"}
    last = max(pc for pc in range(len(code.instructions)) if remaining(code, pc).writes)
    assert remaining(code, last).writes == {"b"}
    assert places_from(code, last) < places_from(code, 0)
    assert code.place(0) == "C.m, line 1"


def test_a_loop_may_do_again_what_stands_before_it() -> None:
    compiled, _ = machine_of(
        "module M; class C { Int a; Unit m() { while (this.a < 3) { await this.a == 1; this.a = 2; } } }"
    )
    code = method(compiled, "C.m")
    assert all(remaining(code, pc).writes == {"a"} for pc in code.waits)


def test_calls_through_an_interface_reach_every_class_that_implements_it() -> None:
    compiled, _ = machine_of(
        """module M; interface I { Unit go(); }
        class A implements I { Unit go() { } } class B implements I { Unit go() { C c = new C(); } }
        class C { Unit run() { } } class D(I i) { Unit m() { this.i!go(); } }"""
    )
    calls = Calls.of(compiled.image)
    cls, _ = find_method(compiled.program, "D.m")
    reached = {f"{c.name}.{name}" for c, name in calls.reach({(cls, "m")})}
    assert reached == {"D.m", "A.go", "B.go", "C.run"}


def test_an_effect_inside_an_expression_is_an_instruction_of_its_own() -> None:
    compiled, _ = machine_of("module M; class C { C c; Int m() { return this.c.m() + 1; } Int n() { return 1 + 1; } }")
    assert len(method(compiled, "C.m").instructions) > len(method(compiled, "C.n").instructions)
    assert isinstance(parse_expression("o.m()"), EFFECTS)


def test_an_inner_name_has_a_slot_of_its_own(step: MacroStep) -> None:
    slots = Slots(["x"])
    slots.enter()
    assert slots.add("x") == 1
    assert slots.find("x") == 1
    slots.leave()
    assert slots.find("x") == 0
    value = Compilation(ExpCompiler(), slots, None).exp(parse_expression("7"))
    assert value(step, []) == 7


@pytest.mark.parametrize(
    ("loop", "names"),
    [
        ("while (True) { n = n + 1; }", set()),
        ("while (a < 3) { a = b; b = n + 1; }", {"a", "b", "n"}),
        ("while (True) { n = a / b; }", {"a", "b"}),
        ("while (True) { if (a == 1) { skip; } println(toString(n)); o!m(b); }", {"a", "o"}),
        ("while (True) { n = head(list[a]); }", {"a"}),
        ("while (True) { n = o.m(a); }", None),
        ("while (True) { suspend; }", None),
    ],
)
def test_what_decides_about_another_turn(loop: str, names: set[str] | None) -> None:
    text = "module M; class C { Int m(Int x) { return x; } } { Int n = 0; Int a = 0; Int b = 1; C o = new C(); "
    main = Compiled.of(text + loop + " }").program.main
    assert main is not None
    found = next(statement for statement in main if isinstance(statement, S.While))
    assert deciding(found) == names


# ---- waiting


def test_a_guard_holds_when_its_future_is_there_and_its_conditions_are_true() -> None:
    compiled, machine = machine_of("module M; { }")
    root = main_root(machine, compiled.program)
    run = MacroStep(machine, root.state, [])
    future = machine.interned.future(machine.interned.key("some"))
    waiting = TaskWait([lambda run, env: future], None, [lambda run, env: env[0]])
    assert not holds(waiting, run, [True])
    run.state.futures[future] = 1
    assert holds(waiting, run, [True])
    assert not holds(waiting, run, [False])
    with pytest.raises(Thrown):
        holds(TaskWait([lambda run, env: None], None, []), run, [])
