"""The pytest file of a class: one test per fault, run before it is written.

A test builds the object, runs the calls in two threads under the recorded schedule, and asserts what every order of
the calls gives: it fails as long as the fault is there and passes when it is gone. Decides what lands in the file: only
tests that were seen to fail in a process of their own, and again under pytest.
"""

from __future__ import annotations

import ast
import json
import keyword
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treadle.classes.linearizability import Outcome
from treadle.classes.result import ClassResult, Fault, Options
from treadle.classes.stage import Test
from treadle.core.errors import UsageError
from treadle.observe.parameters import IMPORT_FIRST
from treadle.threads.fingerprint import digest

MARK = "written by `treadle class`"

_OPERATORS = {
    "[]": "getitem", "[]=": "setitem", "del []": "delitem", "()": "call", "==": "eq", "+=": "iadd", "|=": "ior",
    "+": "add",
}  # fmt: skip

# Seconds for all tests of a file together, in a process of their own; and for one search of one test.
_PATIENCE = 180
_SECONDS = 20.0
_SECONDS_FOR_A_WARNING = 3.0
# Warnings that are run again, so that all of them together do not take longer than the search.
_MOST_WARNINGS = 12

# Where the tests of warnings go: pytest does not collect there by itself.
WARNINGS = Path(".treadle") / "warnings"


@dataclass
class FaultTest:
    """One test: its name and its source with the schedule left open."""

    name: str
    source: str
    plain: str
    needs: list[str]
    fault: Fault


# ---------------------------------------------------------------------- the source of one test


def write_test(result: ClassResult, fault: Fault, options: Options, taken: set[str]) -> FaultTest:
    """The source of the test for one fault."""
    test = fault.witness.test
    sout = _variable(result)
    name = _unique("test_" + "_and_".join(_word(c.method) for calls in test.threads for c in calls[-1:]), taken)
    needs = list(dict.fromkeys(line for call in _calls(test) for line in call.lines()))
    build = options.setup_call or test.root.source()
    needs += list(options.setup_lines)
    body = [f"{sout} = {build}", *(_statement(call.source(sout)) for call in test.alpha)]
    lines = [f'"""{_escape(fault.message)}"""', *body, ""]
    if fault.kind == "serializability":
        needs.append("from treadle.threads.fingerprint import digest, inner_state")
    scenario = _Scenario(test, fault, sout, result.subject.tallies if result.subject is not None else frozenset())
    lines += scenario.threads()
    lines += scenario.check()
    source = "\n".join(f"    {line}".rstrip() for line in lines)
    plain = "\n".join(f"    {line}".rstrip() for line in [*body, "", *scenario.plain()])
    return FaultTest(name, f"def {name}():\n{source}\n", f"def plain_{name[5:]}():\n{plain}\n", needs, fault)


