"""`treadle unit --more`: finds what earlier runs kept, and keeps what this one leaves.

Nothing is thrown away to go on: where the kept trails no longer fit the code or the options, the command says so and
changes no file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.doors.unit import store as unit_store
from treadle.doors.unit.files import tests_in
from treadle.doors.unit.result import More, Suite
from treadle.symbolic.path import Limit
from treadle.units.grow import Growth, TargetMemory, go_on, keep
from treadle.units.options import UnitOptions
from treadle.units.select import ALL_PATHS
from treadle.units.target import UnitTarget


def growths(
    suite: Suite, found: Sequence[UnitTarget], options: UnitOptions, wanted: int | None, single: bool
) -> list[Growth]:
    """How each target goes on. Of a module, those that cannot are left out and said; one alone is an error."""
    growing: list[Growth] = []
    missing: list[str] = []
    for target in found:
        try:
            kept = unit_store.load(target.text, options.select, options.points)
            if kept is None:
                missing.append(target.text)
            else:
                growing.append(go_on(kept, target, options, wanted))
        except UsageError as error:
            if single:
                raise
            suite.left_out.append(str(error))
    if missing and (single or not growing):
        names = suite.target if len(missing) == len(found) else " ".join(missing)
        selected = f" with --select {options.select}" if options.select != ALL_PATHS else ""
        raise UsageError(
            f"--more has nothing to go on from: {unit_store.FOLDER} has nothing on {names}{selected}; "
            f"run treadle unit {names} first{selected}, without --more"
        )
    if not growing:
        raise UsageError(suite.left_out[0])
    suite.left_out += [f"{text}: no earlier run; run it without --more first" for text in missing]
    return growing


def file_of(growing: Sequence[Growth]) -> Path:
    """The file that holds the tests so far."""
    files = list(dict.fromkeys(g.kept.file for g in growing))
    if len(files) > 1:
        raise UsageError(
            f"the tests are in several files ({', '.join(files[:3])}); grow one target at a time, "
            f"or name with --output where the new ones go"
        )
    return Path(files[0])


def options_of(growth: Growth, options: UnitOptions) -> UnitOptions:
    room = max(len(growth.kept.finished), growth.kept.made) if growth.again else 0
    return dataclasses.replace(options, k=growth.k, paths=options.paths + room)


def carry_over(suite: Suite, growing: Sequence[Growth]) -> None:
    """What earlier runs could not cover is not covered yet: it bounds what the whole suite can claim."""
    for growth in growing:
        kept = growth.kept
        suite.unsupported += [p for p in kept.unsupported if p not in suite.unsupported]
        suite.sampled += [p for p in kept.sampled if p not in suite.sampled]
        suite.cut[Limit.DEPTH] += kept.deep
        if growth.k == kept.k:
            suite.cut[Limit.LOOP] += len(kept.cut)
    suite.wrong_before = sum(g.kept.wrong for g in growing)


def grown(suite: Suite, growing: Sequence[Growth], content: str) -> More:
    """What came of it; `content` is the file as it is now."""
    of = {g.kept.target: g for g in growing}
    known = {g.kept.target: {*g.kept.finished, *g.kept.inside} for g in growing}
    repeated = sum(choices in known[e.target.text] for e in suite.explored for choices in e.finished)
    again_ = sum(of[case.target].is_old(case.choices, case.aliasing) for case in suite.cases)
    return More(
        min((g.kept.k for g in growing), default=0),
        max((g.k for g in growing), default=0),
        suite.paths - repeated,
        suite.tests - again_,
        again_,
        tests_in(content) if content else 0,
        all(g.kept.complete for g in growing),
    )


def remembered(suite: Suite, options: UnitOptions, file: Path, growing: Sequence[Growth] = ()) -> list[TargetMemory]:
    """What the next --more needs."""
    found: list[TargetMemory] = []
    before = {g.kept.target: g for g in growing}
    for explored in suite.explored:
        growth = before.get(explored.target.text)
        wrong = sum(case.target == explored.target.text for case, _ in suite.disagreements)
        used = options_of(growth, options) if growth is not None else options
        kept = keep(explored, used, str(file), growth, wrong, {id(case) for case in suite.cases})
        if kept.finished or not kept.complete:  # else nothing came of it, and nothing is left
            found.append(kept)
    return found
