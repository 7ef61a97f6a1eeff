"""A pytest file from test cases: one readable test per case, cases of flat values gathered in parametrize.

A test builds its inputs, calls, and asserts the result and then the state of every object that existed before: each
field, each element, and which object is which. The docstring (or the parameter's id) is the path condition.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import textwrap
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.doors.unit.findings import comment
from treadle.doors.unit.pytest_contracts import Promised, Promises
from treadle.doors.unit.pytest_tables import Draft, Table, gathered, hint
from treadle.doors.unit.pytest_text import WIDTH, docstring, folded, heading, identifier, row, snake, telling, words
from treadle.report.pytest_file import PytestFile
from treadle.symbolic.python.contracts.conditions import as_written
from treadle.symbolic.testcase import Built, CaseObject, Opaque, TestCase
from treadle.units.imports import Imports, NotWritable
from treadle.units.target import UnitTarget
from treadle.units.value_source import Builder, comparable, container, leaf, quoted, text

# Without the number that tells tests of one name apart.
_LONGEST_NAME = 60
_FIXTURE = "monkeypatch: pytest.MonkeyPatch"


@dataclass(slots=True)
class Rendered:
    """One case in the file: under which test id it runs."""

    case: TestCase
    test: str  # function name, with [id] for a parameter
    says: str  # all that it does, whatever its name is
    promised: bool = False  # asserts what the contracts promise


@dataclass(slots=True)
class RenderedSuite:
    """A test file's parts; `source()` joins them."""

    title: str
    imports: Imports = field(default_factory=Imports)
    bodies: list[tuple[str, str]] = field(default_factory=list)  # (test function name, its source)
    rendered: list[Rendered] = field(default_factory=list)
    skipped: list[tuple[TestCase, str]] = field(default_factory=list)
    # cases on which the writer itself failed
    broken: list[tuple[TestCase, str]] = field(default_factory=list)
    # that must be on sys.path
    folders: list[Path] = field(default_factory=list)
    # types that nothing tells of, as they were taken
    guesses: Sequence[str] = ()

    def source(self) -> str:
        about = [line for one in self.guesses for line in textwrap.wrap(f"A guess: {one}.", WIDTH)]
        imports = self.imports.used_in("\n".join(body for _, body in self.bodies))
        return PytestFile(self.title, "\n".join(about), imports, folders=self.folders, tests=dict(self.bodies)).source()


def title_of(targets: Sequence[UnitTarget]) -> str:
    """The first line of a file: the functions that it tests, or their modules where these are too many."""
    functions = (target.text.replace(":", ".") for target in targets)
    for names in (functions, (target.module.__name__ for target in targets)):
        title = f"Tests of {', '.join(dict.fromkeys(names))}, written by `treadle unit`."
        if len(title) <= WIDTH - 6:
            break
    return title


def write(
    groups: list[tuple[UnitTarget, list[TestCase]]],
    approximate: frozenset[int] = frozenset(),
    taken: frozenset[str] = frozenset(),
    plainly: frozenset[int] | None = frozenset(),
    trail: Callable[[TestCase], str] = lambda case: "",
) -> RenderedSuite:
    """The test file for the cases of some targets; `approximate`: ids of cases whose floats need a tolerance;
    `taken`: names that a test must not have; `plainly`: ids of cases without assertions from contracts (None: all);
    `trail`: the string that replays the path of a case."""
    written = RenderedSuite(title_of([target for target, _ in groups]))
    used = set(taken)
    for target, cases in groups:
        _Writer(target, written, used, approximate, plainly, trail).all(cases)
    return written