class _Scenario:
    """The lines of a test after the object is built."""

    def __init__(self, test: Test, fault: Fault, sout: str, without: frozenset[str]) -> None:
        self.test, self.fault, self.sout, self.without = test, fault, sout, without
        self.orders = [order for order in fault.witness.orders if not order.ending]
        self.where = fault.witness.violation.where

    def _known(self, thread: int, place: int) -> list[str]:
        """Exceptions that the call raises in some order of the calls: those are not the fault."""
        found = {o.threads[thread][place][1] for o in self.orders if o.threads[thread][place][0] == "raised"}
        return sorted(found)

    def threads(self) -> list[str]:
        lines: list[str] = []
        for number, calls in enumerate(self.test.threads):
            lines += [f"def thread_{number + 1}():"]
            lines += [f"    {line}" for line in self._body(number, calls)]
            lines += [""]
        names = ", ".join(f"thread_{number + 1}" for number in range(len(self.test.threads)))
        results = ", ".join(f"result_{number + 1}" for number in range(len(self.test.threads)))
        head = f"{results} = " if self._asserts_results() else ""
        return [*lines, f"{head}treadle.parallel({names})"]

    def _body(self, thread: int, calls: Sequence[Any]) -> list[str]:
        lines: list[str] = []
        several = len(calls) > 1
        if several:
            lines.append("results = []")
        for place, call in enumerate(calls):
            source = call.source(self.sout)
            if several:
                line = f"results.append({source})" if call.expression else source
            else:
                line = f"return {source}" if call.expression else source
            known = self._known(thread, place)
            if known:
                lines += [
                    "try:",
                    f"    {line}",
                    f"except {_catch(known)} as error:  # as when the calls do not overlap",
                ]
                lines.append(
                    "    results.append(type(error).__name__)" if several else "    return type(error).__name__"
                )
            else:
                lines.append(line)
                if several and not call.expression:
                    lines.append("results.append(None)")
        if several:
            lines.append("return results")
        return lines

    def _asserts_results(self) -> bool:
        return self.fault.kind == "linearizability"

    def check(self) -> list[str]:
        kind = self.where[0]
        if self.fault.kind == "serializability":
            return self._inner_state()
        if self.fault.kind == "invariant":
            name = "__invariant__" if "__invariant__" in self.fault.message else "invariant"
            return [f"assert {self.sout}.{name}() is not False"]
        if self.fault.kind == "broken state":
            calls = self.test.later if kind == "later" else self.test.omega
            return [f"{_statement(call.source(self.sout))}  # works after every order of the calls" for call in calls]
        if self.fault.kind != "linearizability":
            return []
        parts = [part for part in self._parts() if self._needed(part)]
        seen = [part.source for part in parts]
        rows: dict[str, None] = {}
        for order in self.orders:
            rows["(" + "".join(f"{part.value(order)}, " for part in parts).rstrip(" ") + ")"] = None
        allowed = [row.replace(",)", ")") if len(parts) > 1 else row for row in rows]
        source = f"({', '.join(seen)},)" if len(seen) == 1 else f"({', '.join(seen)})"
        return ["", f"seen = {source}", "assert seen in [", *[f"    {row}," for row in allowed], "]"]

    def _inner_state(self) -> list[str]:
        """The state itself has no source form: it is told by a digest."""
        allowed = sorted({digest(order.state) for order in self.orders})
        return [
            "",
            f"state = digest(inner_state({self.sout}, {sorted(self.without)!r}))",
            f'assert state in {allowed!r}, "the object\'s inner state is one that no order of the calls leaves"',
        ]

    def _parts(self) -> list[_Part]:
        """What can be looked at: the results of the threads, the object's own answers, its attributes."""
        found = [
            _Part(f"result_{thread + 1}", [("result", thread, place) for place in range(len(calls))])
            for thread, calls in enumerate(self.test.threads)
        ]
        found += [_Part(call.source(self.sout), [("observed", n, 0)]) for n, call in enumerate(self.test.omega)]
        found += [_Part(f"{self.sout}.{name}", [("field", n, 0)]) for n, name in enumerate(self.test.fields)]
        return found

    def _needed(self, part: _Part) -> bool:
        """A part that cannot be written down is left out, unless it is the very thing that is wrong."""
        if all(part.literal(order) for order in self.orders):
            return True
        if part.places[0][0] == self.where[0]:
            raise NotLiteral
        return False

    def plain(self) -> list[str]:
        lines = self.threads()[:-1]
        names = [f"thread_{number + 1}" for number in range(len(self.test.threads))]
        lines += [f"threads = [{', '.join(f'threading.Thread(target={name})' for name in names)}]"]
        lines += ["for thread in threads:", "    thread.start()", "for thread in threads:", "    thread.join()"]
        looks = [call.source(self.sout) for call in (*self.test.omega, *self.test.later)]
        looks += [f"{self.sout}.{name}" for name in self.test.fields]
        return lines + ([f"return {', '.join(looks)}"] if looks and all(_is_expression(look) for look in looks) else [])


@dataclass
class _Part:
    """One thing that a test looks at: its source, and where its values are in an outcome."""

    source: str
    places: list[tuple[str, int, int]]

    def literal(self, order: Outcome) -> bool:
        return all(order.values[place][1] is not None for place in self.places)

    def value(self, order: Outcome) -> str:
        values = [_value(order, place) for place in self.places]
        return values[0] if len(values) == 1 else f"[{', '.join(values)}]"


class NotLiteral(Exception):
    """A value that cannot be written into a test."""


def _value(order: Outcome, place: tuple[str, int, int]) -> str:
    how, text = order.values[place]
    if text is None:
        raise NotLiteral
    return repr(text) if how == "raised" else str(text)


def _is_expression(source: str) -> bool:
    try:
        ast.parse(source, mode="eval")
    except SyntaxError:
        return False
    return True


def _statement(source: str) -> str:
    return source


def _calls(test: Test) -> list[Any]:
    return [test.root, *test.alpha, *(c for calls in test.threads for c in calls), *test.omega, *test.later]


def _catch(names: list[str]) -> str:
    import builtins

    if all(hasattr(builtins, name) for name in names):
        return names[0] if len(names) == 1 else f"({', '.join(names)})"
    return "Exception"


def _variable(result: ClassResult) -> str:
    name = result.subject.name if result.subject is not None else "shared"
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    # not the name of the class itself, which the test still calls
    return f"{word}_" if keyword.iskeyword(word) else f"shared_{word}" if word == name else word


