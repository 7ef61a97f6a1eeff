"""The rooms of the Python machine: each operation means what Python means by it, on values known and unknown."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
import os
import random
import re
import threading
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.symbolic.machine import M, N, P, R, S, every, machine
from treadle.symbolic import types as t
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.ir.machine import Environment, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import compiled, generated, locks, models, models_math, stubs, walking
from treadle.symbolic.python.calls import functions as functions  # fills the table of built-ins, as the next one does
from treadle.symbolic.python.calls import numbers as numbers
from treadle.symbolic.python.calls.models_patterns import PatternMatch
from treadle.symbolic.python.calls.world import UnknownWorld
from treadle.symbolic.python.machine import (
    attributes,
    binding,
    calls,
    classes,
    concrete,
    effects,
    equality,
    iteration,
    operators,
)
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.types import assignments, heirs, hints
from treadle.symbolic.python.values import (
    indexing,
    kinds,
    list_methods,
    mappings,
    matching,
    open_lists,
    patterns,
    sequences,
    str_methods,
    strings,
)
from treadle.symbolic.python.values.values import BoundMethod, FunctionValue, RangeValue, SliceValue


def found_or_raised(run: Callable[[], Any]) -> Any:
    """What a step gives, or the class of what it raises."""
    try:
        return run()
    except Raised as error:
        return error.value.cls


def real_function(vm: VM, function: Any) -> FunctionValue:
    return binding.function_value(vm, function)


def known(value: Any, **values: Any) -> Any:
    """An expression under values for its unknowns."""
    names = {"n": N, "m": M, "s": S, "r": R, "p": P}
    return evaluate(value, {names[name]: one for name, one in values.items()})


class Animal:
    legs = 4

    def __init__(self, name: str) -> None:
        self.name = name

    def noise(self) -> str:
        return "?"


class Bird(Animal):
    legs = 2

    def noise(self) -> str:
        return "tweet"


@dataclass(order=True)
class Point:
    x: int
    y: int = 0


Pair = collections.namedtuple("Pair", ["left", "right"])


# ---------------------------------------------------------------------- values


def test_an_index_from_the_end_is_counted_from_there_and_one_outside_raises() -> None:
    vm = machine()
    assert indexing.position(vm, -1, 3, "out") == 2
    assert found_or_raised(lambda: indexing.position(vm, 3, 3, "out")) is IndexError
    ways = every(lambda vm: found_or_raised(lambda: indexing.position(vm, N, 3, "out")))
    assert [way for way in ways if way is IndexError]
    assert {known(way, n=-1) for way in ways if way is not IndexError} == {-1, 2}


@pytest.mark.parametrize("values", [(0, 5, 1), (0, 5, 2), (5, 0, -2), (3, 3, 1)])
def test_the_length_of_a_range_is_pythons(values: tuple[int, int, int]) -> None:
    assert indexing.range_length(machine(), RangeValue(*values)) == len(range(*values))


def test_of_which_kind_a_value_is() -> None:
    assert [kinds.number_kind(one) for one in (1, True, 1.5, N, R, P, "a", S)] == [
        *("int", "int", "float", "int", "float", "int"),
        *(None, None),
    ]
    assert kinds.is_string(S)
    assert kinds.is_known((1, "a"))
    assert not kinds.is_known((1, N))


def test_methods_of_a_list_change_it_and_an_absent_value_is_pythons_error() -> None:
    vm = machine()
    made = vm.new_list([3, 1])
    list_methods.append(vm, made, N)
    assert list_methods.pop(vm, made) is N
    list_methods.extend(vm, made, (2,))
    assert made.items == [3, 1, 2]
    assert list_methods.sorted_values(vm, [3, 1, 2], None, True) == [3, 2, 1]


def test_looking_for_an_unknown_key_asks_whether_it_is_each_of_the_known_ones() -> None:
    def run(vm: VM) -> Any:
        made = vm.new_dict([[1, "one"], [2, "two"]])
        found = mappings.find(vm, made, N)
        return None if found is None else found[1]

    assert sorted(map(str, every(run))) == ["None", "one", "two"]


def test_what_cannot_be_hashed_is_no_key() -> None:
    vm = machine()
    with pytest.raises(Raised):
        mappings.check_key(vm, (1, vm.new_list([])))
    mappings.check_key(vm, (1, "a"))


def test_some_of_the_strings_for_a_pattern_match_it_and_some_nearly() -> None:
    pattern = r"[a-c]+\d{2}"
    matches = [bool(re.fullmatch(pattern, text)) for text in matching.matching(pattern)]
    assert True in matches
    assert False in matches
    assert matching.matching("(") == []


def test_the_length_of_an_input_list_is_decided_when_it_is_closed() -> None:
    def run(vm: VM) -> int:
        made = vm.heap.fresh(t.ListOf(t.INT), "xs")
        return len(open_lists.close(vm, made))

    assert every(run) == [0, 1, 2, 3]  # one more than the bound of loops


def test_a_known_pattern_on_an_unknown_text_is_one_condition() -> None:
    found = every(lambda vm: patterns.ask(vm, re.compile(r"\d+"), "fullmatch", [S], {}))
    assert [one is None for one in found] in ([True, False], [False, True])
    (match,) = [one for one in found if one is not None]
    assert match.cls is PatternMatch


def test_a_slice_and_a_product_of_sequences_are_pythons() -> None:
    vm = machine()
    assert sequences.slice_of(vm, (1, 2, 3, 4), SliceValue(None, None, -2)) == (4, 2)
    assert sequences.combine(vm, "*", (1, N), 2) == (1, N, 1, N)
    assert sequences.get_item(vm, "abc", -1) == "c"
    with pytest.raises(Raised):
        sequences.set_item(vm, (1, 2), 0, 3)


@pytest.mark.parametrize("text", ["7", "abc", "-42", "longer"])
def test_a_text_that_is_filled_up_is_pythons(text: str) -> None:
    filled = str_methods.justified(S, 5, ".", True)
    assert known(filled, s=text) == text.ljust(5, ".")
    assert known(str_methods.with_spec(machine(), N, ">5"), n=3) == f"{3:>5}"


def test_a_text_is_made_of_any_value() -> None:
    vm = machine()
    assert known(strings.text_of(vm, N), n=-3) == "-3"
    assert strings.repr_of(vm, vm.new_list([1, "a"])) == "[1, 'a']"
    assert strings.percent(vm, "%s of %d", ("a", 3)) == "a of 3"
    assert known(strings.slice_of(vm, S, SliceValue(1, None, None)), s="abc") == "bc"


def test_a_bound_method_looks_like_one_to_pythons_messages() -> None:
    vm = machine()
    method = BoundMethod(real_function(vm, Animal.noise), vm.lift(Animal("x")))
    assert type(method.shown()) in (types.MethodType, types.FunctionType)
    assert method.parts()


# ---------------------------------------------------------------------- the machine


def test_a_field_of_an_input_is_made_when_it_is_read_and_is_then_the_same() -> None:
    vm = machine()
    animal = vm.heap.fresh(t.Instance(Animal), "animal")
    name = attributes.get(vm, animal, "name")
    assert isinstance(name, Expr)
    assert attributes.get(vm, animal, "name") is name
    attributes.set_(vm, animal, "name", "new")
    assert attributes.get(vm, animal, "name") == "new"
    assert attributes.get(vm, Animal, "legs") == 4


def several(first: int, second: int = 2, *rest: int, named: int = 0) -> int:
    return first + second + sum(rest) + named


def test_arguments_are_bound_as_python_does_and_refused_in_its_words() -> None:
    vm = machine()
    function = real_function(vm, several)
    env = Environment()
    binding.bind(vm, function, [1, 2, 3], {"named": 4}, env)
    assert dict(env) == {"first": 1, "second": 2, "rest": (3,), "named": 4}
    wrong: list[tuple[list[Any], dict[str, Any]]] = [([], {}), ([1], {"first": 2}), ([1], {"no": 1})]
    for args, named in wrong:
        bound = functools.partial(binding.bind, vm, function, args, named, Environment())
        assert found_or_raised(bound) is TypeError
    called: Any = several
    with pytest.raises(TypeError, match=re.escape(binding.absent_arguments("several", ["first"], "positional"))):
        called()


def test_python_functions_are_followed_and_classes_instantiated() -> None:
    vm = machine()
    assert calls.call(vm, several, [1], {}) == 3
    made = calls.instantiate(vm, Bird, ["tit"], {})
    assert attributes.get(vm, made, "name") == "tit"
    assert calls.call(vm, attributes.get(vm, made, "noise"), [], {}) == "tweet"


def test_an_input_of_several_classes_is_narrowed_only_where_they_differ() -> None:
    def run(vm: VM) -> type:
        made: Any = vm.force(vm.heap.fresh(t.Instance(Animal), "animal"))
        classes.narrow(vm, made, "name")
        assert len(made.classes) == 2
        classes.narrow(vm, made, "noise")
        assert len(made.classes) == 1
        return classes.python_type(vm, made)

    assert set(every(run)) == {Animal, Bird}
    assert classes.lookup(Bird, "none of it", "missing") == "missing"


def test_a_real_list_is_never_changed_by_a_path() -> None:
    vm = machine()
    real = [1, [2]]
    copy = concrete.lift(vm, real)
    assert concrete.lift(vm, real) is copy  # once
    list_methods.append(vm, copy, 3)
    assert real == [1, [2]]
    assert concrete.call_real(vm, operator.add, [2, 3], {}) == 5


def test_a_bug_of_ours_is_no_exception_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """What real code returned is taken over outside of what is told as the program's own error."""

    def broken(value: Any) -> Any:
        raise ZeroDivisionError("ours")

    vm = machine()
    monkeypatch.setattr(vm, "lift", broken)
    with pytest.raises(ZeroDivisionError, match="ours"):
        operators.binary(vm, "+", 1, 2)
    for real, name in ((1 + 2j, "real"), (collections, "deque")):
        with pytest.raises(ZeroDivisionError, match="ours"):
            attributes.get(vm, real, name)


