"""A campaign that was stopped goes on where it was: what it had done is not done again, and the end is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli import shop
from tests.workforce import LocalCluster, at_task
from tests.workforce import cluster as cluster
from treadle.core.saved import SavedCampaign
from treadle.doors.actor import generated
from treadle.doors.explore import campaign
from treadle.search import cluster as cluster_pool
from treadle.search.workers import WorkerPool

BELL = """

class Bell:
    def __init__(self) -> None:
        self.rung = 0

    def times(self) -> int:
        return self.rung
"""

Door = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Door:
    shop.make(tmp_path, monkeypatch, BELL)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(campaign, "_ALONE", 0.0)
    monkeypatch.setattr(generated, "_FIRST", 0.0)
    monkeypatch.setattr(cluster_pool, "SHARE_HERE", 0.0)

    return lambda *words: shop.run(words, capsys)


def stopped_at(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """Ctrl-C when so many tasks have been given; the numbers of all tasks, which goes on afterwards."""

    def stop(worker: Any) -> None:
        raise KeyboardInterrupt

    return at_task(monkeypatch, WorkerPool, most, stop)


EXPLORE = ("explore", "test_threads.py::test_three_threads", "--strategy", "dpor")


@pytest.mark.slow
def test_explore_goes_on_after_ctrl_c(door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, alone, _ = door(*EXPLORE)
    stopped_at(monkeypatch, 60)
    code, cut, _ = door(*EXPLORE, "--workers", "2")
    assert (code, cut["verdict"], cut["cut_by"]) == (3, "CUT", "interrupted")
    assert cut["reason"].endswith("not a pass; --resume goes on from here")
    assert 0 < cut["executions"] < alone["executions"]
    code, whole, _ = door(*EXPLORE, "--workers", "2", "--resume")
    assert whole["statistics"]["resumed"] == cut["executions"]
    assert (code, whole["verdict"], whole["executions"]) == (0, "PASSED-EXHAUSTIVE", alone["executions"])
    assert not list((tmp_path / ".treadle" / "campaigns").glob("explore-*"))


@pytest.mark.slow
def test_explore_goes_on_after_the_scheduler_went_away(
    door: Door, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_pool, "SHARE_ELSEWHERE", 0.0)
    cluster.goes_away(monkeypatch, 40)
    code, cut, _ = door(*EXPLORE, "--cluster", cluster.address)
    assert (code, cut["verdict"], cut["cut_by"]) == (3, "CUT", "workers")
    assert cut["reason"].startswith("the cluster has gone (")
    code, whole, _ = door(*EXPLORE, "--workers", "2", "--resume")
    assert (code, whole["verdict"]) == (0, "PASSED-EXHAUSTIVE")
    assert whole["statistics"]["resumed"] == cut["executions"] > 0


@pytest.mark.slow
def test_code_that_has_changed_is_not_gone_on_with(door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stopped_at(monkeypatch, 6)
    door(*EXPLORE, "--workers", "2")
    changed = tmp_path / "test_threads.py"
    changed.write_text(changed.read_text().replace("balance <= 4", "balance <= 3"))
    code, whole, _ = door(*EXPLORE, "--workers", "2", "--resume")
    assert (code, whole["verdict"]) == (1, "FAILED")
    assert whole["statistics"]["resumed"] == 0
    assert [one["kind"] for one in whole["warnings"]] == ["nothing to resume"]


@pytest.mark.slow
def test_actor_goes_on_where_it_was_and_ends_the_same(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("actor", "factorial.abs:Fact.ft", "--tasks", "4")
    _, alone, _ = door(*words)
    stopped_at(monkeypatch, 3)
    code, cut, _ = door(*words, "--workers", "2")
    assert (code, cut["stopped"]) == (3, "stopped by the user")
    assert 0 < cut["states"] < alone["states"]
    _, whole, _ = door(*words, "--resume")
    assert {**whole, "seconds": 0} == {**alone, "seconds": 0}
    code, _, said = door(*words, "--resume")
    assert code == 2
    assert "there is nothing to go on with" in said


@pytest.mark.slow
def test_schedule_runs_nothing_twice_that_passed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("schedule", "test_actors.py::test_pipeline")
    _, alone, _ = door(*words, "--executions", "30")
    _, cut, _ = door(*words, "--executions", "8", "--workers", "2")
    assert cut["reason"].endswith("--resume goes on from here")
    _, whole, _ = door(*words, "--executions", "30", "--resume")
    assert whole["executions"] == 30
    for facts in (alone, whole):
        del facts["seconds"], facts["reason"]
    assert whole == alone


@pytest.mark.slow
def test_classes_that_are_done_are_not_done_again(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    given = stopped_at(monkeypatch, 3)
    door("class", "shop", "--workers", "2", "--output", "written")
    assert len(given) == 3
    _, whole, _ = door("class", "shop", "--workers", "2", "--output", "written", "--resume", "--force")
    assert len(given) < 6
    assert {one["target"] for one in whole["classes"]} == {"shop:Till", "shop:Sign", "shop:Bell"}


def test_what_somebody_else_wrote_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    saved = SavedCampaign("explore", "what")
    file = tmp_path / "code.py"
    file.write_text("1")
    assert saved.save([1, 2], [file])
    assert saved.load() == [1, 2]
    [entry] = (tmp_path / ".treadle" / "campaigns").iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert saved.load() is None
    entry.write_bytes(content)
    file.write_text("2")
    assert saved.load() is None
