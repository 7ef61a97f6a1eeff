"""Contracts: inputs that break a precondition get no test, and broken promises are findings."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import icontract
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.symbolic import random_programs
from tests.symbolic.exploring import PROGRAMS, explored, load
from tests.symbolic.random_programs import programs
from treadle.cli.main import main
from treadle.core.errors import UsageError
from treadle.doors.unit.findings import sentence
from treadle.doors.unit.result_json import suite_facts
from treadle.doors.unit.suite import Suite, unit
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.explore import ExploredTarget


def _inputs(found: ExploredTarget, name: str) -> list[Any]:
    return [case.arguments[name] for case in found.cases]


def _broken(found: ExploredTarget) -> list[tuple[str, str]]:
    return [(c.violation.kind, c.violation.condition) for c in found.cases if c.violation is not None]


def _suite(name: str, **options: Any) -> Suite:
    load("unit_contracts")
    suite = unit(f"unit_contracts:{name}", write_file=False, **options)
    assert suite.disagreements == []
    return suite


# --- preconditions ---------------------------------------------------------------------------------------


def test_inputs_that_break_a_precondition_are_not_generated() -> None:
    found = explored("unit_contracts:sign")
    assert found.paths == 2
    assert sorted(_inputs(found, "n")) == [0, 1]
    assert found.seen.complete


def test_without_contracts_the_library_is_code_like_any_other() -> None:
    found = explored("unit_contracts:sign", contracts=False)
    raised = [c.outcome.raises.__name__ for c in found.cases if c.outcome.raises is not None]
    assert (found.paths, raised) == (3, ["ViolationError"])
    assert _broken(found) == []


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("either", 1),  # `or` is one condition: no path is split by it
        ("implied", 1),
        ("clamp", 3),  # two stacked ones, a chain, `and`, `not`, a constant of the module
        ("share", 1),  # a division that is guarded, and deal's message
        ("half", 2),  # a named function as condition, on both sides
        ("not_enabled", 2),
        ("custom_error", 1),
        ("beneath", 2),  # a decorator of somebody else's above
    ],
)
def test_a_precondition_splits_no_path(name: str, paths: int) -> None:
    found = explored(f"unit_contracts:{name}")
    assert found.paths == paths, [c.condition for c in found.cases]
    assert found.seen.complete


@pytest.mark.parametrize(
    ("pre", "paths"),
    [
        (["n >= 0"], 2),
        (["n >= 0 or n < -5"], 3),
        (["n != 0", "n < 3"], 2),
        (["LIMIT > n > 0"], 1),
        (["abs(n) > 2"], 2),
        (["n in (0, 4)"], 2),
        (["n if n > 0 else n == -1"], 2),
    ],
)
def test_pre_restricts_the_inputs(pre: list[str], paths: int) -> None:
    found = explored("unit_contracts:sign", contracts=False, pre=(*pre, "n >= 0 or n < 0"))
    wanted = [c for c in found.cases if c.outcome.raises is None or c.outcome.raises.__name__ != "ViolationError"]
    broken = [c for c in found.cases if c not in wanted]
    assert len(wanted) + len(broken) == found.paths == paths
    for case in found.cases:
        n = case.arguments["n"]
        assert all(eval(text, {"n": n, "LIMIT": 100}) for text in pre)


def test_leading_asserts_are_preconditions() -> None:
    found = explored("unit_contracts:leading")
    outcomes = sorted(str(c.outcome.raises and c.outcome.raises.__name__) for c in found.cases)
    assert outcomes == ["AssertionError", "None"]  # the assert that is not leading keeps its test
    assert all(0 <= c.arguments["a"] < c.arguments["b"] <= 100 for c in found.cases)
    assert explored("unit_contracts:leading", contracts=False).paths == 5


def test_an_assert_after_another_statement_is_not_leading() -> None:
    assert explored("unit_contracts:leading_state", contracts=True).paths == 2


def test_a_precondition_over_a_list_is_run() -> None:
    found = explored("unit_contracts:add_up")
    lists = [[*case.arguments["xs"].items] for case in found.cases if case.arguments["xs"] is not None]
    assert sorted(map(len, lists)) == [0, 1, 2]
    assert all(x > 0 for xs in lists for x in xs)
    assert _broken(found) == []


def test_a_precondition_that_cannot_be_evaluated_is_said() -> None:
    found = explored("unit_contracts:undecidable")
    assert found.paths == 0
    [place] = found.seen.unsupported
    assert "the precondition `hash(str(n)) > 0` cannot be evaluated" in place.what


def test_preconditions_that_exclude_everything_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    load("unit_contracts")
    with pytest.raises(SystemExit) as left:
        main(["unit", "unit_contracts:contradictory", "--output", "never_written.py"])
    said = capsys.readouterr().out
    assert left.value.code == 3
    assert "the preconditions exclude every input: `n < 0`" in said
    assert not Path("never_written.py").exists()


@pytest.mark.parametrize(
    ("pre", "sentence"),
    [
        ("m >= 0", "'m' is not a parameter of 'sign'; its parameters are n"),
        ("nn > 0", "did you mean 'n'?"),
        ("n = 3", "a comparison is written =="),
        ("n >", "not a Python expression"),
    ],
)
def test_a_wrong_pre_is_one_sentence(pre: str, sentence: str) -> None:
    with pytest.raises(UsageError, match="--pre") as error:
        _suite("sign", pre=[pre])
    assert sentence in str(error.value)


@pytest.mark.slow
def test_a_pre_of_a_module_goes_where_its_names_are() -> None:
    load("unit_paper")
    suite = unit("unit_paper:int_exp", "unit_paper:negative", pre=["n >= 0"], k=1, write_file=False)
    assert {c.arguments["n"] >= 0 for c in suite.cases if "n" in c.arguments} == {True}
    assert len({c.target for c in suite.cases}) == 2


@pytest.mark.slow
def test_no_generated_test_breaks_its_precondition() -> None:
    """Run for real, with the library's own check: the tests call the decorated function."""
    suite = _suite("clamp")
    assert suite.assumed == [
        f"`0 <= lo <= LIMIT and not hi > LIMIT` ({_line('0 <= lo <= LIMIT')})",
        f"`lo <= hi` ({_line('lo, hi: lo <= hi')})",
    ]
    assert suite.tests == 3
    assert "ViolationError" not in suite.source


