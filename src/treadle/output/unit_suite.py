"""`treadle.unit`: from a target to a test file that has been run.

Explore, write, run, drop what does not hold, run again, and only then touch the user's file. A case whose real run
contradicts its prediction is a bug of ours: it is reported as such and never written.
"""

from __future__ import annotations

import functools
import os
import types
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.generate.unit_explore import Explored, Options, Session
from treadle.generate.unit_target import Target, resolve
from treadle.model.errors import UsageError
from treadle.model.testcase import Node, Opaque, TestCase
from treadle.output.pytest_suite import Written, write
from treadle.output.pytest_values import Imports, NotWritable, text
from treadle.output.unit_check import Coverage, check
from treadle.output.unit_files import may_write, output_path, path_line, save
from treadle.symbolic.path import Place

# Rounds of dropping tests that fail; the second only meets tests that fail together, not alone.
_ROUNDS = 4


@dataclass(slots=True)
class Suite:
    """What `treadle unit` found, wrote and measured."""

    target: str
    file: str | None = None
    source: str = ""
    cases: list[TestCase] = field(default_factory=list)
    paths: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    unsupported: list[Place] = field(default_factory=list)
    sampled: list[Place] = field(default_factory=list)
    # cases whose real run contradicts the prediction: bugs of Treadle, never written
    disagreements: list[tuple[TestCase, str]] = field(default_factory=list)
    # targets of a module that were left out, and why
    left_out: list[str] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    explored: list[Explored] = field(default_factory=list)

    @property
    def tests(self) -> int:
        return len(self.cases)

    @property
    def complete(self) -> bool:
        """Every path within the loop bound has its test."""
        only_loops = not any(self.cut[kind] for kind in ("depth", "time", "paths"))
        return only_loops and not (self.unsupported or self.sampled or self.disagreements)

    @property
    def violations(self) -> list[TestCase]:
        """Cases in which the code broke its own contract."""
        return [c for c in self.cases if c.outcome.raises is not None and _is_violation(c.outcome.raises)]

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "file": self.file,
            "tests": self.tests,
            "paths": self.paths,
            "cut": {
                **{kind: self.cut[kind] for kind in ("loop", "depth", "time")},
                **({"paths": self.cut["paths"]} if self.cut["paths"] else {}),
            },
            "unsupported": [{"file": p.file, "line": p.line, "what": p.what} for p in self.unsupported],
            "sampled": [{"file": p.file, "line": p.line, "what": p.what} for p in self.sampled],
            "complete": self.complete,
            "coverage": {"lines": self.coverage.percent("lines"), "branches": self.coverage.percent("branches")},
            "cases": [case_json(c) for c in self.cases],
            "disagreements": [{**case_json(c), "why": why} for c, why in self.disagreements],
            "left_out": self.left_out,
        }


def _is_violation(cls: type) -> bool:
    library = cls.__module__.partition(".")[0]
    return library == "icontract" or (library == "deal" and cls.__name__ in ("PostContractError", "InvContractError"))


def case_json(case: TestCase) -> dict[str, Any]:
    outcome: dict[str, Any]
    if case.outcome.raises is not None:
        outcome = {"raises": case.outcome.raises.__name__, "message": case.outcome.message}
    else:
        outcome = {"returns": plain(case.outcome.value)}
    return {
        "target": case.target,
        "inputs": {name: plain(value) for name, value in case.arguments.items()},
        "outcome": outcome,
        "condition": case.condition,
        "sampled": case.sampled,
    }


