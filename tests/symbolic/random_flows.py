"""Random programs with every kind of control flow: what a selection of paths has to find its way through.

Integers only, so that all paths are cheap; loops in loops and in callees, exceptions that cross calls, `finally`,
early returns, methods, generators, conditions in comprehensions, `match`, `and` / `or`, `with`, functions as values.
Everything terminates on every input, as in `random_programs`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

HEAD = """\
class Stop(Exception):
    pass


class Guard:
    def __init__(self, swallows: bool) -> None:
        self.swallows = swallows

    def __enter__(self) -> "Guard":
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> bool:
        return self.swallows


class Box:
    def __init__(self, n: int) -> None:
        self.n = n

    def put(self, m: int) -> int:
        if m > self.n:
            self.n = m
            return 1
        return 0

    @property
    def sign(self) -> int:
        if self.n < 0:
            return -1
        return 1

    def __add__(self, other: int) -> int:
        if other == 0:
            return self.n
        return self.n + other


def upto(n: int):
    if n > 0:
        yield 1
    yield n


def apply(f, n: int) -> int:
    if n == 2:
        return -1
    return f(n)
"""


class _Writer:
    """Draws one function; `room` bounds the number of conditions, and with it the number of paths."""

    def __init__(self, draw: DrawFn, ints: list[str], callees: list[tuple[str, int]], room: int) -> None:
        self.draw = draw
        self.ints = ints
        self.callees = callees
        self.room = room
        self.names = 0
        self.calls = 2
        self.loops: list[str] = []

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def atom(self) -> str:
        return str(self.pick(*self.ints, *self.ints, "z", -1, 0, 1, 2))

    def comparison(self) -> str:
        self.room -= 1
        return f"{self.pick(*self.ints)} {self.pick('<', '>=', '==', '!=')} {self.atom()}"

    def condition(self) -> str:
        kind = self.pick("one", "one", "one", "and", "or", "not", "chain")
        if kind == "one" or self.room < 2:
            return self.comparison()
        if kind == "not":
            return f"not ({self.comparison()} and {self.comparison()})"
        if kind == "chain":
            self.room -= 2
            return f"{self.atom()} < {self.pick(*self.ints)} <= {self.atom()}"
        return f"{self.comparison()} {kind} {self.comparison()}"

    def value(self) -> str:
        kinds = ["atom", "sum"]
        if self.calls and self.room > 0:
            kinds += ["call", "call", "call"] if self.callees else []
            kinds += ["ternary", "put", "sign", "add", "comprehension", "any", "apply"]
        kind = self.pick(*kinds)
        if kind == "atom":
            return self.atom()
        if kind == "sum":
            return f"{self.atom()} {self.pick('+', '-')} {self.atom()}"
        self.room -= 1
        self.calls -= 1
        if kind == "call":
            name, ints = self.pick(*self.callees)
            return f"{name}({', '.join(self.atom() for _ in range(ints))})"
        if kind == "ternary":
            return f"{self.atom()} if {self.comparison()} else {self.atom()}"
        if kind == "put":
            return f"Box({self.atom()}).put({self.atom()})"
        if kind == "sign":
            return f"Box({self.atom()}).sign"
        if kind == "add":
            return f"Box({self.atom()}) + {self.atom()}"
        if kind == "any":
            return f"int(any(x > {self.atom()} for x in ({self.atom()}, {self.atom()})))"
        if kind == "apply":
            return f"apply(lambda x: x + {self.atom()}, {self.atom()})"
        return f"sum([x for x in ({self.atom()}, {self.atom()}) if x != {self.atom()}])"

    def block(self, indent: str, size: int, least: int = 1) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw(st.integers(least, max(least, size)))):
            lines += self.statement(indent, size)
            if lines[-1].strip().startswith(("return", "raise", "break", "continue")):
                break
        return lines

    def statement(self, indent: str, size: int) -> list[str]:
        kinds = ["assign", "assign"]
        if size < 3:
            kinds += ["return", "raise"]
            kinds += ["break", "continue"] if self.loops else []
        if self.room > 0 and size > 1:
            kinds += ["if", "if", "try", "try", "match", "with", "generator", "assert"]
            kinds += ["while", "for"] if len(self.loops) < 2 else []
        kind = self.pick(*kinds)
        inner = indent + "    "
        if kind == "return":
            return [f"{indent}return {self.value()}"]
        if kind == "raise":
            return [f"{indent}raise {self.pick('Stop', 'ValueError')}"]
        if kind in ("break", "continue"):
            return [f"{indent}{kind}"]
        if kind == "assert":
            return [f"{indent}assert {self.comparison()}"]
        if kind == "if":
            lines = [f"{indent}if {self.condition()}:", *self.block(inner, size - 1)]
            if self.room > 0 and self.draw(st.booleans()):
                lines += [f"{indent}elif {self.condition()}:", *self.block(inner, size - 1)]
            if self.draw(st.booleans()):
                lines += [f"{indent}else:", *self.block(inner, size - 1)]
            return lines
        if kind == "try":
            return self._try(indent, size)
        if kind == "match":
            self.room -= 1
            lines = [f"{indent}match {self.pick(*self.ints)}:", f"{inner}case 0 | 3:", *self.block(inner + "    ", 1)]
            return [*lines, f"{inner}case _:", *self.block(inner + "    ", size - 1)]
        if kind == "with":
            lines = [f"{indent}with Guard({self.pick('True', 'False', self.comparison())}):"]
            return [*lines, *self.block(inner, size - 1)]
        if kind == "generator":
            self.room -= 1
            name = self.fresh("y")
            return [f"{indent}for {name} in upto({self.atom()}):", f"{inner}{self.pick(*self.ints)} += {name}"]
        if kind == "for":
            name = self.fresh("i")
            self.loops.append(name)
            lines = [f"{indent}for {name} in range({self.pick(1, 2)}):", *self.block(inner, size - 1)]
            return [*lines, *self._after_loop(indent)]
        if kind == "while":
            self.room -= 1
            name = self.fresh("n")
            self.loops.append(name)
            lines = [f"{indent}{name} = {self.atom()}", f"{indent}while {name} > 0:", f"{inner}{name} -= 1"]
            return [*lines, *self.block(inner, size - 1), *self._after_loop(indent)]
        return [f"{indent}{self.pick(*self.ints, 'z')} = {self.value()}"]

    def _after_loop(self, indent: str) -> list[str]:
        self.loops.pop()
        return [f"{indent}else:", f"{indent}    z += 1"] if self.draw(st.booleans()) else []

    def _try(self, indent: str, size: int) -> list[str]:
        self.room -= 1
        inner = indent + "    "
        lines = [f"{indent}try:"]
        if self.draw(st.booleans()):
            lines += [f"{inner}z = 6 // {self.pick(*self.ints)}"]
        lines += self.block(inner, size - 1)
        clauses = self.draw(st.integers(0, 2))
        for caught in self.draw(st.permutations(["Stop", "(ValueError, ZeroDivisionError)", "Exception"]))[:clauses]:
            lines += [f"{indent}except {caught}:", *self.block(inner, size - 1)]
        if clauses and self.draw(st.booleans()):
            lines += [f"{indent}else:", f"{inner}z = {self.atom()}"]
        if not clauses or self.draw(st.booleans()):
            loops, self.loops = self.loops, []  # `continue` in finally hides what was raised; it has a test of its own
            lines += [f"{indent}finally:", f"{inner}z += 1", *self.block(inner, 1, 0)]
            self.loops = loops
        return lines


def _function(draw: DrawFn, name: str, ints: int, callees: list[tuple[str, int]], room: int, size: int) -> list[str]:
    names = ["a", "b"][:ints]
    writer = _Writer(draw, names, callees, room)
    lines = [f"def {name}({', '.join(f'{n}: int' for n in names)}) -> int:", "    z = 0"]
    lines += writer.block("    ", size, size)
    return [*lines, f"    return z + {writer.atom()}"]


@st.composite
def _flows(draw: DrawFn) -> str:
    lines = [HEAD, ""]
    callees: list[tuple[str, int]] = []
    for number in range(draw(st.integers(0, 2))):
        ints = draw(st.integers(1, 2))
        lines += [*_function(draw, f"h{number}", ints, list(callees), 3, 2), "", ""]
        callees.append((f"h{number}", ints))
    lines += _function(draw, "main", draw(st.integers(1, 2)), callees, 5, 3)
    return "\n".join(lines) + "\n"


def flows() -> SearchStrategy[str]:
    """Modules with `main`, as in `random_programs`."""
    return _flows()
