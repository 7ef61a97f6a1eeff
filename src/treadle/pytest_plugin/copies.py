"""Existing tests as concurrent tests: copies of one test, or two tests that share a fixture, run at once.

Fixtures of module and session scope are shared, those of function scope are made for each copy. A failure counts only
if the copies pass one after the other, in every order, before the search and after it: what two runs in a row break as
well is no race. Tests that cannot share because they change the process (monkeypatch, captured output, the current
folder) are told, not run.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from _pytest.tmpdir import tmppath_result_key
from _pytest.unittest import TestCaseFunction

from treadle.core.files import write_whole
from treadle.core.result import Result
from treadle.doors.explore.decorator import parallel
from treadle.pytest_plugin import PARTNER
from treadle.pytest_plugin.body import Body, Marks, bound_to, run_test_case
from treadle.threads.instrument.selection import INSTALLED_FOLDERS

# What a report says of the copies of a test: the name of a property that pytest carries along.
PROPERTY = "treadle_copies"

# Fixtures that change or watch the whole process.
_PROCESS_WIDE = frozenset(
    ("monkeypatch", "capsys", "capsysbinary", "capfd", "capfdbinary", "caplog", "recwarn", "pytester", "testdir")
    + ("mocker", "freezer", "socket_disabled", "benchmark")
)
# The same in the source of a test. To look something up in `sys.modules` changes nothing.
_CHANGES_PROCESS = re.compile(
    r"\b(chdir|os\.environ\[|os\.putenv|catch_warnings|pytest\.warns|deprecated_call|signal\.signal|setlocale"
    r"|sys\.(path|argv|stdin|stdout|stderr)\b|redirect_std(out|err)|mock\.patch|patch\.object|random\.seed"
    r"|(del|\w*\.dict\()\s*sys\.modules|sys\.modules(\.(pop|popitem|update|clear|setdefault)|\[[^]]*\]\s*=(?!=)))"
)


# What runs before and after each test of a class.
_AROUND = ("setUp", "tearDown", "setup_method", "teardown_method")


def cannot_share(item: pytest.Function) -> str:
    """Why copies of a test cannot run at once; empty when they can."""
    used = sorted(_PROCESS_WIDE & set(item.fixturenames))
    if used:
        return f"it uses {', '.join(used)}, which is about the whole process"
    if inspect.iscoroutinefunction(inspect.unwrap(item.function)):
        return "it is a coroutine: tasks are explored as they are"
    if hasattr(item.function, "hypothesis"):
        return "Hypothesis draws its arguments: each example would be a test of its own"
    if hasattr(item.function, "patchings"):
        return "it patches something of the whole process"
    for function in (item.function, *(getattr(item.cls, name, None) for name in _AROUND)):
        with suppress(OSError, TypeError):
            found = _CHANGES_PROCESS.search(inspect.getsource(function))
            if found:
                return f"its source has '{found[0]}', which is about the whole process"
    return ""


class Copies(Body):
    """The executions of several copies of one item, or of one and its partner."""

    def __init__(self, item: pytest.Function, number: int, partner: pytest.Function | None = None) -> None:
        super().__init__(item)
        self.items = [item, partner] if partner is not None else [item] * number
        self.partner = partner
        self.anew = True

    def run(self) -> None:
        """Set up all copies, run them at once, tear everything down."""
        __tracebackhide__ = True
        self._forget_output()
        self._with_copies(lambda calls: parallel(*calls))

    def fails_serially(self) -> str:
        """What goes wrong when the copies run one after the other, in some order; empty when nothing does."""
        orders = permutations(range(2)) if self.partner is not None else [tuple(range(len(self.items)))]
        for order in orders:
            try:
                self._with_copies(partial(_one_after_the_other, order))
            except Exception as error:
                said = str(error).splitlines()
                return f"{type(error).__name__}{': ' + said[0] if said else ''}"
        return ""

    def _with_copies(self, action: Callable[[Sequence[Callable[[], Any]]], Any]) -> None:
        __tracebackhide__ = True
        self.folders.begin_anew()
        marks = Marks(self.item)
        try:
            action([self._copy(one, marks) for one in self.items])
        except BaseException:
            marks.tear_down_quietly()
            raise
        marks.tear_down()

    def _copy(self, item: pytest.Function, marks: Marks) -> Callable[[], Any]:
        """One copy, set up: what is left is to call it."""
        self._set_up()
        call = self._call_of(item)
        # pytest keeps one value and one list of ends for each fixture: this copy's go aside, to come back at its end
        own = [
            (one[-1], list(one[-1]._finalizers), one[-1].cached_result)
            for one in self.item._fixtureinfo.name2fixturedefs.values()
            if one[-1].scope == "function"
        ]
        for definition, _, _ in own:
            definition._finalizers.clear()
            definition.cached_result = None
        marks.own.append(partial(_end, own, self.item))
        return call

    def _call_of(self, item: pytest.Function) -> Callable[[], Any]:
        if isinstance(item, TestCaseFunction):
            return partial(run_test_case, self.item.instance, self.function)
        if item is not self.item:
            values = {name: self.item._request.getfixturevalue(name) for name in item._fixtureinfo.argnames}
            return partial(item.function, **values)
        return partial(self.function, *bound_to(item), **self.arguments())


def _one_after_the_other(order: Sequence[int], calls: Sequence[Callable[[], Any]]) -> None:
    for place in order:
        calls[place]()


def _end(own: list[tuple[Any, list[Any], Any]], item: pytest.Function) -> None:
    """Tear down the fixtures of one copy; each ends those that depend on it first."""
    item.stash.setdefault(tmppath_result_key, {})  # which the end of `tmp_path` takes away
    for definition, finalizers, value in own:
        definition._finalizers[:] = finalizers
        definition.cached_result = value
    for definition, _, _ in own:
        definition.finish(item._request)


def copies_of(item: pytest.Function, number: int) -> Copies:
    """The copies of a test; one that cannot share is skipped, with the reason."""
    partner = item.stash.get(PARTNER, None)
    for one in (item, *([partner] if partner is not None else [])):
        why = cannot_share(one)
        if why:
            told(item, _CANNOT_SHARE, why)
            pytest.skip(f"copies of it cannot share: {why}")
    body = Copies(item, number, partner)
    _check_serially(item, body, "")
    return body


def _check_serially(item: pytest.Function, body: Copies, after: str) -> None:
    """A test that fails without any threads at once shows no race."""
    failed = body.fails_serially()
    if failed:
        what = "it and its partner" if body.partner is not None else "copies of it"
        told(item, _CANNOT_SHARE, f"fails one after the other{after}: {failed}")
        pytest.skip(f"{what} fail one after the other{after}: {failed}")


def judge_copies(item: pytest.Function, body: Copies, result: Result, number: int) -> None:
    """Let a failure count only if the copies still pass one after the other; its replay knows of the copies."""
    if result.failed:
        _check_serially(item, body, f" when {result.executions} executions are done")
        for finding in result.findings:
            if finding.trail is not None:
                settings = {**finding.trail.settings, "copies": number}
                if body.partner is not None:
                    settings["partner"] = body.partner.nodeid
                finding.trail = replace(finding.trail, settings=settings)
                finding.replay = str(finding.trail)


def tell_copies(item: pytest.Function, result: Result) -> None:
    """What counts in the end: a failure that a fresh process does not show was taken back."""
    told(item, _OUTCOMES[result.verdict.value])


def told(item: pytest.Function, outcome: str, why: str = "") -> None:
    item.user_properties.append((PROPERTY, [outcome, why]))


_CANNOT_SHARE = "cannot share"
_OUTCOMES = {
    "FAILED": "races",
    "CUT": "cut",
    "PASSED-EXHAUSTIVE": "passes",
    "PASSED-WITHIN-BOUNDS": "passes",
    "NOTHING-TO-EXPLORE": "shares nothing",
}


def assign_partners(items: list[pytest.Item]) -> None:
    """Give each test the next one below the same node that uses the same fixture of a wider scope."""
    waiting: dict[tuple[Any, str], pytest.Function] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or isinstance(item, TestCaseFunction) or hasattr(item, "callspec"):
            continue
        for name in item.fixturenames:
            definitions = item._fixtureinfo.name2fixturedefs.get(name)
            if not definitions or definitions[-1].scope == "function" or item.cls is not None:
                continue
            if INSTALLED_FOLDERS & set(Path(inspect.getfile(definitions[-1].func)).parts):
                continue  # of a plugin: every test has it
            first = waiting.pop((item.parent, name), None)
            if first is not None:
                first.stash[PARTNER] = item
            waiting[item.parent, name] = item


# ---------------------------------------------------------------------- what is told at the end


def summary(reports: Sequence[Any], number: int) -> list[str]:
    """A table of how the tests ended, and a plain answer."""
    outcomes = outcomes_of(reports)
    counted = Counter(outcome for outcome, _ in outcomes.values())
    width = max((len(name) for name in counted), default=0)
    lines = [f"{name:<{width}}  {counted[name]}" for name in sorted(counted)]
    reasons = Counter(why for _, why in outcomes.values() if why)
    lines += [f"  {count} because {reason}" for reason, count in reasons.most_common(8)]
    return [*lines, answer(counted, number)]


def outcomes_of(reports: Sequence[Any]) -> dict[str, tuple[str, str]]:
    """How each test ended, and why it could not be run."""
    return {
        report.nodeid: tuple(value) for report in reports for name, value in report.user_properties if name == PROPERTY
    }


def answer(counted: Counter[str], number: int) -> str:
    """Is the package ready for free threading, as far as its tests reach?"""
    run = counted["races"] + counted["passes"] + counted["cut"]
    if counted["races"]:
        return f"not ready for free threading: {counted['races']} of {run} tests fail when something runs beside them"
    if not counted["passes"]:
        return "nothing is known about free threading: no test passes under all of its schedules with a copy beside it"
    left = f", {counted['cut']} were cut" if counted["cut"] else ""
    return (
        f"no sign against free threading, as far as the tests reach: {counted['passes']} tests pass with "
        f"{number} copies at once{left}; {counted['shares nothing']} share nothing, "
        f"{counted[_CANNOT_SHARE]} cannot share"
    )


def write_json(path: Path, reports: Sequence[Any], number: int) -> None:
    """The same for machines."""
    outcomes = outcomes_of(reports)
    counted = Counter(outcome for outcome, _ in outcomes.values())
    tests = {name: f"{outcome}: {why}" if why else outcome for name, (outcome, why) in outcomes.items()}
    facts = {"copies": number, "tests": tests, "counts": dict(counted), "answer": answer(counted, number)}
    write_whole(path, json.dumps(facts, indent=1))
