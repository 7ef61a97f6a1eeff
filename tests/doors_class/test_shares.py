"""Several processes for one class: what is not known of one share is not known of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.classes.drive import subject
from treadle.classes.result import ClassResult
from treadle.core.errors import UsageError
from treadle.core.verdict import Verdict
from treadle.doors.class_.workers import ShareServer, _merged
from treadle.search.workers import Died

TARGET = "class_bank:SafeAccount"


def part() -> ClassResult:
    return ClassResult(TARGET, Verdict.PASSED_WITHIN_BOUNDS, pairs=3, exhausted_pairs=3)


def test_the_whole_passes_when_every_share_does() -> None:
    assert _merged(subject(TARGET), [part(), part()], 2).verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_a_process_that_died_is_no_pass() -> None:
    whole = _merged(subject(TARGET), [part(), Died("signal 9")], 2)
    assert whole.verdict is Verdict.CUT
    assert whole.reason == "1 of 2 worker processes died, with their share of the tests: not a pass"


def test_no_process_that_answers_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"every worker process died \(signal 9\); run it without --workers"):
        _merged(subject(TARGET), [Died("signal 9")] * 2, 2)


def test_a_process_imports_what_may_have_effects_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "writes_when_imported.py").write_text(
        "import pathlib\n"
        f"pathlib.Path({str(tmp_path / 'written')!r}).write_text('')\n"
        "class Counter:\n    def count(self):\n        self.n = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="pass --allow-effects to let it"):
        ShareServer(("writes_when_imported:Counter", True), lambda *_: None)
    ShareServer(("writes_when_imported:Counter", False), lambda *_: None)
