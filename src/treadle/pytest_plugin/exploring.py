"""Exploring one test of pytest's: what pytest runs instead of it, and how a verdict leaves as an outcome."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from treadle.core.errors import NothingToExplore, TreadleError, Unsupported, UsageError
from treadle.core.result import Finding, Result
from treadle.core.trail import Trail
from treadle.core.verdict import Verdict, exception_for
from treadle.doors.explore.check import check
from treadle.doors.explore.examples import Example
from treadle.doors.explore.project import raised_plainly
from treadle.doors.explore.replay import replay
from treadle.pytest_plugin import CAMPAIGN, FACTS, Campaign, options_of
from treadle.pytest_plugin.body import Body, plain, set_up_wider
from treadle.pytest_plugin.copies import Copies, copies_of, judge_copies, tell_copies
from treadle.report import store
from treadle.report.console import advice, replay_command, sentence
from treadle.report.explore_page import result_part
from treadle.tasks.oracles import usual_name
from treadle.threads.carriers import getcurrent
from treadle.threads.outcome import type_in_thread, usual_in_plain_runs

_TICKS = "the test fails where time stands still while it runs, so each reading of a clock moves it on by a microsecond"


def take_over(item: pytest.Function) -> None:
    """Explore this test where pytest would run it.

    Per item, because pytest has no hook between setting up the fixtures and calling the test. Before an explored test,
    only what all of its executions share is set up.
    """
    _measure_strands()
    for name, action in (("setup", set_up_wider), ("runtest", explore_item)):
        setattr(item, name, partial(action, item))
    item.repr_failure = partial(_repr_failure, item.repr_failure)  # type: ignore[method-assign]


def _measure_strands() -> None:
    """Let coverage keep one stack of calls for each strand: as with its own setting `concurrency = greenlet`."""
    module: Any = sys.modules.get("coverage")
    running = None if module is None else module.Coverage.current()
    for tracer in getattr(getattr(running, "_collector", None), "tracers", ()):
        if getattr(tracer, "concur_id_func", tracer) is None:
            tracer.concur_id_func = getcurrent


def explore_item(item: pytest.Function) -> None:
    """Run one test under every schedule, and tell pytest how it went."""
    __tracebackhide__ = True
    campaign = item.config.stash[CAMPAIGN]
    target = target_of(item)
    try:
        copies = campaign.copies or (Trail.parse(campaign.replay).settings.get("copies", 0) if campaign.replay else 0)
        body = copies_of(item, copies) if copies else Body(item)
        options = options_of(item)
        blameless = False  # does it pass without Treadle, and under no schedule?
        shown = _terminal(item.config) if campaign.debug else body.redirected()
        with campaign.progress(target) as progress, shown:
            explore = partial(check, body.run, source=body.function, target=target, progress=progress)
            if campaign.replay or campaign.search is not None:
                body.example = _example_of(body, campaign, target)
            if campaign.replay:
                result = replay(campaign.replay, body.run, source=body.function, debug=campaign.debug)
            elif campaign.search is not None:
                result = campaign.search(body.run, source=body.function, target=target, progress=progress)
            elif body.given is not None:
                result = body.each_example(explore, options)
            else:
                result = explore(**options)
                usual = _usual_in_plain_runs(item, result)
                if usual:
                    with usual_in_plain_runs(usual):
                        result = explore(**options)
                blameless = result.failed and result.everywhere and _passes_plainly(item)
                if blameless:
                    result = _with_ticking_clock(explore, options, result)
        if isinstance(body, Copies) and not campaign.replay:
            judge_copies(item, body, result, copies)
        if result.failed and not campaign.replay:
            _know_overrides(item.config, result)
            body.confirm(result)
        if blameless and result.failed and result.everywhere:
            _not_the_schedule(result)
        if isinstance(body, Copies) and not campaign.replay:
            tell_copies(item, result)
        if result.cut_by == "interrupted":
            item.session.shouldstop = "interrupted"
        item.stash[FACTS] = {
            "verdict": result.verdict.value,
            "executions": result.executions,
            "bounds": result.bounds,
            "switches": result.switches,
            "sentence": sentence(result),
        }
        if campaign.paged:
            item.stash[FACTS]["page"] = result_part(result)
    except pytest.skip.Exception:
        raise
    except BaseException as error:
        campaign.errors.append((target, error))
        raise
    item.user_properties.append(("treadle_verdict", result.verdict.value))
    _raise_outcome(result, campaign, _save(item, result) if campaign.saves else [])


def _overrides(config: pytest.Config) -> list[str]:
    """The settings of pytest that its command line overrules: `asyncio_mode=auto`."""
    return list(config.getoption("override_ini", None) or ())


def _know_overrides(config: pytest.Config, result: Result) -> None:
    """What this run was told by `-o` holds for the replay, too."""
    told = _overrides(config)
    for finding in result.findings if told else ():
        if finding.trail is not None:
            finding.trail = replace(finding.trail, settings={**finding.trail.settings, "ini": told})
            finding.replay = str(finding.trail)


def _usual_in_plain_runs(item: pytest.Function, result: Result) -> frozenset[str]:
    """If an exception ended a thread, or asyncio would have written to its log, and the test was not written for
    Treadle: does that happen in a plain run, too?"""
    found = result.findings[0] if result.failed and result.findings else None
    raised = "" if found is None else type_in_thread(found) or usual_name(found)
    if not raised or not _from_elsewhere(item):
        return frozenset()
    names = _raised_plainly(item) or frozenset()
    if raised in names:
        names &= _raised_plainly(item) or frozenset()  # twice: once may be the very race that was found
    return names if raised in names else frozenset()


def _from_elsewhere(item: pytest.Function) -> bool:
    """Is it a test that was not written for Treadle?"""
    return plain(item.function) is item.function and not item.get_closest_marker("treadle")


def _raised_plainly(item: pytest.Function) -> frozenset[str] | None:
    target = "::".join([str(item.path), *item.nodeid.split("::")[1:]])
    return raised_plainly(target, _overrides(item.config))


def _passes_plainly(item: pytest.Function) -> bool:
    return _from_elsewhere(item) and _raised_plainly(item) is not None


def _with_ticking_clock(explore: Callable[..., Result], options: dict[str, Any], still: Result) -> Result:
    """Does the test fail because time stands still between two looks at a clock? Then it is explored with one that
    moves."""
    seconds = options.get("seconds")
    left = None if seconds is None else max(seconds - still.seconds, seconds / 4)
    try:
        ticking = explore(**options | {"clock": "ticking", "seconds": left})
    except Unsupported:
        return still
    if ticking.failed and ticking.everywhere:
        return still
    ticking.warnings.append(Finding("ticking clock", _TICKS))
    return ticking


def _not_the_schedule(result: Result) -> None:
    """It fails under every schedule that was tried, and passes without Treadle: no schedule is to blame."""
    found = result.findings[0]
    result.findings, result.verdict, result.cut_by = [], Verdict.CUT, "everywhere"
    result.warnings.append(replace(found, kind="fails under every schedule", message=f"{found.kind}: {found.message}"))
    result.reason = (
        "the test passes without Treadle and fails under every schedule that was tried "
        f"({found.kind}: {found.message.splitlines()[0]}): something else than the schedule decides, such as real time "
        "or what Treadle puts in the place of threads"
    )


def _example_of(body: Body, campaign: Campaign, target: str) -> Example | None:
    """The one example that a trail, or who asks for this search, speaks of."""
    code = Trail.parse(campaign.replay).settings.get("example", "") if campaign.replay else campaign.example
    if body.given is None:
        if code:
            raise UsageError(f"the trail holds an example of Hypothesis's, and {target} has no @given any more")
        return None
    if not code:
        what = "the trail holds no example" if campaign.replay else "this command runs one program"
        raise UsageError(
            f"{target} is a test of Hypothesis's, which has many examples, and {what}; "
            "explore it with treadle explore, or write one example as a test of its own"
        )
    return Example(body.given, code)


@contextmanager
def _terminal(config: pytest.Config) -> Iterator[None]:
    """The person's terminal, whatever pytest captures."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    out, sys.stdout = sys.stdout, sys.__stdout__ or sys.stdout
    try:
        yield
    finally:
        sys.stdout = out
        if capture is not None:
            capture.resume_global_capture()


