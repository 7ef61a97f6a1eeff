"""Mistakes in ABS texts: each is one sentence at its line and column, with the line and a caret."""

from __future__ import annotations

import pytest

from treadle.abs.language.errors import AbsError, AbsUnsupported
from treadle.abs.language.load import loads
from treadle.abs.machine.statements import compile_program

CLASS = "module M;\nclass C(Int n) {\n  Unit m(Int x) {\n    %s\n  }\n}\n"


def error(text: str) -> AbsError:
    with pytest.raises(AbsError) as caught:
        loads(text, "m.abs")
    return caught.value


@pytest.mark.parametrize(
    ("statement", "column", "sentence"),
    [
        ("Int y = ;", 13, "';' is not expected here"),
        ("y = 1;", 5, "there is no variable 'y'"),
        ("this.m = 1;", 10, "class C has no field 'm'"),
        ("Int y = foo(1);", 13, "there is no function 'foo'"),
        ("Int y = lenght(Nil);", 13, "there is no function 'lenght'; did you mean 'length'?"),
        ("Int y = True;", 13, "a value of type Bool where Int is needed"),
        ("List<Int> y = Cons(True, Nil);", 24, "a value of type Bool where Int is needed"),
        ("C y = new D();", 15, "'D' is no class"),
        ("C y = new C();", 15, "class C takes 1 argument, not 0"),
        ("this!n(1);", 10, "C has no method 'n'"),
        ("this!mm(1);", 10, "C has no method 'mm'; did you mean 'm'?"),
        ("this!m();", 10, "method m takes 1 argument, not 0"),
        ("Int y = x + True;", 17, "a value of type Bool where Int is needed"),
        ("Bool y = x + Nil == x;", 18, "a number is needed here, not a value of type List<?>"),
        ("if (x) skip;", 9, "a value of type Int where Bool is needed"),
        ("Foo y = null;", 5, "there is no type 'Foo'"),
        ("Maybe y = Nothing;", 5, "type 'Maybe' takes 1 type arguments, not 0"),
        ("Int x1 = 1; Int x1 = 2;", 21, "variable 'x1' is declared twice"),
        ("case x { Nil => skip; }", 14, "a pattern of type List<?> for a value of type Int"),
        ("case Nil { Cons(a) => skip; }", 16, "constructor Cons takes 2 arguments, not 1"),
        ("Int y = x.get;", 13, "a value of type Int where Fut<?> is needed"),
        ("await x;", 11, "a value of type Int where Bool is needed"),
        ("throw x;", 11, "a value of type Int where Exception is needed"),
        ("Int y = C;", 13, "'C' is a class; create an object with: new C(...)"),
        ("Int y = x.n;", 15, "only fields of 'this' can be read"),
        ("Bool y = x < True;", 14, "Int and Bool cannot be compared"),
        ("return 1;", 12, "a value of type Int where Unit is needed"),
    ],
)
def test_in_a_method(statement: str, column: int, sentence: str) -> None:
    found = error(CLASS % statement)
    assert found.sentence.startswith(sentence)
    assert (found.place.line, found.place.column) == (4, column)
    shown = str(found).splitlines()
    assert shown[0].startswith(f"m.abs:4:{column}: {sentence}")
    assert shown[1] == f"    4 |     {statement}"
    assert shown[2].index("^") - shown[1].index(statement) + 5 == column


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("class C {}", 1, "'class' is not expected here: an ABS text begins with 'module Name;'"),
        ("module M;\nclass C {\n", 2, "the text ends in the middle of a construct"),
        ("module M;\nclass C implements I {}", 2, "'I' is no interface"),
        ("module M;\nclass C {}\nclass C {}", 3, "'C' is declared twice in module M"),
        ("module M;\ninterface I { Int m(); }\nclass C implements I {}", 3, "class C does not implement 'm' of I"),
        ("module M;\ninterface I { Int m(); }\nclass C implements I { Unit m() {} }", 3, "'m' returns Unit"),
        ("module M;\nclass C { Int m() { skip; } }", 2, "method 'm' may end without returning Int"),
        ("module M;\nimport * from Nowhere;", 2, "there is no module 'Nowhere'"),
        ("module M;\nimport foo from ABS.StdLib;", 2, "module ABS.StdLib has no 'foo'"),
        ("module M;\ntype A = B;\ntype B = A;", 2, "type 'A' is defined by itself"),
        ("module M;\ninterface I extends I {}", 2, "interface I extends itself"),
        ("module M;\ndef Int f(Int x) = y;", 2, "there is no variable 'y'"),
        ("module M;\ndata D = A(Unknown);", 2, "there is no type 'Unknown'"),
    ],
)
def test_in_declarations(text: str, line: int, sentence: str) -> None:
    found = error(text)
    assert found.sentence.startswith(sentence)
    assert found.place.line == line


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("module M;\ndelta D;\nuses M;", "a delta"),
        ("module M;\nproductline P;\nfeatures A;", "a product line"),
        ("module M;\nproduct P1(A);", "a product of a product line"),
        ("module M;\nroot R { group oneof { A } }", "a feature model"),
        ("module M;\n{ DC d = null; }", "a deployment component (type 'DC')"),
        ("module M;\nimport * from ABS.DC;\n{ skip; }", "deployment on components (ABS.DC)"),
        ("module M;\nclass C { port Int p; }", "a component ('port')"),
        ('module M;\ndef List<Int> all() = builtin(sqlite3, "a.db", "select 1");', "a database query ('builtin')"),
    ],
)
def test_what_is_not_executed_says_its_name(text: str, construct: str) -> None:
    found = error(text)
    assert isinstance(found, AbsUnsupported)
    assert found.sentence.startswith(construct)
    assert found.sentence.endswith("is not supported by Treadle; leave it out of the model")
    assert found.place.line == 2


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("{\n die NullPointerException; }", "'die'"),
        (
            "import Foreign from ABS.FLI; [Foreign] class C {} {\n new C(); }",
            "an object of the foreign class 'C' (ABS.FLI)",
        ),
    ],
)
def test_what_is_checked_and_not_executed_says_its_name(text: str, construct: str) -> None:
    program = loads(f"module M; {text}")
    with pytest.raises(AbsUnsupported) as caught:
        compile_program(program)
    assert caught.value.sentence == f"{construct} is not supported by Treadle; leave it out of the model"
    assert caught.value.place.line == 2


