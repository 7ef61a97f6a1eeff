"""`auto` draws schedules beside its systematic search: sooner to a failure, and no pass or count changes by it."""

from __future__ import annotations

import threading

import pytest

import treadle
from treadle import Verdict
from treadle.threads.loom import Loom


class Box:
    def __init__(self) -> None:
        self.first = 0
        self.noise = 0


def _run(*bodies: object) -> None:
    threads = [threading.Thread(target=body) for body in bodies]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def an_update_is_lost_at_the_beginning() -> None:
    box = Box()

    def noise() -> None:
        for _ in range(3):
            box.noise += 1

    def work() -> None:
        seen = box.first
        box.first = seen + 1
        noise()

    _run(work, work, noise)
    assert box.first == 2


def three_increments_each() -> None:
    box = Box()

    def work() -> None:
        for _ in range(3):
            box.noise += 1

    _run(work, work)


def test_a_failure_that_the_systematic_search_comes_to_last_is_drawn() -> None:
    assert treadle.check(an_update_is_lost_at_the_beginning, strategy="dpor", executions=100).verdict.name == "CUT"
    found = treadle.check(an_update_is_lost_at_the_beginning, executions=100)
    assert found.verdict.name == "FAILED"
    assert found.executions <= 100


def test_a_pass_counts_its_classes_and_not_what_was_drawn() -> None:
    result = treadle.check(three_increments_each)
    assert (result.verdict.name, result.executions) == ("PASSED_EXHAUSTIVE", 328)
    assert int(result.statistics["total_runs"]) > 328 + int(result.statistics["checked"]) + 30


def test_what_is_drawn_does_not_spend_a_budget_of_executions() -> None:
    assert treadle.check(three_increments_each, executions=329).verdict.name == "PASSED_EXHAUSTIVE"
    cut = treadle.check(three_increments_each, executions=200)
    assert (cut.verdict.name, cut.executions) == ("CUT", 200)


def test_a_search_without_an_execution_that_counts_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loom, "possible", lambda self, run: False)
    result = treadle.check(lambda: None)
    assert (result.verdict, result.executions) == (Verdict.CUT, 0)
    assert result.reason.startswith("none of the executions that were begun counts")
