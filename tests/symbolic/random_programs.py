"""Small random programs for property tests: integers, objects that may be the same one, calls, loops, exceptions.

A program is the text of a module whose entry is `main`; `target` makes it importable. Everything terminates on every
input: a loop counts a fresh counter down, and functions call only those defined before them.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

_FOLDER = tempfile.TemporaryDirectory(prefix="random-programs-")

CLASS = """\
class C:
    def __init__(self, f: int = 0, g: int = 0, next: "C | None" = None) -> None:
        self.f = f
        self.g = g
        self.next = next
"""


class _Writer:
    """Draws one function; `room` bounds the number of conditions, and with it the number of paths."""

    def __init__(self, draw: DrawFn, ints: list[str], refs: list[str], callees: list[tuple[str, int, int]]) -> None:
        self.draw = draw
        self.ints = ints
        self.refs = refs
        self.callees = callees
        self.room = 4
        self.loops = 0
        self.calls = 2
        self.links = 2
        self.makes = 1

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def atom(self) -> str:
        kinds = ["variable", "constant", *(["field"] * 2 if self.refs else [])]
        kind = self.pick(*kinds)
        if kind == "variable" and self.ints:
            return str(self.pick(*self.ints))
        if kind == "field":
            return f"{self.pick(*self.refs)}.{self.pick('f', 'g')}"
        return str(self.pick(-1, 0, 1, 2))

    def value(self) -> str:
        kind = self.pick("atom", "sum", "sum", "call") if self.callees and self.calls else self.pick("atom", "sum")
        if kind == "call":
            self.calls -= 1
            name, ints, refs = self.pick(*self.callees)
            if refs and not self.refs:
                return self.atom()
            arguments = [self.atom() for _ in range(ints)] + [str(self.pick(*self.refs)) for _ in range(refs)]
            return f"{name}({', '.join(arguments)})"
        return self.atom() if kind == "atom" else f"{self.atom()} {self.pick('+', '-')} {self.atom()}"

    def condition(self) -> str:
        self.room -= 1
        if len(self.refs) > 1 and self.pick(True, False, False):
            a, b = self.draw(st.permutations(self.refs))[:2]
            return f"{a} {self.pick('is', 'is not')} {b}"
        return f"{self.atom()} {self.pick('<', '>=', '==', '!=')} {self.atom()}"

    def block(self, indent: str, size: int, least: int = 1) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw(st.integers(least, max(least, size)))):
            lines += self.statement(indent, size)
        return lines

    def statement(self, indent: str, size: int) -> list[str]:
        kinds = ["assign", "assign"]
        if self.refs:
            kinds += ["write", "write", "write"]
            if self.links:
                kinds += ["link", "follow"]
            if self.makes:
                kinds.append("make")
        if self.room > 0 and size > 1:
            kinds += ["if", "if", "if"]
            if self.loops == 0 and self.ints:
                kinds.append("while")
            kinds.append("try")
        kind = self.pick(*kinds)
        if kind == "write":
            return [f"{indent}{self.pick(*self.refs)}.{self.pick('f', 'g')} = {self.value()}"]
        if kind == "link":
            self.links -= 1
            return [f"{indent}{self.pick(*self.refs)}.next = {self.pick('None', *self.refs)}"]
        if kind == "make":
            self.makes -= 1
            name, place = f"q{self.makes}", self.pick(*self.refs)
            lines = [f"{indent}{name} = C({self.atom()}, {self.pick('0', '1')}, {self.pick('None', *self.refs)})"]
            self.refs = [*self.refs, name]
            return [*lines, *([f"{indent}{place}.next = {name}"] if self.draw(st.booleans()) else [])]
        if kind == "follow":
            self.links -= 1
            name = f"p{self.links}"
            source = self.pick(*self.refs)
            self.room -= 1
            lines = [f"{indent}{name} = {source}.next", f"{indent}if {name} is not None:"]
            return [*lines, f"{indent}    {name}.{self.pick('f', 'g')} = {self.value()}"]
        if kind == "if":
            lines = [f"{indent}if {self.condition()}:", *self.block(indent + "    ", size - 1)]
            if self.draw(st.booleans()):
                lines += [f"{indent}else:", *self.block(indent + "    ", size - 1)]
            return lines
        if kind == "while":
            self.loops += 1
            self.room -= 1
            counter = f"n{self.loops}"
            lines = [f"{indent}{counter} = {self.atom()}", f"{indent}while {counter} > 0:"]
            return [*lines, f"{indent}    {counter} -= 1", *self.block(indent + "    ", 1)]
        if kind == "try":
            self.room -= 1
            name = self.pick(*self.ints) if self.ints else "z"
            lines = [f"{indent}try:", f"{indent}    {name} = {self.pick(1, 6)} // {self.atom()}"]
            return [*lines, f"{indent}except ZeroDivisionError:", f"{indent}    {name} = {self.pick(-1, 7)}"]
        name = str(self.pick(*self.ints, "z")) if self.ints else "z"
        line = f"{indent}{name} = {self.value()}"
        return [line]


def _function(
    draw: DrawFn, name: str, ints: int, refs: int, callees: list[tuple[str, int, int]], room: int, size: int
) -> list[str]:
    int_names = ["a", "b", "c"][:ints]
    ref_names = ["r", "s", "t"][:refs]
    writer = _Writer(draw, int_names, ref_names, callees)
    writer.room = room
    parameters = [*(f"{n}: int" for n in int_names), *(f"{n}: C" for n in ref_names)]
    lines = [f"def {name}({', '.join(parameters)}) -> int:", "    z = 0"]
    lines += writer.block("    ", size, size)
    if writer.room > 0 and draw(st.booleans()):
        lines += [f"    if {writer.condition()}:", f"        return {writer.value()}"]
    return [*lines, f"    return {writer.atom()}"]


@st.composite
def _programs(draw: DrawFn, objects: bool, calls: bool, most_refs: int) -> str:
    lines = [CLASS, ""]
    callees: list[tuple[str, int, int]] = []
    if calls:
        for number in range(draw(st.integers(1, 2))):
            refs = draw(st.integers(0, 2)) if objects else 0
            ints = draw(st.integers(0 if refs else 1, 2))
            lines += [*_function(draw, f"h{number}", ints, refs, list(callees), 2, 2), "", ""]
            callees.append((f"h{number}", ints, refs))
    refs = draw(st.integers(1, most_refs)) if objects else 0
    ints = draw(st.integers(0 if refs else 1, 2))
    lines += _function(draw, "main", ints, refs, callees, 3, 3)
    return "\n".join(lines) + "\n"


def programs(*, objects: bool = True, calls: bool = True, most_refs: int = 3) -> SearchStrategy[str]:
    """Modules with `main`; `objects`: parameters of class C beside integers; `calls`: helpers that main may call."""
    return _programs(objects, calls, most_refs)


def target(source: str) -> str:
    """Make the program importable; the text of its target for `treadle unit`."""
    name = f"random_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = Path(_FOLDER.name) / f"{name}.py"
    if not file.exists():
        file.write_text(source, encoding="utf-8")
    if _FOLDER.name not in sys.path:
        sys.path.insert(0, _FOLDER.name)
    importlib.invalidate_caches()
    importlib.import_module(name)
    return f"{name}:main"


def explore(source: str, **options: Any) -> ExploredTarget:
    """The program explored in this process, nothing written."""
    [found] = resolve(target(source))
    return Session(found, UnitOptions(**{"k": 1, "seconds": 1e9, "summaries": False, **options})).explore()


def facts(case: TestCase) -> tuple[Any, ...]:
    """What a case asserts, comparable across explorations: inputs with their aliasing, outcome, state afterwards."""
    numbers: dict[int, int] = {}
    before = tuple((name, _plain(value, numbers, {})) for name, value in case.arguments.items())
    outcome = case.outcome
    after = tuple((n, _plain(case.after[o], numbers, {})) for o, n in sorted(numbers.items()) if o in case.after)
    raised = outcome.raises.__name__ if outcome.raises is not None else ""
    return (before, raised, outcome.message, _plain(outcome.value, numbers, {}), after)


def _plain(value: Any, numbers: dict[int, int], seen: dict[int, int]) -> Any:
    """Objects by the order in which they are first met, so that equal shapes are equal values."""
    if isinstance(value, CaseObject):
        number = numbers.setdefault(value.number, len(numbers))
        if number in seen:
            return ("same", number)
        seen[number] = number
        fields = tuple((k, _plain(v, numbers, seen)) for k, v in sorted(value.fields.items()))
        items = tuple(_plain(v, numbers, seen) for v in value.items)
        return (value.kind, number, fields, items)
    if isinstance(value, tuple):
        return tuple(_plain(v, numbers, seen) for v in value)
    return value
