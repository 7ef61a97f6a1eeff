"""The ABSUnit module: it checks as ABS once its delta has been applied, and its assertions hold in a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from treadle.abs.machine.criteria import Bounds
from treadle.doors.actor.absunit import absunit_file
from treadle.doors.actor.generated import generate
from treadle.doors.actor.models import run_model

SHOP = """module Shop;
export *;
interface Stock { Unit add(Int n); Int left(); }
interface Seller { Int sell(Int n); }
class Shelf implements Stock { Int n = 0; Unit add(Int n) { this.n = this.n + n; } Int left() { return this.n; } }
class Clerk(Stock stock) implements Seller { Int sold = 0; List<Int> sales = Nil;
  Int sell(Int n) {
    if (n > 0) { this.sold = this.sold + n; this.sales = Cons(n, this.sales);
      if (this.stock != null) this.stock!add(-n); }
    return this.sold; } }
"""
ABSUNIT = """module AbsUnit; export *;
interface ABSAssert { Unit assertTrue(Bool b); }
class ABSAssertImpl implements ABSAssert { Unit assertTrue(Bool b) { assert b; } }
"""


def applied(text: str, model: str) -> tuple[str, str]:
    """What the ABS tools make of the model and the test module: the delta's interfaces and members put in."""
    tests, _, rest = text.partition("delta AccessForTest;")
    delta, _, line = rest.partition("productline")
    assert "delta AccessForTest when ForTest;" in line
    assert "product Tested(ForTest);" in line
    interfaces = re.findall(r"^adds (interface \w+.*?^\})", delta, re.M | re.S)
    for cls, interface, members in re.findall(r"^modifies class \w+\.(\w+) adds (\w+) \{(.*?)^\}", delta, re.M | re.S):
        head = re.search(rf"class {cls}\b[^{{]*", model)
        assert head is not None
        model = model.replace(head[0], f"{head[0].rstrip()}, {interface} ", 1)
        place = re.search(rf"class {cls}\b.*?(?=\n\s*(?:Unit|Int) \w+\(| Unit \w+\()", model, re.S)
        assert place is not None
        model = model.replace(place[0], place[0] + "\n" + members.replace("adds ", ""), 1)
    return tests, model + "\n".join(interfaces)


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, str, int]:
    model = tmp_path / "shop.abs"
    model.write_text(SHOP)
    made = generate(f"{model}:Clerk.sell", bounds=Bounds(1))
    return tmp_path, absunit_file(made, model), len(made.cases)


def test_it_holds_in_a_run_of_every_test(written: tuple[Path, str, int]) -> None:
    folder, text, cases = written
    tests, model = applied(text, SHOP)
    calls = " ".join(f"Fut<Unit> f{n} = s!test{n}(); f{n}.get;" for n in range(1, cases + 1))
    main = "{ ClerkSellSuite s = new ClerkSellSuiteImpl(); " + calls + " }"
    (folder / "all.abs").write_text(ABSUNIT + model + "\n" + tests + "\n" + main)
    run = run_model(str(folder / "all.abs"))
    assert cases > 2
    assert (run.outcome, run.failures) == ("completed", [])


def test_a_wrong_value_would_be_noticed(written: tuple[Path, str, int]) -> None:
    folder, text, _ = written
    tests, model = applied(text, SHOP)
    wrong = re.sub(r"s0_sold == (-?\d+)", lambda m: f"s0_sold == {int(m[1]) + 1}", tests)
    main = "{ ClerkSellSuite s = new ClerkSellSuiteImpl(); Fut<Unit> f = s!test1(); f.get; }"
    (folder / "all.abs").write_text(ABSUNIT + model + "\n" + wrong + "\n" + main)
    assert run_model(str(folder / "all.abs")).failures == ["AssertionFailException"]


def test_the_tests_see_a_module_that_exports_nothing(written: tuple[Path, str, int]) -> None:
    assert "delta AccessForTest;\nuses Shop;\nadds export *;\nadds interface" in written[1]