def _word(method: str) -> str:
    return re.sub(r"\W+", "_", _OPERATORS.get(method, method.rstrip("="))).strip("_") or "call"


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


# ---------------------------------------------------------------------- the file


def compose(result: ClassResult, tests: list[FaultTest], folder: Path, keep_green: bool, trails: dict[str, str]) -> str:
    """The whole file."""
    assert result.subject is not None
    packages = result.subject.packages
    imports, definitions = _prelude(tests)
    head = [
        f'"""Concurrent tests of {result.target}, {MARK}.',
        "",
        "Each runs two threads under the schedule that was found to break the class, and passes once it is fixed.",
        '"""',
        "",
        *_path_lines(result, folder),
        *imports,
        "",
        f"INSTRUMENT = {list(packages)!r}",
        "",
    ]
    parts = ["\n".join(head), *definitions]
    for test in tests:
        marks = [f"@treadle.follow({_wrap(trails.get(test.name, ''))}, instrument=INSTRUMENT)"]
        if keep_green:
            reason = test.fault.message.partition(": ")[0]
            marks.insert(0, f"@pytest.mark.xfail(strict=True, reason={_reason(reason)!r})")
        parts.append("\n".join([*marks, test.source]))
    parts.append(
        "# The same calls with nothing but threads, for reading: which schedule they get is up to the machine.\n"
    )
    parts += [test.plain for test in tests]
    text = "\n\n".join(part.rstrip("\n") + "\n" for part in parts)
    if not keep_green:
        text = text.replace("import pytest\n", "")
    return text


def _reason(pair: str) -> str:
    return f"not thread-safe: {pair}"


def _wrap(trail: str) -> str:
    """A long string over several lines."""
    if len(trail) <= 90:
        return repr(trail)
    pieces = [trail[start : start + 100] for start in range(0, len(trail), 100)]
    return "\n    " + "\n    ".join(repr(piece) for piece in pieces)


def _prelude(tests: list[FaultTest]) -> tuple[list[str], list[str]]:
    lines = dict.fromkeys(line for test in tests for line in test.needs)
    imports = sorted(
        {"import threading", "import pytest", "import treadle", *(line for line in lines if not line.startswith("def"))}
    )
    imports = [f"import {name}" for name in IMPORT_FIRST] + sorted(imports, key=lambda line: line.split()[0] == "from")
    return imports, [line + "\n" for line in lines if line.startswith("def")]


def _path_lines(result: ClassResult, folder: Path) -> list[str]:
    """How the file finds the class when it is not installed."""
    assert result.subject is not None
    module = sys.modules.get(result.target.partition(":")[0])
    file = getattr(module, "__file__", None)
    if not file or {"site-packages", "dist-packages"} & set(Path(file).parts):
        return []
    depth = result.target.partition(":")[0].count(".") + (Path(file).name == "__init__.py")
    home = Path(file).resolve().parents[depth]
    if home == Path(sys.prefix) or str(home).startswith(os.path.dirname(os.__file__)):
        return []
    way = os.path.relpath(home, folder.resolve())
    there = "Path(__file__).resolve().parent" + ("" if way == "." else f" / {way!r}")
    return ["import sys", "from pathlib import Path", "", f"sys.path.insert(0, str({there}))", ""]


def save(result: ClassResult, options: Options, output: str = "", keep_green: bool = False) -> Path | None:
    """Write the tests of a result that can be shown to fail; set each fault's `test` and `replay`.

    What is not shown by a test of its own is not reported: it stays as a note.
    """
    try:
        _save_warnings(result, options)
    except OSError as error:
        result.notes.append(f"the warnings cannot be replayed: nothing can be written in {WARNINGS}: {error.strerror}")
    if not result.faults:
        return None
    path = _path(result, output)
    try:
        tests, trails = _record(result, _sources(result, result.faults, options), path)
    except OSError as error:
        raise UsageError(
            f"{len(result.faults)} fault(s) found, but no test can be written in '{path.parent}': {error.strerror}; "
            f"name another folder with --output (the first is {result.faults[0].message})"
        ) from None
    shown = {id(test.fault) for test in tests}
    result.unshown += [fault for fault in result.faults if id(fault) not in shown]
    result.faults = [fault for fault in result.faults if id(fault) in shown]
    if tests:
        _publish(path, compose(result, tests, path.parent, keep_green, trails))
        _told(tests, trails, path)
    return path if tests else None


