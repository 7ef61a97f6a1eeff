"""A search by several processes ends as one by one does: on this machine, on a cluster, and when a worker dies."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.core.verdict import Verdict
from treadle.doors.explore import campaign, check, fleet, models
from treadle.search import cluster as cluster_pool
from treadle.search.cluster import pool_of

PROGRAM = """
import threading


class Account:
    def __init__(self):
        self.balance = 0


def in_threads(body, number=3):
    threads = [threading.Thread(target=body) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_passes():
    account = Account()

    def body():
        for _ in range(2):
            account.balance = account.balance + 1

    in_threads(body)
    assert account.balance <= 6


def test_fails():
    account = Account()

    def body():
        for _ in range(2):
            account.balance = account.balance + 1

    in_threads(body)
    assert account.balance > 2


def test_blocks():
    first, second = threading.Lock(), threading.Lock()
    tries = Account()

    def body():
        tries.balance = tries.balance + 1
        one, other = (first, second) if tries.balance % 2 else (second, first)
        with one, other:
            pass

    in_threads(body)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module with tests, in whose folder we are; searches are handed over at once, in small pieces."""
    (tmp_path / "test_shares.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(campaign, "_ALONE", 0.0)
    monkeypatch.setattr(cluster_pool, "SHARE_HERE", 0.1)
    monkeypatch.setattr(cluster_pool, "SHARE_ELSEWHERE", 0.1)
    yield importlib.import_module("test_shares")
    del sys.modules["test_shares"]


def search(project: Any, name: str, **options: Any) -> Result:
    return check.check(getattr(project, name), target=f"test_shares.py::{name}", **{"strategy": "dpor", **options})


def same(one: Result, other: Result) -> None:
    assert (one.verdict, one.exhaustive, one.executions) == (other.verdict, other.exhaustive, other.executions)
    assert [(f.kind, f.message) for f in one.findings] == [(f.kind, f.message) for f in other.findings]
    assert one.evidence is not None
    assert other.evidence is not None
    assert one.evidence.races == other.evidence.races


def killing(monkeypatch: pytest.MonkeyPatch, given: Callable[..., Any]) -> None:
    """One of the workers is killed soon after the start."""

    def pool(*args: Any) -> Any:
        made = given(*args)
        pid = made._workers[0].pid
        subprocess.Popen(["sh", "-c", f"sleep 2; kill -9 {pid}"])
        return made

    monkeypatch.setattr(models, "pool_of", pool)


@pytest.mark.slow
def test_the_same_pass_whoever_dies(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = search(project, "test_passes")
    assert alone.verdict is Verdict.PASSED_EXHAUSTIVE
    killing(monkeypatch, pool_of)
    together = search(project, "test_passes", workers=2)
    same(alone, together)
    assert together.statistics["checked"] >= together.executions // 5 - 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_fails", "test_blocks"])
@pytest.mark.parametrize("strategy", ["dpor", "random", "auto"])
def test_the_same_finding(project: Any, name: str, strategy: str) -> None:
    found = search(project, name, workers=2, strategy=strategy)
    assert found.failed
    alone = search(project, name, strategy=strategy)
    assert found.findings[0].kind == alone.findings[0].kind
    assert found.findings[0].explanation
    assert found.findings[0].replay


def test_what_cannot_be_split_is_told(project: Any) -> None:
    with pytest.raises(UsageError, match="strategy 'dfs' is not split"):
        search(project, "test_passes", workers=2, strategy="dfs")
    with pytest.raises(UsageError, match="ship sends the project to a cluster"):
        search(project, "test_passes", ship=True)


def test_a_test_that_workers_cannot_find_is_told(project: Any, tmp_path: Path) -> None:
    def closure() -> None:
        project.test_passes()

    with pytest.raises(UsageError, match="run it without workers"):
        check.check(closure, strategy="dpor", workers=2, source=project.test_passes, target="gone.py::test_gone")


# ---------------------------------------------------------------------- a cluster


@pytest.mark.slow
def test_no_scheduler_is_told_before_anything_runs(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    monkeypatch.setattr(project, "in_threads", lambda body: (tmp_path / "ran").write_text(""))
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127.0.0.1:1"):
        search(project, "test_passes", cluster="tcp://127.0.0.1:1")
    assert not os.path.exists(tmp_path / "ran")


@pytest.mark.slow
def test_a_pass_whose_check_had_no_time_is_cut(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(one: Any) -> str:
        return "seconds"

    usual = fleet.SharedCheck.run

    def run(self: fleet.SharedCheck) -> None:
        monkeypatch.setattr(fleet, "_over", late)
        usual(self)

    monkeypatch.setattr(fleet.SharedCheck, "run", run)
    assert search(project, "test_passes", workers=2).verdict is Verdict.CUT