def target_of(item: pytest.Function) -> str:
    """How a trail names the test: from the root of its project when we are inside that, by its full path otherwise."""
    if Path.cwd().is_relative_to(item.config.rootpath):
        return item.nodeid
    return "::".join([item.path.as_posix(), *item.nodeid.split("::")[1:]])


def _save(item: pytest.Function, result: Result) -> list[str]:
    """Keep failing executions as files; the lines that say where, or why not."""
    said = []
    for finding in result.findings:
        if finding.replay and not isinstance(finding.exception, (pytest.skip.Exception, pytest.xfail.Exception)):
            try:
                said.append(f"saved: {store.save(item.config.rootpath, result.target, finding)}")
            except (OSError, UsageError) as error:
                said.append(f"not saved: {getattr(error, 'strerror', None) or error}")
    return said


def _raise_outcome(result: Result, campaign: Campaign, saved: list[str]) -> None:
    """A failure leaves as an exception; skips and expected failures that the test asked for leave as themselves."""
    __tracebackhide__ = True
    for finding in result.findings:
        if isinstance(finding.exception, (pytest.skip.Exception, pytest.xfail.Exception)):
            raise finding.exception
    campaign.results.append(result)
    campaign.ended(result)
    if result.verdict is Verdict.NOTHING_TO_EXPLORE and not campaign.copies:  # copies that share nothing are in order
        raise NothingToExplore(sentence(result) + "\n" + advice(result))
    if result.failed and result.findings:
        raise failure(result.findings[0], saved)


def failure(finding: Finding, saved: Sequence[str] = ()) -> BaseException:
    """The exception of a finding, carrying its explanation and the command that replays it."""
    error = finding.exception
    if error is None or isinstance(error, KeyboardInterrupt):  # pytest would take that for Ctrl-C
        error = exception_for(finding.kind, finding.message)
    notes = getattr(error, "__notes__", [])
    command = f"replay: {replay_command(finding)}"
    if not any(command in note for note in notes):
        error.add_note(f"\n{finding.explanation}\n" if finding.explanation else "")
        for note in finding.notes:
            error.add_note(f"note: {note}")
        if finding.builds is not None:
            error.add_note(f"on: {finding.builds}")
        if finding.replay:
            error.add_note("\n".join([command, *saved]))
    return error


def _repr_failure(usual: Callable[[Any], Any], excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """Errors of Treadle's own stand for themselves: a traceback through Treadle would only hide the message."""
    if isinstance(excinfo.value, TreadleError):
        return "\n".join([f"{type(excinfo.value).__name__}: {excinfo.value}", *getattr(excinfo.value, "__notes__", [])])
    return usual(excinfo)
