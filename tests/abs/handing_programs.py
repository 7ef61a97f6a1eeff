"""Random small ABS programs in which references and futures travel: handed on by a third actor, stored, asked for.

Actors are made by methods and by initialisation blocks, some of them in the group of their maker. Two hundred of these
programs are in the suite; `python -m tests.abs.handing_programs 5000` tries as many as it is told to. Reading a program
costs more than exploring it, so each set of classes is tried with several main blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from random import Random

from tests.abs.random_programs import ProgramWriter, command
from tests.abs.small_programs import Compiled, final_states
from treadle.abs.machine.criteria import SOUND_REDUCTIONS

MOST_STATES = 1500
_LEVELS = 3
# main blocks per set of classes; the others are methods of a class that no program makes
_STARTS = 5
_OTHER_STARTS = "Starts"


class _Writer(ProgramWriter):
    def program(self, starts: int) -> str:
        out = ["module T;"]
        for cls, other in (("X", "Y"), ("Y", "X")):
            out += [f"class {cls}(Int depth, X x, Y y) {{", "  Int a = 1; Bool has = False; Fut<Int> f;"]
            out.append("  { " + self._creation(other) + " }")
            out += ["  Unit setX(X o) { this.x = o; }", "  Unit setY(Y o) { this.y = o; }"]
            out += ["  Unit keep(Fut<Int> g) { this.f = g; this.has = True; }", "  X askX() { return this.x; }"]
            out.append("  Int first(Int n) { this.a = this.a + n; return this.a; }")
            for level in range(_LEVELS):
                body = " ".join(self._statement(cls, level) for _ in range(self.random.randint(1, 3)))
                out.append(f"  Int m{level}(Int n, X px, Y py, Fut<Int> pf) {{ {body} return this.a + n; }}")
            out.append("}")
        main = self._start()
        others = [f"Unit start{n}() {{ {self._start()} }}" for n in range(1, starts)]
        if others:
            out.append(f"class {_OTHER_STARTS} {{ {' '.join(others)} }}")
        return "\n".join([*out, f"{{ {main} }}"])

    def _start(self) -> str:
        start = "X x = new X(1, null, null); Y y = new Y(0, x, null); X z = new X(0, x, y); Fut<Int> pf = "
        start += f"{self.one_of('x', 'z')}!first(1); "
        calls = [f"{self.one_of('x', 'y', 'z')}!m{self.random.randint(0, 1)}" for _ in range(self.random.randint(1, 3))]
        start += " ".join(
            f"{c}({i}, {self._ref('main')}, {self.one_of('y', 'null')}, pf);" for i, c in enumerate(calls)
        )
        if self.random.random() < 0.3:
            start += f" {self.one_of('x', 'z')}!setY({self.one_of('y', 'null')});"
        return start

    def _ref(self, where: str) -> str:
        return self.one_of("x", "z", "null") if where == "main" else self.one_of("px", "this.x", "this.x")

    def _creation(self, other: str) -> str:
        local = self.one_of("", "local ")
        made = f"if (this.depth > 0) {{ this.{other.lower()} = new {local}{other}(this.depth - 1, this.x, this.y); }}"
        told = f" if (this.{other.lower()} != null) {{ this.{other.lower()}!set{other}(null); }}"
        return made + (told if self.random.random() < 0.2 else "")

    def _target(self, cls: str) -> str:
        return self.one_of("this", "px", "py", "this.x", "this.y")

    def _statement(self, cls: str, level: int) -> str:
        kinds = ["write", "write", "await", "hand", "hand", "keep", "look", "assert", "learn"]
        kinds += ["send", "send", "call", "sync", "make"] if level + 1 < _LEVELS else ["suspend"]
        return self._of_kind(self.random.choice(kinds), cls, level)

    def _of_kind(self, kind: str, cls: str, level: int) -> str:
        target = self._target(cls)
        guard = "" if target == "this" else f"if ({target} != null) "
        args = f"n + 1, {self._ref(cls)}, {self.one_of('py', 'this.y', 'null')}, pf"
        later = f"m{min(level + 1, _LEVELS - 1)}"
        v = self.name()
        texts = {
            "write": self.one_of("this.a = this.a * 2 + n;", "this.a = this.a + 1;", "this.a = n;"),
            "await": f"await this.a > {self.random.randint(0, 3)};",
            "assert": f"assert this.a < {self.random.randint(2, 6)};",
            "suspend": "suspend;",
            "hand": guard + self.one_of(f"{target}!setX({self._ref(cls)});", f"{target}!setY(py);"),
            "keep": f"{guard}{target}!keep(pf);",
            "look": self.one_of(
                "if (this.has) { await this.f?; this.a = this.a * 3; }",
                f"if (this.has) {{ Int {v} = this.f.get; this.a = this.a * 3 + {v}; }}",
            ),
            "learn": f"{guard}{{ Fut<X> {v} = {target}!askX(); await {v}?; this.x = {v}.get; }}",
            "send": f"{guard}{target}!{later}({args});",
            "call": f"{guard}{{ Fut<Int> {v} = {target}!{later}({args}); await {v}?; this.a = this.a + 1; }}",
            "sync": f"{guard}{{ Int {v} = {target}.{later}({args}); this.a = {v}; }}",
            "make": f"X {v} = new {self.one_of('', 'local ')}X({self.one_of('0', '1')}, px, this.y); this.x = {v};",
        }
        return texts[kind]


def handing_program(seed: int, starts: int = 1) -> str:
    return _Writer(Random(seed)).program(starts)


def started(seed: int) -> Iterator[Compiled]:
    """The same classes with each of the main blocks."""
    compiled = Compiled.of(handing_program(seed, _STARTS))
    yield compiled
    for (cls, _), code in compiled.image.methods.items():
        if cls.name.rpartition(".")[2] == _OTHER_STARTS:
            image = copy(compiled.image)
            image.main = code
            yield Compiled(compiled.program, image)


def differing_reductions(compiled: Compiled) -> list[str] | None:
    """The reductions that lose or invent a final state; None if there is too much to try."""
    truth = final_states(compiled, "none", MOST_STATES)
    if truth is None:
        return None
    return [r for r in SOUND_REDUCTIONS[1:] if final_states(compiled, r) != truth]


def judge(seed: int) -> Iterator[tuple[str, list[str] | None]]:
    for number, compiled in enumerate(started(seed)):
        yield f"seed {seed}, main block {number}", differing_reductions(compiled)


if __name__ == "__main__":
    command(judge)
