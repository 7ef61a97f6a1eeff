"""Exit codes, which verdict is worse, and the exception for a finding: one place, one order."""

from __future__ import annotations

import itertools

import pytest

from treadle.core.errors import AskNeverAnsweredError, DeadlockError, LeakedActorsError, LivelockError, TreadleError
from treadle.core.verdict import Verdict, exception_for, exit_code_of, worst, worst_exit_code


def test_only_a_pass_exits_with_0() -> None:
    assert [verdict for verdict in Verdict if verdict.exit_code == 0] == [
        Verdict.PASSED_WITHIN_BOUNDS,
        Verdict.PASSED_EXHAUSTIVE,
    ]


def test_the_worst_of_two_verdicts_has_the_worst_of_their_codes() -> None:
    for one, other in itertools.product(Verdict, Verdict):
        assert worst([one, other]).exit_code == worst_exit_code([one.exit_code, other.exit_code])


def test_a_pass_beside_nothing_is_no_pass() -> None:
    assert worst([Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE]).exit_code == 3
    assert worst([]).exit_code == 3
    assert worst_exit_code([]) == 3


def test_a_failure_counts_whatever_else_happened() -> None:
    assert worst_exit_code([0, 3, 2, 70, 1]) == 1
    assert worst_exit_code([0, 3, 2]) == 2


def test_strict_fails_what_is_no_pass_also_beside_something_else_or_when_nothing_was_run() -> None:
    assert [worst_exit_code([code], strict=True) for code in (0, 1, 2, 3, 70)] == [0, 1, 2, 1, 70]
    assert worst_exit_code([3, 2], strict=True) == 1
    assert worst_exit_code([], strict=True) == 1


@pytest.mark.parametrize(
    ("met", "code"),
    [
        ({}, 0),
        ({"unfinished": True}, 3),
        ({"unfinished": True, "refused": True}, 2),
        ({"refused": True, "internal": True}, 70),
    ],
)
def test_what_a_command_met_gives_its_code_and_a_failure_comes_first(met: dict[str, bool], code: int) -> None:
    assert exit_code_of(failed=False, **met) == code
    assert exit_code_of(failed=True, **met) == 1


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("deadlock", DeadlockError),
        ("cycle of blocking gets", DeadlockError),
        ("livelock", LivelockError),
        ("ask never answered", AskNeverAnsweredError),
        ("leaked actors", LeakedActorsError),
    ],
)
def test_each_kind_of_finding_has_its_exception(kind: str, error: type[TreadleError]) -> None:
    assert type(exception_for(kind, "so it is")) is error


def test_an_unknown_kind_is_no_livelock() -> None:
    made = exception_for("shared object", "two actors use it")
    assert type(made) is TreadleError
    assert str(made) == "shared object: two actors use it"
