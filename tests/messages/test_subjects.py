"""The programs of the benchmark: every bug is found within a few schedules, no twin raises an alarm."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from treadle.doors.schedule.campaign import check_schedules

SMALL = ("barber", "messenger", "process_registry", "bank", "cache", "two_phase_commit")
LARGE = ("load_generator", "redis_client", "graph_engine")


def subject(name: str) -> Any:
    return importlib.import_module(f"benchmarks.subjects.actors.{name}")


BUGS = [(name, bug) for name in (*SMALL, *LARGE) for bug in subject(name).BUGS]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_a_known_bug_is_found_within_ten_schedules(name: str, bug: str) -> None:
    module = subject(name)
    result = check_schedules(lambda: module.run(bug), source=module.run, executions=11, delivery="promised")
    assert result.failed


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_no_alarm_on_a_corrected_twin(name: str) -> None:
    module = subject(name)
    result = check_schedules(lambda: module.run(""), source=module.run, executions=60)
    assert not result.findings
    assert result.infeasible == 0
