"""Running generated tests before they are written: each alone in a fresh process, then together in another order.

A test lands only if it passes both ways, under different hash seeds. The second run measures the coverage of the
code under test.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from treadle.core.errors import InternalError, UsageError
from treadle.report.fresh_process import (
    SECONDS,
    CouldNotRunTests,
    FreshOutcome,
    FreshTests,
    ImportRefused,
    scratch_folder,
)
from treadle.units.target import UnitTarget
from treadle.units.unfollowed import holds_sets

Outcomes = dict[str, FreshOutcome]

# A unit test that has not finished by then never will.
_SECONDS = 20


@dataclass(slots=True)
class CodeCoverage:
    """Lines and branches of the targets: (covered, all)."""

    lines: tuple[int, int] = (0, 0)
    branches: tuple[int, int] = (0, 0)
    # (file, line, where the branch goes: a line, 0 for out of the function; None for the line itself)
    unreached: list[tuple[str, int, int | None]] = field(default_factory=list)
    # every branch that was not taken, those between unreached lines too: (file, line, where it goes)
    untaken: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return self.lines[0] == self.lines[1] > 0 and self.branches[0] == self.branches[1]

    def percent(self, what: str) -> float:
        """A function without branches has all of them covered; one without measured lines has none."""
        covered, all_ = self.lines if what == "lines" else self.branches
        if not all_:
            return 100.0 if self.lines[1] else 0.0
        return round(100 * covered / all_, 1)


@dataclass(slots=True)
class Checked:
    failed: dict[str, FreshOutcome] = field(default_factory=dict)
    # those that pass with one order of a set but not with another
    unordered: set[str] = field(default_factory=set)
    passed: list[str] = field(default_factory=list)
    coverage: CodeCoverage = field(default_factory=CodeCoverage)
    # tests of the rest of the file that fail with these beside them
    others: list[str] = field(default_factory=list)
    # whether other orders of sets were tried
    orders: bool = False


class PassedBefore(NamedTuple):
    """Tests that have passed as they are, in an earlier round: alone, and with other orders of sets."""

    alone: frozenset[str] = frozenset()
    orders: frozenset[str] = frozenset()
    all_alone: bool = False  # there are no others


_NOTHING_BEFORE = PassedBefore()
# A set of two texts has one order with all of these and the two before in about one of 64 cases.
_OTHER_SEEDS = (3, 4, 5, 6, 7)


def check(
    source: str,
    targets: Sequence[UnitTarget],
    *,
    allow_effects: bool = False,
    whole: str | None = None,
    at_once: int = 1,
    seconds: float = SECONDS,
    unordered: bool = False,
    before: PassedBefore = _NOTHING_BEFORE,
) -> Checked:
    """Run the tests of a file that is not written yet; `whole` is what the file is going to be with them, if more.

    `at_once` is how many tests that run alone, or runs of all of them, go side by side; `seconds` how long it may take:
    tests that do not come to their end until then are neither in `failed` nor in `passed`. Where sets are met
    (`unordered`, or in the text of the targets), tests must pass with other orders of sets as well. What has passed
    `before` is run again only together with the others.
    """
    ends = time.monotonic() + seconds
    begin = functools.partial(_begin, allow_effects=allow_effects, ends=ends)
    with scratch_folder() as folder:
        file = _put(folder / "alone", source)
        result = Checked(passed=sorted(before.alone))
        if not before.all_alone:
            with begin(file, 1, at_once=at_once, without=before.alone) as alone:
                for test, ended in _outcomes(alone).items():
                    if ended.passed:
                        result.passed.append(test)
                    else:
                        result.failed[test] = ended
        if result.failed:
            return result
        result.orders = unordered or any(map(holds_sets, targets))
        first = functools.partial(_begin_together, folder / "whole", whole or source, targets, begin)
        seeds = () if not result.orders or before.orders.issuperset(result.passed) else _OTHER_SEEDS
        orders = (
            functools.partial(begin, file, seed, without=before.orders) for seed in seeds if time.monotonic() < ends
        )
        with contextlib.closing(_side_by_side(itertools.chain([first], orders), at_once)) as running:
            try:
                together, result.coverage = _together(next(running), folder / "whole", targets)
            except (InternalError, UsageError):
                if whole in (None, source):
                    raise
                together = {}
            if whole not in (None, source) and not together.keys() >= set(result.passed):
                # somebody's own tests need what only their folder has, or one of them has ended the process
                begin = functools.partial(begin, ends=time.monotonic() + seconds)
                with _begin_together(folder / "own", source, targets, begin) as own:
                    together, result.coverage = _together(own, folder / "own", targets)
            _drop_not_together(result, together, ends)
            for run in running:
                for test, ended in _outcomes(run).items():
                    if test in result.passed and not ended.passed:
                        result.passed.remove(test)
                        result.failed[test] = ended
                        result.unordered.add(test)
        return result


def _drop_not_together(result: Checked, together: Outcomes, ends: float) -> None:
    result.others = [test for test, ended in together.items() if test not in result.passed and not ended.passed]
    for test in list(result.passed):
        if test not in together and time.monotonic() >= ends:
            result.passed.remove(test)  # there was no time for it
            continue
        ended = together.get(test, FreshOutcome("failed", "the process ended before it did"))
        if not ended.passed:
            result.passed.remove(test)
            result.failed[test] = replace(ended, why=f"passes alone but not after other tests: {ended.why}")


def coverage_of(source: str, targets: Sequence[UnitTarget]) -> CodeCoverage:
    """What the tests of a file cover, whether they pass or not."""
    begin = functools.partial(_begin, allow_effects=False, ends=time.monotonic() + SECONDS)
    with scratch_folder() as folder, _begin_together(folder / "whole", source, targets, begin) as tests:
        try:
            return _together(tests, folder / "whole", targets)[1]
        except (InternalError, UsageError):
            return CodeCoverage()  # they may need what only their folder has


def _put(folder: Path, source: str) -> Path:
    folder.mkdir()
    file = folder / "test_candidate.py"
    file.write_text(source, encoding="utf-8")
    return file


def _side_by_side(runs: Iterable[Callable[[], FreshTests]], at_once: int) -> Generator[FreshTests, None, None]:
    """These in their order, begun so many at a time; those that are left when nobody asks for more are ended."""
    with contextlib.ExitStack() as stack:
        running: deque[FreshTests] = deque()
        for run in runs:
            running.append(stack.enter_context(run()))
            if len(running) >= at_once:
                yield running.popleft()
        yield from running


def _begin_together(
    folder: Path, source: str, targets: Sequence[UnitTarget], begin: Callable[..., FreshTests]
) -> FreshTests:
    """All tests in one process, the last one first, measured."""
    measured = os.pathsep.join(sorted({t.file for t in targets}))
    out = str(folder / "coverage.json")
    extra = {"TREADLE_COVERAGE": measured, "TREADLE_COVERAGE_OUT": out, "TREADLE_ORDER": "reversed"}
    return begin(_put(folder, source), 2, environment=extra)


def _together(tests: FreshTests, folder: Path, targets: Sequence[UnitTarget]) -> tuple[Outcomes, CodeCoverage]:
    ended, out = _outcomes(tests), folder / "coverage.json"
    return ended, from_report(json.loads(out.read_text()), targets) if out.exists() else CodeCoverage()


def _begin(file: Path, seed: int, *, allow_effects: bool, ends: float, at_once: int = 0, **more: Any) -> FreshTests:
    seconds = max(ends - time.monotonic(), 1.0)
    return FreshTests(
        file,
        seconds=seconds,
        at_once=at_once,
        effects="allowed" if allow_effects else "refused",
        hash_seed=seed,
        seconds_of_a_test=int(min(_SECONDS, max(2, seconds / 4))),
        **more,
    )


def _outcomes(tests: FreshTests) -> Outcomes:
    try:
        return tests.outcomes(partly=True)
    except ImportRefused as error:  # this process had the module already
        raise UsageError(f"{error}; pass --allow-effects to let it") from None
    except CouldNotRunTests as error:
        raise InternalError(f"the generated tests could not be collected:\n{error}") from None


def from_report(data: dict[str, object], targets: Sequence[UnitTarget]) -> CodeCoverage:
    """Coverage out of coverage.py's JSON. Only the lines of the targets' own bodies count."""
    files: dict[str, dict[str, list[object]]] = {}
    for name, entry in data["files"].items():  # type: ignore[attr-defined]
        files[os.path.realpath(name)] = entry
    spans: dict[str, list[tuple[int, int]]] = {}
    for target in targets:
        first, last = target.body()
        spans.setdefault(os.path.realpath(target.file), []).append((first, last))
    lines: dict[bool, int] = {True: 0, False: 0}
    branches: dict[bool, int] = {True: 0, False: 0}
    unreached: list[tuple[str, int, int | None]] = []
    untaken: list[tuple[str, int, int]] = []
    for file, own in spans.items():
        entry = files.get(file, {})
        missing: list[Any] = entry.get("missing_lines", [])
        unreached += [(file, line, None) for line in missing if _inside(line, own)]
        arcs: list[Any] = entry.get("missing_branches", [])
        untaken += [(file, line, max(to, 0)) for line, to in arcs if _inside(line, own)]
        for line, to in arcs:
            if _inside(line, own) and to not in missing:
                unreached.append((file, line, max(to, 0)))
        for key, hit in (("executed_lines", True), ("missing_lines", False)):
            lines[hit] += sum(_inside(line, own) for line in entry.get(key, ()))
        for key, hit in (("executed_branches", True), ("missing_branches", False)):
            branches[hit] += sum(_inside(arc[0], own) for arc in entry.get(key, ()))  # type: ignore[index]
    return CodeCoverage(
        (lines[True], lines[True] + lines[False]),
        (branches[True], branches[True] + branches[False]),
        unreached,
        untaken,
    )


def _inside(line: object, spans: list[tuple[int, int]]) -> bool:
    return isinstance(line, int) and any(first <= line <= last for first, last in spans)
