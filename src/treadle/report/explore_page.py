"""The part of a page about one explored test: its findings as lanes, or what its pass rests on."""

from __future__ import annotations

from typing import Any

from treadle.core.result import Finding, Result
from treadle.report import page
from treadle.report.console import advice, replay_command, sentence, verdict
from treadle.report.lanes import files_of, lanes


def result_part(result: Result) -> page.Part:
    """What a page shows of one result."""
    said = f"{sentence(result)} [{result.strategy}, {result.seconds:.2f} s]"
    found = page.part("explore", result.target, result.verdict, verdict(result), said, advice(result))
    found["findings"] = [finding_part(finding) for finding in result.findings]
    found["evidence"] = _evidence(result)
    for finding in result.findings:
        page.add_sources(found, files_of((*finding.steps, *finding.nearest_pass)))
    return found


def finding_part(finding: Finding) -> dict[str, Any]:
    """What a page shows of one failure."""
    return {
        "kind": finding.kind,
        "message": finding.message,
        "builds": "" if finding.builds is None else str(finding.builds),
        "replay": replay_command(finding) if finding.replay else "",
        "notes": finding.notes,
        "text": finding.explanation,
        **lanes(finding.steps, finding.waiting, finding.nearest_pass, finding.started),
    }


def _evidence(result: Result) -> dict[str, list[str]]:
    """What the verdict rests on, as lists with a title."""
    figures = {} if result.failed else result.statistics  # of a search that ended at a failure they tell little
    counts = [f"{name.replace('_', ' ')}: {value}" for name, value in figures.items() if value is not None]
    evidence = result.evidence
    classes = (
        [] if evidence is None else [f"classes of schedules run: {evidence.classes}, to check them: {evidence.checked}"]
    )
    return {
        "What the search did": classes + counts,
        "Shared by several strands": [] if evidence is None else evidence.shared,
        "Run in both orders": [] if evidence is None else evidence.races,
        "Taken as one step": list(result.atomic_modules) if evidence is None else evidence.one_step,
        "Deadlines that struck only when nothing else could run": [] if evidence is None else evidence.deadlines,
        "Warnings": [f"{warning.kind}: {warning.message}" for warning in result.warnings],
    }
