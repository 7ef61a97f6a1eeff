"""The test of a probe: its values, its call, and what the call was seen to do.

The strong form asserts the result, the message of an exception and what has changed; the weak one, for what is not the
same every time, the type of the result or of the exception alone.
"""

from __future__ import annotations

import builtins
import random
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from unittest.mock import NonCallableMock

from treadle.doors.unit.pytest_text import WIDTH, docstring, folded, heading, snake
from treadle.symbolic.python.contracts.conditions import as_written
from treadle.units.imports import Imports, NotWritable
from treadle.units.probing.call import MOST_ITEMS, PATCHED, Probe, Prober, ProbeRun, arguments
from treadle.units.probing.files import FILE
from treadle.units.value_source import quoted, written

_LONGEST = 2000
_LONGEST_MESSAGE = 200
_LONGEST_NAME = 60
# A call that asks for chance is made again so often, each time with other luck.
_MOST_SEEDS = 16
_INLINE = re.compile(r"""-?\d+(\.\d+)?|True|False|None|"[^"\n]{0,40}"|'[^'\n]{0,40}'|\[\]|\{\}|\(\)""")


_TAKEN = ("result", "caught", "pytest", "tmp_path", "monkeypatch")


@dataclass
class ProbedTest:
    """A test that can be written in two ways."""

    name: str
    strong: str
    weak: str
    imports: list[str] = field(default_factory=list)