def test_what_reaches_outside_is_refused_before_it_runs() -> None:
    with pytest.raises(CannotFollow, match=r"'posix\.system' uses the operating system"):
        effects.check_effect(machine(), os.system)
    effects.check_effect(machine(), os.fspath)
    effects.check_effect(machine(allow_effects=True), os.system)
    with pytest.raises(effects.OutsideEffect), effects.no_effects(machine()):
        open("/nowhere/at/all", "w")  # noqa: SIM115


def test_truth_and_equality_are_expressions_where_they_are_not_known() -> None:
    vm = machine()
    assert known(equality.truth(vm, N), n=0) is False
    assert equality.truth(vm, vm.new_list([])) is False
    assert known(equality.equal(vm, N, 3), n=3) is True
    assert equality.equal(vm, (1, "a"), (1, "a")) is True
    assert equality.identical(vm, None, None) is True
    assert known(equality.contains(vm, N, (1, 2)), n=2) is True


def test_walking_over_a_range_of_unknown_size_is_bounded() -> None:
    vm = machine()
    assert iteration.spread(vm, RangeValue(0, 3, 1)) == [0, 1, 2]
    assert iteration.spread(vm, "ab") == ["a", "b"]
    one = iteration.iterate(vm, vm.new_list([N]))
    assert one.step() is N