def _line(text: str) -> str:
    file = PROGRAMS / "unit_contracts.py"
    line = next(i for i, line in enumerate(file.read_text().splitlines(), 1) if text in line)
    near = Path(file).relative_to(Path.cwd()) if Path(file).is_relative_to(Path.cwd()) else file
    return f"{near}:{line}"


# Conditions that a program decides at its start, on one path for true; `or` would take two.
_DECIDED = ["a > 0", "a <= 1", "not a == 2", "0 <= a < 3", "a != 0 and a != 1", "not (a < 0)", "a % 2 == 0"]
_DECIDED_OF_OBJECTS = ["r is not None", "r is None", "r is not None and r.f > 0", "not r.f == 1", "r.f > r.g"]


@settings(max_examples=25)
@given(programs(calls=False, most_refs=2), st.data())
def test_assuming_is_filtering(source: str, data: st.DataObject) -> None:
    """With a precondition there are exactly the cases whose inputs fulfil it."""
    start = source.index("def main(")
    first = source[start:].partition("(")[2].partition(":")[0]
    pre = data.draw(st.sampled_from(_DECIDED if first in ("a", "b") else _DECIDED_OF_OBJECTS))
    if first == "b":
        pre = pre.replace("a", "b")
    body = source.index("\n", start) + 1
    guarded = f"{source[:body]}    if not ({pre}):\n        return -99\n{source[body:]}"
    everything = random_programs.explore(guarded)
    restricted = random_programs.explore(guarded, pre=(pre,))
    kept = [case for case in everything.cases if _fulfils(case.arguments, pre)]
    note(guarded)
    # values may be chosen otherwise, since a precondition is one condition: the paths are the same
    assert Counter(map(_way, restricted.cases)) == Counter(map(_way, kept))
    assert all(_fulfils(case.arguments, pre) for case in restricted.cases)


def _way(case: TestCase) -> tuple[Any, ...]:
    return case.lines, case.outcome.raises


def _fulfils(arguments: dict[str, Any], pre: str) -> bool:
    """The condition, evaluated for real; one that fails does not hold."""
    names = {name: _object(value) for name, value in arguments.items()}
    try:
        return bool(eval(pre, {}, names))
    except AttributeError:
        return False


def _object(value: Any) -> Any:
    return SimpleNamespace(**value.fields) if isinstance(value, CaseObject) else value


