"""The story of the paper's motivating example (sections 3 and 4, figures 4 and 9)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from tests.classes.drive import always, campaign, subject
from treadle.classes.calls import Argument, MethodCall, Value
from treadle.classes.coverage import Trace, trace_of
from treadle.classes.interleavings import Drive, InterleavingExplorer, plan_of
from treadle.classes.serializability import problematic
from treadle.classes.stage import Stage, Test
from treadle.core.result import Verdict

TARGET = "benchmarks.subjects.classes.motivating:CUT"
ROOT = MethodCall("constructor", "CUT()", needs=("from benchmarks.subjects.classes.motivating import CUT",))


def call(method: str, *values: str) -> MethodCall:
    return MethodCall(method, f"{{sout}}.{method}({{args}})", tuple(Argument(Value(value)) for value in values))


DELTA_1 = (call("m5"), call("m2", "0"), call("m7"), call("m1", "1"))
DELTA_2 = (call("m3", "10"), call("m7"), call("m5"))
DELTA_3 = (call("m7"), call("m5"), call("m3", "10"))


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(subject(TARGET)) as made:
        yield made


def accesses() -> dict[str, int]:
    """a1 to a9: their lines."""
    lines = inspect.getsource(importlib.import_module(TARGET.partition(":")[0])).splitlines()
    return {f"a{n}": next(i for i, line in enumerate(lines, 1) if line.endswith(f"# a{n}")) for n in range(1, 10)}


def coverage(stage: Stage, delta: tuple[MethodCall, ...]) -> list[Trace]:
    runs = (stage.run_sequence(ROOT, delta[: number + 1]).calls[-1] for number in range(len(delta)))
    return [trace_of(one.method, ran.steps) for one, ran in zip(delta, runs, strict=True)]


def labels(trace: Trace) -> list[str]:
    """A trace as the paper writes it: accesses and locks."""
    names = {line: name for name, line in accesses().items()}
    found = []
    for event in trace:
        if event[0] in ("acquires", "releases"):
            found.append("l1" if event[0] == "acquires" else "l2")
        elif event[3] in names:
            found.append(names[event[3]])
    return found


def test_the_first_sequence(stage: Stage) -> None:
    traces = coverage(stage, DELTA_1)
    assert [labels(trace) for trace in traces] == [
        ["a6", "a7"],
        ["l1", "a2", "l2"],
        ["l1", "a8", "a9", "l2"],
        ["l1", "a1", "l2"],
    ]
    assert len(set(traces)) == 4


def test_in_the_second_m5_makes_one_more_access(stage: Stage) -> None:
    first, second = coverage(stage, DELTA_1), coverage(stage, DELTA_2)
    assert labels(second[2]) == ["a6", "a7", "a7"]
    assert labels(second[0]) == ["a3", "l1", "a4", "a5", "l2"]
    assert set(second) - set(first) == {second[0], second[2]}


def test_in_the_third_m3_runs_without_the_lock(stage: Stage) -> None:
    known = set(coverage(stage, DELTA_1)) | set(coverage(stage, DELTA_2))
    third = coverage(stage, DELTA_3)
    assert labels(third[2]) == ["a3", "a4", "a5"]
    assert set(third) - known == {third[2]}


def pair(alpha: tuple[MethodCall, ...], one: MethodCall, other: MethodCall) -> Test:
    return Test(ROOT, alpha, ((one,), (other,)))


def predicted(stage: Stage, test: Test) -> set[tuple[str, ...]]:
    """The problematic interleavings of a test, as the paper writes them."""
    explorer = InterleavingExplorer(stage)
    first, second = explorer.solo(test)
    lines = {line: name for name, line in accesses().items()}
    named: list[list[str]] = []
    for calls in test.threads:
        made = stage.run_sequence(ROOT, (*test.alpha, *calls))
        named.append([lines.get(step.line, "?") for step in made.calls[-1].steps])
    return {
        tuple(named[thread][place] for thread, place in interleaving.order)
        for interleaving in problematic(first, second)
    }


def test_a7_a3_a7_is_predicted_and_is_a_fault(stage: Stage) -> None:
    test = pair((call("m7"), call("m5")), call("m5"), call("m3", "10"))
    assert ("a7", "a3", "a7") in predicted(stage, test)
    explored = InterleavingExplorer(stage).explore(test, 500, always)
    assert [one.violation.kind for one in explored.witnesses] == ["linearizability"]


def test_a4_a1_a5_shows_only_without_the_lock(stage: Stage) -> None:
    """t_D shows it; t_B reaches a4 and a5 under the lock, where a1 cannot come."""
    with_lock = pair((), call("m3", "10"), call("m1", "1"))
    without = pair((call("m7"), call("m5")), call("m3", "10"), call("m1", "5"))
    assert ("a4", "a1", "a5") not in predicted(stage, with_lock)
    assert ("a4", "a1", "a5") in predicted(stage, without)
    explorer = InterleavingExplorer(stage)
    t_b = explorer.explore(with_lock, 500, always)
    t_d = explorer.explore(without, 500, always)
    assert t_b.exhausted
    assert t_b.witnesses == []
    assert [one.violation.kind for one in t_d.witnesses] == ["linearizability"]


def test_a8_a2_a9_is_infeasible_under_the_lock(stage: Stage) -> None:
    test = pair((), call("m7"), call("m2", "5"))
    assert predicted(stage, test) == set()
    explored = InterleavingExplorer(stage).explore(test, 500, always)
    assert explored.exhausted
    assert explored.witnesses == []


def test_the_interference_of_figure_9(stage: Stage) -> None:
    """delta_1 sets y back before delta_3's m5 reads it: z stays 0, and m3 takes the path with the lock."""
    disturbed = (call("m7"), call("m2", "0"), call("m5"), call("m3", "10"))
    assert labels(coverage(stage, disturbed)[3]) == ["a3", "l1", "a4", "a5", "l2"]
    # so the two calls are run from the state that delta_3 alone had reached, and the interleaving comes about
    test = pair(DELTA_3[:2], DELTA_3[2], call("m1", "5"))
    explorer = InterleavingExplorer(stage)
    first, second = explorer.solo(test)
    reached = []
    for interleaving in problematic(first, second):
        drive = Drive(stage, plan_of(interleaving))
        stage.run_test(test, drive)
        reached.append(drive.reached)
    assert reached
    assert all(reached)


@pytest.mark.slow
def test_a_campaign_finds_both_faults_and_none_in_the_fixed_class() -> None:
    found = {frozenset(fault.methods) for fault in campaign(TARGET).faults}
    assert frozenset({"m3", "m5"}) in found
    assert frozenset({"m4", "m1"}) in found or frozenset({"m3", "m1"}) in found
    fixed = campaign("benchmarks.subjects.classes.motivating:FixedCUT")
    assert fixed.faults == []
    assert fixed.verdict is Verdict.PASSED_WITHIN_BOUNDS
