"""`treadle.unit`: from a target to a test file that has been run.

Explore, write, run, drop what does not hold, run again, and only then touch the user's file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.files import check_may_write
from treadle.doors.unit.brief import Shortened
from treadle.doors.unit.check import coverage_of
from treadle.doors.unit.commit import commit
from treadle.doors.unit.files import content_of, output_path, read, tests_in
from treadle.doors.unit.missing import drop_taken, known_to, own_tests
from treadle.doors.unit.more import carry_over, file_of, grown, growths, options_of, remembered
from treadle.doors.unit.probe import probe
from treadle.doors.unit.result import Suite
from treadle.doors.unit.selected import default_file, drop_superfluous
from treadle.doors.unit.states import build_states
from treadle.doors.unit.stubs import stub_files
from treadle.doors.unit.unittest_style import as_unittest, class_name, fresh_unittest
from treadle.doors.unit.verify import SteadyTests, run_and_keep
from treadle.observe.effects import EffectGuard
from treadle.search.cluster import Workforce
from treadle.symbolic.heap.aliasings import in_lazy_order
from treadle.units.assumptions import fitting as fitting_assumptions
from treadle.units.contracts import excluded, fitting
from treadle.units.ctrl_c import CtrlC
from treadle.units.explore import CannotExplore, ExploredTarget, Session
from treadle.units.grow import Growth
from treadle.units.guesses import guesses_of
from treadle.units.options import UnitOptions
from treadle.units.parallel import explore_all
from treadle.units.points import points_of, target_around
from treadle.units.select import ALL_PATHS
from treadle.units.target import UnitTarget, resolve

# target, its number, how many targets, cases found so far
Progress = Callable[[str, int, int, int], None]


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
    k: int | None = None,
    options: UnitOptions | None = None,
    progress: Progress | None = None,
    **named: Any,
) -> Suite:
    """Write unit tests for functions, methods, classes, modules or packages.

    A target is 'pkg.mod:func', 'pkg.mod:Class.method', 'pkg.mod:Class', 'pkg.mod', or the object itself. Further
    arguments are fields of `UnitOptions`. `seconds` is the budget of the whole command (20 for each function), `k` the
    most rounds of each loop (2). With `write_file=False` nothing is written; the source is in `Suite.source`. `more`
    adds to the suite of an earlier run what that one's bounds had cut. `select` asks for fewer tests: 'local-paths',
    'statements', 'branches', or 'points' with `points=["bank.py:57"]`; points alone are enough, and then the target is
    the function they lie in. `missing` leaves out the paths that the project's own tests (`tests`, or the folder
    tests) take. `pre` are conditions on the inputs ("n >= 0"), `assume` what is known of the heap ("acyclic(self)");
    with `contracts=False` the conditions of icontract and deal, and leading asserts, are code like any other. `stubs`
    are files that say what code does that cannot be followed, besides `treadle_stubs.py` of the current folder.
    `workers` is a number of processes, or 'auto'; the tests do not depend on it.
    """
    named.setdefault("whole", "seconds" in named)
    options = dataclasses.replace(options or UnitOptions(), **named)
    options.k = options.k if k is None else k
    options.check()
    options.stubs = stub_files(options.stubs)
    options.keep_summaries = options.summaries and options.write_file
    return _Command(options, k, progress).run(targets)


class _Command:
    """One run of the command, step by step: explore, run the tests, write."""

    def __init__(self, options: UnitOptions, wanted: int | None, progress: Progress | None) -> None:
        self.options = options
        # the bound that was asked for, if one was
        self.wanted = wanted
        self.progress = progress
        self.growing: list[Growth] = []
        # when the command should have come to its end
        self.ends = 0.0
        # what cannot be explored, and why: it is tried instead
        self.unfollowed: list[tuple[UnitTarget, CannotExplore]] = []

    def run(self, targets: Sequence[Any]) -> Suite:
        options, started = self.options, time.monotonic()
        texts = [target_text(target) for target in targets] or [*dict.fromkeys(map(target_around, options.points))]
        if not texts:
            raise UsageError("name at least one target: pkg.mod:function, pkg.mod:Class.method or pkg.mod")
        # a target may be named twice: by itself, and as part of its module
        left_out: list[str] = []
        with _guarded_import(options.allow_effects) as warnings:
            found = list({target.text: target for one in texts for target in resolve(one, left_out)}.values())
        single = all(":" in one for one in texts)
        texts = [found[0].text] if len(found) == len(texts) == 1 else texts
        if options.select == "points":
            points_of(options.points, found[0])  # what is wrong with a point is said before anything is explored
        self.ends = started + options.seconds if options.whole else math.inf
        suite = Suite(" ".join(texts), options.select, stub_files=options.stubs, left_out=left_out, warnings=warnings)
        if options.more:
            self.growing = growths(suite, found, options, self.wanted, single)
        path = self._place(found, texts)
        existing = read(path) if options.more else None
        if options.more and existing is None:
            for growth in self.growing:
                growth.anew()
        carry_over(suite, self.growing)
        sessions = _sessions(suite, found, options, self.growing if options.more else None, single, self.unfollowed)
        if self.unfollowed and single and not self._may_probe(suite):
            raise self.unfollowed[0][1]
        if options.missing:
            with _nothing_written("your tests were being run"):
                suite.own_tests = own_tests(found, path, options.tests, options.append, options.select)
            for session in sessions:
                session.know(known_to(suite.own_tests, options.select))
        with CtrlC() as ctrl_c:
            _share_time(sessions, self.ends - time.monotonic(), options)
            _explore(suite, sessions, self.progress, texts, options.workforce, ctrl_c)
        if self.progress is not None and sessions:
            cases = sum(len(e.cases) for e in suite.explored)
            self.progress("running the tests", len(sessions), len(sessions), cases)
        drop_superfluous(suite)
        self._run_tests(suite, path, existing, found)
        self._probe(suite, path)
        if options.more:
            suite.more = grown(suite, self.growing, suite.content or existing or "")
        if options.style == "unittest" and suite.tests:
            with _nothing_written("the tests were being run in the style of unittest"):
                suite.source = suite.content = as_unittest(suite.content, class_name(suite.target))
                fresh_unittest(suite.source, suite.source.count("    def test_"))
        if options.write_file:
            self._write(suite, path, existing)
        return suite

    def _place(self, found: list[UnitTarget], texts: list[str]) -> Path:
        """The test file, if it may be written."""
        options = self.options
        usual = options.output is None
        path = file_of(self.growing) if options.more and usual else output_path(found, texts, options.output)
        if usual and options.select != ALL_PATHS and not options.more:
            path = default_file(path, options.select, options.points)
        if options.write_file:
            may = options.append or options.more or options.force
            check_may_write(path, "--output", may, also="--append to add tests to it, ")
        return path

    def _run_tests(self, suite: Suite, path: Path, existing: str | None, found: Sequence[UnitTarget]) -> None:
        grows = {growth.kept.target for growth in self.growing}
        measured = [target for target in found if target.text in grows]
        with _nothing_written("the generated tests were being run"):
            short = Shortened(suite) if self.options.is_brief else None
            steady = SteadyTests()
            build_states(suite, self.options, self.ends)
            run_and_keep(suite, path, self.options, existing, measured, self.ends, steady)
            while short is not None and short.replaced(suite):
                build_states(suite, self.options, self.ends)
                run_and_keep(suite, path, self.options, existing, measured, self.ends, steady)
            if suite.own_tests is not None and drop_taken(suite, suite.own_tests):
                run_and_keep(suite, path, self.options, existing, ends=self.ends, steady=steady)
            if existing is not None and not suite.cases:
                suite.coverage = coverage_of(existing, measured)

    def _may_probe(self, suite: Suite) -> bool:
        """Whether calls may be tried: a selection, assumptions and own tests ask for something else."""
        options = self.options
        plain = options.select == ALL_PATHS and not (
            options.more or options.missing or options.pre or options.assume or options.terminate
        )
        plain = plain and not options.stubs  # these say what is to be believed
        return options.probe and plain and not suite.assumed and not suite.inferred

    def _probe(self, suite: Suite, path: Path) -> None:
        """Try what could not be followed, where no test gets to all of it."""
        unfollowed = [target for target, _ in self.unfollowed]
        if self._may_probe(suite) and (unfollowed or suite.has_gaps) and not suite.stopped:
            targets = [*(e.target for e in suite.explored), *unfollowed]
            unfollowed += [t for t in targets if not any(case.target == t.text for case in suite.cases)]
            with _nothing_written("calls were being tried"):
                probe(suite, targets, unfollowed, path, self.options, self.ends)
        if self.unfollowed and not suite.tests and not suite.explored:
            raise self.unfollowed[0][1]
        for target, why in self.unfollowed:
            tried = target.text in suite.probed.values()
            (suite.unfollowed if tried else suite.left_out).append(str(why))

    def _write(self, suite: Suite, path: Path, existing: str | None) -> None:
        options = self.options
        with _nothing_written("the files were being written"):
            adding = options.append or options.more
            content = content_of(path, suite.source, adding) if suite.tests else None
            if options.append and content is not None and (before := read(path)) is not None:
                suite.added = tests_in(content) - tests_in(before)
            alone = options.missing or options.style != "pytest"  # --more has nothing to add to
            kept = remembered(suite, options, path, self.growing) if not alone else []
            suite.warnings += commit(path, content, kept, options.more)
        if suite.tests or existing is not None:
            suite.file = str(path)


# Of the time of a command, what exploring may take; the rest is for running the tests.
_EXPLORING = 0.6


def _share_time(sessions: Sequence[Session], seconds: float, options: UnitOptions) -> None:
    """Each target gets its share of what the user gives, so that one that takes long is not the end of the others."""
    if not options.whole:
        return
    side_by_side = min(options.processes, len(sessions))
    for session in sessions:
        share = max(seconds, 0.0) / len(sessions) * side_by_side * _EXPLORING
        session.options = dataclasses.replace(session.options, seconds=max(share, 0.1))
        session.result.options = session.options


@contextlib.contextmanager
def _guarded_import(allow_effects: bool) -> Iterator[list[str]]:
    """What importing the code would do to the world is refused; what it swallows goes to the warnings."""
    warnings: list[str] = []
    if allow_effects:
        yield warnings
        return
    guard = EffectGuard(environment=True)
    try:
        with guard:
            yield warnings
    except UsageError:
        if guard.refused:
            advice = "pass --allow-effects to let it"
            raise UsageError(f"the code cannot be imported: it would {guard.refused[0]}; {advice}") from None
        raise
    warnings += [f"while it was imported, the code was refused to {what}" for what in dict.fromkeys(guard.refused)]


@contextlib.contextmanager
def _nothing_written(what: str) -> Iterator[None]:
    """Ctrl-C before there is anything to keep."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped while {what}: no file was written or changed") from None