def _save_warnings(result: ClassResult, options: Options) -> None:
    """Warnings are no tests of the project, but they replay: their tests stay below .treadle/."""
    if not result.warnings:
        return
    path = WARNINGS / _name(result, "warnings")
    if len(result.warnings) > _MOST_WARNINGS:
        left = [f"'{warning.message}'" for warning in result.warnings[_MOST_WARNINGS:]]
        result.notes.append(f"{len(left)} more warnings were not run again and are not listed: {', '.join(left)}")
        result.warnings = result.warnings[:_MOST_WARNINGS]
    views = [replace(warning, kind=warning.witness.violation.kind) for warning in result.warnings]
    kept = dict(zip(map(id, views), result.warnings, strict=True))
    tests, trails = _record(result, _sources(result, views, options), path, strict=False)
    if tests:
        _publish(path, compose(result, tests, path.parent, False, trails))
        _told(tests, trails, path)
    for test in tests:
        kept[id(test.fault)].test, kept[id(test.fault)].replay = test.fault.test, test.fault.replay
    result.warnings = [warning for warning in result.warnings if warning.replay]


def _sources(result: ClassResult, faults: list[Fault], options: Options) -> list[FaultTest]:
    taken: set[str] = set()
    tests: list[FaultTest] = []
    for fault in faults:
        try:
            tests.append(write_test(result, fault, options, taken))
        except (NotLiteral, KeyError):
            result.notes.append(f"no test was written for '{fault.message}': what it returns has no source form")
    return tests


def _publish(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def _told(tests: list[FaultTest], trails: dict[str, str], path: Path) -> None:
    for test in tests:
        test.fault.test = f"{_shown(path)}::{test.name}"
        test.fault.replay = trails[test.name]


def _name(result: ClassResult, what: str) -> str:
    assert result.subject is not None
    return f"test_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', result.subject.name).lower()}_{what}.py"


def _path(result: ClassResult, output: str) -> Path:
    """Where the file goes: as asked, or tests/ when there is such a folder. A file of somebody else is left alone."""
    name = _name(result, "concurrent")
    if output.endswith(".py"):
        path = Path(output)
    else:
        folder = Path(output) if output else Path("tests") if Path("tests").is_dir() else Path(".")
        path = folder / name
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; --output takes a folder for test_<class>_concurrent.py, or a .py file")
    if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace")[:500]:
        raise UsageError(f"{path} exists and was not written by treadle; name another file with --output")
    return path


def _shown(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _record(
    result: ClassResult, tests: list[FaultTest], path: Path, strict: bool = True
) -> tuple[list[FaultTest], dict[str, str]]:
    """Run each test in a fresh process under the schedule that was found; strict: then run the file under pytest."""
    if not tests:
        return [], {}
    path.parent.mkdir(parents=True, exist_ok=True)
    seconds = str(_SECONDS if strict else _SECONDS_FOR_A_WARNING)
    with tempfile.TemporaryDirectory(prefix=".treadle-", dir=path.parent) as place:
        trial = Path(place) / path.name
        trial.write_text(compose(result, tests, Path(place), False, {}), encoding="utf-8")
        known = json.dumps({test.name: str(test.fault.trail) for test in tests if test.fault.trail is not None})
        found = _run([sys.executable, "-m", "treadle.doors.class_.record", str(trial), _shown(path), seconds, known])
        try:
            facts = json.loads(found.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            said = (found.stderr or found.stdout).strip().splitlines()
            facts = {test.name: {"problem": said[-1] if said else "the process ended without a word"} for test in tests}
        trails = {name: fact["replay"] for name, fact in facts.items() if "replay" in fact}
        for test in tests:
            if test.name not in trails:
                why = facts.get(test.name, {}).get("problem", "it was not run")
                result.notes.append(f"'{test.fault.message}' was not shown by a test of its own: {why}")
        tests = [test for test in tests if test.name in trails]
        if not tests or not strict:
            return tests, trails
        trial.write_text(compose(result, tests, Path(place), False, trails), encoding="utf-8")
        quiet = ["-q", "--tb=no", "-rf", "-p", "no:cacheprovider", "--rootdir", place, "-c", os.devnull]
        ran = _run([sys.executable, "-m", "pytest", *quiet, str(trial)])
        failed = set(re.findall(r"^FAILED .*::(\w+)", ran.stdout, re.M))
        for test in tests:
            if test.name not in failed:
                result.notes.append(f"'{test.fault.message}': its test did not fail under pytest, and was not written")
        return [test for test in tests if test.name in failed], trails


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(part for part in (os.getcwd(), *sys.path) if part)
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            env={**os.environ, "PYTHONPATH": paths},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {_PATIENCE} s")
