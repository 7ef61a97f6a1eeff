"""`treadle.unit`: from a target to a test file that has been run.

Explore, write, run, drop what does not hold, run again, and only then touch the user's file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.files import check_may_write
from treadle.doors.unit.assumptions import fitting as fitting_assumptions
from treadle.doors.unit.check import coverage_of
from treadle.doors.unit.commit import commit
from treadle.doors.unit.contracts import excluded, fitting
from treadle.doors.unit.ctrl_c import CtrlC
from treadle.doors.unit.explore import HEAPS, ExploredTarget, Session, UnitOptions
from treadle.doors.unit.files import content_of, output_path, read
from treadle.doors.unit.grow import Growth
from treadle.doors.unit.missing import drop_taken, known_to, own_tests
from treadle.doors.unit.more import carry_over, file_of, grown, growths, options_of, remembered
from treadle.doors.unit.parallel import explore_all
from treadle.doors.unit.points import points_of, target_around
from treadle.doors.unit.result import Suite
from treadle.doors.unit.select import ALL_PATHS, check
from treadle.doors.unit.selected import default_file, drop_superfluous
from treadle.doors.unit.stubs import stub_files
from treadle.doors.unit.target import UnitTarget, resolve
from treadle.doors.unit.verify import run_and_keep
from treadle.symbolic.heap.aliasings import in_lazy_order

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
    pre: Sequence[str] = (),
    contracts: bool = True,
    assume: Sequence[str] = (),
    infer_assumptions: bool = False,
    progress: Progress | None = None,
    more: bool = False,
    summaries: bool = True,
    stubs: Sequence[str | os.PathLike[str]] = (),
    select: str = ALL_PATHS,
    points: Sequence[str | int] = (),
    missing: bool = False,
    tests: str | os.PathLike[str] | None = None,
    heap: str = "solver",
    workers: int | str = 1,
) -> Suite:
    """Write unit tests for functions, methods, classes, modules or packages.

    A target is 'pkg.mod:func', 'pkg.mod:Class.method', 'pkg.mod:Class', 'pkg.mod', or the object itself. `seconds`
    is the budget of each function, `k` the most rounds of each loop (2). With `write_file=False` nothing is written;
    the source is in `Suite.source`. `more` adds to the suite of an earlier run what that one's bounds had cut.
    `select` asks for fewer tests: 'local-paths', 'statements', 'branches', or 'points' with
    `points=["bank.py:57"]`; points alone are enough, and then the target is the function they lie in.
    `missing` leaves out the paths that the project's own tests (`tests`, or the folder tests) take.
    `pre` are conditions on the inputs ("n >= 0"), `assume` what is known of the heap ("acyclic(self)"); with
    `contracts=False` the conditions of icontract and deal, and leading asserts, are code like any other. `stubs` are
    files that say what code does that cannot be followed, besides `treadle_stubs.py` of the current folder.
    `workers` is a number of processes, or 'auto'; the tests do not depend on it.
    """
    options = UnitOptions(2 if k is None else k, alias, none, domain, seconds, paths, types or {}, allow_effects)
    options.pre, options.contracts = tuple(pre), contracts
    options.assume, options.infer_assumptions = tuple(assume), infer_assumptions
    options.select = "points" if points and select == ALL_PATHS else select
    options.points = tuple(str(point) for point in points)
    options.summaries, options.keep_summaries = summaries, summaries and write_file
    options.stubs = stub_files(stubs)
    options.heap = heap
    _check_options(options)
    processes = _processes(workers)
    texts = [target_text(target) for target in targets] or [*dict.fromkeys(map(target_around, options.points))]
    if not texts:
        raise UsageError("name at least one target: pkg.mod:function, pkg.mod:Class.method or pkg.mod")
    # a target may be named twice: by itself, and as part of its module
    left_out: list[str] = []
    found = list({target.text: target for one in texts for target in resolve(one, left_out)}.values())
    if options.select == "points":
        points_of(options.points, found[0])  # what is wrong with a point is said before anything is explored
    if missing and more:
        raise UsageError(
            "--missing asks what your tests leave out, --more what the last run left out; run them one after the other"
        )
    if tests is not None and not missing:
        raise UsageError("--tests names the tests that --missing looks at; pass --missing as well")
    suite = Suite(" ".join(texts), options.select, stub_files=options.stubs, left_out=left_out)
    single = all(":" in one for one in texts)
    growing = growths(suite, found, options, k, single) if more else []
    path = file_of(growing) if more and output is None else output_path(found, texts, output)
    if output is None and options.select != ALL_PATHS and not more:
        path = default_file(path, options.select, options.points)
    if write_file:
        check_may_write(path, "--output", append or more or force, also="--append to add tests to it, ")
    existing = read(path) if more else None
    if more and existing is None:
        for growth in growing:
            growth.anew()
    carry_over(suite, growing)
    sessions = _sessions(suite, found, options, growing if more else None, single)
    if missing:
        with _nothing_written("your tests were being run"):
            suite.own_tests = own_tests(found, path, tests, append, options.select)
        for session in sessions:
            session.know(known_to(suite.own_tests, options.select))
    with CtrlC() as ctrl_c:
        _explore(suite, sessions, progress, texts, processes, ctrl_c)
    if progress is not None and sessions:
        progress("running the tests", len(sessions), len(sessions), sum(len(e.cases) for e in suite.explored))
    drop_superfluous(suite)
    grows = {growth.kept.target for growth in growing}
    measured = [target for target in found if target.text in grows]
    with _nothing_written("the generated tests were being run"):
        run_and_keep(suite, path, allow_effects, existing, contracts, processes, measured)
        if suite.own_tests is not None and drop_taken(suite, suite.own_tests):
            run_and_keep(suite, path, allow_effects, existing, contracts, processes)
        if existing is not None and not suite.cases:
            suite.coverage = coverage_of(existing, measured)
    if more:
        suite.more = grown(suite, growing, suite.content or existing or "")
    if write_file:
        with _nothing_written("the files were being written"):
            content = content_of(path, suite.source, append or more) if suite.cases else None
            kept = remembered(suite, options, path, growing) if not missing else []
            suite.warnings += commit(path, content, kept, more)
        if suite.cases or existing is not None:
            suite.file = str(path)
    return suite


@contextlib.contextmanager
def _nothing_written(what: str) -> Iterator[None]:
    """Ctrl-C before there is anything to keep."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped while {what}: no file was written or changed") from None


