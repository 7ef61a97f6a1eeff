"""The bundled actor examples: the bug is found, the corrected twin passes every order."""

from __future__ import annotations

import treadle
from treadle.core.result import Verdict
from treadle.doors.schedule.campaign import check_schedules
from treadle.examples.actors import early_message


def test_the_bug_is_found_in_two_executions() -> None:
    result = check_schedules(early_message.test_early_message)
    assert result.verdict is Verdict.FAILED
    assert result.executions == 2


def test_the_corrected_twin_passes() -> None:
    assert treadle.check(early_message.test_kept_message).verdict is Verdict.PASSED_EXHAUSTIVE
    assert check_schedules(early_message.test_kept_message).verdict is Verdict.PASSED_WITHIN_BOUNDS