def test_a_name_that_is_nowhere_is_pythons_error() -> None:
    vm = machine()
    assert vm.read_global({"here": 1}, "here") == 1
    assert vm.read_global({}, "len") is len
    with pytest.raises(Raised):
        vm.read_global({}, "nowhere_at_all")


# ---------------------------------------------------------------------- calls of compiled code


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (abs, [-3]),
        (max, [1, 5]),
        (len, [(1, 2)]),
        (isinstance, [True, int]),
        (divmod, [7, 2]),
        (ord, ["a"]),
    ],
)
def test_a_builtin_on_known_values_is_the_real_one(function: Any, values: list[Any]) -> None:
    assert compiled.builtin(machine(), function, list(values), {}) == function(*values)


@pytest.mark.parametrize("value", [-4, 0, 3])
def test_a_builtin_on_an_unknown_number_is_an_expression_of_the_same_meaning(value: int) -> None:
    vm = machine()
    assert known(compiled.builtin(vm, abs, [N], {}), n=value) == abs(value)
    assert known(compiled.builtin(vm, max, [N, 1], {}), n=value) == max(value, 1)
    assert known(compiled.builtin(vm, bool, [N], {}), n=value) is bool(value)


def test_the_length_of_an_input_list_is_not_decided_by_asking() -> None:
    vm = machine()
    made = vm.heap.fresh(t.ListOf(t.INT), "xs")
    assert isinstance(walking.length(vm, made), Expr)
    assert walking.length(vm, "abc") == 3


def test_getattr_with_a_default_and_a_partial_are_meant_by_the_table() -> None:
    vm = machine()
    assert compiled.builtin(vm, getattr, [vm.lift(Animal("x")), "none of it", 7], {}) == 7
    made = vm.call(functools.partial, several, 1)
    assert vm.call(made, 5) == 6