def _check_options(options: UnitOptions) -> None:
    if options.k < 0:
        raise UsageError(f"-k {options.k}: a loop cannot run fewer than 0 times")
    if options.domain[0] > options.domain[1]:
        raise UsageError(f"--domain {options.domain[0]}..{options.domain[1]} is empty")
    if options.most_paths < 1:
        raise UsageError("--paths must be at least 1")
    if options.seconds <= 0:
        raise UsageError("--seconds must be positive")
    if options.heap not in HEAPS:
        raise UsageError(f"--heap {options.heap}: write solver or lazy")
    check(options.select, options.points)


def _sessions(
    suite: Suite, found: Sequence[UnitTarget], options: UnitOptions, growing: Sequence[Growth] | None, single: bool
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
        except UsageError as error:
            if single:
                raise
            suite.left_out.append(str(error))
    return sessions


def _processes(workers: int | str) -> int:
    if workers == "auto":
        return os.cpu_count() or 1
    try:
        number = int(workers)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"--workers {workers}: write a number of processes, at least 1, or auto")
    return number


def _explored(
    sessions: Sequence[Session], progress: Progress | None, texts: Sequence[str], workers: int, ctrl_c: CtrlC
) -> Iterator[tuple[Session, ExploredTarget]]:
    if workers > 1:
        yield from zip(sessions, explore_all(sessions, texts, workers, progress, ctrl_c), strict=True)
        return
    stopped = False
    for number, session in enumerate(sessions):
        session.ctrl_c = ctrl_c
        if progress is not None:
            session.progress = functools.partial(progress, session.target.text, number, len(sessions))
        explored = session.leave() if stopped or ctrl_c.pressed else session.explore()
        stopped = stopped or explored.stopped
        yield session, explored


def _explore(
    suite: Suite,
    sessions: Sequence[Session],
    progress: Progress | None,
    texts: Sequence[str],
    workers: int,
    ctrl_c: CtrlC,
) -> None:
    for session, explored in _explored(sessions, progress, texts, workers, ctrl_c):
        _book(suite, explored)
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
