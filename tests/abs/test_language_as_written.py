"""ABS as people write it: constructs that public models use, each in a small program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abs.test_language import printed, ran
from treadle.abs.language.errors import AbsError
from treadle.core.result import Verdict
from treadle.doors.actor.models import explore_model, run_model


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("`a $1 + 2$ b \\$ $list[1]$`", "a 3 b $ list[1]"),
        ("Cons(1, Nil) < Nil", "True"),  # constructors by name
        ("Cons(1, Cons(3, Nil)) < Cons(2, Nil)", "True"),
        ("Pair(2, 1) <= Pair(2, 1)", "True"),
        ("False < True", "True"),
        ("max(list[1], list[2])", "list[2]"),
        ("map((Int x) => x + 1)(list[1, 2])", "list[2,3]"),
        ("foldl((Int x, Int sum) => x + sum)(list[1, 2, 3], 0)", "6"),
        ("filter((Int x) => x > small)(list[1, 2, 3])", "list[2,3]"),
        ("1 + case 3 { 3 => 4; _ => 0; }", "5"),
        ("set[3, 1, 2]", "set[1,2,3]"),
        ("set[1, 2] == set[2, 1]", "True"),
        ("map[Pair(1, 2), Pair(3, 4)] == map[Pair(3, 4), Pair(1, 2)]", "True"),
        ("map[Pair(1, 2), Pair(3, 4)] == map[Pair(3, 4), Pair(1, 5)]", "False"),
        ("keys(map[Pair(2, 0), Pair(1, 0)])", "set[1,2]"),
        ("put(map[Pair(1, 2)], 3, 4)", "map[Pair(1,2),Pair(3,4)]"),
        ("takeMaybe(set[1])", "Just(1)"),
        ("take(set[2])", "2"),
        ("lookupReverse(map[Pair(1, 2)], 2)", "Just(1)"),
        ("lookupReverseDefault(map[Pair(1, 2)], 5, 0)", "0"),
        ("fromJustDefault(Nothing, 4)", "4"),
        ("trd(Triple(1, 2, 3))", "3"),
        ("7/2 % 2", "3/2"),
        ("float(5/2)", "2.5"),
        ("0.5 + 1", "1.5"),
        ("rat(2.5)", "5/2"),
        ("sqrt(4.0)", "2.0"),
        ("floor(2.5) + ceil(2.5) + truncate(-2.5)", "3"),
        ('Pair("a", list["b"])', 'Pair("a",list["b"])'),
        ("why(Broken(3))", "3"),
    ],
)
def test_expressions(tmp_path: Path, expression: str, value: str) -> None:
    told = printed(tmp_path, f"Int small = 1; println(toString({expression}));", "exception Broken(Int why);")
    assert told == [value]


def test_a_class_and_an_interface_of_one_name(tmp_path: Path) -> None:
    text = """module M; interface Node { Int id(); } class Node implements Node { Int id() { return 7; } }
    class Other(Node peer) { List<[Far] Node> known = list[peer]; }
    { Node n = new Node(); new Other(n); Int x = await n!id(); println(toString(x)); }"""
    assert ran(tmp_path, text).output == "7\n"


def test_values_that_nobody_wants(tmp_path: Path) -> None:
    body = """!False; ~True; -5; (when True then 5 else 3); when True then 1 else 2; let (Int x) = 5 in (x + 1);
    case list[1] { Cons(1, _) => 1; _ => 2; }; println("end");"""
    assert printed(tmp_path, body) == ["end"]


def test_modules_pass_on_what_they_import(tmp_path: Path) -> None:
    text = """module A; export *; data Colour = Red | Green; def Int one() = 1;
    module B; export Colour, Red from A; export one; import * from A;
    module C; export * from B;
    module D; import * from C; { Colour c = Red; println(toString(c) + toString(one())); }"""
    assert ran(tmp_path, text).output == "Red1\n"


def test_of_two_imports_of_one_name_the_later_counts(tmp_path: Path) -> None:
    """Names of the module itself stay, and the library takes nobody's name."""
    text = """module A; export *; data Colour = Red; def Int n() = 1; def Int own() = 1; def Int max(Int a, Int b) = 7;
    module B; export *; data Colour = Red; def Int red(Colour c) = 4; def Int n() = 2; def Int own() = 2;
    module C; export * from A; export * from B; import * from A; import * from B;
    module D; import * from C; import B.red; import * from ABS.StdLib; def Int own() = 3;
    { println(toString(list[n(), own(), max(1, 2), B.red(Red)])); }"""
    assert ran(tmp_path, text).output == "list[2,3,7,4]\n"