def plain(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A value for JSON and tables: JSON's own values as they are, objects as readable text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return shown(value, seen)


def shown(value: Any, seen: tuple[int, ...] = ()) -> str:
    if isinstance(value, Node):
        if value.number in seen:
            return "..."
        seen = (*seen, value.number)
        if value.kind == "function":
            return f"<function: {', '.join(shown(v, seen) for v in value.items)}>"
        if value.kind == "list":
            return f"[{', '.join(shown(v, seen) for v in value.items)}]"
        if value.kind == "dict":
            return "{" + ", ".join(f"{shown(k, seen)}: {shown(v, seen)}" for k, v in value.entries) + "}"
        if value.kind in ("set", "frozenset"):
            return "{" + ", ".join(shown(k, seen) for k, _ in value.entries) + "}" if value.entries else "set()"
        name = value.cls.__name__ if value.cls else "object"
        inner = [shown(v, seen) for v in value.items] + [f"{k}={shown(v, seen)}" for k, v in value.fields.items()]
        return f"{name}({', '.join(inner)})"
    if isinstance(value, tuple):
        inner_text = ", ".join(shown(v, seen) for v in value)
        return f"({inner_text},)" if len(value) == 1 else f"({inner_text})"
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    try:
        return text(value, Imports(), {})
    except NotWritable:
        return repr(value)


def target_text(target: Any) -> str:
    """A target given as an object, in the words of the command line."""
    if isinstance(target, str):
        return target
    if isinstance(target, types.ModuleType):
        return target.__name__
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if module is None or name is None or "<locals>" in name:
        raise UsageError(f"{target!r} cannot be a target: it has no name that a test could import")
    return f"{module}:{name}"


def unit(
    *targets: Any,
    k: int = 2,
    alias: bool = True,
    none: bool = True,
    domain: tuple[int, int] = (-10, 10),
    seconds: float = 20.0,
    paths: int = 500,
    types: dict[str, str] | None = None,
    output: str | os.PathLike[str] | None = None,
    append: bool = False,
    force: bool = False,
    write_file: bool = True,
    allow_effects: bool = False,
    progress: Callable[[str, int, int, int], None] | None = None,
) -> Suite:
    """Write unit tests for functions, methods, classes, modules or packages.

    A target is 'pkg.mod:func', 'pkg.mod:Class.method', 'pkg.mod:Class', 'pkg.mod', or the object itself. `seconds`
    is the budget of each function. With `write_file=False` nothing is written; the source is in `Suite.source`.
    """
    options = Options(k, alias, none, domain, seconds, paths, types or {}, allow_effects)
    _check_options(options)
    texts = [target_text(target) for target in targets]
    if not texts:
        raise UsageError("name at least one target: pkg.mod:function, pkg.mod:Class.method or pkg.mod")
    found = [target for one in texts for target in resolve(one)]
    suite = Suite(" ".join(texts))
    single = all(":" in one for one in texts)
    path = output_path(found, texts, output)
    if write_file:
        may_write(path, append, force)
    for number, target in enumerate(found):
        tell = functools.partial(progress, target.text, number, len(found)) if progress else _silent
        _explore(suite, target, options, single, tell)
        if suite.explored and suite.explored[-1].stopped:
            suite.left_out += [f"{later.text}: stopped before it" for later in found[number + 1 :]]
            break
    _run_and_keep(suite, path, allow_effects)
    if write_file and suite.cases:
        suite.file = str(path)
        save(path, suite.source, append)
    return suite


def _silent(cases: int) -> None:
    pass


def _check_options(options: Options) -> None:
    if options.k < 0:
        raise UsageError(f"-k {options.k}: a loop cannot run fewer than 0 times")
    if options.domain[0] > options.domain[1]:
        raise UsageError(f"--domain {options.domain[0]}..{options.domain[1]} is empty")
    if options.most_paths < 1:
        raise UsageError("--paths must be at least 1")
    if options.seconds <= 0:
        raise UsageError("--seconds must be positive")


def _explore(suite: Suite, target: Target, options: Options, single: bool, progress: Callable[[int], Any]) -> None:
    try:
        session = Session(target, options, progress=progress)
    except UsageError as error:
        if single:
            raise
        suite.left_out.append(str(error))
        return
    explored = session.explore()
    suite.explored.append(explored)
    suite.paths += explored.paths
    suite.cut += explored.seen.cut
    for place in (*explored.seen.unsupported, *explored.seen.gave_up, *explored.unlabelled):
        if place not in suite.unsupported:
            suite.unsupported.append(place)
    suite.sampled += [p for p in explored.seen.sampled if p not in suite.sampled]


def _run_and_keep(suite: Suite, path: Path, allow_effects: bool) -> None:
    """Render, run, drop what fails, until everything that is left passes."""
    groups = [(e.target, list(e.cases)) for e in suite.explored]
    approximate: set[int] = set()
    for _ in range(_ROUNDS):
        groups = [(target, cases) for target, cases in groups if cases]
        if not groups:
            return
        written = write(groups, frozenset(approximate))
        for case, why in written.skipped:
            _drop(groups, case)
            _unsupported(suite, case, groups, f"a test cannot be written: {why}")
        if not written.rendered:
            return
        written.path_line = path_line(path, [t for t, _ in groups])
        source = written.source()
        checked = check(source, [e.target for e in suite.explored], allow_effects=allow_effects)
        if not checked.failed and len(checked.passed) == len(written.rendered):
            suite.source = source
            suite.coverage = checked.coverage
            suite.cases = [r.case for r in written.rendered]
            return
        _judge(suite, written, checked.failed, set(checked.passed), groups, approximate)
    suite.cases = []


def _judge(
    suite: Suite,
    written: Written,
    failed: dict[str, str],
    passed: set[str],
    groups: list[tuple[Target, list[TestCase]]],
    approximate: set[int],
) -> None:
    for rendered in written.rendered:
        if rendered.test in passed:
            continue
        case = rendered.case
        why = failed.get(rendered.test, "the test did not run")
        if case.has_floats and id(case) not in approximate and case.outcome.raises is None:
            approximate.add(id(case))
            continue
        _drop(groups, case)
        if "--allow-effects" in why:
            _unsupported(suite, case, groups, why.partition("\n")[0])
        elif case.fragile:
            _unsupported(suite, case, groups, "the outcome depends on the order of a set")
        elif case.has_floats:
            _unsupported(suite, case, groups, "rounding of floats takes the real run another way")
        else:
            suite.disagreements.append((case, why))


def _drop(groups: list[tuple[Target, list[TestCase]]], case: TestCase) -> None:
    for _, cases in groups:
        cases[:] = [c for c in cases if c is not case]


def _unsupported(suite: Suite, case: TestCase, groups: Sequence[tuple[Target, Any]], what: str) -> None:
    target = next(t for t, _ in groups if t.text == case.target)
    place = Place(target.file, target.line, what)
    if place not in suite.unsupported:
        suite.unsupported.append(place)
