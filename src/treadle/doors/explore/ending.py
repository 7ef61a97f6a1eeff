"""The end of a search: its verdict, why it ended, and how both are said.

Keeps: a search that a budget, a limit, an interrupt or something unseen cut is never a pass, and a pass names what it
stands for.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, TypeAlias

from treadle.core.operation import location, verb
from treadle.core.result import ONE_STEP, ORDERS, Evidence, Finding, Result, Verdict
from treadle.core.words import listed
from treadle.doors.explore.told import place_told, race_told
from treadle.threads.spin import SAME_READS
from treadle.threads.without_gil import half_seen

if TYPE_CHECKING:
    from treadle.doors.explore.campaign import ScheduleSearch

# Why a search ended that found nothing.
Ended: TypeAlias = Literal["end", "interrupted", "seconds", "executions", "workers"]
RESUMABLE = ("seconds", "executions", "interrupted", "workers")


def verdict_of(campaign: ScheduleSearch, reason: Ended) -> Verdict:
    if getattr(campaign.loom, "threaded", True):
        campaign.loom.assumed |= half_seen(campaign.loom.in_steps, campaign.search.reversed)
    if not campaign.executions:
        campaign.loom.incomplete = campaign.loom.incomplete or "none of the executions that were begun counts"
    whole = campaign.search.exhausted and not campaign.over_limit and not campaign.loom.incomplete
    if reason == "end" and whole and not _surprise(campaign) and not campaign.unseen:
        if campaign.executions == 1 and not campaign.search.conflicts and not campaign.loom.assumed:
            return Verdict.NOTHING_TO_EXPLORE
        bounded = campaign.search.bounded or _bounds(campaign)
        return Verdict.PASSED_WITHIN_BOUNDS if bounded else Verdict.PASSED_EXHAUSTIVE
    return Verdict.CUT


def _surprise(campaign: ScheduleSearch) -> str:
    """What a strand did that no operation before it explains, in words; empty when there was no such thing."""
    if campaign.search.surprise is None:
        return ""
    strand, planned, found = campaign.search.surprise
    expected = f"{verb(planned)} {location(planned)}"
    if found is None:
        return f"{strand} cannot go on where it {expected} in an equivalent schedule"
    if found is planned:
        return f"{strand} {expected} and nobody can do anything else, unlike in an equivalent schedule"
    return f"{strand} {verb(found)} {location(found)} where it {expected} in an equivalent schedule"


def result_of(campaign: ScheduleSearch, verdict: Verdict, findings: list[Finding], reason: Ended) -> Result:
    seconds = time.perf_counter() - campaign.started
    bounds = _bounds(campaign)
    return Result(
        target=campaign.target,
        verdict=verdict,
        executions=campaign.executions,
        exhaustive=verdict is Verdict.PASSED_EXHAUSTIVE,
        strategy=campaign.strategy,
        seconds=seconds,
        findings=findings,
        warnings=list(campaign.warnings.values()),
        atomic_modules=sorted(campaign.loom.atomic),
        bounds=bounds,
        reason=campaign.sentence(verdict, reason),
        cut_by=_cut_by(campaign, reason) if verdict is Verdict.CUT else "",
        evidence=_evidence(campaign),
        statistics={
            "strands": len(campaign.loom.indexes),
            "longest": campaign.longest,
            "blocked": campaign.search.blocked,
            "impossible": campaign.impossible,
            "total_runs": campaign.loom.executions,
            "estimate": campaign.estimate(),
            "checked": campaign.checked,
            "resumed": campaign.fleet.resumed if campaign.fleet is not None else 0,
        },
    )


def _evidence(campaign: ScheduleSearch) -> Evidence:
    shared = sorted(str(name) for name in campaign.loom.shared or ())
    races = sorted({race_told(first, second) for first, second in campaign.search.reversed})
    return Evidence(
        campaign.executions,
        campaign.checked,
        shared,
        races,
        sorted(campaign.loom.assumed | campaign.loom.atomic),
        orders=sorted(place_told(*place) for place in campaign.loom.hash_orders),
    )


def _bounds(campaign: ScheduleSearch) -> dict[str, int]:
    bounds = dict(campaign.search.bounds) if campaign.search.bounded else {}
    bounds |= campaign.loom.bounds
    if campaign.looping:
        bounds["reads of a waiting loop"] = SAME_READS
    if campaign.loom.assumed:
        bounds[ONE_STEP] = len(campaign.loom.assumed)
    if campaign.loom.hash_orders:
        bounds[ORDERS] = 1
    return bounds


def sentence(campaign: ScheduleSearch, verdict: Verdict, reason: Ended) -> str:
    count = f"{campaign.executions} execution{'s' if campaign.executions != 1 else ''}"
    if verdict is Verdict.FAILED:
        return f"failed in execution {campaign.executions}"
    if verdict is Verdict.PASSED_EXHAUSTIVE:
        return f"every schedule was run, up to equivalence: {count}"
    if verdict is Verdict.PASSED_WITHIN_BOUNDS:
        bounds = ", ".join(f"{name} {value}" for name, value in _bounds(campaign).items())
        calls = listed(campaign.loom.assumed)
        assumed = f"; taken as one step on shared objects: {calls}" if calls else ""
        places = listed({place_told(*place) for place in campaign.loom.hash_orders})
        orders = f"; hashes decide an order at {places}, and other orders are not tried" if places else ""
        return f"every schedule within the bounds ({bounds}) was run: {count}{assumed}{orders}"
    if verdict is Verdict.NOTHING_TO_EXPLORE:
        if len(campaign.loom.indexes) == 1 and getattr(campaign.loom, "looped", False):
            return (
                "an event loop promises one order for all that the test does, and no thread, timer or choice "
                "leaves another open: there was one schedule to run"
            )
        if len(campaign.loom.indexes) == 1:
            return "the test starts no thread that Treadle controls: there was one schedule to run"
        if _evidence(campaign).shared:
            return "what the threads share they touch one after the other: there was one schedule to run"
        return "the threads share nothing that Treadle sees: there was one schedule to run"
    if campaign.drawn:
        return f"the test is not deterministic: {campaign.drawn}, {count}: not a pass"
    unseen = f"{campaign.unseen}), {count}" if campaign.unseen else f"{_surprise(campaign)})"
    were = "was" if campaign.over_limit == 1 else "were"
    cut_by = _cut_by(campaign, reason)
    resumable = campaign.fleet is not None and campaign.fleet.used and cut_by in RESUMABLE
    return {
        "incomplete": f"{campaign.loom.incomplete} ({count}): not a pass",
        "workers": f"{campaign.fleet.gone if campaign.fleet is not None else ''}, after {count}: not a pass",
        "interrupted": f"interrupted after {count}: not a pass",
        "unseen": f"the strands share something that Treadle does not see ({unseen}: not a pass",
        "operations": f"{campaign.over_limit} of {count} {were} stopped after {campaign.loom.most_steps} operations: "
        "not a pass",
        "seconds": f"time ran out after {count}: not a pass",
        "executions": f"the budget of {count} is used up: not a pass",
        "space": f"the space is too large to be exhausted: {count} were run, the last ones sampled: not a pass",
    }[cut_by] + ("; --resume goes on from here" if resumable else "")


def _cut_by(campaign: ScheduleSearch, reason: Ended) -> str:
    """What ended a search that is no pass."""
    unseen = campaign.unseen or _surprise(campaign)
    if campaign.loom.incomplete and (reason == "end" or unseen):
        return "incomplete"
    if reason == "interrupted":
        return reason
    if unseen:
        return "unseen"
    if campaign.over_limit:
        return "operations"
    return "space" if reason == "end" else reason
