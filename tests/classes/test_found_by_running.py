"""What is found out about a class by running some of it: decorators, results, states of arguments, longer tests."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from typing import Any

from tests.classes.drive import subject
from tests.threads_primitives.running import execute, start
from treadle.classes.assembler import Assembler
from treadle.classes.calls import MethodCall, Value
from treadle.classes.decorators import examine_decorator
from treadle.classes.grasped import Decorator, kind_of, of_instance, on_result
from treadle.classes.grown import Grower
from treadle.classes.longer import MOST_CALLS, Longer
from treadle.classes.looked import state_key, untold_before
from treadle.classes.sequences import Automaton
from treadle.classes.stage import Stage
from treadle.classes.subject import SubjectMethod, import_of
from treadle.core.operation import SIGNAL, WRITE
from treadle.threads.hooks.points import touch
from treadle.threads.names import meet
from treadle.threads.strands import current


def root_of(about: Any) -> MethodCall:
    needs, word = import_of(about.cls)
    return MethodCall("constructor", f"{word}()", needs=needs)


# ---------------------------------------------------------------------- decorators


def test_a_decorator_is_found_by_decorating_and_an_ordinary_function_is_none() -> None:
    found = examine_decorator("class_shapes:memoize", importlib.import_module("class_shapes").memoize)
    assert found is not None
    assert (found.is_used, [method.form for method in found.methods][:1]) == (True, ["{sout}({0})"])

    def plain(number: int) -> int:
        return number

    assert examine_decorator("somewhere:plain", plain) is None


# ---------------------------------------------------------------------- results


def test_a_context_manager_is_entered_and_an_iterator_walked_as_far_as_it_may_have_an_end() -> None:
    about = subject("class_looked:Plain")
    method = SubjectMethod("lines", "{sout}.lines()")

    def endless() -> Iterator[int]:
        while True:
            yield 1

    (walked,) = on_result(about, method, type(endless()))
    assert walked.form == "list(itertools.islice({sout}.lines(), 3))"
    assert "import itertools" in walked.needs
    (entered,) = on_result(about, method, type(open(__file__, encoding="utf-8")))  # noqa: SIM115
    assert (entered.form, entered.expression) == ("with {sout}.lines(): {pass}", False)
    assert on_result(about, dataclasses.replace(method, setter=True), type(endless())) == []


def test_a_function_that_takes_a_function_is_a_decorator() -> None:
    assert kind_of(lambda func: func) is Decorator
    assert kind_of(lambda number: number) is not Decorator


def test_functions_that_the_constructor_put_on_an_object_are_methods() -> None:
    about = dataclasses.replace(subject("class_shapes:OnItself"), methods=[])
    made = about.cls()
    functions = {name for name, value in vars(made).items() if callable(value) and not name.startswith("_")}
    assert {method.name for method in of_instance(about, made)} == functions != set()


# ---------------------------------------------------------------------- arguments that were used


def test_an_object_is_given_in_states_that_its_own_methods_bring_it_to() -> None:
    about = subject("class_looked:Plain")
    needs, word = import_of(about.cls)

    def calls(method: SubjectMethod) -> Iterator[MethodCall]:
        yield MethodCall(method.name, method.form.replace("{args}", ""))

    with Stage(about) as stage:
        found = Grower(stage).values(about.cls, Value(f"{word}()", needs), calls)
    assert [value.source for value in found] == ["plain_after_add()"]  # counting changes nothing
    space: dict[str, Any] = {}
    exec("\n".join(found[0].needs), space)
    assert eval(found[0].source, space).count() == 1


# ---------------------------------------------------------------------- longer tests


def test_longer_tests_come_with_the_fewest_calls_first_and_all_their_calls_meet() -> None:
    about = subject("class_looked:Plain")
    add, count = MethodCall("add", "{sout}.add()"), MethodCall("count", "{sout}.count()")
    with Stage(about) as stage:
        automaton = Automaton(stage, root_of(about))
        automaton.start()
        assembler = Assembler(automaton, siblings={"add": [add], "count": [count]})
        found = [threads for _, threads in Longer(assembler, frozenset({"add", "count"}), 2).tests()]
    sizes = [len(one) + len(two) for one, two in found]
    assert sizes == sorted(sizes)
    assert max(sizes) <= MOST_CALLS
    assert ((add,), (add, add)) in found
    assert ((count,), (count, count)) not in found  # nobody changes anything


# ---------------------------------------------------------------------- what a look says


class Box:
    def __init__(self) -> None:
        self.value = 0


def key_after(change: Any) -> Any:
    """What decides a look at a box, after a thread did something."""
    box = Box()
    found: list[Any] = []

    def main() -> None:
        strand = current()
        assert strand is not None
        meet(strand, box)
        before = untold_before(box)
        (thread,) = start(lambda: change(box))
        thread.join()
        found.append(state_key(strand.execution, box, [], before))

    execute(main)
    return found[0]


def set_to(value: int) -> Any:
    def change(box: Box) -> None:
        strand = current()
        assert strand is not None
        touch(strand, WRITE, box, "value")
        box.value = value

    return change


def test_what_a_look_says_is_decided_by_the_state_that_threads_left() -> None:
    assert key_after(set_to(1)) == key_after(set_to(1)) is not None
    assert key_after(set_to(1)) != key_after(set_to(2))


def test_what_no_state_tells_is_looked_at_anew() -> None:
    def signals(box: Box) -> None:
        strand = current()
        assert strand is not None
        strand.access(SIGNAL, "queue#1", None)

    def class_attribute(box: Box) -> None:
        strand = current()
        assert strand is not None
        strand.access(WRITE, "class Box", "count")

    assert key_after(signals) is None
    assert key_after(class_attribute) is None
