"""The part of a page about one class: which methods were run together, what broke it, and how coverage grew."""

from __future__ import annotations

from typing import Any

from treadle.classes.result import ClassResult, Fault, pair_of
from treadle.doors.class_.console import advice, not_called, sentence, verdict
from treadle.report import page
from treadle.report.lanes import files_of, lanes


def class_part(result: ClassResult) -> page.Part:
    """What a page shows of one class."""
    found = page.part("class", result.target, result.verdict, verdict(result), sentence(result), advice(result))
    found |= {
        "methods": result.judged,
        "matrix": [_pair(result, one, other) for one in result.judged for other in result.judged if one <= other],
        "faults": [_fault(fault, result) for fault in result.faults],
        "unconfirmed": [f"{fault.message} ({fault.unwritten})" for fault in result.unconfirmed],
        "warnings": [f"{warning.kind}: {warning.message}" for warning in result.warnings],
        "notes": [*not_called(result), *result.notes],
        "growth": {
            "method traces": [[step.executions, step.traces] for step in result.growth],
            "problematic interleavings run": [[step.executions, step.requirements] for step in result.growth],
        },
        "counts": [
            f"sequences: {result.sequences}",
            f"tests assembled: {result.tests_assembled}",
            f"pairs of calls: {result.pairs}, exhausted: {result.exhausted_pairs}",
            f"tests with several calls in a thread: {result.longer_tests}, exhausted: {result.longer_exhausted}",
            f"executions: {result.interleavings_tried}",
        ],
        "written": result.written,
    }
    page.add_sources(found, files_of(step for fault in result.faults for step in fault.steps))
    return found


def _is_about(fault: Fault, one: str, other: str) -> bool:
    return any({*effect.methods} == {one, other} for effect in fault.all_effects)


def _pair(result: ClassResult, one: str, other: str) -> list[Any]:
    """Two methods: what came of them, and in words."""
    faults = [n for n, fault in enumerate(result.faults, 1) if _is_about(fault, one, other)]
    if faults:
        return [one, other, "found", f"fault {', '.join(map(str, faults))}", faults[0]]
    runs = result.matrix.get(pair_of(one, other))
    if runs is None:
        early = "" if result.verdict.is_pass else ", or the campaign ended before"
        return [one, other, "", f"not run: nothing in common was seen that one of them changes{early}", 0]
    kind = "done" if runs.exhausted == runs.tests else "part"
    tests = f"{runs.tests} test{'s' * (runs.tests != 1)}"
    told = f"{tests}, every schedule of each" if kind == "done" else f"{tests}, {runs.exhausted} with every schedule"
    return [one, other, kind, told, 0]


def _fault(fault: Fault, result: ClassResult) -> dict[str, Any]:
    test = fault.witness.test
    steps = list(fault.steps)
    replay = f"treadle replay '{fault.replay}'" if fault.replay else ""
    return {
        "kind": fault.kind,
        "message": fault.message,
        "builds": fault.on,
        "replay": replay,
        "notes": [
            *([f"no test shows it: {fault.unwritten or 'none was written'}"] if not fault.test else []),
            *([fault.blame] if fault.blame else []),
        ],
        "effects": [f"{effect.kind}: {effect.message}" for effect in fault.effects],
        "text": fault.explanation,
        "before": "sout = " + "; ".join([test.root.source(), *(call.source() for call in test.alpha)]),
        "calls": ["; ".join(call.source() for call in calls) for calls in test.threads],
        "test": fault.test,
        **lanes(steps),
    }
