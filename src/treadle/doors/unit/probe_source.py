"""The test of a probe: its values, its call, and what the call was seen to do.

The strong form asserts the result, the message of an exception and what has changed; the weak one, for what is not the
same every time, the type of the result or of the exception alone.
"""

from __future__ import annotations

import builtins
import random
import re
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import NonCallableMock

from treadle.doors.unit.pytest_text import docstring, snake
from treadle.symbolic.python.contracts.conditions import as_written
from treadle.units.probing.call import MOST_ITEMS, PATCHED, Probe, Prober, ProbeRun, arguments
from treadle.units.value_source import Imports, NotWritable, quoted, written

_LONGEST = 2000
_LONGEST_MESSAGE = 200
_LONGEST_NAME = 60
# A call that asks for chance is made again so often, each time with other luck.
_MOST_SEEDS = 16
_INLINE = re.compile(r"""-?\d+(\.\d+)?|True|False|None|"[^"\n]{0,40}"|'[^'\n]{0,40}'|\[\]|\{\}|\(\)""")


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
        head = f"def {name}() -> None:\n" + _indented(docstring(reaches))
        return ProbedTest(name, head + _indented(*calls, *body), head + _indented(*calls, *plain))

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
        for name, text in probe.given:
            inline = name != "self" and _INLINE.fullmatch(text) and not any(s[0] == name for s in probe.sets)
            taken = {*self.imports.names, "result", "caught", "pytest", *found.values()}
            wanted = snake(as_written(self.target.cls).__name__) if name == "self" and self.target.cls else name
            wanted = f"patched_{snake(name)}" if name.startswith(PATCHED) else wanted
            while wanted in taken:
                wanted += "_"
            found[name] = text if inline and text not in ("[]", "{}") else wanted
        return found

    def _lines(self, probe: Probe) -> list[str]:
        names = self._variables(probe)
        lines = [line for statement in probe.setup for line in statement.splitlines()]
        lines += [f"{names[name]} = {text}" for name, text in probe.given if names[name] != text]
        return [*lines, *(f"{names[name]}{path}{f' = {text}' if text else ''}" for name, path, text in probe.sets)]

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
        if target.is_async:
            self.imports.module("asyncio")
            lines = [f"{assigned}asyncio.run({call})"]
        elif target.is_context:
            lines = [f"with {call}{'' if raises else ' as result'}:", "    pass"]
        elif target.is_generator:
            lines = [f"{assigned}list({self.imports.local_name('itertools', 'islice')}({call}, {MOST_ITEMS}))"]
        else:
            lines = [f"{assigned}{call}"]
        if raises:
            lines = [raises, *(f"    {line}" for line in lines)]
        names = self._variables(probe)
        for name in [name for name, _ in probe.given if name.startswith(PATCHED)]:
            patch, place = self.imports.local_name("unittest.mock", "patch"), self.prober.place_of(name)
            create = ", create=True" if name.removeprefix(PATCHED) in dir(builtins) else ""
            lines = [f'with {patch}("{place}", {names[name]}{create}):', *(f"    {line}" for line in lines)]
        return lines

    # --- what it did -------------------------------------------------------------------------------------

    def _outcome(self, reached: ProbeRun) -> list[str]:
        if reached.raised is not None:
            return self._raises(reached, with_message=True)
        statements, result = self._statements(reached.probe), "result"
        changed = self._changes(reached)
        value, names = reached.result, self._variables(reached.probe)
        same = next((names[n] for n, v in reached.values.items() if v is value and names[n].isidentifier()), None)
        if value is None or isinstance(value, bool):
            checks = [f"assert {result} is {value}"]
        elif same is not None and not isinstance(value, int | str | float):
            checks = [f"assert {result} is {same}"]
        else:
            try:
                text = written(value, self.imports)
            except NotWritable:
                text = ""
            if not text or len(text) > _LONGEST or "0x" in text:
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
            caught = self._statements(reached.probe, f"with pytest.raises({kind}) as caught:")
            return [*caught, f"assert str(caught.value) == {quoted(message)}"]
        return self._statements(reached.probe, f"with pytest.raises({kind}):")

    def _changes(self, reached: ProbeRun) -> list[str]:
        """The containers and public fields that are not what they were."""
        before = self.prober.values(reached.probe)
        names = self._variables(reached.probe)
        found: list[str] = []
        for name, value in reached.values.items():
            shown = names[name]
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
        except (NotWritable, Exception):
            return []
        if old == new or len(new) > _LONGEST:
            return []
        return [f"assert {place} is {new}" if new in ("None", "True", "False") else f"assert {place} == {new}"]

    # --- names -------------------------------------------------------------------------------------------

    def _name(self, reached: ProbeRun) -> str:
        own = snake(self.target.name)
        value = reached.result
        if reached.raised is not None:
            word = f"raises_{snake(type(reached.raised).__name__)}"
        elif value is None or isinstance(value, bool | int):
            word = "returns_" + snake(str(value).replace("-", "minus_"))
        elif isinstance(value, str):
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


def _indented(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines)
