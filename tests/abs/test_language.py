"""What ABS programs mean: each test runs a main block and looks at what it prints or leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.abs.explore.replaying import Replayed
from treadle.doors.actor.models import run_model


def ran(tmp_path: Path, text: str, name: str = "m.abs") -> Replayed:
    model = tmp_path / name
    model.write_text(text)
    return run_model(str(model))


def printed(tmp_path: Path, body: str, declarations: str = "") -> list[str]:
    """The lines that the statements print."""
    run = ran(tmp_path, f"module M;\n{declarations}\n{{ {body} }}")
    assert run.failures == []
    return run.output.splitlines()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3 - 4", "3"),
        ("-7 % 3", "-1"),
        ("7 % -3", "1"),
        ("truncate(7/2)", "3"),
        ("truncate(-7/2)", "-3"),
        ("floor(-7/2)", "-4"),
        ("1/3 + 1/6", "1/2"),
        ("numerator(6/4)", "3"),
        ("abs(-3)", "3"),
        ("max(2, 5) + min(2, 5)", "7"),
        ("pow(2, 10)", "1024"),
        ("div(-7, 2)", "-3"),
        ("True && !False", "True"),
        ("~True || False", "False"),
        ("1 < 2 && 2 <= 2 && 3 != 4", "True"),
        ('"a" + "b" + toString(1)', "ab1"),
        ('strlen("hello")', "5"),
        ('substr("hello", 1, 3)', "ell"),
        ("length(list[1, 2, 3])", "3"),
        ("nth(list[4, 5, 6], 1)", "5"),
        ("head(tail(list[4, 5, 6]))", "5"),
        ("appendright(list[1], 2)", "list[1,2]"),
        ("concatenate(list[1], list[2, 3])", "list[1,2,3]"),
        ("reverse(list[1, 2, 3])", "list[3,2,1]"),
        ("without(list[1, 2, 1], 1)", "list[2]"),
        ("isEmpty(Nil)", "True"),
        ("contains(set[1, 2], 2)", "True"),
        ("size(union(set[1, 2], set[2, 3]))", "3"),
        ("contains(remove(set[1, 2], 2), 2)", "False"),
        ('lookup(map[Pair("a", 1)], "a")', "Just(1)"),
        ('lookup(put(EmptyMap, "a", 1), "b")', "Nothing"),
        ('lookupDefault(EmptyMap, "b", 7)', "7"),
        ("size(keys(insert(EmptyMap, Pair(1, 2))))", "1"),
        ("values(removeKey(map[Pair(1, 2), Pair(3, 4)], 1))", "list[4]"),
        ("fromJust(Just(3))", "3"),
        ("fst(Pair(1, 2)) + snd(Pair(1, 2)) + trd(Triple(1, 2, 3))", "6"),
        ("isLeft(Left(1))", "True"),
        ("if 1 < 2 then 3 else 4", "3"),
        ("when False then 3 else 4", "4"),
        ("let (Int x) = 2 in let (Int y) = 3 in x * y", "6"),
        ("let Int x = 2, Int y = x + 1 in y", "3"),
        ("case Just(5) { Just(n) => n; Nothing => 0; }", "5"),
        ("case Pair(1, Nil) { | Pair(0, _) => 0 | Pair(_, Nil) => 9 }", "9"),
        ('case "b" { "a" => 1; "b" => 2; _ => 3; }', "2"),
        ("map(double)(list[1, 2])", "list[2,4]"),
        ("filter(positive)(list[-1, 2])", "list[2]"),
        ("foldl(plus)(list[1, 2, 3], 10)", "16"),
        ("Euro", "Euro"),
        ("value(Coin(2, Euro))", "2"),
        ("list[1, 2] == Cons(1, Cons(2, Nil))", "True"),
        ("ABS.StdLib.length(list[1])", "1"),
    ],
)
def test_expressions(tmp_path: Path, expression: str, value: str) -> None:
    declarations = """
      data Currency = Euro | Dollar;
      data Coin = Coin(Int value, Currency currency);
      def Int double(Int x) = x * 2;
      def Bool positive(Int x) = x > 0;
      def Int plus(Int a, Int b) = a + b;
    """
    assert printed(tmp_path, f"println(toString({expression}));", declarations) == [value]


def test_division_in_both_dialects(tmp_path: Path) -> None:
    assert printed(
        tmp_path, "Int old = 7 / 2; Rat exact = 7 / 2; println(toString(old)); println(toString(exact));"
    ) == [
        "3",
        "7/2",
    ]


def test_a_field_may_be_called_as_and_a_method_get(tmp_path: Path) -> None:
    run = ran(
        tmp_path,
        """module M;
        class C { Int as = 1; Int get(Int x) { this.as = as + x; return as; } }
        { C c = new C(); Int x = c.get(2); println(toString(x)); }""",
    )
    assert run.output == "3\n"


def test_statements(tmp_path: Path) -> None:
    body = """
      Int total = 0;
      foreach (x, i in list[10, 20]) { total = total + x * i; }
      while (total < 25) total = total + 1;
      if (total == 25) println("total"); else println("wrong");
      switch (Just(total)) { Just(25) => println("switch"); _ => println("wrong"); }
      case total { 25 => { println("case"); } _ => skip; }
      Int known = 25;
      case 25 { known => println("compared"); }
      { Int total2 = 1; println(toString(total2)); }
      assert total > 0;
    """
    assert printed(tmp_path, body) == ["total", "switch", "case", "compared", "1"]


def test_exceptions(tmp_path: Path) -> None:
    declarations = """
      exception Missing(Int n);
      class C {
        Int m(Int x) { if (x == 0) throw Missing(3); return 10 / x; }
        Int guarded(Int x) {
          try { return this.m(x); } catch { Missing(n) => return n; } finally { println("finally"); }
        }
      }
    """
    body = """
      C c = new C();
      Int a = await c!guarded(0); println(toString(a));
      Int b = await c!guarded(5); println(toString(b));
      try { Int d = await c!m(0); } catch { Missing(n) => println("caught " + toString(n)); }
      try { Int z = 0; Int y = 1 / z; } catch { DivisionByZeroException => println("division"); }
      try { assert False; } catch { AssertionFailException => println("assertion"); }
      try { C none = null; none!m(1); } catch { NullPointerException => println("null"); }
      try { Int h = head(Nil); } catch { PatternMatchFailException => println("pattern"); }
      try {
        try { throw Missing(1); } catch { DivisionByZeroException => skip; } finally { println("inner"); }
      } catch { _ => println("outer"); }
    """
    lines = printed(tmp_path, body, declarations)
    assert lines == [
        "finally", "3", "finally", "2", "caught 3", "division", "assertion", "null", "pattern", "inner", "outer",
    ]  # fmt: skip


def test_an_exception_nobody_gets_is_a_failure(tmp_path: Path) -> None:
    run = ran(tmp_path, "module M; class C { Unit m() { assert False; } } { C c = new C(); c!m(); }")
    assert run.outcome == "failed"
    assert run.failures == ["AssertionFailException"]


def test_objects_are_initialised_and_run(tmp_path: Path) -> None:
    run = ran(
        tmp_path,
        """module M;
        class C(Int p) {
          Int a = p + 1;
          Int b;
          List<Int> l;
          { this.b = this.a * 2; }
          Unit run() { this.l = Cons(this.b, this.l); }
        }
        { new C(4); }""",
    )
    assert run.final["r1"] == {"p": 4, "a": 5, "b": 10, "l": "list[10]"}


def test_modules_import_and_export(tmp_path: Path) -> None:
    (tmp_path / "other.abs").write_text(
        "module Other.Things; export Thing, make; data Thing = Thing(Int size); def Thing make(Int n) = Thing(n);"
        "def Int hidden() = 1;"
    )
    text = "module M; import make, Thing from Other.Things; { println(toString(make(2))); }"
    assert ran(tmp_path, text).output == "Thing(2)\n"
    qualified = "module M; import Other.Things.make; { println(toString(Other.Things.make(3))); }"
    assert ran(tmp_path, qualified).output == "Thing(3)\n"


def test_annotations_and_creation_keywords_of_the_older_dialect(tmp_path: Path) -> None:
    run = ran(
        tmp_path,
        """module M;
        [Unit: Far] interface I { [Atomic] Int m([Near] I other); }
        [COG] class C implements I { [Near] Int n = 1; Int m(I other) { return n; } }
        { [Far] I one = new cog C(); [Cost: 5] one!m(null); [Near] I two = new local C(); }""",
    )
    assert run.outcome == "completed"


def test_interfaces_conversion(tmp_path: Path) -> None:
    declarations = """
      interface A { Int a(); }
      interface B { Int b(); }
      class Both implements A, B { Int a() { return 1; } Int b() { return 2; } }
    """
    body = """
      A x = new Both();
      B y = x as B;
      Bool isB = x implements B;
      Int n = await y!b();
      println(toString(n) + toString(isB));
    """
    assert printed(tmp_path, body, declarations) == ["2True"]


def test_long_lists_are_no_problem(tmp_path: Path) -> None:
    assert printed(tmp_path, "println(toString(length(range(1, 3000))));") == ["3000"]


def test_recursion_without_end_is_an_exception_of_the_model(tmp_path: Path) -> None:
    run = ran(tmp_path, "module M; def Int f(Int x) = f(x + 1); { Int y = f(1); }")
    assert run.failures == ["StackOverflowException"]


def test_long_sums_are_checked_once(tmp_path: Path) -> None:
    """Checking each half twice would take 2 ** 60 steps."""
    assert printed(tmp_path, f"println(toString({' + '.join(['1'] * 60)}));") == ["60"]
    assert printed(tmp_path, f"println({' + '.join(['toString(1)'] * 60)});") == ["1" * 60]