def test_modules_that_pass_on_each_others_names_are_read(tmp_path: Path) -> None:
    text = """module P; export *; def Int n() = 1; module Q; export *; def Int n() = 2;
    module A; export * from P; export * from B; import * from P; import * from B;
    module B; export * from Q; export * from A; import * from Q; import * from A;
    module D; import * from A; { println(toString(n() > 0)); }"""
    assert ran(tmp_path, text).output == "True\n"


def test_a_foreign_class_that_nobody_makes(tmp_path: Path) -> None:
    text = """module M; import * from ABS.FLI; [Foreign] class C { } def [Atomic] Int n() = 1;
    { println(toString(n())); }"""
    assert ran(tmp_path, text).output == "1\n"


def test_older_models_look_up_the_value_itself(tmp_path: Path) -> None:
    told = printed(tmp_path, "Int n = lookup(map[Pair(1, 5)], 1); println(toString(n));")
    assert told == ["5"]


def test_a_destiny_is_any_future(tmp_path: Path) -> None:
    text = """module M;
    class C { Destiny mine; Int m() { this.mine = destiny; return 1; } Bool same(Destiny d) { return d == this.mine; } }
    { C c = new C(); Fut<Int> f = c!m(); Destiny d = f; await d?; Bool b = await c!same(d); println(toString(b)); }"""
    assert ran(tmp_path, text).output == "True\n"


def test_recovery_blocks(tmp_path: Path) -> None:
    """The block sees the exception, the one who waits for the result still gets it, and it is nobody's failure."""
    text = """module M; exception Broken;
    class C { Int seen = 0; recover { Broken => this.seen = 1; }
      Int m() { throw Broken; return 0; } Int look() { return this.seen; } }
    { C c = new C(); await c!m(); Int n = await c!look(); println(toString(n));
      try { n = await c!m(); } catch { Broken => println("told"); } }"""
    run = ran(tmp_path, text)
    assert (run.output, run.failures) == ("1\ntold\n", [])


def test_exceptions_are_types_too(tmp_path: Path) -> None:
    told = printed(tmp_path, "Broken e = Broken(2); println(toString(why(e)));", "exception Broken(Int why);")
    assert told == ["2"]


def test_objects_have_an_order_with_null_first(tmp_path: Path) -> None:
    body = "C a = new C(); C b = new C(); println(toString(null < a && a < b && !(b < a)));"
    assert printed(tmp_path, body, "class C { }") == ["True"]


def test_every_object_is_an_object(tmp_path: Path) -> None:
    body = "Object o = new C(); I i = o as I; println(toString(i == null)); println(toString(o implements I));"
    assert printed(tmp_path, body, "interface I { } class C implements I { }") == ["False", "True"]


DELAYS = """module M;
class C { Int n = 0; Unit slow() { await duration(3, 5); this.n = this.n * 2; } Unit quick() { this.n = this.n + 1; }
  Unit hold() { duration(1); this.n = this.n + 10; } }
{ C c = new C(); Fut<Unit> f = c!slow(); c!quick(); c!hold(); await f?; println(toString(timeValue(now()))); }
"""


def test_delays_end_when_nothing_else_can_run(tmp_path: Path) -> None:
    run = ran(tmp_path, DELAYS)
    assert (run.output, run.final["r1"]["n"]) == ("3\n", 22)


