"""Every door with --workers, and with --cluster --ship: one process finds the same, although a worker dies midway."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli import shop
from tests.workforce import LocalCluster, at_task
from tests.workforce import cluster as cluster
from treadle.doors.actor import generated
from treadle.doors.explore import campaign
from treadle.doors.schedule import ahead
from treadle.search import cluster as cluster_pool
from treadle.search.workers import WorkerPool

DOORS = {
    "explore": ("test_threads.py::test_three_threads", "--strategy", "dpor"),
    "unit": ("shop:price", "shop:change", "--no-probe"),
    "class": ("shop:Till",),
    "hunt": ("shop",),
    "schedule": ("test_actors.py::test_pipeline", "--executions", "40"),
    "actor": ("factorial.abs:Fact.ft", "--tasks", "3"),
}
# Commands that write tests: everybody a file of their own, that is compared.
WRITING = ("unit", "class", "hunt")
# What may differ: time, how a schedule to the same fault goes, and the tests of a class that one share did not come to
# because another had found a fault.
FREE = {"seconds", "first_fault_seconds", "statistics", "evidence", "tests_assembled", "growth", "schedule", "replay"}
FREE |= {"interleavings_tried", "executions_run", "saturated_after", "work"}

Door = Callable[..., Any]


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Door:
    """Runs a command here, in a project with something for every door; work is handed over at once, in small pieces."""
    shop.make(tmp_path, monkeypatch)
    monkeypatch.setattr(campaign, "_ALONE", 0.0)
    monkeypatch.setattr(ahead, "_ALONE", 0.0)
    monkeypatch.setattr(generated, "_FIRST", 0.02)
    monkeypatch.setattr(cluster_pool, "SHARE_HERE", 0.03)
    monkeypatch.setattr(cluster_pool, "SHARE_ELSEWHERE", 0.03)

    def run(*words: str) -> Any:
        code, told, err = shop.run(words, capsys)
        assert code in (0, 1), err
        return fixed(told)

    return run


def fixed(told: Any) -> Any:
    """What must be the same, however many worked on it."""
    if isinstance(told, dict):
        return {name: fixed(value) for name, value in told.items() if name not in FREE}
    return [fixed(one) for one in told] if isinstance(told, list) else told


def dies_midway(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Both processes of --workers are there from the start, and one is killed when the second task is given."""
    made = WorkerPool.__enter__

    def enter(pool: WorkerPool) -> WorkerPool:
        while len(pool.ready) < pool.size:
            assert not list(pool.news(0.1))
        return made(pool)

    monkeypatch.setattr(WorkerPool, "__enter__", enter)
    return at_task(monkeypatch, WorkerPool, 2, lambda worker: os.killpg(worker.pid, signal.SIGKILL))


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
def test_the_same_comes_out_although_a_worker_dies(
    name: str, door: Door, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*more: str) -> Any:
        place = tmp_path / ("test_it.py" if name == "unit" else "written")
        found = door(name, *DOORS[name], *more, *(("--output", place.name) if name in WRITING else ()))
        files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place] if place.is_file() else []
        texts = {file.name: [x for x in file.read_text().splitlines() if "assert" in x] for file in files}
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(tmp_path / ".treadle", ignore_errors=True)
        place.unlink(missing_ok=True)
        return found, texts

    alone = told()
    given = dies_midway(monkeypatch)
    assert told("--workers", "2") == alone
    assert len(given) >= 2
    given = cluster.dies_midway(monkeypatch)
    assert told("--cluster", cluster.address, "--ship") == alone
    assert len(given) >= 2
