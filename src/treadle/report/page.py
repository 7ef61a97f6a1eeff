"""A report for the browser: one page that holds everything, steps through a failing schedule and needs no network.

Decides what the page is told; how it looks is in `pages/explore.html`. Keeps: nothing in the page runs anything of the
program, and text of the program never becomes markup.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.files import write_whole
from treadle.core.result import Finding, Result, Step
from treadle.report.console import advice, replay_command, sentence, verdict
from treadle.report.explanation import Clash, culprit, short_names

# Operations that order what comes after them in another strand with what came before, and what each is waited for by.
_PASSES_ON = {
    "releases": ("acquires", "tries"),
    "puts into": ("gets from",),
    "signals": ("waits for", "looks at"),
    "finishes": ("waits for",),
}


def check_writable(path: Path) -> None:
    """A report that could not be written is told before the search, not after it."""
    if path.is_dir():
        raise UsageError(f"--report {path} is a folder; name a file, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise UsageError(f"--report {path}: there is no folder '{path.parent}'; make it first")
    try:
        existed = path.exists()
        with path.open("a"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(f"--report {path} cannot be written: {error.strerror}") from error


def write(path: Path, results: Sequence[Result]) -> None:
    """Write the report of some results."""
    write_whole(path, render(results))


def render(results: Sequence[Result]) -> str:
    """The page as text."""
    template = files("treadle.report").joinpath("pages/explore.html").read_text(encoding="utf-8")
    text = json.dumps(_data(results), ensure_ascii=True, separators=(",", ":"))
    return template.replace("/*DATA*/", text.replace("<", "\\u003c"))


def _data(results: Sequence[Result]) -> dict[str, Any]:
    steps = [step for result in results for finding in result.findings for step in finding.steps]
    sources = {step.file: linecache.getlines(step.file) for step in steps}
    return {
        "results": [_result(result) for result in results],
        "files": {file: [line.rstrip("\n") for line in lines] for file, lines in sources.items() if lines},
        "names": short_names(list(sources)),
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "target": result.target,
        "verdict": verdict(result),
        "sentence": f"{sentence(result)} [{result.strategy}, {result.seconds:.2f} s]",
        "advice": advice(result),
        "findings": [_finding(finding) for finding in result.findings],
        "evidence": _evidence(result),
    }


def _evidence(result: Result) -> dict[str, list[str]]:
    """What the verdict rests on, as lists with a title."""
    counts = [f"{name.replace('_', ' ')}: {value}" for name, value in result.statistics.items() if value is not None]
    evidence = result.evidence
    return {
        "What the search did": counts,
        "Shared by several strands": [] if evidence is None else evidence.shared,
        "Run in both orders": [] if evidence is None else evidence.races,
        "Taken as one step": list(result.atomic_modules) if evidence is None else evidence.one_step,
        "Deadlines that struck only when nothing else could run": [] if evidence is None else evidence.deadlines,
        "Warnings": [f"{warning.kind}: {warning.message}" for warning in result.warnings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    steps = finding.steps
    names = short_names([step.file for step in steps])
    pair = culprit(steps) if not finding.waiting else None
    return {
        "kind": finding.kind,
        "message": finding.message,
        "cause": pair.sentence(names) if pair is not None else "",
        "builds": "" if finding.builds is None else str(finding.builds),
        "replay": replay_command(finding) if finding.replay else "",
        "text": finding.explanation,
        "strands": list(dict.fromkeys(step.strand for step in steps)),
        "steps": [_step(step, names) for step in steps],
        "pair": [] if pair is None else _pair(steps, pair),
        "arrows": list(_arrows(steps)),
        "stuck": [
            {
                "strand": one.strand,
                "operation": one.operation,
                "object": one.object,
                "held_by": one.held_by,
                "holds": one.holds,
                "place": f"{one.stack[0][0]}:{one.stack[0][1]}" if one.stack else "",
            }
            for one in finding.waiting
        ],
    }


def _pair(steps: Sequence[Step], pair: Clash) -> list[int]:
    """The numbers of the steps that clashed."""
    found = [step for step in (pair.first, pair.between, pair.last) if step is not None]
    return [number for number, step in enumerate(steps) if any(step is one for one in found)]


def _step(step: Step, names: dict[str, str]) -> dict[str, Any]:
    value = f" {'=' if step.operation == 'writes' else '→'} {step.value}" if step.value else ""
    return {
        "strand": step.strand,
        "what": f"{step.operation} {step.object}{value}".strip(),
        "object": step.object,
        "value": step.value,
        "file": step.file,
        "line": step.line,
        "place": f"{names.get(step.file, step.file)}:{step.line} {step.function}" if step.line else "",
    }


def _arrows(steps: Sequence[Step]) -> Iterable[tuple[int, int, str]]:
    """Where one strand lets another go on: a lock handed over, a thread that ended, something put into a queue."""
    passed: dict[str, int] = {}  # object -> the last step that lets somebody go on
    for number, step in enumerate(steps):
        giver = passed.get(step.object)
        if giver is not None and steps[giver].strand != step.strand:
            yield from _handed_on(steps, giver, number)
        if step.operation in _PASSES_ON:
            passed[step.object if step.operation != "finishes" else step.strand] = number


def _handed_on(steps: Sequence[Step], giver: int, taker: int) -> Iterable[tuple[int, int, str]]:
    if steps[taker].operation in _PASSES_ON[steps[giver].operation]:
        yield giver, taker, f"{steps[giver].strand} {steps[giver].operation} {steps[taker].object}"