@pytest.mark.parametrize("reduce", ["none", "stable", "independent", "exact"])
def test_all_orders_with_delays(tmp_path: Path, reduce: str) -> None:
    model = tmp_path / "m.abs"
    model.write_text(DELAYS.replace("println", "Rat t = timeValue(now()); assert t == 3 || t == 4; println"))
    assert explore_model(str(model), reduce=reduce).verdict is Verdict.PASSED_WITHIN_BOUNDS
    model.write_text(DELAYS.replace("this.n * 2;", "this.n * 2; assert this.n == 22;"))
    assert explore_model(str(model), reduce=reduce).verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_a_delay_and_a_condition(tmp_path: Path) -> None:
    text = """module M;
    class C { Bool go = False;
      Unit m() { await duration(2, 2) & go; println(toString(timeValue(now()))); }
      Unit start() { await duration(5, 5); this.go = True; } } { C c = new C(); c!m(); c!start(); }"""
    assert ran(tmp_path, text).output == "5\n"


def test_modules_of_the_same_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the model, else the nearest file below the folder that a project begins with."""
    (tmp_path / ".git").mkdir()
    for folder, value in (("src", 1), ("src/common", 2), ("other", 3)):
        (tmp_path / folder).mkdir()
        if folder != "src":
            (tmp_path / folder / "lib.abs").write_text(f"module Lib; export *; def Int n() = {value};")
    text = "module M; import * from Lib; { println(toString(n())); }"
    (tmp_path / "src" / "main").mkdir()
    assert ran(tmp_path / "src" / "main", text).output == "2\n"
    (tmp_path / "src" / "third").mkdir()
    (tmp_path / "src" / "third" / "lib.abs").write_text("module Lib; export *; def Int n() = 4;")
    with pytest.raises(AbsError, match="more than one file declares this module"):
        ran(tmp_path / "src" / "main", text)
    monkeypatch.setenv("ABS_PATH", str(tmp_path / "src" / "third"))
    assert ran(tmp_path / "src" / "main", text).output == "4\n"
    (tmp_path / "src" / "main" / "lib.abs").write_text("module Lib; export *; def Int n() = 5;")
    assert ran(tmp_path / "src" / "main", text).output == "5\n"


def test_nothing_is_looked_for_outside_a_project(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "lib.abs").write_text("module Lib; export *; def Int n() = 1;")
    with pytest.raises(AbsError, match="there is no module 'Lib'"):
        ran(tmp_path / "b", "module M; import * from Lib; { println(toString(n())); }")


def test_an_older_lookup_is_matched(tmp_path: Path) -> None:
    text = """data Node = Leaf(Int n) | Empty;
    def Int at(Map<Int, Node> m) = case lookup(m, 1) { Leaf(n) => n; Empty => 0; };"""
    told = printed(tmp_path, "println(toString(at(map[Pair(1, Leaf(7))])));", text)
    assert told == ["7"]


def test_types_of_the_library_said_again(tmp_path: Path) -> None:
    text = """data List<T> = Nil | Cons(T, List<T>); data Bool = True | False; data Int;
    def Int count(List<Int> l) = if l == Nil then 0 else 1 + count(tail(l));"""
    assert printed(tmp_path, "println(toString(count(list[4, 5])));", text) == ["2"]


def test_a_type_of_ones_own_with_a_library_name(tmp_path: Path) -> None:
    told = printed(tmp_path, "println(toString(Both(1, 2)));", "data Pair<A, B> = Both(A, B) | Neither;")
    assert told == ["Both(1,2)"]


def test_a_delay_that_is_over_while_its_actor_is_held_for_ever(tmp_path: Path) -> None:
    """Time stands still then: nobody else can go on either."""
    model = tmp_path / "m.abs"
    model.write_text(
        """module M;
        class D { Int x = 0; Int never() { await x == 5; return 1; } }
        class C(D d) { Int x = 0;
          Unit late() { await duration(1, 1); x = 1; }
          Unit hang() { Fut<Int> f = d!never(); Int r = f.get; } }
        { D d = new D(); C c = new C(d); c!late(); c!hang(); }"""
    )
    assert explore_model(str(model)).findings[0].kind == "deadlock"
    assert run_model(str(model)).outcome == "deadlock"