# --- promises --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("isqrt", [("postcondition", "result * result <= n")]),
        ("difference", []),
        ("larger", [("postcondition", "result == a or result == b")]),
        ("at_least_three", []),
        ("half", [("postcondition", "is_even(result)")]),
        ("parse", [("exceptions", "raises(ValueError)")]),
        ("risky", [("exceptions", "raises nothing")]),
        ("calls_risky", [("exceptions", "raises nothing")]),
        ("divide", [("exceptions", "b == 0")]),
        ("complains", [("postcondition", "result != 5")]),
        ("named", [("postcondition", "len(result) > 0")]),
        ("caller", [("precondition", "x > 0")]),
        ("cautious", []),
    ],
)
def test_a_broken_promise_is_a_path_of_its_own(name: str, broken: list[tuple[str, str]]) -> None:
    assert _broken(explored(f"unit_contracts:{name}")) == broken
    assert _broken(explored(f"unit_contracts:{name}", summaries=True)) == broken


@pytest.mark.parametrize("name", ["Account.withdraw", "Account.deposit", "richer", "transfer", "Link.second", "put"])
def test_both_heaps_give_the_same_cases(name: str) -> None:
    lazy, solver = (explored(f"unit_contracts:{name}", heap=heap) for heap in ("lazy", "solver"))
    assert Counter(map(_told, lazy.cases)) == Counter(map(_told, solver.cases))


def test_deciding_a_promise_gives_no_case_twice() -> None:
    """max(n, 3) has paths of its own, but the code has two."""
    assert explored("unit_contracts:at_least_three").paths == 2


@pytest.mark.slow
def test_a_finding_is_run_and_told() -> None:
    suite = _suite("isqrt")
    [case] = suite.violations
    assert case in suite.cases
    assert case.violation is not None
    assert case.outcome.raises is not None
    [finding] = suite_facts(suite).to_json()["violations"]
    assert finding["condition"] == "result * result <= n"
    assert finding["kind"] == "postcondition"
    assert finding["file"] == str(PROGRAMS / "unit_contracts.py")
    n = finding["inputs"]["n"]
    assert finding["result"] == n // 2
    assert (n // 2) ** 2 > n
    assert finding["message"].endswith(f"isqrt(n={n}) returned {n // 2}")
    assert "# a finding: violates its postcondition `result * result <= n`" in suite.source


@pytest.mark.slow
def test_promises_are_assertions_of_the_tests() -> None:
    suite = _suite("clamp")
    assert "    result = clamp(x, lo, hi)\n" in suite.source
    assert "    assert lo <= result <= hi  # postcondition\n" in suite.source
    put = _suite("put", alias=False)
    assert "    old_lst = lst[:]\n" in put.source
    assert "    assert lst == old_lst + [value]  # postcondition\n" in put.source
    rounded = _suite("rounded")
    assert "import math\n" in rounded.source
    assert "assert math.floor(result) == result  # postcondition\n" in rounded.source
    deal_style = _suite("larger")
    assert "    assert result == a or result == b  # postcondition\n" in deal_style.source


@pytest.mark.slow
def test_a_promise_that_a_test_cannot_write_is_left_to_the_call() -> None:
    suite = _suite("bounded")
    assert "# the call itself checks the postcondition `result <= limit` (unit_contracts.py:" in suite.source


@pytest.mark.slow
def test_a_promise_that_cannot_be_decided_is_said_and_left_to_the_real_run() -> None:
    suite = _suite("cannot_say")
    assert (suite.tests, suite.violations, suite.complete) == (1, [], False)
    assert any("cannot be decided" in place.what for place in suite.unsupported)


@pytest.mark.slow
def test_an_undeclared_effect_is_a_finding_of_the_real_run() -> None:
    suite = _suite("talkative")
    [case] = suite.violations
    assert case.violation is not None
    assert case.arguments["n"] > 3
    assert case.violation.condition == "to write nothing"
    assert _suite("talkative", contracts=False).violations == []


def test_a_program_that_reads_the_message_of_a_library_is_not_foretold() -> None:
    found = explored("unit_contracts:says")
    assert [c.outcome.value for c in found.cases] == ["2"]
    assert [p.what for p in found.seen.unsupported] == ["the message of a contract library"]


@pytest.mark.slow
def test_what_the_real_run_decides_is_a_finding_too() -> None:
    """deal checks every value that a generator gives; nobody decides that beforehand."""
    suite = _suite("counting", k=1)
    assert [c.violation.condition for c in suite.violations if c.violation is not None] == ["value > 0"]
    assert "with pytest.raises(PostContractError):\n        list(counting(1))\n" in suite.source
    assert not suite.complete


# --- invariants ------------------------------------------------------------------------------------------


def test_invariants_hold_before_and_are_checked_after() -> None:
    withdraw = explored("unit_contracts:Account.withdraw")
    assert withdraw.paths == 2
    assert _broken(withdraw) == [("invariant", "self.balance >= 0")]
    assert all(case.arguments["self"].fields["balance"] >= 0 for case in withdraw.cases)
    assert explored("unit_contracts:Account.is_poor").paths == 1
    assert _broken(explored("unit_contracts:Account.deposit")) == []


@pytest.mark.slow
def test_a_constructor_that_breaks_the_invariant() -> None:
    [suite] = [_suite("Account.__init__")]
    assert [c.arguments["balance"] for c in suite.violations] == [-1]


def test_other_inputs_of_the_class_keep_the_invariant() -> None:
    found = explored("unit_contracts:richer")
    assert not any(c.outcome.raises is AssertionError for c in found.cases)
    assert found.seen.complete


@pytest.mark.slow
def test_inputs_that_are_left_broken_are_findings() -> None:
    """No library looks at the fields of an argument; the invariant is broken all the same."""
    found = explored("unit_contracts:transfer", alias=False)
    assert {c.violation.where for c in found.cases if c.violation is not None} == {"source", "target"}
    suite = _suite("transfer", alias=False, none=False)
    assert "    assert source.balance >= 0  # invariant\n" in suite.source
    assert "# a finding: leaves 'target' without its invariant `self.balance >= 0`" in suite.source


@pytest.mark.slow
@settings(max_examples=25)
@given(programs(calls=False, most_refs=2))
def test_random_programs_with_an_invariant(source: str) -> None:
    """Inputs keep it, a case is a finding exactly if what it leaves breaks it, and both heaps agree."""
    source = source.replace("class C:", "@icontract.invariant(lambda self: self.f >= 0)\nclass C:")
    found = {heap: random_programs.explore(f"import icontract\n\n\n{source}", heap=heap) for heap in ("lazy", "solver")}
    for case in found["lazy"].cases:
        before = [node for value in case.arguments.values() for node in _reachable(value)]
        assert all(node.fields.get("f", 0) >= 0 for node in before)
        left_broken = any(node.fields.get("f", 0) < 0 for node in case.after.values())
        # an object that the program makes is looked at by its constructor, and what it is left as by nobody
        made_broken = case.outcome.raises is icontract.ViolationError
        assert (case.violation is not None) == (made_broken or (left_broken and case.outcome.raises is None))
    if all(explored.seen.complete for explored in found.values()):
        assert Counter(map(_told, found["lazy"].cases)) == Counter(map(_told, found["solver"].cases))


def _told(case: TestCase) -> tuple[Any, ...]:
    return case.condition, case.outcome.raises, case.outcome.value, case.violation is not None


def _reachable(value: Any) -> list[CaseObject]:
    found: list[CaseObject] = []
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, CaseObject) and not any(node is one for one in found):
            found.append(node)
            todo.extend(node.fields.values())
    return found


