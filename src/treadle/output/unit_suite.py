"""`treadle.unit`: from a target to a test file that has been run.

Explore, write, run, drop what does not hold, run again, and only then touch the user's file.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any

from treadle.generate.unit_explore import Options, Session
from treadle.generate.unit_target import Target, resolve
from treadle.model.errors import UsageError
from treadle.output.unit_files import may_write, output_path, save
from treadle.output.unit_result import Suite
from treadle.output.unit_verify import run_and_keep


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
    run_and_keep(suite, path, allow_effects)
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


__all__ = ["Suite", "target_text", "unit"]
