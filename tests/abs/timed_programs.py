"""Random small ABS programs with delays, exceptions, `random`, loops and patterns: what references alone do not try.

`python -m tests.abs.timed_programs 500 1000` tries 500 programs from the seed 1000 on.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.abs.handing_programs import differing_reductions
from tests.abs.random_programs import ProgramWriter, command
from tests.abs.small_programs import Compiled

_LEVELS = 3
_STARTS = (
    "x!m0(1);",
    "y!m0(2);",
    "x!m1(1);",
    "y!m1(0);",
    "x!m2(2);",
    "x!meet(y);",
    "{ Fut<Int> g = y!m2(1); x!keep(g); }",
    "{ Fut<Int> g = x!m2(1); y!keep(g); }",
)


class _Writer(ProgramWriter):
    def program(self) -> str:
        out = ["module T;", "exception Bad(Int why);", "data D = One | Two(Int);"]
        for cls, other in (("X", "Y"), ("Y", "X")):
            out.append(f"class {cls}({other} o) {{")
            out.append("  Int a = 1; Int b = 0; D d = One; List<Int> l = Nil; Fut<Int> f; Bool has = False;")
            if self.random.random() < 0.3:
                out.append("  { " + self.one_of("this.a = 2;", "if (this.o != null) { this.o!m2(1); }") + " }")
            if self.random.random() < 0.3:
                out.append(f"  Unit run() {{ Int n = 1; {self._statement(1)} }}")
            out.append(f"  Unit meet({other} p) {{ this.o = p; }}")
            out.append("  Unit keep(Fut<Int> g) { this.f = g; this.has = True; }")
            for level in range(_LEVELS):
                body = " ".join(self._statement(level) for _ in range(self.random.randint(1, 3)))
                out.append(f"  Int m{level}(Int n) {{ {body} return this.a + n; }}")
            out.append("}")
        calls = " ".join(self.one_of(*_STARTS) for _ in range(self.random.randint(2, 3)))
        return "\n".join([*out, f"{{ Y y = new Y(null); X x = new X(y); {calls} }}"])

    def _statement(self, level: int) -> str:
        simple = [*self._writes(), *self._delays(), *self._failures(), *self._loops_and_looks()]
        if level + 1 == _LEVELS:
            return self.one_of(*simple, "suspend;")
        return self.one_of(*simple, *self._calls(f"m{level + 1}") * 2)

    @staticmethod
    def _writes() -> list[str]:
        changes = ["this.a = this.a * 2 + n;", "this.a = this.a + 1;", "this.b = this.a;", "this.b = this.b + n;"]
        return [*changes, "this.d = Two(this.a);", "this.l = Cons(n, this.l);"]

    @staticmethod
    def _delays() -> list[str]:
        waits = ["await this.a > 1;", "await this.b > 0;", "await this.a < 3;"]
        return ["await duration(1, 1);", "await duration(2, 2);", "duration(1, 1);", "await duration(n, n);", *waits]

    def _failures(self) -> list[str]:
        asserts = f"assert this.a < {self.random.randint(2, 6)};"
        return ["if (this.a > 2) { throw Bad(this.b); }", "this.b = truncate(4 / this.b);", asserts]

    def _loops_and_looks(self) -> list[str]:
        v = self.name()
        turn = self.one_of("suspend;", "this.b = this.b + 1;")
        return [
            f"Int {v} = random(2); this.b = this.b + {v};",
            "switch (this.d) { One => this.d = Two(n); Two(q) => this.a = q; }",
            f"foreach ({v} in this.l) {{ this.a = this.a + {v}; }}",
            f"Int {v} = 0; while ({v} < this.a && {v} < 3) {{ {v} = {v} + 1; {turn} }}",
            "if (this.has) { await this.f?; this.a = this.a * 3; }",
            f"if (this.has) {{ try {{ Int {v} = this.f.get; this.a = {v}; }} catch {{ _ => this.b = 9; }} }}",
        ]

    def _calls(self, later: str) -> list[str]:
        v, target = self.name(), self.one_of("this", "this.o", "this.o")
        sent = f"Fut<Int> {v} = {target}!{later}(n);"
        caught = "catch { Bad(w) => this.a = w; _ => this.a = 7; } finally { this.l = Cons(1, this.l); }"
        calls = [
            f"{target}!{later}(n + 1);",
            f"await duration(1, 1); {target}!{later}(n);",
            f"{sent} await {v}?; this.b = {v}.get;",
            f"{sent} await {v}? & this.a > {self.random.randint(0, 2)}; this.b = this.b * 2 + 1;",
            f"{sent} await {v}?; try {{ this.b = {v}.get; }} {caught}",
            f"try {{ this.b = {target}.{later}(n); }} catch {{ _ => this.a = 5; }}",
            f"{sent} this.keep({v});",
        ]
        return [f"{'' if target == 'this' else 'if (this.o != null) '}{{ {call} }}" for call in calls]


def timed_program(seed: int) -> str:
    return _Writer(Random(seed)).program()


def judge(seed: int) -> Iterator[tuple[str, list[str] | None]]:
    yield f"seed {seed}", differing_reductions(Compiled.of(timed_program(seed)))


if __name__ == "__main__":
    command(judge)