def test_the_methods_that_dataclasses_write_are_known() -> None:
    vm = machine()
    made = calls.instantiate(vm, Point, [N], {"y": 2})
    assert attributes.get(vm, made, "x") is N
    same = calls.instantiate(vm, Point, [N, 2], {})
    written: Any = Point.__eq__
    own: Any = several
    assert generated.call(vm, written, [made, same], {}) is True
    assert generated.call(vm, own, [1], {}) is generated.UNHANDLED
    assert generated.named_tuple(vm, Pair, [1], {"right": N}) is not None


def test_a_lock_that_a_path_holds_cannot_be_waited_for() -> None:
    vm, lock = machine(), threading.Lock()
    assert locks.use(vm, lock, "acquire", [], {}) is True
    assert locks.use(vm, lock, "acquire", [False], {}) is False
    with pytest.raises(CannotFollow, match="would never end"):
        locks.use(vm, lock, "__enter__", [], {})
    locks.use(vm, lock, "release", [], {})
    assert not lock.locked()  # the real one was never taken


def test_the_world_is_asked_only_where_the_code_names_the_function() -> None:
    world = UnknownWorld()
    assert world.answer(machine(), len, [()], {}) is NOT_ANSWERED
    assert world.stand_in(machine(), object()) is None
    assert world.used == {}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("chain", ([1, 2], [3])),
        ("islice", ([1, 2, 3, 4], 1, 4, 2)),
        ("zip_longest", ([1, 2], [3])),
        ("accumulate", ([1, 2, 3],)),
        ("pairwise", ([1, 2, 3],)),
        ("permutations", ([1, 2, 3], 2)),
        ("compress", ("abc", [1, 0, 1])),
    ],
)
def test_a_model_gives_what_the_original_gives(name: str, values: tuple[Any, ...]) -> None:
    original: Any = getattr(itertools, name)
    assert list(getattr(models, name)(*values)) == list(original(*values))


@pytest.mark.parametrize(
    ("name", "values"),
    [("fmod", (7.0, 2.0)), ("lcm", (4, 6)), ("perm", (5, 2)), ("copysign", (3.0, -1.0)), ("isclose", (1.0, 1.1))],
)
def test_a_model_of_math_gives_what_the_original_gives(name: str, values: tuple[Any, ...]) -> None:
    assert getattr(models_math, name)(*values) == getattr(math, name)(*values)


# ---------------------------------------------------------------------- types of inputs


def test_known_subclasses_are_those_of_the_package_that_can_be_made() -> None:
    assert heirs.known_subclasses(Animal) == (Animal, Bird)
    assert heirs.is_plain_object(Animal)
    assert not heirs.is_plain_object(dict)
    assert not heirs.is_plain_object(type("Heir", (threading.Thread, list), {}))


def test_fields_are_what_methods_assign_to_self_always_or_sometimes() -> None:
    ((node, _),) = [pair for pair in assignments.methods(Animal) if pair[0].name == "__init__"]
    assert [name for name, _, _ in assignments.assignments(node, Animal)] == ["name"]
    assert assignments.always_assigns(node, Animal, "name")
    assert not assignments.always_assigns(node, Animal, "legs")
    assert assignments.mentioned_fields(Bird) == {"name"}


def test_a_hint_means_a_type_and_references_may_be_none() -> None:
    assert hints.from_hint(int) == t.INT
    assert hints.from_hint(list[str]) == t.ListOf(t.STR)
    assert hints.parameter_type(t.INT, True) == t.INT
    assert t.NONE in t.options(hints.parameter_type(t.Instance(Animal), True))
    assert hints.parse("dict[str, int]", {}) == t.DictOf(t.STR, t.INT)


def test_chance_and_the_clock_are_refused_unless_they_are_inputs() -> None:
    for function in (random.random, time.time):
        with pytest.raises(CannotFollow):
            effects.check_effect(machine(), function)


STUB = """
from treadle.stubs import case

@case("math.gamma", when=lambda x: x > 3)
def large(x):
    return 100

@case("math.gamma", when=lambda x: x > 0)
def small(x):
    return x
"""


def test_the_first_case_of_a_stub_that_holds_answers_and_none_is_told(tmp_path: Path) -> None:
    file = tmp_path / "stub.py"
    file.write_text(STUB)
    made = stubs.Stubs([str(file)])
    assert made.answer(machine(), math.gamma, [5], {}) == 100
    assert made.answer(machine(), math.gamma, [2], {}) == 2
    assert made.answer(machine(), math.floor, [2], {}) is NOT_ANSWERED
    with pytest.raises(CannotFollow, match="for which no case of its stub holds"):
        made.answer(machine(), math.gamma, [0], {})
    assert not stubs.Stubs()
