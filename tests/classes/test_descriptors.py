"""A descriptor is judged through a class that is written to use it."""

from __future__ import annotations

import sys

import pytest

from tests.classes.drive import campaign, subject
from treadle.core.result import Verdict
from treadle.doors.class_ import work_clock


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the lock of cached_property is gone since 3.12")
def test_two_cached_properties_that_ask_each_other_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_clock, "_AFTER_FAULT", 0.0)
    result = campaign("functools:cached_property")
    fault = result.faults[0]
    assert fault.kind == "deadlock"
    assert str(fault.witness.test) == "sout.first || sout.second"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="until 3.11 cached_property has a lock, and deadlocks")
def test_cached_property_without_its_lock_has_no_fault() -> None:
    assert campaign("functools:cached_property").verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_a_descriptor_of_values_is_shared_by_the_objects_of_its_client() -> None:
    result = campaign("class_descriptors:Counted")
    assert result.faults[0].message.startswith("first || first: no order of the calls gives sout.first -> 1 and")


def test_what_else_a_descriptor_offers_is_called_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_clock, "_AFTER_FAULT", 0.0)
    result = campaign("class_descriptors:Lazy")
    assert "IndexError" in result.faults[0].message
    assert "sout.descriptors[0].expire()" in str(result.faults[0].witness.test)


def test_a_guarded_field_passes() -> None:
    result = campaign("class_descriptors:Guarded", methods=("first", "first=", "second"))
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.exhausted_pairs == result.pairs > 0


def test_the_report_says_that_a_client_was_written() -> None:
    notes = subject("class_descriptors:Counted").notes
    assert "Counted is a descriptor: judged through a class written to use it" in notes