def _sessions(
    suite: Suite,
    found: Sequence[UnitTarget],
    options: UnitOptions,
    growing: Sequence[Growth] | None,
    single: bool,
    unfollowed: list[tuple[UnitTarget, CannotExplore]],
) -> list[Session]:
    """One for each target that can be explored; of a module, the others are left out and said."""
    sessions: list[Session] = []
    onward = {g.kept.target: g for g in growing or ()}
    everywhere, pre, assume = options, fitting(options.pre, found), fitting_assumptions(options.assume, found)
    for target in found:
        options = dataclasses.replace(everywhere, pre=pre[target.text], assume=assume[target.text])
        growth = onward.get(target.text)
        try:
            if growth is not None and growth.start:
                used, start = options_of(growth, options), growth.start
                further: dict[str, Any] = {"inside": growth.inside, "decided": growth.decided, "known": growth.known}
                sessions.append(Session(target, used, start=start, **further))
            elif growing is None:
                sessions.append(Session(target, options))
        except CannotExplore as error:
            if growing is None:
                unfollowed.append((target, error))
            else:
                suite.left_out.append(str(error))
        except UsageError as error:
            if single:
                raise
            suite.left_out.append(str(error))
    return sessions


def _explored(
    sessions: Sequence[Session], progress: Progress | None, texts: Sequence[str], workers: Workforce, ctrl_c: CtrlC
) -> Iterator[tuple[Session, ExploredTarget]]:
    if workers.several:
        yield from zip(sessions, explore_all(sessions, texts, workers, progress, ctrl_c), strict=True)
        return
    stopped = False
    for number, session in enumerate(sessions):
        session.ctrl_c = ctrl_c
        if progress is not None:
            session.progress = functools.partial(progress, session.target.text, number, len(sessions))
        explored = session.leave() if stopped or ctrl_c.pressed else session.explore()
        stopped = stopped or explored.stopped
        if session.has_a_rest and not ctrl_c.pressed:
            rest = session.for_the_rest()
            rest.ctrl_c = ctrl_c
            explored.add(rest.explore())
        yield session, explored


