"""Faults that need more than one call in a thread, and loops that never end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.classes.drive import PROGRAMS, campaign, kinds
from treadle.classes.calls import Value
from treadle.classes.minimise import shorter
from treadle.core.result import Verdict


def test_one_call_survives_one_change_and_not_two() -> None:
    assert campaign("class_longer:Toggled", calls=1).verdict is Verdict.PASSED_WITHIN_BOUNDS
    result = campaign("class_longer:Toggled")
    assert [fault.message for fault in result.faults] == [
        "add || add; add: no order of the calls gives sout.value() == 1"
    ]


def test_a_version_that_never_comes_back_passes() -> None:
    result = campaign("class_longer:Counted")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.longer_tests > 0
    assert f"of {result.longer_exhausted} of {result.longer_tests} tests with up to 2 calls" in result.reason


def test_longer_tests_can_be_switched_off() -> None:
    result = campaign("class_bank:SafeAccount", calls=1)
    assert result.longer_tests == 0
    assert "calls in a thread" not in result.reason


def test_two_calls_that_give_way_to_each_other_are_a_livelock() -> None:
    assert kinds(campaign("class_longer:Polite")) == {"left || right": "livelock"}


def test_a_loop_that_only_waits_for_its_turn_is_no_livelock() -> None:
    result = campaign("class_longer:Spinning", budget=3.0)
    assert result.faults == []


def test_a_loop_that_waits_is_no_livelock_for_explore_either() -> None:
    import treadle

    if str(PROGRAMS) not in sys.path:
        sys.path.insert(0, str(PROGRAMS))
    from class_longer import Spinning  # type: ignore[import-not-found]

    def run() -> None:
        shared = Spinning()
        treadle.parallel(shared.add, shared.add)

    result = treadle.check(run, instrument=["class_longer"], executions=60)
    assert result.verdict is Verdict.CUT


def test_the_values_of_a_fault_are_short() -> None:
    values = {"names": ["['Xavier', 'Yolanda', 'Zoe']"], "rows": ["1234"]}
    fault = campaign("class_longer:Seats", values=values).faults[0]
    assert str(fault.witness.test) == "sout.take(['a', 'Z']) || sout.take(['a', 'Z'])"
    assert str(fault.witness.test.root) == "Seats(1)"


def test_a_shorter_value_is_of_the_same_kind() -> None:
    def sources(text: str) -> list[str]:
        return [str(value) for value in shorter(Value(text))]

    assert sources("1234") == ["1", "123"]
    assert sources("-7") == ["7"]
    assert sources("'hello'") == ["'a'", "'he'"]
    assert sources("[1, 'bcd']") == ["[1]", "['bcd']", "[1, 'a']", "[1, 'b']"]
    assert sources("{'abc': 10}") == ["{}", "{'a': 10}", "{'abc': 1}"]
    assert sources("Basket(100)") == ["Basket(1)", "Basket(10)"]
    assert sources("1") == sources("'a'") == sources("None") == sources("{sout}") == []


def test_an_argument_of_another_class_is_brought_into_a_state() -> None:
    fault = campaign("class_longer:Shop").faults[0]
    assert fault.message == "sell || sell: no order of the calls gives sout.sold() == 1"
    assert "basket_after_add()" in str(fault.witness.test)


_TWO_PROCESSES = """
import json
from tests.classes.drive import subject
from treadle.classes.result import Options
from treadle.doors.class_.workers import run_in_processes
from treadle.search.cluster import Workforce
from treadle.core.errors import UsageError

try:
    result = run_in_processes(subject("class_bank:{name}"), Options(budget=600.0, methods={methods}), Workforce(2))
except UsageError as error:
    print(json.dumps(str(error)))
else:
    messages = [fault.message for fault in result.faults]
    print(json.dumps([result.verdict.value, result.pairs, result.longer_tests, result.exhausted_pairs, messages]))
"""


def two_processes(name: str, methods: tuple[str, ...] = ()) -> Any:
    """A campaign by two processes, begun in one without threads: a worker of pytest-xdist has some."""
    code = _TWO_PROCESSES.format(name=name, methods=methods)
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_several_processes_share_the_tests_of_one_class() -> None:
    alone = campaign("class_bank:SafeAccount")
    verdict, pairs, longer_tests, exhausted_pairs, _ = two_processes("SafeAccount")
    assert verdict == "PASSED-WITHIN-BOUNDS"
    assert (pairs, longer_tests) == (alone.pairs, alone.longer_tests)
    assert exhausted_pairs == pairs


def _pair(message: str) -> str:
    return message.partition(":")[0]


def test_several_processes_report_a_fault_once() -> None:
    alone = campaign("class_bank:Account")
    verdict, _, _, _, messages = two_processes("Account")
    assert verdict == "FAILED"
    # which wrong state is met first depends on who came to the pair; that the pair is faulty, and told once, does not
    assert sorted(map(_pair, messages)) == sorted(_pair(fault.message) for fault in alone.faults)


def test_an_error_of_a_process_is_told() -> None:
    assert "has no method 'depost'; did you mean 'deposit'" in two_processes("Account", ("depost",))


def test_a_value_that_the_class_does_not_take_is_no_shorter_one() -> None:
    fault = campaign("class_longer:Rates").faults[0]
    assert str(fault.witness.test.root) == "Rates([1])"
