"""What cannot be followed is tried: real calls with picked values, for lines and branches that no test reaches yet.

The calls are made in a process of its own that may not change the world (`observe.effects`) and is ended when it does
not come back. What they show is written as tests, run like all others. A suite with such tests never claims every path.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from treadle.core.errors import InternalError
from treadle.doors.unit.check import check
from treadle.doors.unit.files import appended, folders, imports_of, names_in, with_sorted_imports
from treadle.doors.unit.probe_source import ProbedTest, ProbeWriter
from treadle.doors.unit.pytest_suite import title_of
from treadle.doors.unit.result import Suite
from treadle.observe.effects import EffectGuard
from treadle.observe.forked import answer_of_a_child, can_fork
from treadle.report.fresh_process import SECONDS
from treadle.report.pytest_file import PytestFile
from treadle.symbolic.python.compile.source import NoSource
from treadle.units.imports import Imports
from treadle.units.options import UnitOptions
from treadle.units.probing.call import Arc, Prober
from treadle.units.probing.search import ProbeSearch, fewest, simplest
from treadle.units.probing.values import ValuePool
from treadle.units.target import UnitTarget

if sys.platform != "win32":  # where there is no fork either, and nothing is tried
    import resource

# Of the seconds that are left, and at most: what this does not find it seldom finds later.
_SHARE = 0.25
_MOST_SECONDS = 2.0
# for a command whose time is up already
_LEAST_SECONDS = 4.0
# The child stops searching by itself. Times its seconds of processor time, and then it has written its tests, too; of
# the clock's it gets more where the command has no end, since it may have to wait for a processor.
_MOST_WORKING = 5
_PATIENCE = 5.0
_PATIENCE_WITHOUT_END = 90.0
_MOST_TESTS = 25
# rounds in which a test that fails is written in its weak form, then dropped
_ROUNDS = 4


def probe(
    suite: Suite,
    targets: Sequence[UnitTarget],
    unfollowed: Sequence[UnitTarget],
    path: Path,
    options: UnitOptions,
    ends: float,
) -> None:
    """Add tests to the suite for what its tests do not reach; `unfollowed` are targets that could not be explored.

    What the command has left until it `ends` is for all of them together.
    """
    if not can_fork():
        return
    found: list[tuple[UnitTarget, ProbedTest]] = []
    taken = set(names_in(suite.content)) if suite.content else set()
    for target in targets:
        wanted = _unreached(suite, target)
        if target in unfollowed or wanted:
            seconds = min(max(ends - time.monotonic(), _LEAST_SECONDS) * _SHARE, _MOST_SECONDS)
            for test in _in_a_child(target, wanted, seconds, options, taken, suite.content):
                taken.add(test.name)
                found.append((target, test))
    if found:
        _run_and_keep(suite, found, targets, path, options, min(max(ends - time.monotonic(), _LEAST_SECONDS), SECONDS))


def _unreached(suite: Suite, target: UnitTarget) -> set[Arc]:
    """What the tests of the suite do not reach of a target."""
    first, last = target.body()
    file = os.path.realpath(target.file)
    places = [*suite.coverage.unreached, *suite.coverage.untaken]
    found = [(line, to) for where, line, to in places if where == file and first <= line <= last]
    return {(-1, line) if to is None else (line, to) for line, to in found}


# --- the child -------------------------------------------------------------------------------------------------


def _in_a_child(
    target: UnitTarget, wanted: set[Arc], seconds: float, options: UnitOptions, taken: set[str], content: str
) -> list[ProbedTest]:
    def work(scratch: str) -> list[ProbedTest]:
        os.setpgid(0, 0)
        most = int(time.process_time() + _MOST_WORKING * seconds + _PATIENCE)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        try:
            return probed(target, wanted, seconds, scratch, options, taken, content)
        except NoSource:
            return []

    patience = _PATIENCE if options.whole else _PATIENCE_WITHOUT_END
    return answer_of_a_child(work, _MOST_WORKING * seconds + patience) or []


def probed(
    target: UnitTarget,
    wanted: set[Arc],
    seconds: float,
    scratch: str,
    options: UnitOptions,
    taken: set[str],
    content: str = "",
) -> list[ProbedTest]:
    """Search, choose few, write them; in this process. `content` is the file that they are going to be added to."""
    imports = imports_of(content)
    with EffectGuard(scratch):
        pool = ValuePool(target.function, imports)
        pool.told, pool.scratch, pool.defensive = dict(options.types), scratch, options.defensive
        prober = Prober(target, pool, scratch, options.allow_effects)
        found = ProbeSearch(prober, wanted, seconds, busy=not options.whole).run()
    everything = {arc for one in found for arc in one.arcs}
    writer = ProbeWriter(prober, imports, taken)
    lines = Path(target.file).read_text(encoding="utf-8", errors="replace").splitlines()
    tests: list[ProbedTest] = []
    left = wanted & everything if wanted else everything
    for one in fewest(found, left)[:_MOST_TESTS]:
        new = one.arcs & left
        if not new:
            continue
        one = simplest(prober, one, new)
        test = writer.test(one.probe, _reaches(new, lines))
        if test is not None:
            test.imports = imports.used_in(test.strong)
            tests.append(test)
            left -= one.arcs
    return tests


def _reaches(arcs: frozenset[Arc], lines: list[str]) -> str:
    """What only this test reaches, in the words of the code."""
    number = min((to for start, to in arcs if start == -1), default=0) or min(start for start, _ in arcs)
    text = " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""
    return f"Picked values that reach: {text[:70]}".rstrip()


# --- the tests -------------------------------------------------------------------------------------------------


def _run_and_keep(
    suite: Suite,
    found: list[tuple[UnitTarget, ProbedTest]],
    targets: Sequence[UnitTarget],
    path: Path,
    options: UnitOptions,
    seconds: float,
) -> None:
    weak: set[str] = set()
    for _ in range(_ROUNDS):
        if not found:
            return
        tests = {test.name: test.weak if test.name in weak else test.strong for _, test in found}
        imports = list(dict.fromkeys(line for _, test in found for line in test.imports))
        file = PytestFile(title_of([target for target, _ in found]), imports=_merged(imports), tests=tests)
        file.folders = folders(path, list(targets))
        own = file.source()
        both = with_sorted_imports(appended(suite.content, own)) if suite.content else own
        try:
            checked = check(
                own,
                targets,
                allow_effects=options.allow_effects,
                whole=both,
                at_once=options.processes,
                seconds=seconds,
            )
        except InternalError:
            return
        if checked.others:  # tests that passed before these were added
            return
        if not checked.failed and len(checked.passed) == len(found):
            suite.probed = {test.name: target.text for target, test in found}
            suite.source = suite.content = both
            suite.coverage = checked.coverage
            return
        dropped = {name for name in checked.failed if name in weak}
        dropped |= {test.name for _, test in found} - checked.failed.keys() - set(checked.passed)  # not run in time
        weak |= checked.failed.keys()
        found = [(target, test) for target, test in found if test.name not in dropped]


def _merged(lines: list[str]) -> list[str]:
    """One line for each module that names are taken from."""
    own = Imports()
    plain: list[str] = []
    for line in lines:
        node = ast.parse(line).body[0]
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                own.names[alias.asname or alias.name] = (node.module or "", alias.name)
        else:
            plain.append(line)
    return [*dict.fromkeys(plain), *own.lines()]
