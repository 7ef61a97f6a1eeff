"""The counts published for the actor programs, reproduced exactly: tests, states and cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import table1
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.doors.actor.generated import GeneratedCases, generate

EXAMPLES = Path(__file__).parents[2] / "examples" / "abs"


def explored(target: str, bounds: Bounds, **selection: Any) -> GeneratedCases:
    return generate(str(EXAMPLES / target), bounds=bounds, selection=OrderSelection(**selection), keep=0)


def figures(made: GeneratedCases) -> tuple[int, int, int]:
    return made.tests, made.states, made.cuts.loop


CONSUME = "producer_consumer.abs:Consumer.consumeN"
PRODUCE = "producer_consumer.abs:Producer.produceList"


@pytest.mark.parametrize(
    ("target", "k", "ignoring", "exploiting"),
    [
        (CONSUME, 2, (15, 30, 1), (9, 19, 1)),
        (CONSUME, 3, (159, 334, 1), (33, 75, 1)),
        (CONSUME, 4, (3039, 6639, 1), (153, 351, 1)),
        (PRODUCE, 2, (29, 52, 10), (17, 31, 6)),
        (PRODUCE, 3, (398, 819, 100), (82, 169, 21)),
        (PRODUCE, 4, (9155, 20679, 1636), (465, 1041, 85)),
    ],
)
def test_producer_consumer(
    target: str, k: int, ignoring: tuple[int, int, int], exploiting: tuple[int, int, int]
) -> None:
    assert figures(explored(target, Bounds(loop=k), reduce="stable")) == ignoring
    assert figures(explored(target, Bounds(loop=k), reduce="independent")) == exploiting


def test_the_laws_of_consume() -> None:
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * factorial(n - 1)

    for k in (1, 2, 3):
        ignoring = explored(CONSUME, Bounds(loop=k), reduce="stable").tests
        exploiting = explored(CONSUME, Bounds(loop=k), reduce="independent").tests
        assert ignoring == sum(factorial(n + 1) * factorial(n) for n in range(k + 1))
        assert exploiting == sum(factorial(n + 1) for n in range(k + 1))


@pytest.mark.parametrize("tasks", [10, 20, None])
@pytest.mark.parametrize("actors", [1, 2, None])
def test_generous_bounds_change_nothing(tasks: int | None, actors: int | None) -> None:
    assert figures(explored(CONSUME, Bounds(3, tasks, actors), reduce="stable")) == (159, 334, 1)


# tests, states, cuts by loop, task, actor: all of them as in Table 1
@pytest.mark.parametrize(
    ("bounds", "ignoring", "exploiting"),
    [
        ((2, 4, 2), (720, 2430, 59, 0, 278), (270, 1128, 41, 0, 128)),
        ((3, 4, 2), (1104, 3576, 52, 0, 395), (432, 1664, 38, 0, 171)),
        ((2, 3, 2), (72, 720, 59, 204, 98), (54, 564, 41, 120, 80)),
        ((3, 4, 3), (3416, 11938, 63, 0, 896), (960, 4094, 49, 0, 282)),
    ],
)
def test_factorial(bounds: tuple[int, int, int], ignoring: tuple[int, ...], exploiting: tuple[int, ...]) -> None:
    """Every column with the condition as printed; the stronger one finds the same tests in as many states, or fewer."""
    for reduce, wanted in (("paper-stable", ignoring), ("paper", exploiting)):
        made = explored("factorial.abs:Fact.ft", Bounds(*bounds), reduce=reduce)
        assert (made.tests, made.states, *made.cuts.to_json().values()) == wanted
    for reduce, wanted in (("stable", ignoring), ("independent", exploiting)):
        made = explored("factorial.abs:Fact.ft", Bounds(*bounds), reduce=reduce)
        assert made.tests == wanted[0]
        assert made.states <= wanted[1] + 3
        assert made.deadlocks == 0


@pytest.mark.parametrize(
    ("objects", "tasks", "reduce", "tests"),
    [
        ("round-robin", "fifo", "independent", 5),
        ("round-robin", "lifo", "independent", 5),
        ("all", "all", "independent", 32),
        ("all", "all", "stable", 82),
    ],
)
def test_factorial_from_outside(objects: str, tasks: str, reduce: str, tests: int) -> None:
    made = explored("factorial.abs:Runner.fact", Bounds(1, 8, 2), objects=objects, tasks=tasks, reduce=reduce)
    assert made.tests == tests


@pytest.mark.parametrize(("reduce", "executions"), [("none", 280), ("stable", 18), ("independent", 8), ("exact", 2)])
def test_factorial_on_known_data(reduce: Any, executions: int) -> None:
    made = generate(str(EXAMPLES / "factorial.abs"), selection=OrderSelection(reduce=reduce))
    assert made.tests == executions
    assert {case.final["r1"].fields["r"] for case in made.cases} == {120, 20}
    assert not made.cuts.total()


def test_exact_independence_needs_fewer_states() -> None:
    for bounds in ((2, 4, 2), (3, 4, 2)):
        exploiting = explored("factorial.abs:Fact.ft", Bounds(*bounds), reduce="independent")
        exact = explored("factorial.abs:Fact.ft", Bounds(*bounds), reduce="exact")
        assert exact.states < exploiting.states


def published(name: str) -> table1.TableRow:
    return next(row for row in table1.TABLE if row.name == name)


def test_pipeline_sort_is_exact_in_every_column() -> None:
    row = published("PSort(1,-,1)")
    assert table1.figures(table1.explored(row, exploiting=False)) == row.ignoring
    assert table1.figures(table1.explored(row, exploiting=True)) == row.exploiting


@pytest.mark.slow
def test_pipeline_sort_with_two_actors_is_exact_in_every_column() -> None:
    row = published("PSort(1,-,2)")
    assert table1.figures(table1.explored(row, exploiting=False)) == row.ignoring
    assert table1.figures(table1.explored(row, exploiting=True)) == row.exploiting


AS_COUNTED_THERE = ["RSim(1,-,1)", "RSim(2,-,1)", "RSim(2,-,2)", "Mail(2,4,2)", "Mail(2,5,2)", "Mail(2,5,3)"]


@pytest.mark.parametrize(
    "name",
    [
        *AS_COUNTED_THERE,
        pytest.param("Mail(3,4,2)", marks=pytest.mark.slow),
        pytest.param("DHT(1,4,1)", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("exploiting", [False, True])
def test_rows_that_are_counted_otherwise(name: str, exploiting: bool) -> None:
    """Exact in every column by the conventions of benchmarks/counted.py."""
    row = published(name)
    found = table1.figures(table1.explored(row, exploiting))
    assert found == (row.exploiting if exploiting else row.ignoring)


@pytest.mark.parametrize("exploiting", [False, True])
def test_the_registration_simulator_as_it_is_counted_here(exploiting: bool) -> None:
    """Tests, states and the number of cuts; which bound cut differs where both would."""
    row = published("RSim(2,-,2)")
    wanted = row.exploiting if exploiting else row.ignoring
    found = table1.figures(table1.explored(row, exploiting, without="loops"))
    assert (found[:2], sum(found[2:])) == (wanted[:2], sum(wanted[2:]))


@pytest.mark.parametrize("name", ["QSort(2,-,1)", "QSort(3,-,1)", "QSort(2,-,2)"])
def test_the_tests_of_quicksort(name: str) -> None:
    row = published(name)
    assert table1.explored(row, exploiting=False).tests == row.ignoring[0]


def test_both_modes_of_quicksort_agree() -> None:
    row = published("QSort(2,-,1)")
    ignoring, exploiting = (table1.figures(table1.explored(row, mode)) for mode in (False, True))
    assert ignoring == exploiting