class _Writer:
    def __init__(
        self,
        target: UnitTarget,
        written: RenderedSuite,
        used: set[str],
        approximate: frozenset[int],
        plainly: frozenset[int] | None,
        trail: Callable[[TestCase], str],
    ) -> None:
        self.target = target
        self.written = written
        self.imports = written.imports
        self.used = used
        self.approximate = approximate
        self.plainly = plainly
        self.trail = trail
        self.promises = Promises(target, written.imports)

    def all(self, cases: list[TestCase]) -> None:
        drafts: list[Draft] = []
        for case in cases:
            saved = (dict(self.imports.names), dict(self.imports.modules))
            try:
                drafts.append(self._draft(case))
            except (NotWritable, RecursionError) as error:
                self.imports.names, self.imports.modules = saved
                self.written.skipped.append((case, str(error)))
            except Exception as error:
                # ours: what the program does while inputs are built is NotWritable. It costs one case only
                if "TREADLE_DEBUG" in os.environ:
                    raise
                self.imports.names, self.imports.modules = saved
                self.written.broken.append((case, f"{type(error).__name__}: {error}"[:200]))
        for test in gathered(drafts, self._parameters_of, lambda: {*self.imports.names, *self.imports.modules}):
            if isinstance(test, Table):
                self._parametrized(test)
            else:
                self._single(test)

    def _parameters_of(self, called: str) -> list[str]:
        """The names of the parameters of what a test calls, '' being the target."""
        if not called:
            return [p.name for p in self.target.parameters()]
        module, name = self.imports.names.get(called, ("", ""))
        try:
            return list(inspect.signature(getattr(sys.modules.get(module), name)).parameters)
        except (AttributeError, TypeError, ValueError):
            return []

    # --- calls -------------------------------------------------------------------------------------------

    def _call(self, arguments: dict[str, str], drained: bool) -> str:
        target = self.target
        args: list[str] = []
        left_out = False
        for parameter in target.parameters():
            if parameter.name not in arguments:
                left_out = True
                continue
            value = arguments[parameter.name]
            by_name = left_out or parameter.kind is parameter.KEYWORD_ONLY
            args.append(f"{parameter.name}={value}" if by_name else value)
        rest = target.rest()
        if rest is not None and arguments.get(rest.name, "()") != "()":
            place = next((i for i, a in enumerate(args) if re.match(r"\w+=", a)), len(args))
            args.insert(place, _spread(arguments[rest.name]))
        joined = ", ".join(args)
        name = target.name.rpartition(".")[2]
        if target.receiver == "new" and target.cls is not None:
            call = f"{self.imports.of(target.cls)}({joined})"
        elif target.is_property:
            call = f"{arguments['self']}.{name}"
        elif target.receiver == "self":
            call = f"{arguments['self']}.{name}({joined})"
        elif target.cls is not None:
            call = f"{self.imports.of(target.cls)}.{name}({joined})"
        else:
            call = f"{self.imports.local_name(target.module.__name__, name)}({joined})"
        return f"list({call})" if drained else call

    # --- tests -------------------------------------------------------------------------------------------

    def _parametrized(self, table: Table) -> None:
        cases = [draft.case for draft in table.drafts]
        name = self._unique(self._table_name(cases))
        ids: set[str] = set()
        rows: list[str] = []
        for case, values in zip(cases, table.rows, strict=True):
            shown = identifier(self._short(case.conditions), ids)
            rows += [f"        # {trail}"] if (trail := self.trail(case)) else []
            rows.append(row(values, shown))
            says = repr((table.columns, values, table.lines))
            self.written.rendered.append(Rendered(case, f"{name}[{shown}]", says, bool(self.promises.conditions)))
        if table.copies:
            self.imports.module("copy")
        columns = ", ".join(f'"{c}"' for c in table.columns)
        header = columns if len(table.columns) == 1 else f"({columns})"
        fixture = [_FIXTURE] if cases[0].touches or cases[0].world else []
        lines = ["@pytest.mark.parametrize(", f"    {header},", "    [", *rows, "    ],", ")"]
        by_column = zip(*table.rows, strict=True)
        typed = [f"{column}: {hint(list(texts))}" for column, texts in zip(table.columns, by_column, strict=True)]
        lines.append(heading(name, [*fixture, *typed]))
        lines += [f"    {line}" for part in table.lines for line in folded(part, WIDTH - 4).split("\n")]
        self.written.bodies.append((name, "\n".join(lines) + "\n"))

    def _single(self, draft: Draft) -> None:
        case = draft.case
        name = self._unique(self._test_name(case))
        fixture = [_FIXTURE] if case.touches or case.world else []
        trail = [f"# {trail}"] if (trail := self.trail(case)) else []
        shown = "\n".join(
            f"    {line}" if line else ""
            for part in [docstring(case.condition), *trail, *map(folded, draft.lines)]
            for line in part.split("\n")
        )
        self.written.bodies.append((name, f"{heading(name, fixture)}\n{shown}\n"))
        says = "\n".join([*fixture, *draft.lines])
        self.written.rendered.append(Rendered(case, name, says, bool(self.promises.conditions)))

    def _draft(self, case: TestCase) -> Draft:
        target = self.target
        if target.cls is not None:
            self.imports.of(target.cls)
        else:
            self.imports.local_name(target.module.__name__, target.name)
        places = {self._owner(where) for one in case.world.values() for where, _ in one.places}
        builder = Builder(self.imports, {place.partition(".")[0] for place in places})
        lines = self._protect(case)
        arguments: dict[str, str] = {}
        for name, value in case.arguments.items():
            wanted = snake(as_written(self.target.cls).__name__) if name == "self" and self.target.cls else name
            arguments[name] = builder.build(wanted, value)
        patches = [
            f'monkeypatch.setattr({self._owner(where)}, "{name}", {stand_in})'
            for asked, one in case.world.items()
            for stand_in in [builder.build(asked.rpartition(".")[2], one.value)]
            for where, name in one.places
        ]
        builder.finish()
        lines += ["# set by hand: no calls were found that make such an object"] if case.by_hand else []
        lines += [*builder.lines, *patches]
        if self._promises(case):
            for name in self.promises.speaks_of(arguments):
                said = builder.named(name)
                lines.append(f"{said} = {arguments[name]}")
                arguments[name] = said
        call = self._call(arguments, case.outcome.drained)
        said = call
        promised = self._promised(case, arguments)
        checks = _Assertions(self, case, builder)
        lines += promised.before
        if case.violation is not None:
            lines += comment(case)
        if promised.needs_result:
            lines.append(f"result = {call}")
            said = "result"
        outcome, state = self._outcome(case, said, builder, checks), self._state(case, builder, checks)
        if state and outcome == [f"assert {call} is None"] and self._gives_nothing():
            outcome = [call]  # type checkers refuse to look at what is never given
        lines += [*outcome, *state]
        lines += promised.after
        return Draft(case, lines, call)

    def _gives_nothing(self) -> bool:
        """Whether its hint says that the target returns None."""
        said = getattr(self.target.function, "__annotations__", {}).get("return", "")
        return said in (None, "None") and not inspect.isgeneratorfunction(self.target.function)

    def _protect(self, case: TestCase) -> list[str]:
        """State outside the arguments that the call changes is put back afterwards."""
        lines = []
        for where, name in case.touches:
            module, _, cls = where.partition(":")
            owner = self._owner(where)
            self.imports.module("copy")
            if self._exists(module, cls, name):
                lines.append(f'monkeypatch.setattr({owner}, "{name}", copy.deepcopy({owner}.{name}))')
            else:
                lines.append(f'monkeypatch.setattr({owner}, "{name}", None, raising=False)')
                lines.append(f'monkeypatch.delattr({owner}, "{name}")')
        return lines

    def _owner(self, where: str) -> str:
        """The module or class of a `module:class`."""
        module, _, cls = where.partition(":")
        owner = self.imports.module(module)
        return f"{owner}.{cls}" if cls else owner

    def _exists(self, module: str, cls: str, name: str) -> bool:
        found: Any = sys.modules.get(module)
        for part in filter(None, cls.split(".")):
            found = getattr(found, part, None)
        return hasattr(found, name)

    def _outcome(self, case: TestCase, call: str, builder: Builder, checks: _Assertions) -> list[str]:
        outcome = case.outcome
        if outcome.raises is not None:
            kind = self.imports.of(outcome.raises)
            return self._raising(kind, call, outcome.message)
        value = outcome.value
        if isinstance(value, CaseObject) and value.number in builder.names:
            return [f"assert {call} is {builder.names[value.number]}"]
        if value is None or isinstance(value, bool):
            return [f"assert {call} is {value}"]
        if comparable(value, builder.names):
            return [self._equality(case, call, text(value, self.imports, builder.names), value)]
        if isinstance(value, CaseObject) and value.kind == "held":
            try:
                shown = container(value, self.imports, builder.names)
                return [f"assert {call} == {shown}"]
            except NotWritable:
                pass
        said = checks.of("result", value)
        if not said:
            return [call] if call != "result" else []
        return [*([f"result = {call}"] if call != "result" else []), *said]

    def _promised(self, case: TestCase, arguments: dict[str, str]) -> Promised:
        """What the contracts of the target assert of a call that returns."""
        return self.promises.of(arguments, case) if self._promises(case) else Promised()

    def _promises(self, case: TestCase) -> bool:
        plain = self.plainly is None or id(case) in self.plainly
        return not plain and case.outcome.raises is None and not case.outcome.drained

    def _raising(self, kind: str, call: str, message: str | None) -> list[str]:
        if message is None:
            return [f"with pytest.raises({kind}):", f"    {call}"]
        check = f"assert str(caught.value) == {quoted(message)}"
        return [f"with pytest.raises({kind}) as caught:", f"    {call}", check]

    def _equality(self, case: TestCase, left: str, right: str, value: Any) -> str:
        if id(case) in self.approximate and _has_float(value):
            return f"assert {left} == pytest.approx({right})"
        if isinstance(value, type):
            return f"assert {left} is {right}"
        return f"assert {left} == {right}"

    def _state(self, case: TestCase, builder: Builder, checks: _Assertions) -> list[str]:
        """Every object that was there before the call, as it must be now."""
        lines: list[str] = []
        for number, name in list(builder.names.items()):
            node = case.after.get(number)
            if node is not None:
                lines += checks.contents(name, node)
        return lines

    # --- names -------------------------------------------------------------------------------------------

    def _test_name(self, case: TestCase) -> str:
        said = self._outcome_name(case)
        telling_ones = telling(case.conditions)
        for last in (3, 2, 1):
            when = "_and_".join(map(words, telling_ones[-last:]))
            if when and len(full := f"{said}_when_{when}") <= _LONGEST_NAME:
                return full
        return said if len(said) <= _LONGEST_NAME else said[:_LONGEST_NAME].rpartition("_")[0]

    def _table_name(self, cases: list[TestCase]) -> str:
        names = {self._outcome_name(case) for case in cases}
        if len(names) == 1:
            return names.pop()
        suffix = "_raises" if cases[0].outcome.raises is not None else ""
        return f"test_{snake(self.target.name)}{suffix}"

    def _short(self, conditions: list[str]) -> str:
        """The conditions of a path, the last of them where all are too long."""
        conditions = telling(conditions)
        for start in range(len(conditions)):
            said = " and ".join(conditions[start:])
            if len(said) <= _LONGEST_NAME:
                return said
        return conditions[-1] if conditions else "always"

    def _outcome_name(self, case: TestCase) -> str:
        base = f"test_{snake(self.target.name)}"
        outcome = case.outcome
        if case.violation is not None:
            what = f"breaks_{snake(case.violation.kind)}"
        elif outcome.raises is not None:
            what = f"raises_{snake(outcome.raises.__name__)}"
        elif outcome.value is None or isinstance(outcome.value, bool | int):
            what = f"returns_{words(repr(outcome.value))}"
        else:
            what = ""
        return "_".join(filter(None, (base, what)))

    def _unique(self, name: str) -> str:
        candidate, n = name, 1
        while candidate in self.used:
            n += 1
            candidate = f"{name}_{n}"
        self.used.add(candidate)
        return candidate


