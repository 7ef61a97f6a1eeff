"""Results: what machines read of a failure, and what stays inside."""

from __future__ import annotations

import json

from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict


def result(verdict: Verdict, *findings: Finding) -> Result:
    return Result("test_bank.py", verdict, 3, False, "dpor", 0.1, list(findings))


def test_only_a_failure_has_failed() -> None:
    assert [verdict for verdict in Verdict if result(verdict).failed] == [Verdict.FAILED]


def test_a_finding_in_json_can_be_replayed_and_holds_no_exception() -> None:
    steps = [Step("thread-1", "reads", "balance", "bank.py", 7, "pay")]
    found = Finding("assertion", "1 != 2", "t1:abc", exception=AssertionError("1 != 2"), steps=steps)
    told = json.loads(json.dumps(result(Verdict.FAILED, found).to_json()))["findings"][0]
    assert (told["kind"], told["replay"]) == ("assertion", "t1:abc")
    assert told["operations"][0]["line"] == 7
    assert "exception" not in told
