"""Actors that never come to an end: told, and never a pass."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from treadle.core.result import Verdict
from treadle.doors.explore.messages import granularity_of
from treadle.doors.schedule.campaign import check_schedules
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.loom import MessageLoom

endless: Any = import_module("tests.programs.actors.endless")


@pytest.mark.slow
@pytest.mark.parametrize(
    "test", [endless.test_a_handler_that_never_ends, endless.test_a_handler_that_never_ends_with_an_actor_beside_it]
)
def test_a_handler_that_never_ends_is_a_failure_although_pykka_catches_everything(test: Any) -> None:
    follow = FollowSchedule()
    follow.begin()
    with MessageLoom(test, patience=1.0) as loom:
        (finding,) = loom.judge(loom.run(follow))
    assert finding.kind == "handler never ends"
    assert finding.message.startswith("Forever handling go from main does not end")
    assert finding.message.endswith("in Forever.on_receive)")


@pytest.mark.slow
def test_messages_without_end_end_by_seconds() -> None:
    result = check_schedules(endless.test_messages_without_end, seconds=1)
    assert result.verdict is Verdict.CUT
    assert result.reason.startswith("time ran out inside an execution")


@pytest.mark.slow
def test_looking_for_actors_ends_by_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[str] = []
    end_all = MessageExecution._end_all

    def ending(run: MessageExecution) -> None:
        ends.append(run.stop_reason)
        end_all(run)

    monkeypatch.setattr(MessageExecution, "_end_all", ending)
    granularity_of(endless.test_messages_without_end, None, None, (), 0, seconds=0.5)
    assert ends == ["seconds"]
