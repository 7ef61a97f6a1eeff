"""A campaign over a class finds the fault that is there, and none that is not."""

from __future__ import annotations

import pytest

from tests.classes.drive import campaign, kinds
from treadle.classes.result import Options
from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.doors.class_.test_source import write_test


def test_a_lost_update_is_found_by_the_first_assembled_test() -> None:
    result = campaign("class_bank:Account")
    assert result.verdict is Verdict.FAILED
    first = result.faults[0]
    assert first.kind == "linearizability"
    assert first.message == "deposit || deposit: no order of the calls gives balance == 1"
    assert first.found_in_test == 1
    assert [location.rpartition("/")[2] for location in first.locations] == ["class_bank.py:14"]


def test_a_fault_is_minimal() -> None:
    fault = campaign("class_bank:Account").faults[0]
    test = fault.witness.test
    assert test.alpha == ()
    assert [[str(call) for call in calls] for calls in test.threads] == [["sout.deposit(1)"], ["sout.deposit(1)"]]
    assert test.omega == test.later == ()
    assert test.fields == ("balance",)


def test_a_locked_class_passes_and_every_pair_is_exhausted() -> None:
    result = campaign("class_bank:SafeAccount")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.faults == result.warnings == []
    assert result.exhausted_pairs == result.pairs > 0


def test_two_locks_in_opposite_order_are_a_deadlock() -> None:
    assert kinds(campaign("class_bank:Pool")) == {"give || take": "deadlock"}


def test_a_check_and_an_act_that_do_not_go_together() -> None:
    result = campaign("class_bank:Once")
    assert (
        result.faults[0].message
        == "start || start: no order of the calls gives sout.start() -> True and sout.start() -> True"
    )


def test_the_class_s_own_invariant_is_an_oracle() -> None:
    assert kinds(campaign("class_bank:Ledger"))["book"] == "invariant"


@pytest.mark.parametrize(("name", "method"), [("Ledger", "invariant"), ("SealedLedger", "__invariant__")])
def test_the_test_of_a_broken_invariant_calls_the_method_that_the_class_has(name: str, method: str) -> None:
    result = campaign(f"class_bank:{name}", methods=("book",), calls=1)
    fault = next(one for one in result.faults if one.kind == "invariant")
    assert f".{method}() is not False" in write_test(result, fault, Options(), set()).source


def test_one_place_handed_out_twice() -> None:
    assert campaign("class_bank:Slots").verdict is Verdict.FAILED


def test_a_wrong_statistic_is_a_warning_at_most() -> None:
    assert campaign("class_bank:Statistics").verdict is Verdict.PASSED_WITHIN_BOUNDS


@pytest.mark.parametrize("name", ["Twice", "Guarded", "Taking", "Slotted"])
def test_a_count_that_is_all_there_is_is_no_statistic(name: str) -> None:
    result = campaign(f"class_counters:{name}", methods=("add",))
    assert [fault.message for fault in result.faults] == ["add || add: no order of the calls gives n == 1"]


def test_waiting_for_a_message_is_not_a_deadlock() -> None:
    assert campaign("class_bank:Mailbox").faults == []


def test_a_memo_filled_twice_has_no_visible_effect() -> None:
    assert campaign("class_bank:Cached").verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_an_immutable_class_leaves_nothing_to_explore() -> None:
    assert campaign("class_bank:Immutable").verdict is Verdict.NOTHING_TO_EXPLORE


def test_only_the_named_methods_are_judged() -> None:
    result = campaign("class_bank:Account", methods=("withdraw",))
    assert kinds(result) == {"withdraw": "linearizability"}


def test_a_skipped_method_is_not_called() -> None:
    result = campaign("class_bank:Account", skip=("deposit",))
    assert all("deposit" not in fault.methods for fault in result.faults)


def test_a_method_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="no method 'depsit'; did you mean 'deposit'"):
        campaign("class_bank:Account", methods=("depsit",))


def test_values_of_the_user_s_are_used() -> None:
    result = campaign("class_bank:Account", values={"amount": ["7"]})
    assert result.faults[0].message.endswith("balance == 7")


def test_a_campaign_is_deterministic() -> None:
    one, other = campaign("class_bank:Account"), campaign("class_bank:Account")
    assert [fault.message for fault in one.faults] == [fault.message for fault in other.faults]
    assert one.interleavings_tried == other.interleavings_tried


@pytest.mark.slow
def test_random_generation_finds_it_too() -> None:
    result = campaign("class_bank:Account", generator="random", budget=60.0)
    assert result.verdict is Verdict.FAILED


def test_what_depends_on_more_than_the_state_is_named() -> None:
    result = campaign("class_bad:Dice")
    assert result.verdict is not Verdict.FAILED
    assert any("roll" in note and "class_bad.py:" in note for note in result.notes)


def test_a_network_that_is_not_there_in_one_state_does_not_keep_a_method_from_being_called_in_another() -> None:
    result = campaign("class_worldly:Ports", calls=1)
    assert [(fault.kind, sorted(fault.methods)) for fault in result.faults] == [("exception", ["pick"])]
    assert "IndexError" in result.faults[0].message
    assert "pick" not in result.not_called
    told = "called as if there were no network: pick would use the network (socket.bind); see --allow-effects"
    assert told in result.notes


def test_a_call_that_asks_the_network_hides_no_fault_of_the_others() -> None:
    result = campaign("class_worldly:Beside", calls=1)
    assert [(fault.kind, sorted(fault.methods)) for fault in result.faults] == [("linearizability", ["number"])]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Refusing", "forge: every call of it raised ValueError"),
        ("Endless", "go_on: no call of it came to an end within the operations that one may have"),
    ],
)
def test_a_method_that_never_did_its_work_keeps_the_verdict_from_being_a_pass(name: str, why: str) -> None:
    result = campaign(f"class_idle:{name}", calls=1)
    assert (result.verdict, result.faults) == (Verdict.CUT, [])
    assert f"seen at work ({why})" in result.reason
    method, _, reason = why.partition(": ")
    assert result.not_called == {method: f"called, but {reason}"}


def test_calls_that_share_too_much_to_be_run_at_once_keep_the_verdict_from_being_a_pass() -> None:
    result = campaign("class_idle:TouchingAll", calls=1, methods=("raise_all",))
    assert result.verdict is Verdict.CUT
    assert (
        result.reason == "raise_all || raise_all touch the same things more than 400 times: not run at once, not a pass"
    )
