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


MANY_KINDS = """module Kinds;
interface Peer { Unit note(); }
[Plain] class Other implements Peer { Int n = 0; Unit note() { n = n + 1; } }
class C([Final] Peer peer, Float weight) {
  Fut<Int> last; List<Float> all = Nil; final Int born = 1; Int seen = 0;
  Unit m(Float x, Int n) { if (peer != null) { peer!note(); } if (n > 0) { weight = x; all = Cons(x, all); } }
}
"""


def absunit(tmp_path: Path, method: str, **models: str) -> str:
    for name, text in models.items():
        (tmp_path / f"{name}.abs").write_text(text)
    model = tmp_path / f"{next(iter(models))}.abs"
    return absunit_file(generate(f"{model}:{method}", bounds=Bounds(1)), model)


def test_what_the_type_checker_of_the_abs_tools_refuses_is_not_written(tmp_path: Path) -> None:
    """A future has no literal, not even null; an Int is no Float; what is final is given to `new`."""
    text = absunit(tmp_path, "C.m", kinds=MANY_KINDS)
    assert "last" not in text
    assert re.search(r"await s0!setWeightForTest\(-?\d+\.0\);", text)
    assert re.search(r"s0!m\(-?\d+\.0, -?\d+\);", text)
    assert re.search(r"== list\[-?\d+\.0", text)
    assert "setPeerForTest" not in text
    assert "setBornForTest" not in text
    assert "Int s0_born = await s0!getBornForTest();" in text
    made = re.search(r"OtherForTest (s\d) = new local Other\(\);\n    CForTest s0 = new C\((s\d), -?\d+\.0\);", text)
    assert made is not None
    assert made[1] == made[2]


def test_objects_that_the_run_makes_have_no_name_in_a_test(tmp_path: Path) -> None:
    model = """module M; class D { Unit n() { skip; } }
    class C { Maybe<D> kept = Nothing; String s = "r1"; Pair<Int, Float> p = Pair(1, 1.0);
      Maybe<D> m(String t) { D d = new D(); this.kept = Just(d); this.s = "\\"r1"; return Just(d); } }"""
    text = absunit(tmp_path, "C.m", made=model)
    assert "Just(r" not in text
    assert 'check.assertTrue(s0_s == "\\"r1");' in text
    assert "PForTest" not in text  # 1 may be an Int or a Float there


def test_each_module_has_a_delta_of_its_own(tmp_path: Path) -> None:
    front = """module Front; import Back from Rear; class Front(Back back) {
      Int m() { if (back != null) { back!step(); } return 1; } }"""
    rear = """module Rear; export Back; interface Back { Unit step(); }
    class Engine implements Back { Int n = 0; Unit step() { n = n + 1; } }"""
    text = absunit(tmp_path, "Front.m", front=front, rear=rear)
    assert "import * from Front;\nimport * from Rear;" in text
    deltas = dict(re.findall(r"^delta (\w+);\nuses (\w+);", text, re.M))
    assert deltas == {"AccessForTest": "Front", "AccessForTest2": "Rear"}
    assert text.index("delta AccessForTest2;") < text.index("adds interface EngineForTest extends Back {")
    assert "delta AccessForTest when ForTest;\ndelta AccessForTest2 when ForTest;" in text


def test_what_a_trait_has_replaced_is_not_promised(tmp_path: Path) -> None:
    text = absunit(
        tmp_path,
        "C.m",
        traits="""module M; trait T = { Int m() { return 1; } }
        trait U = T modifies Int m() { Int x = original(); return x + 1; } class C { uses U; }""",
    )
    assert "Int m();" in text
    assert "Int m_original();" not in text
