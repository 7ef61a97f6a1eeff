"""What came of a selection criterion (`--select`): in words, and whether it is satisfied.

A goal that no test reaches is one of three things, and they are never mixed up: none exists within the bound, the line
is dead code, or it is not known because the search did not see everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treadle.doors.unit.result import Suite
from treadle.units.select import ALL_PATHS, Goal, TestSelection, fewest, words

# More goals than this would bury the summary; --json has them all.
_MOST_GOALS = 10


@dataclass(frozen=True, slots=True)
class PointAnswer:
    """One goal, and what is known about it; `tests` are numbers of cases."""

    goal: Goal
    verdict: str  # 'reached', 'none', 'dead', 'unknown'
    tests: tuple[int, ...]
    selection: TestSelection


def answers(suite: Suite) -> list[PointAnswer]:
    """Every goal of every target; a point that several targets were asked for is one goal."""
    found: dict[tuple[Any, ...], PointAnswer] = {}
    for explored in suite.explored:
        selection = explored.selection
        if selection is None:
            continue
        own = {id(case) for case in explored.cases}
        cases = [(n, case) for n, case in enumerate(suite.cases, 1) if id(case) in own]
        met = selection.met(case for _, case in cases)
        for number, goal in enumerate(selection.goals):
            tests = tuple(n for n, case in cases if case.meets >> number & 1)
            verdict = selection.verdict(number, met)
            if verdict == "none" and any(case.meets >> number & 1 for case in explored.cases):
                verdict = "unknown"  # a path leads there, but its test did not survive
            key = (goal.text, goal.edge, "" if selection.select == "points" else explored.target.text)
            before = found.get(key)
            if before is not None and _RANK[before.verdict] >= _RANK[verdict]:
                found[key] = PointAnswer(goal, before.verdict, before.tests + tests, before.selection)
            else:
                found[key] = PointAnswer(goal, verdict, (before.tests if before else ()) + tests, selection)
    return list(found.values())


# of several targets, the one that knows more to hope for
_RANK = {"dead": 0, "none": 1, "unknown": 2, "reached": 3}


def satisfied(suite: Suite) -> bool:
    """Program points: all of them are reached. The other criteria ask for what there is."""
    return suite.select != "points" or all(a.verdict == "reached" for a in answers(suite))


def drop_superfluous(suite: Suite) -> None:
    """Several targets were asked for the same points: one test each is enough."""
    if suite.select != "points" or len(suite.explored) < 2:
        return
    kept = {id(case) for case in fewest([case for e in suite.explored for case in e.cases])}
    for explored in suite.explored:
        explored.cases = [case for case in explored.cases if id(case) in kept]


def default_file(path: Path, select: str, points: tuple[str, ...]) -> Path:
    """A selection has a file of its own, beside the tests of all paths."""
    return path.with_name(f"{path.stem.removesuffix('_unit')}_{words(select, points)}_unit.py")


# --- words -------------------------------------------------------------------------------------------------


def lines(suite: Suite) -> list[str]:
    """The part of the summary that tells what was selected."""
    select = suite.select
    if select == ALL_PATHS:
        return []
    if select == "local-paths":
        return _local_paths(suite)
    found = answers(suite)
    tests = _by(suite)
    reached = [a for a in found if a.verdict == "reached"]
    if select == "points":
        if found and len(reached) == len(found):
            return [f"{_all_points(found)} reached by {tests}"]
        before = "by your tests" if suite.own_tests is not None else "already"
        return [_point(a, before) for a in found]
    where = "of the function's own body" if len(suite.explored) == 1 else "of the functions' own bodies"
    if len(reached) == len(found):
        return [f"all {len(found)} {select} {where} are covered by {tests}"]
    said = [f"{len(reached)} of {len(found)} {select} {where} are covered by {tests}"]
    for verdict, title in _TITLES.items():
        missing = [a for a in found if a.verdict == verdict]
        if missing:
            more = f", and {len(missing) - _MOST_GOALS} more" if len(missing) > _MOST_GOALS else ""
            why = f", but the search was cut by {missing[0].selection.doubts[0]}" if verdict == "unknown" else ""
            said.append(f"{title}{why}: {', '.join(a.goal.text for a in missing[:_MOST_GOALS])}{more}")
    return said


_TITLES = {
    "none": "not reached within the bound",
    "dead": "dead code, which no path comes to",
    "unknown": "not reached",
}


def _local_paths(suite: Suite) -> list[str]:
    said = []
    for explored in suite.explored:
        selection = explored.selection
        if selection is None:
            continue
        name = f"{explored.target.name}: " if len(suite.explored) > 1 else ""
        lost = sum(not any(case is kept for kept in suite.cases) for case in explored.cases)
        if selection.doubts or lost:
            why = selection.doubts[0] if selection.doubts else "tests that did not hold in the real run"
            said.append(f"{name}not every local path may have its test: the search was cut by {why}")
        elif explored.cases:
            bound = f" within the loop bound (k={selection.k})" if selection.loops else ""
            yours = ", yours or a new one" if suite.own_tests is not None else ""
            said.append(f"{name}every local path{bound} has its test{yours}")
    return said


def _by(suite: Suite) -> str:
    """Who covers what is covered."""
    new = f"{suite.tests} test{'s' * (suite.tests != 1)}"
    if suite.more is not None:
        return f"{suite.more.in_file} test{'s' * (suite.more.in_file != 1)}"
    if suite.own_tests is not None and suite.own_tests.taken:
        return f"your tests and {new}" if suite.tests else "your tests"
    return new


def _all_points(found: list[PointAnswer]) -> str:
    if len(found) == 1:
        return f"{found[0].goal.text} is"
    return "both points are" if len(found) == 2 else f"all {len(found)} points are"


def _point(answer: PointAnswer, before: str) -> str:
    where, selection = answer.goal.text, answer.selection
    if answer.verdict == "reached" and not answer.tests:
        return f"{where} is reached {before}"
    if answer.verdict == "reached":
        return f"{where} is reached by test {', '.join(map(str, answer.tests))}"
    if answer.verdict == "dead":
        return f"no test reaches {where}: it is dead code, no path of its function comes to it"
    if answer.verdict == "none":
        more = "" if selection.loops else "; no loop was cut, so no greater bound will either"
        return f"no test reaches {where} within the loop bound (k={selection.k}){more}"
    why = " and ".join(selection.doubts) or "a test that did not hold in the real run"
    return f"{where}: not found, but the search was cut by {why}; it is not known whether a test reaches it"
