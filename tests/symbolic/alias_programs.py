"""Random programs in which everything may be the same object: writes, links, comparisons, lists, subclasses.

A program is straight-line code with a few conditions, so every input takes exactly one of its paths. The parameters
p, q, ... are objects of class C; with `lists` there is a list xs with two indices into it. In `list_programs` the
lists, too, may be the same one: parameters xs, ys, ... and the field `items` of an object.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

CLASSES = """\
from __future__ import annotations


class C:
    def __init__(
        self,
        f: int = 0,
        text: str = "",
        next: C | None = None,
        own: D | None = None,
        items: list[int] | None = None,
    ) -> None:
        self.f = f
        self.items = items
        self.text = text
        self.next = next
        self.own = own

    def bump(self) -> int:
        self.f += 1
        return self.f


class D:
    def __init__(self, v: int = 0, back: C | None = None) -> None:
        self.v = v
        self.back = back


"""
HEIR = """\
class Heir(C):
    def bump(self) -> int:
        self.f += 10
        return self.f


"""
_KINDS = (
    *["write"] * 4,
    *["link"] * 2,
    *["follow"] * 2,
    *["same", "less"] * 2,
    "read",
    "new",
    "own",
    "none",
    "bump",
    "undeclared",
    "delete",
    "text",
    "equal",
    "member",
    "inside",
    "rounds",
)


class _Writer:
    def __init__(self, draw: DrawFn, refs: list[str], lists: bool, odd: bool) -> None:
        self.draw = draw
        self.refs = refs
        self.lists = lists
        self.odd = odd
        self.conditions = 2
        self.names = 0

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def ref(self) -> str:
        return str(self.pick(*self.refs))

    def link(self) -> str:
        return self.ref() + str(self.pick("", "", ".next"))

    def index(self) -> str:
        return str(self.pick("i", "j", "0", f"{self.ref()}.f"))

    def value(self) -> str:
        fields = [f"{self.ref()}.f", f"{self.ref()}.f + 1"]
        elements = [f"xs[{self.index()}]"] if self.lists else []
        return str(self.pick("n", "1", "2", *fields, *elements))

    def name(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def statement(self) -> list[str]:
        kind = self.pick(*_KINDS, *(["element"] * 4 if self.lists else []))
        if kind in ("same", "less", "rounds"):
            if not self.conditions:
                return []
            self.conditions -= 1
        match kind:
            case "write":
                return [f"{self.ref()}.f = {self.value()}"]
            case "link":
                return [f"{self.ref()}.next = {self.pick('None', *self.refs)}"]
            case "follow":
                name = self.name()
                lines = [f"{name} = {self.ref()}.next", f"if {name} is not None:", f"    {name}.f = {self.value()}"]
                if self.pick(True, False):
                    self.refs.append(name)
                return lines
            case "same":
                return [f"if {self.link()} {self.pick('is', 'is not')} {self.link()}:", f"    z += {self.value()}"]
            case "less":
                return [f"if {self.ref()}.f > {self.value()}:", f"    {self.ref()}.f = {self.value()}"]
            case "read":
                return [f"z = {self.ref()}.f"]
            case "new":
                name = self.name()
                line = f"{name} = C({self.value()})"
                self.refs.append(name)
                return [line]
            case "own":
                lines = [f"if {self.ref()}.own is not None:"]
                return [*lines, f"    {self.ref()}.own = {self.pick('None', f'D({self.value()}, {self.ref()})')}"]
            case "none":
                return [f"if {self.ref()} is None:", "    return -1"]
            case "bump":
                return [f"z += {self.ref()}.bump()"]
            case "undeclared" if self.odd:
                return [f"{self.ref()}.extra = {self.value()}", f"z = getattr({self.ref()}, 'extra', 7)"]
            case "delete" if self.odd:
                return [f"del {self.ref()}.f"]
            case "text":
                return [f"{self.ref()}.text = {self.ref()}.text + 'a'"]
            case "equal":
                return [f"z = {self.ref()} == {self.ref()}"]
            case "member":
                return [f"z = {self.ref()} in [{self.ref()}, {self.ref()}]"]
            case "inside":
                return [f"z = {self.value()} in [{self.value()}, {self.value()}]"]
            case "rounds" if self.odd:
                return [f"for _ in range({self.value()}):", f"    z += {self.value()}"]
            case "element":
                return [f"xs[{self.index()}] = {self.value()}"]
        return []


@st.composite
def _alias_programs(draw: DrawFn, lists: bool, odd: bool) -> str:
    refs = ["p", "q", "r", "s"][: draw(st.integers(2, 4))]
    with_lists = lists and draw(st.booleans())
    parameters = [*(f"{name}: C" for name in refs), "n: int"]
    parameters += ["xs: list[int]", "i: int", "j: int"] if with_lists else []
    writer = _Writer(draw, refs, with_lists, odd)
    lines = [f"def main({', '.join(parameters)}):", "    z = 0"]
    for _ in range(draw(st.integers(2, 6))):
        lines += [f"    {line}" for line in writer.statement()]
    lines.append(f"    return {writer.pick('z', writer.value(), writer.ref())}")
    heir = HEIR if odd and draw(st.integers(0, 3)) == 0 else ""
    return CLASSES + heir + "\n".join(lines) + "\n"


def alias_programs(*, lists: bool = True, odd: bool = True) -> SearchStrategy[str]:
    """Modules with `main`; `odd`: undeclared and deleted fields, a loop, and a subclass that overrides."""
    return _alias_programs(lists, odd)


_LIST_KINDS = (
    *["write"] * 5,
    *["less"] * 3,
    *["same"] * 2,
    *["read"] * 2,
    "link",
    "field",
    "name",
    "length",
    "append",
    "pop",
    "walk",
    "equal",
    "inside",
    "reorder",
    "shorter",
    "odd",
    "object",
    "new",
)


class _ListWriter:
    def __init__(self, draw: DrawFn, lists: list[str], refs: list[str], objects: list[str]) -> None:
        self.draw = draw
        self.lists = lists
        self.refs = refs
        self.objects = objects  # lists of objects
        self.conditions = 2
        self.costly = 1  # operations that decide the length of a list
        self.names = 0

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def one(self) -> str:
        return str(self.pick(*self.lists, *(f"{ref}.items" for ref in self.refs)))

    def index(self) -> str:
        return str(self.pick("0", "0", "0", "1", "-1", "i", "j", *(f"{ref}.f" for ref in self.refs)))

    def element(self) -> str:
        return f"{self.one()}[{self.index()}]"

    def value(self) -> str:
        fields = [f"{ref}.f" for ref in self.refs]
        return str(self.pick("1", "2", "i", self.element(), f"{self.element()} + 1", *fields))

    def name(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def statement(self) -> list[str]:
        kind = self.pick(*_LIST_KINDS)
        if kind in ("same", "less", "inside", "equal"):
            if not self.conditions:
                return []
            self.conditions -= 1
        if kind in ("walk", "equal", "inside", "reorder", "shorter"):
            if not self.costly:
                return []
            self.costly -= 1
        match kind:
            case "write":
                return [f"{self.element()} = {self.value()}"]
            case "less":
                return [f"if {self.element()} > {self.value()}:", f"    {self.element()} = {self.value()}"]
            case "same":
                return [f"if {self.one()} {self.pick('is', 'is not')} {self.one()}:", f"    z += {self.value()}"]
            case "read":
                return [f"z = {self.element()}"]
            case "link" if self.refs:
                return [f"{self.pick(*self.refs)}.items = {self.one()}"]
            case "field" if self.refs:
                return [f"{self.pick(*self.refs)}.f = {self.value()}"]
            case "name":
                name = self.name()
                line = f"{name} = {self.one()}"
                self.lists.append(name)
                return [line]
            case "new":
                name = self.name()
                line = f"{name} = [{self.value()}, {self.value()}]"
                self.lists.append(name)
                return [line]
            case "length":
                return [f"z += len({self.one()})"]
            case "append":
                return [f"{self.one()}.append({self.value()})"]
            case "pop":
                return [f"{self.one()}.pop({self.pick('', '0')})"]
            case "walk":
                return [f"for v in {self.one()}:", f"    {self.pick('z += v', f'{self.element()} = v + 1')}"]
            case "equal":
                return [f"z = {self.one()} == {self.one()}"]
            case "inside":
                return [f"if {self.value()} in {self.one()}:", "    z += 1"]
            case "reorder":
                return [f"{self.one()}.{self.pick('reverse()', 'clear()', 'sort()', 'insert(0, 7)')}"]
            case "shorter":
                return [
                    self.pick(f"z = {self.one()}[1:]", f"del {self.element()}", f"{self.one()}.extend({self.one()})")
                ]
            case "odd":
                return [f"{self.element()} = {self.pick('None', 'True')}"]
            case "object" if self.objects:
                one, other = self.pick(*self.objects), self.pick(*self.objects)
                where = self.pick("0", "i")
                return [f"{one}[{where}].f = {self.value()}", f"z = {other}[{self.pick('0', 'j')}].f"]
        return []


@st.composite
def _list_programs(draw: DrawFn) -> str:
    lists = ["xs", "ys", "zs"][: draw(st.integers(1, 3))]
    refs = ["p", "q"][: draw(st.integers(0, 2))]
    objects = draw(st.sampled_from([[], [], [], ["cs", "ds"]]))
    parameters = [*(f"{name}: list[int]" for name in lists), *(f"{name}: C" for name in refs)]
    parameters += [*(f"{name}: list[C]" for name in objects), "i: int", "j: int"]
    writer = _ListWriter(draw, lists, refs, objects)
    lines = [f"def main({', '.join(parameters)}):", "    z = 0"]
    for _ in range(draw(st.integers(2, 5))):
        lines += [f"    {line}" for line in writer.statement()]
    lines.append(f"    return {writer.pick('z', writer.value(), writer.one())}")
    return CLASSES + "\n".join(lines) + "\n"


def list_programs() -> SearchStrategy[str]:
    """Modules with `main` whose parameters are lists, and objects that hold lists."""
    return _list_programs()