def test_an_invariant_over_links_ends() -> None:
    found = explored("unit_contracts:Link.second")
    assert found.seen.complete
    assert not any(isinstance(c.outcome.value, int) and c.outcome.value < -1 for c in found.cases)


@pytest.mark.slow
def test_invariants_of_deal_are_checked_at_every_assignment() -> None:
    suite = _suite("Tank")
    assert {c.violation.condition for c in suite.violations if c.violation is not None} == {"self.level >= 0"}
    assert "assert tank.level >= 0  # invariant\n" in suite.source
    assert suite.tests == 4


def test_a_subclass_may_ask_for_less() -> None:
    found = explored("unit_contracts:Weaker.run")
    assert all(c.arguments["x"] > 10 or c.arguments["x"] < -10 for c in found.cases)
    assert _broken(found) == [("postcondition", "result > 0")]


def test_the_words_of_a_finding() -> None:
    file = str(PROGRAMS / "unit_contracts.py")
    own, called = explored("unit_contracts:risky"), explored("unit_contracts:calls_risky")
    [first] = [sentence(case) for case in own.cases if case.violation is not None]
    [second] = [sentence(case) for case in called.cases if case.violation is not None]
    assert first.startswith("unit_contracts:risky raises ZeroDivisionError, but declares no exception at all (")
    assert second.startswith(
        "unit_contracts:calls_risky makes 'risky' raise ZeroDivisionError, which declares no exception at all ("
    )
    assert Path(file).name in first
    [third] = [sentence(c) for c in explored("unit_contracts:caller").cases if c.violation is not None]
    assert third.startswith("unit_contracts:caller violates the precondition `x > 0` of 'helper' (")
    assert third.endswith("): caller(a=5)")