def test_die_takes_an_exception() -> None:
    assert error("module M; { die 1; }").sentence == "a value of type Int where Exception is needed"


def test_all_errors_of_a_file_are_told_together() -> None:
    with pytest.raises(AbsError) as caught:
        loads("""module M;
def Int f(Int x) = y;
class C { Int m() { return z; } Unit n() { this!o(); } }
{ Int a = True; }""")
    told = str(caught.value)
    assert [f"<text>:{line}:" in told for line in (2, 3, 4)] == [True] * 3
    assert told.count("\n") == 11  # four errors of three lines


def test_every_statement_is_looked_at_and_no_error_is_told_twice() -> None:
    with pytest.raises(AbsError) as caught:
        loads("module M;\n{ Int a = True;\n Int b = a + 1;\n if (b > 0) { b = c; } else { b = False; } }")
    assert [line.partition(" ")[0] for line in str(caught.value).splitlines() if line.startswith("<")] == [
        "<text>:2:11:",
        "<text>:4:19:",
        "<text>:4:35:",
    ]


def test_a_model_may_bring_a_standard_library_of_its_own() -> None:
    program = loads("""module ABS.StdLib; export *; data Unit = Unit; data Bool = True | False; data Int;
    data Exception; data Pair<A, B> = Pair(A, B); data Map<A, B> = EmptyMap | Assoc(Pair<A, B>, Map<A, B>);
    def B lookup<A, B>(Map<A, B> m, A k) = case m { Assoc(Pair(k, v), _) => v; Assoc(_, rest) => lookup(rest, k); };
    def Int first(Map<Int, Int> m) = lookup(m, 1);""")
    assert [function.name for function in program.functions] == ["lookup", "first"]


def test_two_types_of_one_name_are_told_apart() -> None:
    found = error("""module A; export *; data R = One;
    module B; export *; import * from A; interface I { R m(); }
    module C; import * from B; data R = Two; class D implements I { R m() { return Two; } }""")
    assert found.sentence == "'m' returns C.R, interface I says A.R"