def _explore(
    suite: Suite,
    sessions: Sequence[Session],
    progress: Progress | None,
    texts: Sequence[str],
    workers: Workforce,
    ctrl_c: CtrlC,
) -> None:
    for session, explored in _explored(sessions, progress, texts, workers, ctrl_c):
        _book(suite, explored)
        suite.guesses += [
            one
            for one in guesses_of(session.target, session.options, session.types, explored)
            if one not in suite.guesses
        ]
        suite.inferred += [f"{one} (of {session.target.text})" for one in session.inferred]
        suite.assumed += [one for one in session.assuming() if one not in suite.assumed]
        if session.impossible():
            suite.left_out.append(f"{session.target.text}: {excluded(session.contracts.preconditions())}")
        if explored.stopped and not explored.seen.ends:
            suite.left_out.append(f"{session.target.text}: stopped before it")


def _book(suite: Suite, explored: ExploredTarget) -> None:
    explored.cases = in_lazy_order(explored.cases)
    suite.explored.append(explored)
    suite.paths += explored.paths
    suite.cut += explored.seen.cut
    for place in (*explored.seen.unsupported, *explored.seen.gave_up, *explored.unlabelled):
        if place not in suite.unsupported:
            suite.unsupported.append(place)
    suite.warnings += [w for w in explored.warnings if w not in suite.warnings]
    suite.sampled += [p for p in explored.seen.sampled if p not in suite.sampled]
    suite.internal_errors += [p for p in explored.seen.internal_errors if p not in suite.internal_errors]


__all__ = ["Suite", "target_text", "unit"]
