"""What `treadle unit` shows a person: the summary, the table of cases, the tree of paths, the IR.

Decides the words for what was not covered: cut, sampled and unsupported are three different things, each with its
place, and a suite that misses something never says that it covers all paths.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.doors.unit.findings import findings
from treadle.doors.unit.missing import lines as missing
from treadle.doors.unit.missing import nothing_missing
from treadle.doors.unit.result import Suite
from treadle.doors.unit.selected import lines as selected
from treadle.doors.unit.shown import aligned, shown
from treadle.doors.unit.stubs import wrong_stubs
from treadle.symbolic.explore import End
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.path import CodePlace, Limit
from treadle.symbolic.python.compile import source
from treadle.symbolic.testcase import CaseObject
from treadle.units.explore import ExploredTarget
from treadle.units.select import ALL_PATHS

# More places than this would bury the summary; --json has them all.
_MOST_PLACES = 10
_MOST_ERRORS = 3


def summary(suite: Suite) -> str:
    """The last words of the command."""
    lines = [f"{suite.target}: {_extent(suite)}"]
    if suite.tests:
        covered, branches = suite.coverage.percent("lines"), suite.coverage.percent("branches")
        lines.append(f"  coverage of the real run: lines {covered:g} %, branches {branches:g} %")
        lines += _unreached(suite) if suite.own_tests is None and suite.select == ALL_PATHS else []
    lines += [f"  {_count(n, 'path')} cut {why}" for why, n in _cuts(suite).items() if n]
    lines += _places("sampled (values were picked, not every path is covered)", suite.sampled)
    lines += _places("unsupported", suite.unsupported)
    lines += _places("internal error in Treadle, please report it", suite.internal_errors)
    lines += [f"  tried, not followed: {message}" for message in suite.unfollowed]
    if suite.probed:
        lines.append(
            f"  {_count(len(suite.probed), 'test')} by calls that were tried with picked values (--no-probe: none)"
        )
    lines += [f"  left out: {message}" for message in suite.left_out[:_MOST_PLACES]]
    if len(suite.left_out) > _MOST_PLACES:
        lines.append(f"  ... and {len(suite.left_out) - _MOST_PLACES} more left out (--json has them all)")
    for case, why in suite.disagreements[:_MOST_ERRORS]:
        lines.append("  internal error in Treadle, please report it: the real run disagrees with the prediction")
        lines.append(f"    {case.target}({', '.join(f'{n}={shown(v)}' for n, v in case.arguments.items())})")
        lines += [f"    {line}" for line in why.strip().splitlines()[:6]]
    if len(suite.disagreements) > _MOST_ERRORS:
        lines.append(f"  ... and {len(suite.disagreements) - _MOST_ERRORS} more of these errors (--json has them all)")
    lines += [f"  assuming {one}" for one in suite.assumed[:_MOST_PLACES]]
    lines += [f"  ... and {len(suite.assumed) - _MOST_PLACES} more"] if len(suite.assumed) > _MOST_PLACES else []
    lines += [f"  a guess: {one}" for one in suite.guesses[:_MOST_PLACES]]
    lines += [f"  ... and {len(suite.guesses) - _MOST_PLACES} more"] if len(suite.guesses) > _MOST_PLACES else []
    lines += [f"  {line}" for line in wrong_stubs(suite)]
    lines += [f"  inferred {one}" for one in suite.inferred]
    lines += [f"  {line}" for line in findings(suite)]
    lines += [f"  {said}" for said in (*selected(suite), *missing(suite))]
    if suite.untold:
        lines.append(
            f"  {_count(suite.untold, 'more test')} would show no new branch or outcome: --select all-paths writes them"
        )
    if suite.by_hand:
        lines.append(
            f"  {_count(suite.by_hand, 'test')} with fields set by hand: no calls were found that make such objects"
        )
    if suite.tests and suite.covers_explored:
        bound = " within the loop bound" if suite.cut[Limit.LOOP] else ""
        bound = " within the termination criterion" if suite.cut[Limit.CRITERION] else bound
        assumed = ", as far as the stubs are right" if any(case.stubs for case in suite.cases) else ""
        explored = " of the functions that were explored" if suite.left_out else ""
        yours = ", yours or a new one" if suite.own_tests is not None else ""
        lines.append(f"  every path{explored}{bound} has its test{yours}{assumed}")
    if suite.file and suite.added is not None:
        told = f"added {_count(suite.added, 'test')} to" if suite.added else "nothing to add to"
        lines.append(f"{told} {suite.file} ({suite.tests} found, all run; what it had is as it was)")
    elif suite.file and suite.tests:
        done = "wrote" if suite.more is None or suite.more.again else "added to"
        lines.append(f"{done} {suite.file} ({_count(suite.tests, 'test')}, all run)")
    elif not suite.tests and (suite.select == "points" or nothing_missing(suite)):
        lines.append("no file was written")
    elif suite.more is None and not suite.tests:
        lines.append("nothing could be covered; no file was written")
    return "\n".join(lines)


def _extent(suite: Suite) -> str:
    """How many paths and tests; of a suite that has grown, how many are new."""
    more = suite.more
    if more is None:
        return f"{_count(suite.paths, 'path')}, {_count(suite.tests, 'test')}"
    again = f"; {_count(more.again, 'test')} of earlier runs written again, their file was gone" if more.again else ""
    if more.complete:
        what = "the tree" if suite.select == ALL_PATHS else "the selection"
        return f"{what} is complete: nothing to add{again}"
    bound = f"k {more.from_k} -> {more.k}" if more.k > more.from_k else f"k {more.k}, continued"
    new = f"{_count(more.paths, 'new path')}, {_count(more.tests, 'new test')} ({more.in_file} in the file)"
    return f"{bound}: {new}{again}"


def _unreached(suite: Suite) -> list[str]:
    """What no test reaches, and what may be the reason."""
    places = suite.coverage.unreached
    if not places:
        return []
    shown_places = []
    for file, line, to in places[:_MOST_PLACES]:
        where = "" if to is None else f" to {f'line {to}' if to else 'the end'}"
        shown_places.append(f"{os.path.basename(file)}:{line}{where}")
    more = f", and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return [f"  not reached: {', '.join(shown_places)}{more} ({'; '.join(suite.why_unreached())})"]


def _cuts(suite: Suite) -> dict[str, int]:
    """Why paths were cut, and how many."""
    found = {_WHY[kind]: number for kind, number in suite.cut.items()}
    stopped = sum(e.seen.cut[Limit.TIME] for e in suite.explored if e.stopped)
    if stopped:
        found[_WHY[Limit.TIME]] -= stopped
        more = "" if suite.own_tests is not None else "; --more goes on from there"
        found[f"by Ctrl-C{more}"] = stopped
    return found


_WHY = {
    Limit.LOOP: "by the loop bound (-k)",
    Limit.DEPTH: "as too deep",
    Limit.CRITERION: "by the termination criterion (--terminate)",
    Limit.TIME: "by the time limit (--seconds)",
    Limit.PATHS: "by the limit on paths (--paths)",
    Limit.LOST: "because a worker process died",
}


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _places(title: str, places: Sequence[CodePlace]) -> list[str]:
    if not places:
        return []
    more = [f"    ... and {len(places) - _MOST_PLACES} more"] if len(places) > _MOST_PLACES else []
    return [f"  {title}:", *(f"    {place}" for place in places[:_MOST_PLACES]), *more]


def ir_text(suite: Suite) -> str:
    """The IR of every target."""
    return "\n\n".join(ir.show(source.code_of(e.target.function.__code__)) for e in suite.explored)


def table(suite: Suite) -> str:
    """The cases as the paper prints them: symbolic inputs and output, what was chosen, the path condition."""
    blocks = []
    for explored in suite.explored:
        rows = [["#", "input", "output", "path condition"]]
        for n, case in enumerate(explored.cases, 1):
            inputs = _inputs(case.arguments)
            outcome = case.outcome
            if outcome.raises is not None:
                output = f"raises {outcome.raises.__name__}"
            else:
                output = shown(outcome.value)
                symbolic = case.symbolic
                if symbolic is not None and not symbolic.made and symbolic.text not in (output, "None"):
                    output = f"{output}  ({symbolic.text})"
            changed = _changes(case.arguments, case.after)
            rows.append([str(n), inputs, f"{output}{changed}", case.condition])
        blocks.append(f"{explored.target.text}\n{aligned(rows)}")
    return "\n\n".join(blocks)


def _inputs(arguments: dict[str, Any]) -> str:
    """Arguments by name; one that is the same object as an earlier one is shown as that one."""
    seen: dict[int, str] = {}
    parts = []
    for name, value in arguments.items():
        if isinstance(value, CaseObject) and value.number in seen:
            parts.append(f"{name}={seen[value.number]}")
            continue
        if isinstance(value, CaseObject):
            seen[value.number] = name
        parts.append(f"{name}={shown(value)}")
    return ", ".join(parts)


def _changes(arguments: dict[str, Any], after: dict[int, CaseObject]) -> str:
    """The arguments that are objects, as they are afterwards, where that differs."""
    parts = []
    for name, value in arguments.items():
        number = getattr(value, "number", None)
        if number in after and shown(after[number]) != shown(value):
            parts.append(f"{name}={shown(after[number])}")
    return f"; then {', '.join(parts)}" if parts else ""


@dataclass(slots=True)
class PathBranch:
    """What was decided on the way here leads on to `below`; `ends` are the paths that end here."""

    below: dict[str, PathBranch] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)


def tree(suite: Suite) -> str:
    """Every decision of every path, cut and unsupported ones included."""
    blocks = []
    for explored in suite.explored:
        blocks.append("\n".join([explored.target.text, *_tree_lines(grow(explored), "  ")]))
    return "\n\n".join(blocks)


def grow(explored: ExploredTarget) -> PathBranch:
    root = PathBranch()
    finished = iter(explored.finished)
    for story, end in explored.seen.ends:
        here = root
        for part in story:
            here = here.below.setdefault(show(part) if isinstance(part, Expr) else str(part), PathBranch())
        text = str(end)
        if end.how is End.FINISHED:
            choices = next(finished)
            numbers = [str(n) for n, case in enumerate(explored.cases, 1) if case.choices == choices]
            text = f"case{'s' * (len(numbers) > 1)} {', '.join(numbers)}" if numbers else text
        here.ends.append(text)
    return root


def _tree_lines(branch: PathBranch, indent: str) -> list[str]:
    lines = [f"{indent}=> {end}" for end in branch.ends]
    for condition, below in branch.below.items():
        lines.append(f"{indent}{condition}")
        lines += _tree_lines(below, indent + "  ")
    return lines
