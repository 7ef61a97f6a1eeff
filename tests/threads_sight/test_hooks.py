"""What each hook announces before it does what plain Python does."""

from __future__ import annotations

import abc
import contextlib
import functools
import inspect
import operator
import os
import types
import weakref
from collections import UserDict, defaultdict
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.threads_primitives.running import announced, execute, inside
from treadle.core.operation import MULTI, READ, WRITE, Operation, parts
from treadle.threads import called_back
from treadle.threads.hooks import attributes, calls, items, iteration, keys, operators, points, variables
from treadle.threads.hooks import files as files  # fills the table of stand-ins, as the next one does
from treadle.threads.hooks import stand_ins as stand_ins
from treadle.threads.strands import Strand, current

pytestmark = pytest.mark.usefixtures("rewritten")


class Account:
    rate = 3

    def __init__(self) -> None:
        self.balance = 1

    def pay(self) -> int:
        return self.balance


class Key:
    """Hashed and compared by code of the program."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


def strand() -> Strand:
    running = current()
    assert running is not None
    return running


def flat(main: Callable[[], object]) -> list[Operation]:
    return [part for op in announced(main) for part in parts(op)]


# ---------------------------------------------------------------------- attributes


def test_reading_writing_and_deleting_an_attribute_touch_that_attribute() -> None:
    account = Account()

    def main() -> None:
        attributes.store(7, account, "balance")
        assert attributes.load(account, "balance") == 7
        attributes.delete(account, "balance")

    assert announced(main) == [
        (WRITE, "Account#1", "balance"),
        (READ, "Account#1", "balance"),
        (WRITE, "Account#1", "balance"),
    ]
    assert not hasattr(account, "balance")


def test_a_constant_of_a_class_is_looked_for_in_the_object_first() -> None:
    assert announced(lambda: attributes.load(Account(), "rate")) == [
        (MULTI, None, ((READ, "Account#1", "rate"), (READ, "class Account", "rate")))
    ]


def test_a_method_is_read_without_a_point_until_something_hides_it() -> None:
    account = Account()

    def main() -> None:
        attributes.callee(account, "pay")
        attributes.store(lambda: 0, account, "pay")
        attributes.callee(account, "pay")

    assert [op[0] for op in flat(main)] == [WRITE, READ, READ]


# ---------------------------------------------------------------------- items


def test_an_item_is_one_key_and_a_new_one_is_the_whole_dictionary() -> None:
    def main() -> None:
        table = {"k": 1}
        items.item(table, "k")
        items.set_item(2, table, "k")
        items.set_item(2, table, "new")
        items.del_item(table, "k")
        assert items.inside("new", table)
        assert table == {"new": 2}

    assert announced(main) == [
        (READ, "dict#1", "k"),
        (WRITE, "dict#1", "k"),
        (WRITE, "dict#1", None),
        (WRITE, "dict#1", None),
        (READ, "dict#1", "new"),
    ]


def test_a_default_dictionary_looks_and_then_keeps() -> None:
    def main() -> None:
        made: defaultdict[str, list[int]] = defaultdict(list)
        assert items.item(made, "k") == []
        assert list(made) == ["k"]

    assert announced(main) == [(READ, "defaultdict#1", "k"), (WRITE, "defaultdict#1", None)]


def test_a_membership_in_a_list_looks_at_what_is_in_it() -> None:
    assert flat(lambda: items.inside({}, [{}])) == [
        (READ, "list#1", None),
        (READ, "list#1[0]", None),
        (READ, "dict#1", None),
    ]


def test_a_mapping_of_the_standard_library_is_read_as_a_whole() -> None:
    table = UserDict({"k": 1})
    assert {op[0] for op in flat(lambda: items.item(table, "k"))} == {READ}


# ---------------------------------------------------------------------- iteration


def test_each_step_of_a_loop_reads_the_container() -> None:
    def main() -> None:
        assert list(iteration.iterate([1, 2])) == [1, 2]

    assert announced(main) == [(READ, "list#1", None)] * 3  # the last finds the end


def test_taking_from_an_iterator_changes_it_and_reads_what_it_takes_from() -> None:
    def main() -> None:
        numbers = [1]
        iteration.use(numbers)  # it has a name before the iterator has one
        iterator = iter(numbers)
        assert iteration.next_item(iterator) == 1
        assert iteration.next_item(iterator, "end") == "end"

    assert {op[:2] for op in flat(main)} == {(WRITE, "list_iterator#1"), (READ, "list#1")}


def test_what_is_sent_to_a_generator_gets_there() -> None:
    def main() -> list[int]:
        got: list[int] = []

        def inner() -> Generator[None, int, None]:
            got.append((yield))

        generator: Any = iteration.delegate(inner())
        next(generator)
        with contextlib.suppress(StopIteration):
            generator.send(7)
        return got

    assert inside(main) == [7]


def test_formatting_looks_into_a_value_and_its_truth_does_not() -> None:
    nested = {"k": [1]}
    assert len(flat(lambda: iteration.show(nested))) == 2
    assert flat(lambda: iteration.use(nested)) == [(READ, "dict#1", None)]


# ---------------------------------------------------------------------- operators


def test_a_comparison_looks_at_everything_and_arithmetic_at_the_operands() -> None:
    one, other = [[1]], [[1]]
    assert len(flat(lambda: operators.OPERATORS["eq"](one, other))) == 4
    assert len(flat(lambda: operators.OPERATORS["add"](one, other))) == 2


def test_an_augmented_assignment_changes_a_list_and_not_a_number() -> None:
    assert flat(lambda: operators.INPLACE["iadd"]([1], [2])) == [(WRITE, "list#1", None), (READ, "list#2", None)]
    assert flat(lambda: operators.INPLACE["iadd"](1, 2)) == []
    assert inside(lambda: operators.INPLACE["imul"]([1], 2)) == [1, 1]


# ---------------------------------------------------------------------- variables


def test_a_global_is_found_among_the_builtins_last_and_missed_by_its_name() -> None:
    module = {"__name__": "bank", "total": 1}

    def main() -> None:
        assert variables.load_global(module, "total") == 1
        assert variables.load_global(module, "len") is len
        variables.set_global(2, module, "total")
        variables.del_global(module, "total")
        with pytest.raises(NameError, match="name 'total' is not defined"):
            variables.load_global(module, "total")

    assert [op[0] for op in announced(main)] == [READ, READ, WRITE, WRITE, READ]
    assert "total" not in module


def test_a_constant_is_no_operation_until_somebody_binds_it() -> None:
    module = {"__name__": "bank", "LIMIT": 1}

    def main() -> None:
        variables.constant(module, "LIMIT")
        strand().execution.rebind("bank.LIMIT")
        variables.constant(module, "LIMIT")

    assert announced(main) == [(READ, "bank", "LIMIT")]


# ---------------------------------------------------------------------- calls and what stands in for them


def test_a_native_call_is_one_operation_on_what_it_is_given() -> None:
    assert announced(lambda: calls.function(sorted)([2, 1])) == [(READ, "list#1", None)]
    assert announced(lambda: calls.function([1].append)(2)) == [(WRITE, "list#1", None)]


def test_rewritten_code_is_called_as_it_is() -> None:
    assert inside(lambda: calls.function(strand)) is strand


def test_a_call_that_changes_keys_of_a_modules_variables_binds_them_anew() -> None:
    module: dict[str, Any] = {"__name__": "bank", "__builtins__": {}}
    run = execute(lambda: calls.container_call(module, "update", {"limit": 1}))
    assert "bank.limit" in run.rebound
    assert module["limit"] == 1


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (lambda one: calls.function(getattr)(one, "balance"), [(READ, "Account#1", "balance")]),
        (lambda one: calls.function(hasattr)(one, "balance"), [(READ, "Account#1", "balance")]),
        (lambda one: calls.function(setattr)(one, "balance", 2), [(WRITE, "Account#1", "balance")]),
        (lambda one: calls.function(operator.attrgetter("balance"))(one), [(READ, "Account#1", "balance")]),
        (lambda one: calls.function(operator.itemgetter(0))([one]), [(READ, "list#1", 0)]),
        (lambda one: calls.function(isinstance)(one, Account), []),
        (lambda one: calls.function(id)(one), []),
    ],
)
def test_a_function_that_does_what_an_expression_does_is_seen_as_that(
    called: Callable[[Account], object], expected: list[Operation]
) -> None:
    assert flat(lambda: called(Account())) == expected


def test_who_asks_for_a_registered_class_depends_on_who_registers_it() -> None:
    class Shape(abc.ABC):  # noqa: B024
        pass

    def main() -> None:
        calls.function(isinstance)(1, Shape)
        calls.function(Shape.register)(Account)
        assert calls.function(isinstance)(Account(), Shape)

    assert [op[0] for op in flat(main)] == [WRITE, READ]


def test_a_call_of_a_cached_function_touches_the_entry_of_its_arguments() -> None:
    @functools.lru_cache
    def double(number: int) -> int:
        return number * 2

    assert [op[2] for op in flat(lambda: calls.function(double)(4))] == [(4,)]


def test_a_dead_weak_reference_is_told_by_nothing_and_noted() -> None:
    def main() -> None:
        reference = weakref.ref(Account())
        assert calls.function(reference)() is None

    assert execute(main).assumed


# ---------------------------------------------------------------------- keys


def test_a_key_of_the_program_is_hashed_before_the_point_and_keeps_its_answer() -> None:
    made = keys.hashed((1, Key()))
    assert made is None  # this code is not marked: it asks nobody

    def asks() -> tuple[Any, ...]:
        one, other = object(), object()
        strand().answers = {(id(one), id(other)): (one, other, True)}
        return keys.asked(one, other), keys.asked(one, other)

    assert inside(asks) == ((True,), ())  # an answer is for one question: the next may be another


def test_outside_of_a_native_call_nobody_is_answered() -> None:
    assert keys.asked(Key()) == ()
    assert inside(lambda: keys.asked(Key())) == ()


# ---------------------------------------------------------------------- files


def test_writing_a_text_is_two_steps_because_others_may_see_the_file_empty(tmp_path: Path) -> None:
    path = tmp_path / "count"
    write = calls.STAND_INS[Path.write_text]
    read: list[str] = []

    def write_and_read() -> None:
        write(path, "1")
        read.append(path.read_text())

    assert announced(write_and_read) == [(WRITE, "files", "count")] * 2
    assert read == ["1"]


def opened_and_closed(path: Path, mode: str) -> None:
    calls.STAND_INS[open](path, mode).close()


def test_opening_to_read_reads_and_to_append_writes(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    for mode, kind in (("r", READ), ("a", WRITE), ("x+", WRITE)):
        with contextlib.suppress(FileExistsError):
            assert announced(functools.partial(opened_and_closed, path, mode)) == [(kind, "files", "log")]


# ---------------------------------------------------------------------- points


def test_what_only_one_strand_knows_is_no_point_until_a_second_touches_it() -> None:
    def main() -> None:
        mine: list[int] = []
        points.touch(strand(), WRITE, mine, 0)
        other = strand().execution.spawn(None, lambda: points.touch(strand(), READ, mine, 0) and None)
        while not other.finished:
            strand().access(READ, "nothing", None)

    run = execute(main, shared=set())
    assert run.revealed
    assert run.shared == {"list#1"}


def test_code_that_runs_inside_a_native_call_holds_what_the_call_does() -> None:
    operation: Operation = (WRITE, "list#1", None)

    def callback() -> None:
        points.perform(strand(), [(READ, "dict#1", "k")])

    assert announced(lambda: points.during(strand(), [operation], callback))[-1] == (
        MULTI,
        None,
        ((READ, "dict#1", "k"), operation),
    )


# ---------------------------------------------------------------------- code of libraries inside native calls


def test_python_code_of_a_library_inside_a_native_call_is_noted() -> None:
    library = types.ModuleType("library")
    exec("class Number:\n  def __lt__(self, other): return False", vars(library))
    numbers = [vars(library)["Number"]() for _ in range(2)]

    def main() -> None:
        called_back.watching(strand(), numbers.sort)

    assert execute(main).assumed == {"library.Number.__lt__ inside list.sort"}


def test_code_of_the_program_inside_a_native_call_has_hooks_of_its_own() -> None:
    def main() -> None:
        called_back.watching(strand(), sorted, [2, 1], key=lambda one: -one)

    assert execute(main).assumed == set()


def test_what_stands_for_a_function_takes_whatever_the_program_gives_it() -> None:
    """Compiled, an annotation is a check: `os.getenv("WORKERS", 1)` was a TypeError there, and only there."""
    narrow = []
    for original, stand_in in calls.STAND_INS.items():
        hook = stand_in.func if isinstance(stand_in, functools.partial) else stand_in
        try:
            parameters = inspect.signature(hook).parameters.values()
        except ValueError:  # in C
            continue
        taken = [one.name for one in parameters if one.annotation not in ("Any", "object", inspect.Parameter.empty)]
        narrow += [f"{original.__name__}({name})" for name in taken]
    assert set(narrow) <= {"delattr(name)"}  # which takes nothing but a string
    assert narrow or calls.__file__.endswith(".so")  # where functions do not tell


def test_what_is_not_in_the_environment_is_what_the_program_says() -> None:
    assert inside(lambda: calls.STAND_INS[os.getenv]("TREADLE_HAS_NO_SUCH_VARIABLE", 1)) == 1