class ProbeWriter:
    """Makes tests of probes, all in one file."""

    def __init__(self, prober: Prober, imports: Imports, taken: set[str]) -> None:
        self.prober = prober
        self.target = prober.target
        self.imports = imports
        self.taken = set(taken)

    def test(self, probe: Probe, reaches: str) -> ProbedTest | None:
        """The test of a probe, or None when its call does not do the same every time, or cannot be written."""
        runs = [self.prober.call(probe, world=bool(again)) for again in range(2)]
        asked = runs[-1].asked if runs[-1] is not None else set()
        if "chance" in asked:
            runs += [self._by_chance(probe, seed) for seed in range(_MOST_SEEDS)]
        known = [run for run in runs if run is not None and not run.refused]
        first = known[0] if known else None
        if first is None or len(known) < len(runs) or ("clock" in asked and first.raised is not None):
            return None
        if any(run.arcs != first.arcs or type(run.raised) is not type(first.raised) for run in known):
            return None
        try:
            said = [self._outcome(run) for run in known]
            calls = self._lines(probe)
            plain = self._plainly(first)
        except NotWritable:
            return None
        # what depends on the hour is not asserted
        body = said[0] if all(one == said[0] for one in said) and "clock" not in asked else plain
        name = self._name(first)
        fixtures, around = self._in_a_folder(asked, first)
        head = f"{heading(name, fixtures)}\n" + _indented(docstring(reaches), *around)
        return ProbedTest(name, head + _indented(*calls, *body), head + _indented(*calls, *plain))

    def _in_a_folder(self, asked: set[str], reached: ProbeRun) -> tuple[list[str], list[str]]:
        """Parameters and first lines of a test whose call looks at files: it has a folder of its own."""
        if not asked & {"files", "temporary"} and not reached.left:
            return [], []
        lines = ["monkeypatch.chdir(tmp_path)"]
        if "temporary" in asked:
            lines.append(f'monkeypatch.setattr({self.imports.module("tempfile")}, "tempdir", str(tmp_path))')
        return [f"tmp_path: {self._path()}", "monkeypatch: pytest.MonkeyPatch"], lines

    def _path(self) -> str:
        return self.imports.local_name("pathlib", "Path")

    def _by_chance(self, probe: Probe, seed: int) -> ProbeRun | None:
        before = random.getstate()
        random.seed(seed)
        try:
            return self.prober.call(probe)
        finally:
            random.setstate(before)

    # --- the call ----------------------------------------------------------------------------------------

    def _variables(self, probe: Probe) -> dict[str, str]:
        """Parameter -> how the call names its value."""
        found: dict[str, str] = {}
        for name, text in _without_files(probe):
            inline = name != "self" and _INLINE.fullmatch(text) and not any(s[0] == name for s in probe.sets)
            taken = {*self.imports.names, *_TAKEN, *found.values()}
            wanted = snake(as_written(self.target.cls).__name__) if name == "self" and self.target.cls else name
            wanted = f"patched_{snake(name)}" if name.startswith(PATCHED) else wanted
            while wanted in taken:
                wanted += "_"
            found[name] = text if inline and text not in ("[]", "{}") else wanted
        return found

    def _lines(self, probe: Probe) -> list[str]:
        names = self._variables(probe)
        lines = [line for statement in probe.setup for line in statement.splitlines()]
        lines += self._files(probe)
        lines += [f"{names[name]} = {text}" for name, text in _without_files(probe) if names[name] != text]
        return [*lines, *(f"{names[name]}{path}{f' = {text}' if text else ''}" for name, path, text in probe.sets)]

    def _files(self, probe: Probe) -> list[str]:
        """Statements that put the files there."""
        lines: list[str] = []
        made: set[PurePath] = {PurePath()}
        for name, text in probe.given:
            if not name.startswith(FILE):
                continue
            path, content = PurePath(name.removeprefix(FILE)), self.prober.pool.value(text)
            for folder in [*([path] if content is None else []), path.parent]:
                if folder not in made:
                    parents = "" if folder.parent in made else "parents=True"
                    lines.append(f"{self._path()}({quoted(str(folder))}).mkdir({parents})")
                    made |= {folder, *folder.parents}
            if content is not None:
                kind = "text" if isinstance(content, str) else "bytes"
                coded = "" if kind == "bytes" or content.isascii() else ', encoding="utf-8"'
                lines.append(f"{self._path()}({quoted(str(path))}).write_{kind}({text}{coded})")
        return lines

    def _call(self, probe: Probe) -> str:
        names, target = self._variables(probe), self.target
        positional, named = arguments(target, list(names))
        given = [names[name] for name in positional] + [f"{name}={names[name]}" for name in named]
        method = target.name.rpartition(".")[2]
        if target.receiver == "self" and "MagicMock(" in dict(probe.given)["self"]:
            function = f"{self.imports.of(target.cls)}.{method}{'.fget' if target.is_property else ''}"
            return f"{function}({', '.join([names['self'], *given])})"
        if target.receiver == "self":
            return f"{names['self']}.{method}" + ("" if target.is_property else f"({', '.join(given)})")
        if target.receiver == "new":
            return f"{self.imports.of(target.cls)}({', '.join(given)})"
        if target.cls is not None:
            return f"{self.imports.of(target.cls)}.{method}({', '.join(given)})"
        return f"{self.imports.local_name(target.module.__name__, method)}({', '.join(given)})"

    def _statements(self, probe: Probe, raises: str = "") -> list[str]:
        """Statements that make the call, what it patches around them: a generator is taken, a coroutine is run."""
        call, target = self._call(probe), self.target
        assigned = "" if raises else "result = "
        around = [*self._patches(probe), *([raises] if raises else [])]
        if target.is_async:
            self.imports.module("asyncio")
            line = f"{assigned}asyncio.run({call})"
        elif target.is_context:
            around.append(call if raises else f"{call} as result")
            line = "pass"
        elif target.is_generator:
            line = f"{assigned}list({self.imports.local_name('itertools', 'islice')}({call}, {MOST_ITEMS}))"
        else:
            line = f"{assigned}{call}"
        return [*_with(around), f"    {line}"] if around else [line]

    def _patches(self, probe: Probe) -> list[str]:
        names = self._variables(probe)
        found: list[str] = []
        for name in [name for name, _ in probe.given if name.startswith(PATCHED)]:
            patch, place = self.imports.local_name("unittest.mock", "patch"), self.prober.place_of(name)
            create = ", create=True" if name.removeprefix(PATCHED) in dir(builtins) else ""
            found.append(f'{patch}("{place}", {names[name]}{create})')
        return found[::-1]

    # --- what it did -------------------------------------------------------------------------------------

    def _outcome(self, reached: ProbeRun) -> list[str]:
        if reached.raised is not None:
            return self._raises(reached, with_message=True)
        statements, result = self._statements(reached.probe), "result"
        changed = [*self._changes(reached), *self._left(reached)]
        value, names = reached.result, self._variables(reached.probe)
        same = next(
            (names[n] for n, v in reached.values.items() if v is value and names.get(n, "").isidentifier()), None
        )
        if value is None or isinstance(value, bool):
            checks = [f"assert {result} is {value}"]
        elif same is not None and not isinstance(value, int | str | float):
            checks = [f"assert {result} is {same}"]
        else:
            try:
                text = written(value, self.imports)
            except NotWritable:
                text = ""
            if not text or len(text) > _LONGEST or "0x" in text or self.prober.scratch in text:
                return [*statements, *self._type(value, result), *changed]
            checks = [f"assert {result} == {text}"]
        return [*statements, *checks, *changed]

    def _plainly(self, reached: ProbeRun) -> list[str]:
        """What is the same every time."""
        if reached.raised is not None:
            return self._raises(reached, with_message=False)
        return [*self._statements(reached.probe), *self._type(reached.result, "result")]

    def _type(self, value: Any, result: str) -> list[str]:
        kind = type(value)
        if kind.__module__ == "builtins" and kind.__name__ in dir(builtins):
            return [f"assert isinstance({result}, {kind.__name__})"]
        if value is None:
            return [f"assert {result} is None"]
        return [f'assert type({result}).__name__ == "{kind.__name__}"']

    def _raises(self, reached: ProbeRun, with_message: bool) -> list[str]:
        raised = reached.raised
        assert raised is not None
        kind = self.imports.of(type(raised))
        try:
            message = str(raised)
        except Exception:
            message = ""
        steady = message and len(message) <= _LONGEST_MESSAGE and "0x" not in message and "Mock" not in message
        if with_message and steady and self.prober.scratch not in message:
            caught = self._statements(reached.probe, f"pytest.raises({kind}) as caught")
            return [*caught, f"assert str(caught.value) == {quoted(message)}", *self._left(reached)]
        return self._statements(reached.probe, f"pytest.raises({kind})")

    def _changes(self, reached: ProbeRun) -> list[str]:
        """The containers and public fields that are not what they were."""
        before = self.prober.values(reached.probe)
        names = self._variables(reached.probe)
        found: list[str] = []
        for name, value in reached.values.items():
            shown = names.get(name, "")
            if not shown.isidentifier():
                continue
            if isinstance(value, list | dict | set):
                found += self._changed(shown, before[name], value)
            elif hasattr(value, "__dict__") and not isinstance(value, NonCallableMock | type):
                for key, now in vars(value).items():
                    if not key.startswith("_") and key.isidentifier():
                        found += self._changed(f"{shown}.{key}", getattr(before[name], key, None), now)
        return found[:6]

    def _changed(self, place: str, before: Any, now: Any) -> list[str]:
        try:
            old, new = written(before, self.imports), written(now, self.imports)
        except Exception:  # what it is made of has no source, or does not let itself be looked at
            return []
        if old == new or len(new) > _LONGEST or self.prober.scratch in new:
            return []
        return [f"assert {place} is {new}" if new in ("None", "True", "False") else f"assert {place} == {new}"]

    def _left(self, reached: ProbeRun) -> list[str]:
        """The files that are not what they were."""
        there = {n.removeprefix(FILE): v for n, v in reached.values.items() if n.startswith(FILE)}
        before = {name: v.encode() if isinstance(v, str) else v for name, v in there.items()}
        folders = {str(parent) for name in (*before, *reached.left) for parent in PurePath(name).parents}
        found: list[str] = []
        for name, now in reached.left.items():
            place = f"{self._path()}({quoted(name)})"
            if now is None:
                found += [f"assert {place}.is_dir()"] if name not in before and name not in folders else []
            elif before.get(name, ...) != now and len(now) <= _LONGEST:
                plain = now.isascii() and b"\r" not in now
                same = f"read_text() == {quoted(now.decode())}" if plain else f"read_bytes() == {now!r}"
                found.append(f"assert {place}.{same}")
        gone = [name for name in before if name not in reached.left]
        return [*found, *(f"assert not {self._path()}({quoted(name)}).exists()" for name in gone)][:6]

    # --- names -------------------------------------------------------------------------------------------

    def _name(self, reached: ProbeRun) -> str:
        own = snake(self.target.name)
        value = reached.result
        if reached.raised is not None:
            word = f"raises_{snake(type(reached.raised).__name__)}"
        elif value is None or isinstance(value, bool | int):
            word = "returns_" + snake(str(value).replace("-", "minus_"))
        elif isinstance(value, str) and self.prober.scratch not in value:
            word = "returns_" + (snake(value.encode("ascii", "ignore").decode())[:20].strip("_") or "text")
        else:
            word = f"returns_{snake(type(value).__name__)}"
        room = _LONGEST_NAME - len(f"test__{word}_99")
        base = f"test_{own[: max(room, 8)].strip('_')}_{word}"
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


def _with(around: list[str]) -> list[str]:
    line = f"with {', '.join(around)}:"
    return [line] if len(line) <= WIDTH - 4 else ["with (", *(f"    {one}," for one in around), "):"]


def _without_files(probe: Probe) -> list[tuple[str, str]]:
    return [one for one in probe.given if not one[0].startswith(FILE)]


def _indented(*lines: str) -> str:
    return "".join(f"    {part}\n" for line in lines for part in folded(line, WIDTH - 4).split("\n"))