class _Assertions:
    """Assertions that an object graph is what it should be, identity included."""

    def __init__(self, writer: _Writer, case: TestCase, builder: Builder) -> None:
        self.writer = writer
        self.case = case
        self.imports = writer.imports
        self.names = dict(builder.names)
        # what stands for something of the world
        self.stand_ins = {builder.names.get(getattr(one.value, "number", 0)) for one in case.world.values()}

    def of(self, path: str, value: Any) -> list[str]:
        """path holds value."""
        if isinstance(value, CaseObject):
            if value.number in self.names:
                return [f"assert {path} is {self.names[value.number]}"]
            if comparable(value, self.names):
                return [self.writer._equality(self.case, path, text(value, self.imports, self.names), value)]
            self.names[value.number] = path
            return [*self._kind(path, value), *self.contents(path, value)]
        if isinstance(value, tuple) and not comparable(value, self.names):
            lines = [f"assert len({path}) == {len(value)}"]
            for i, part in enumerate(value):
                lines += self.of(f"{path}[{i}]", part)
            return lines
        if isinstance(value, Opaque):
            if value.type_name == "re.Match":
                return [f"assert isinstance({path}, {self.imports.module('re')}.Match)"]
            if value.type_name == "str":
                return [f"assert isinstance({path}, str)"]
            return [f"assert callable({path})"] if value.type_name in ("function", "method") else []
        if isinstance(value, Built):
            return []
        try:
            shown = text(value, self.imports, self.names)
        except NotWritable:
            return []
        if value is None or isinstance(value, bool):
            return [f"assert {path} is {shown}"]
        return [self.writer._equality(self.case, path, shown, value)]

    def _kind(self, path: str, node: CaseObject) -> list[str]:
        if node.kind in ("instance", "held") and node.cls is not None:
            try:
                return [f"assert type({path}) is {self.imports.of(node.cls)}"]
            except NotWritable:
                return []
        return []

    def contents(self, path: str, node: CaseObject) -> list[str]:
        lines: list[str] = []
        if node.kind == "function":
            return self._calls(path, [arguments for arguments, _ in node.entries])
        if node.kind == "instance" or node.kind == "held":
            for name, value in node.fields.items():
                lines += self.of(f"{path}.{name}", value)
            if node.kind == "held":
                lines += self._held(path, node)
            return lines
        own = {n: p for n, p in self.names.items() if n != node.number}
        if comparable(node, own):
            return [self.writer._equality(self.case, path, container(node, self.imports, own), node)]
        size = len(node.items) + len(node.entries)
        lines.append(f"assert len({path}) == {size}")
        for i, item in enumerate(node.items):
            lines += self.of(f"{path}[{i}]", item)
        for key, item in node.entries:
            if node.kind == "dict":
                lines += self.of(f"{path}[{text(key, self.imports, self.names)}]", item)
            else:
                lines.append(f"assert {text(key, self.imports, self.names)} in {path}")
        return lines

    def _calls(self, path: str, calls: list[Any]) -> list[str]:
        """With what an input function was called."""
        if not calls:
            return [f"{path}.assert_not_called()"]
        if not any(calls) and path in self.stand_ins:
            return []
        if not all(comparable(arguments, self.names) for arguments in calls):
            return [f"assert {path}.call_count == {len(calls)}"]
        shown = ", ".join(text(arguments, self.imports, self.names) for arguments in calls)
        return [f"assert [call.args for call in {path}.call_args_list] == [{shown}]"]

    def _held(self, path: str, node: CaseObject) -> list[str]:
        value = node.items[0]
        if any(isinstance(getattr(node.cls, m, None), types.FunctionType) for m in ("__iter__", "__len__", "__eq__")):
            return []  # the class shows itself otherwise than its base would
        if isinstance(value, tuple):
            return self.of(f"tuple({path})", value)
        if isinstance(value, CaseObject) and value.kind in ("list", "dict", "set"):
            return self.of(f"{value.kind}({path})", value)
        try:
            return [f"assert {path} == {leaf(value, self.imports)}"]
        except NotWritable:
            return []


def _spread(source: str) -> str:
    """*args in a call: the elements themselves when the tuple is written out."""
    if source.startswith("(") and source.endswith(")"):
        return source[1:-1].removesuffix(",")
    return f"*{source}"


def _has_float(value: Any) -> bool:
    if isinstance(value, CaseObject):
        return any(_has_float(v) for v in value.items) or any(_has_float(v) for _, v in value.entries)
    if isinstance(value, tuple):
        return any(_has_float(v) for v in value)
    return isinstance(value, float)
