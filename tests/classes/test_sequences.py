"""The call sequence generator: what is better, what is redundant, and what the prunings save without losing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.classes.drive import always, subject
from treadle.classes import choosing
from treadle.classes.assembler import Assembler
from treadle.classes.coverage import Event, folded
from treadle.classes.pools import Pools
from treadle.classes.sequences import PRUNINGS, Automaton, Delta, SequenceGenerator, prunings
from treadle.classes.stage import Stage
from treadle.core.errors import UsageError

TARGET = "benchmarks.subjects.classes.number_axis:NumberAxis"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(subject(TARGET)) as made:
        yield made


def generator(stage: Stage, *prune: str, level: int = 2) -> SequenceGenerator:
    pools = Pools(stage.subject, {})
    root = choosing.roots(stage, pools, always)[0]
    calls, _ = choosing.candidate_calls(stage, pools, root, stage.subject.methods, always)
    automaton = Automaton(stage, root)
    automaton.start()
    return SequenceGenerator(automaton, list(calls), frozenset(prune), level, longest=6)


def test_better_means_more_new_traces_or_as_many_by_fewer_calls(stage: Stage) -> None:
    trace = (("enter", "m", "", 0),)
    longer = Delta(calls=(None, None), improvement=frozenset({trace}))  # type: ignore[arg-type]
    shorter = Delta(calls=(None,), improvement=frozenset({trace}))  # type: ignore[arg-type]
    assert shorter.better_than(longer)
    assert not longer.better_than(shorter)
    assert longer.better_than(Delta())


def test_the_prunings_lose_nothing_here_and_save_a_lot(stage: Stage) -> None:
    pruned, plain = generator(stage, *PRUNINGS), generator(stage, "D1")
    best = pruned.generate(set(), always)
    reference = plain.generate(set(), always)
    assert best is not None
    assert reference is not None
    assert best.improvement == reference.improvement
    assert pruned.extensions * 10 < plain.extensions


@pytest.mark.parametrize("pruning", ["D2", "D3", "B1"])
def test_each_pruning_is_used_and_can_be_switched_off(stage: Stage, pruning: str) -> None:
    used, unused = generator(stage, *PRUNINGS), generator(stage, *(set(PRUNINGS) - {pruning}))
    used.generate(set(), always)
    unused.generate(set(), always)
    assert used.pruned[pruning] > 0
    assert unused.pruned[pruning] == 0


def test_nothing_new_is_no_sequence(stage: Stage) -> None:
    first = generator(stage, *PRUNINGS)
    best = first.generate(set(), always)
    assert best is not None
    assert first.generate(set(best.traces), always) is None


def test_a_call_is_executed_once_per_state(stage: Stage) -> None:
    made = generator(stage, *PRUNINGS)
    made.generate(set(), always)
    executed = made.automaton.executed
    made.generate(set(), always)
    assert made.automaton.executed == executed


def test_a_loop_counts_as_once_twice_or_many() -> None:
    one: Event = ("reads", "list", "x.py", 3)
    two: Event = ("writes", "list", "x.py", 4)
    assert folded([one, two] * 2) != folded([one, two])
    assert folded([one, two] * 3) == folded([one, two] * 9) == [one, two] * 2


def test_prunings_by_name() -> None:
    assert prunings("all", UsageError) == frozenset(PRUNINGS)
    assert prunings("none", UsageError) == {"D1"}
    assert prunings("d2, B1", UsageError) == {"D2", "B1"}


def test_each_call_is_run_twice_on_a_fresh_object_and_after_itself(stage: Stage) -> None:
    found = generator(stage)
    [call, *_] = [
        call
        for call in found.calls
        if found.automaton.step(Delta(states=(found.automaton.initial,)), call).state != found.automaton.initial
    ]
    assembler = Assembler(found.automaton, siblings={call.method: [call]})
    assert {pair.alpha for pair in assembler.fresh(frozenset({call.method}))} == {(), (call,)}