# --- whole modules ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "findings"),
    [
        (
            "unit_icontract_manner",
            {
                ("shifted", "result > y"),
                ("Positive.__init__", "self.x > 0"),
                ("Positive.decrement", "self.x > 0"),
                ("Sorted.__init__", "all(x < y for x, y in zip(self.values, self.values[1:]))"),
                ("Sorted.add", "all(x < y for x, y in zip(self.values, self.values[1:]))"),
                ("split", "result[0] <= result[1]"),
                ("defaulted", "result > n"),
            },
        ),
        (
            "unit_deal_manner",
            {
                ("double", "result != x"),
                ("Post.__init__", "post.likes >= 0"),
                ("Post.unlike", "post.likes >= 0"),
                ("first", "raises nothing"),
                ("Money.__init__", "len(currency) == 3"),
                ("Money.__init__", "amount > 0"),
                ("Shape.scale", "r > 0"),
            },
        ),
    ],
)
def test_what_the_libraries_show(module: str, findings: set[tuple[str, str]]) -> None:
    """Predictions hold in the real run, with the libraries' own checks; findings are the planted ones."""
    load(module)
    suite = unit(module, alias=False, k=1, write_file=False)
    assert suite.disagreements == []
    found = {(c.target.partition(":")[2], c.violation.condition) for c in suite.violations if c.violation is not None}
    assert found == findings


# --- the command -----------------------------------------------------------------------------------------

_SHOP = """
import deal
import icontract


@icontract.require(lambda items: len(items) > 0)
@icontract.ensure(lambda items, result: result in items)
def cheapest(items: list[int]) -> int:
    best = items[0]
    for price in items:
        if price < best:
            best = price
    return best


@deal.pre(lambda price, percent: 0 <= percent <= 100)
@deal.post(lambda result: result >= 0)
def discounted(price: int, percent: int) -> int:
    return price - price * percent // 100
"""


@pytest.mark.slow
def test_a_module_with_contracts_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(_SHOP)
    command = [sys.executable, "-m", "treadle", "unit", "shop", "--json", "-k", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    [finding] = found["violations"]
    assert finding["condition"] == "result >= 0"
    assert finding["inputs"]["price"] < 0
    assert 0 <= finding["inputs"]["percent"] <= 100
    assert found["disagreements"] == []
    assert all(case["inputs"]["items"] != "[]" for case in found["cases"] if case["target"] == "shop:cheapest")
    checked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", found["file"]]
    assert subprocess.run(checked, cwd=tmp_path, capture_output=True).returncode == 0


# --- how people write them ---------------------------------------------------------------------------------


def _written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> str:
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_an_overriding_method_holds_its_own_precondition_or_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        from icontract import DBC, ensure, require

        class Base(DBC):
            @require(lambda x: x >= 10)
            @ensure(lambda result: result >= 0)
            def f(self, x: int) -> int:
                return x

        class Weaker(Base):
            @require(lambda x: x >= 5)
            def f(self, x: int) -> int:
                return x - 6
    """
    name = _written(tmp_path, monkeypatch, "contracts_inherited", text)
    suite = unit(f"{name}:Weaker.f", write_file=False)
    assert [one.count(" or ") for one in suite.assumed] == [1]
    assert "`x >= 10` (" in suite.assumed[0]
    assert "`x >= 5` (" in suite.assumed[0]
    assert [case.arguments["x"] for case in suite.violations] == [5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "@icontract.require(lambda z: z > 0)\n",
            "contracts_wrong.py:4: the precondition `z > 0` asks for 'z', which 'f' does not have; "
            "every call of it raises TypeError",
        ),
        (
            "@icontract.ensure(lambda result, error: True)\n",
            "contracts_wrong.py:4: the postcondition `True` asks for 'error', which 'f' does not have; "
            "every call of it raises TypeError",
        ),
        (
            "@deal.inherit\n",
            "'f' is not a function but a Inherit that can be called; point treadle unit at Inherit.__call__, "
            "or at a function that calls it",
        ),
    ],
)
def test_a_contract_that_nobody_can_fulfil_is_one_sentence(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"import deal\nimport icontract\n\n{text}def f(x: int) -> int:\n    return x\n"
    monkeypatch.delitem(sys.modules, "contracts_wrong", raising=False)
    name = _written(tmp_path, monkeypatch, "contracts_wrong", source)
    with pytest.raises(UsageError) as error:
        unit(f"{name}:f", write_file=False)
    assert str(error.value) == sentence


def test_a_condition_is_written_without_lambda() -> None:
    with pytest.raises(UsageError, match='write the condition itself: --pre "n > 0"'):
        explored("unit_contracts:sign", pre=("lambda n: n > 0",))
