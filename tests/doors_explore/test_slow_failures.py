"""What is told of a failure before which no schedule passed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from treadle.doors.explore import failing
from treadle.search.few_preemptions import FewPreemptions
from treadle.search.random_walk import RandomWalk


class _Slow:
    """A loom whose executions all fail, and take three seconds each."""

    seed = 0

    def __init__(self) -> None:
        self.now, self.runs = 0.0, 0
        self.watch = SimpleNamespace(deadline=None)

    def run(self, walk: Any) -> Any:
        self.now += 3.0
        self.runs += 1
        late = self.watch.deadline is not None and self.now >= self.watch.deadline
        return SimpleNamespace(stop_reason="seconds" if late else "", trace=[], coasted_from=-1)

    def judge(self, run: Any) -> list[str]:
        return ["it fails"]


@pytest.mark.parametrize(("search_ends", "enough", "runs"), [(None, True, 4), (60.0, True, 4), (4.0, False, 2)])
def test_slow_executions_have_the_time_to_show_that_none_passes_as_long_as_the_search_has(
    search_ends: float | None, enough: bool, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loom: Any = _Slow()
    monkeypatch.setattr(failing, "time", SimpleNamespace(monotonic=lambda: loom.now))
    for kind in (RandomWalk, FewPreemptions):
        monkeypatch.setattr(kind, "end", lambda walk, run: None)
    assert failing.no_drawn_one_passes(loom, search_ends) is enough
    assert loom.runs == runs
