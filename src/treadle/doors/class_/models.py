"""A campaign over a class under a model of switches: where threads may switch.

`free` is everywhere and `gil` where the running version of CPython can; `auto` is `gil` first, and then `free` with
what is left of the budget. Both verdicts are told, and the worse one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treadle.classes.races import grouped, reason_of
from treadle.classes.result import ClassResult, Options, add_matrix
from treadle.core.result import ModelResult, Verdict
from treadle.core.verdict import worst

_ADDED = ("seconds", "tests_assembled", "pairs", "interleavings_tried", "requirements", "requirements_covered")
_ALSO_ADDED = ("exhausted_pairs", "longer_tests", "longer_exhausted")
_LARGEST = ("methods", "sequences", "traces")


def run_under_model(options: Options, run: Callable[[Options], ClassResult]) -> ClassResult:
    """What `run` finds out under the model that is asked for."""
    if options.switches != "auto":
        return run(options)
    gil = run(replace(options, switches="gil"))
    left = options.budget - gil.seconds
    if left <= 0 or gil.interrupted:
        reason = "nothing was run under free, because gil used up the budget: not a pass"
        free = replace(
            gil, verdict=Verdict.CUT, reason=reason, untried=False, faults=[], switches="free", interleavings_tried=0
        )
        return _both(gil, free, replace(gil))
    known = options.ignored | {frozenset(fault.methods) for fault in gil.faults}
    free = run(replace(options, switches="free", budget=left, ignored=known))
    whole = _sum(gil, free)
    if gil.faults and not free.faults:
        free = replace(free, verdict=Verdict.FAILED, reason="whatever a GIL allows, every build allows; nothing more")
    return _both(gil, free, whole)


def _both(gil: ClassResult, free: ClassResult, whole: ClassResult) -> ClassResult:
    whole.models = [ModelResult(one.switches, one.verdict, one.interleavings_tried, one.reason) for one in (gil, free)]
    whole.switches = f"{gil.switches}, and {free.switches}"
    whole.verdict = worst((gil.verdict, free.verdict))
    decides = gil if gil.verdict is whole.verdict else free
    whole.reason, whole.untried = decides.reason, decides.untried
    if whole.faults:
        whole.reason = reason_of(len(grouped(whole.faults)))
    return whole


def _sum(gil: ClassResult, free: ClassResult) -> ClassResult:
    """All that was found; what is known from `gil` was not looked for again."""
    whole = replace(free)
    for name in (*_ADDED, *_ALSO_ADDED):
        setattr(whole, name, getattr(gil, name) + getattr(free, name))
    for name in _LARGEST:
        setattr(whole, name, max(getattr(gil, name), getattr(free, name)))
    whole.matrix, whole.growth = {}, []
    for one in (gil, free):
        add_matrix(whole, one)
    whole.faults = gil.faults + free.faults
    warned = [warning.message for warning in gil.warnings]
    whole.warnings = gil.warnings + [warning for warning in free.warnings if warning.message not in warned]
    whole.notes = list(dict.fromkeys(gil.notes + free.notes))
    whole.first_fault = gil.first_fault if gil.first_fault is not None else free.first_fault
    return whole
