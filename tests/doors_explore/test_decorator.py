"""What a test that explores itself raises."""

from __future__ import annotations

import pytest

from treadle.core.errors import AskNeverAnsweredError, DeadlockError, LeakedActorsError, LivelockError, TreadleError
from treadle.core.result import Finding, Result
from treadle.core.verdict import Verdict
from treadle.doors.explore.decorator import raise_for
from treadle.pytest_plugin.exploring import failure


def result(finding: Finding) -> Result:
    return Result("t.py::test_x", Verdict.FAILED, 1, False, "dpor", 0.0, [finding])


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("deadlock", DeadlockError),
        ("livelock", LivelockError),
        ("ask never answered", AskNeverAnsweredError),
        ("leaked actors", LeakedActorsError),
    ],
)
def test_the_exception_is_that_of_the_finding(kind: str, error: type[TreadleError]) -> None:
    finding = Finding(kind, "main waits", replay="tr1:x")
    with pytest.raises(TreadleError) as raised:
        raise_for(result(finding))
    assert raised.type is error
    assert type(failure(finding)) is error
    assert "treadle replay 'tr1:x'" in raised.value.__notes__[0]
