"""One race is one fault, with all its effects; and what is no fault."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.classes.drive import PROGRAMS, campaign, subject
from tests.classes.test_command import treadle
from treadle.classes.calls import MethodCall
from treadle.classes.interleavings import Witness
from treadle.classes.linearizability import Outcome, Violation
from treadle.classes.pools import Pools
from treadle.classes.races import one_race_one_fault
from treadle.classes.result import ClassResult, Fault
from treadle.classes.stage import Test
from treadle.core.verdict import Verdict
from treadle.doors.class_ import findings, work_clock


def found(kind: str, message: str, *race: str) -> Fault:
    test = Test(MethodCall("constructor", "A()"), (), ((), ()))
    witness = Witness(test, Violation(kind, message), Outcome(()), [], [])
    return Fault(kind, message, ["get", "put"], [], witness, race=frozenset(race))


def test_findings_that_share_an_unprotected_function_are_one_fault_the_gravest_first() -> None:
    wrong, lost = found("linearizability", "wrong", "get"), found("linearizability", "lost", "set", "get")
    raises, other = found("exception", "raises", "get", "pop"), found("exception", "apart", "close")
    result = ClassResult("A", Verdict.FAILED, faults=[wrong, other, lost, raises])
    one_race_one_fault(result)
    assert [fault.what for fault in result.faults] == ["raises", "apart"]
    assert [effect.what for effect in result.faults[0].effects] == ["wrong", "lost"]
    assert result.reason == "2 faults, each with a schedule that was run again"


def test_a_warning_of_the_same_race_is_the_last_of_its_effects() -> None:
    result = ClassResult("A", Verdict.FAILED, faults=[found("linearizability", "wrong", "get")])
    result.warnings = [found("serializability", "hits", "get"), found("serializability", "far", "len")]
    one_race_one_fault(result)
    assert [effect.what for effect in result.faults[0].effects] == ["hits"]
    assert [warning.what for warning in result.warnings] == ["far"]


@pytest.mark.slow
def test_the_cache_is_one_fault_with_its_exceptions_the_second_del_and_the_lost_hit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work_clock, "_AFTER_FAULT", 8.0)
    monkeypatch.setattr(findings, "_MINIMISE", 0.3)
    monkeypatch.setattr(findings, "_MINIMISE_MORE", 0.3)
    result = campaign("class_lru:LRUCache", calls=1)
    one_race_one_fault(result)
    (fault,) = result.faults
    told = "\n".join(effect.message for effect in (fault, *fault.effects))
    assert fault.kind == "exception"
    assert "get || put" in told or "put || get" in told
    assert "(class_lru.py:31)" in told  # move_to_end of an entry that `put` has dropped
    assert "(class_lru.py:29)" in told  # the second `del` of an entry that has expired
    assert "hits == 1" in told


def test_a_refusal_that_changes_nothing_is_no_fault() -> None:
    result = campaign("class_lru:Slots", methods=("take",), calls=1)
    assert not result.faults
    assert "the call is refused, and the object is as if it had not been made" in result.warnings[0].message


def test_what_the_documentation_calls_approximate_is_not_compared() -> None:
    result = campaign("class_lru:Sharded", calls=1)
    assert not result.faults
    assert "the documentation calls them approximate: total" in " ".join(result.notes)


def test_a_parameter_whose_default_is_a_class_is_given_that_class_or_its_heirs() -> None:
    chosen = subject("class_lru:Chosen")
    parameter = chosen.constructors[0].parameters[0]
    assert {value.source for value in Pools(chosen, {}).of(parameter)} <= {"OrderedDict"}


def test_a_method_that_changes_the_object_and_was_never_called_is_named_and_keeps_it_from_passing() -> None:
    result = campaign("class_lru:Chosen", calls=1)
    assert result.verdict is Verdict.CUT
    assert result.reason == "load was never called: not a pass"
    assert "every value tried is refused" in result.not_called["load"]
    assert "AttributeError" in result.not_called["load"]


def test_a_pass_names_its_pairs() -> None:
    result = campaign("class_lru:Chosen", calls=1, skip=("load",))
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert "(put || put, put || size, size || size)" in result.reason
    assert result.not_called == {"load": "--skip names it"}


def test_preparing_ends_with_the_budget() -> None:
    result = campaign("class_lru:LRUCache", budget=1e-9)
    assert result.verdict is Verdict.CUT
    assert "the budget of 1e-09 s ran out first" in result.reason
    assert set(result.not_called.values()) == {"the budget ran out first"}


@pytest.mark.slow
def test_what_the_class_prints_is_not_in_the_json(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "class_lru.py", tmp_path)
    done = treadle(tmp_path, "class", "class_lru:Noisy", "--budget", "600s", "--json")
    assert json.loads(done.stdout)["verdict"] == "FAILED", done.stderr


def test_the_random_baseline_reports_the_same_coverage() -> None:
    result = campaign("class_lru:Noisy", calls=1, generator="random", budget=2.0)
    assert result.traces == 1
    assert result.tests_assembled == result.pairs
    assert result.requirements >= result.requirements_covered > 0
    assert result.to_json()["coverage"]["growth"][-1]["traces"] == 1
