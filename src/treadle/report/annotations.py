"""Results for the machines that people look at code in: annotations of GitHub, and SARIF 2.1.0.

Decides at which line a finding stands: at the access that clashes last, where a strand waits for ever, or where it was
raised; an order of messages has no accesses that clash, only steps inside of the library that carries them. Keeps: what
is not a pass is never left out, with or without a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from treadle import __version__
from treadle.core.files import from_here
from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.messages.result import OrderFinding
from treadle.report.console import advice, replay_command, sentence
from treadle.report.explanation import Clash, culprit, short_names
from treadle.report.raised import raised_at
from treadle.report.terminal import harmless


@dataclass(frozen=True, slots=True)
class Annotation:
    """One remark at one line; without a line it is about the whole file."""

    level: str  # "error" or "warning"
    rule: str  # the kind of finding: "deadlock", "assertion", "cut"
    title: str
    message: str
    file: str
    line: int = 0


def remarks(results: Sequence[Result]) -> list[Annotation]:
    """What is to be told about some results: every finding, and every search that is no pass."""
    found = []
    for result in results:
        found += [of_finding(result.target, result.verdict, finding) for finding in result.findings]
        if not result.findings:
            found += no_pass(result.target, result.verdict, f"{sentence(result)}; {advice(result)}".rstrip("; "))
    return found


def no_pass(target: str, verdict: Verdict, said: str) -> list[Annotation]:
    """A search without a finding that is no pass, at the file of its target; nothing for one that is."""
    if verdict.is_pass:
        return []
    return [Annotation("warning", verdict.value.lower(), _title(target, verdict), said, target.partition("::")[0])]


def _title(target: str, verdict: Verdict) -> str:
    return f"{verdict.value}: {target.rpartition('::')[2]}"


def of_finding(target: str, verdict: Verdict, finding: Finding) -> Annotation:
    """A finding, at its line."""
    file, line = place_of_finding(finding) or (target.partition("::")[0], 0)
    pair = _pair(finding)
    cause = "" if pair is None else pair.sentence(short_names([step.file for step in finding.steps]))
    if isinstance(finding, OrderFinding) and finding.order:
        cause = f"all it takes: {', '.join(finding.order)}"
    on = "" if finding.builds is None else f"on: {finding.builds}"
    lines = [f"{finding.kind}: {finding.message}", cause, on, replay_command(finding) if finding.replay else ""]
    return Annotation("error", finding.kind, _title(target, verdict), "\n".join(filter(None, lines)), file, line)


def _pair(finding: Finding) -> Clash | None:
    return None if finding.waiting or isinstance(finding, OrderFinding) else culprit(finding.steps)


def place_of_finding(finding: Finding) -> tuple[str, int] | None:
    """File and line of a finding, or None where no line of the program is known."""
    if finding.waiting:
        stacks = [one.stack for one in finding.waiting if one.stack and one.strand != "main"]
        stacks += [one.stack for one in finding.waiting if one.stack]
        return (stacks[0][0][0], stacks[0][0][1]) if stacks else None
    pair, raised = _pair(finding), raised_at(finding)
    clashing: list[Step] = [] if pair is None else [one for one in (pair.last, pair.between, pair.first) if one]
    places = [(step.file, step.line) for step in clashing]
    places += [raised[:2]] if raised is not None else []
    places += [(step.file, step.line) for step in reversed(finding.steps)]
    return next((place for place in places if all(place)), None)


def github(found: Iterable[Annotation]) -> str:
    """Workflow commands that GitHub shows at the lines, one per annotation."""
    rows = []
    for one in found:
        line = f",line={one.line}" if one.line else ""
        where = f"file={_property(from_here(one.file))}{line},title={_property(one.title)}"
        rows.append(f"::{one.level} {where}::{_escaped(one.message)}")
    return "\n".join(rows)


def _escaped(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def sarif(found: Sequence[Annotation]) -> str:
    """The same as a SARIF log, for code scanning."""
    rules = sorted({one.rule for one in found})
    log = {
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Treadle",
                        "version": __version__,
                        "rules": [
                            {"id": _rule(rule), "shortDescription": {"text": f"{rule} in a schedule"}} for rule in rules
                        ],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "results": [_sarif_result(one, rules.index(one.rule)) for one in found],
            }
        ],
    }
    return json.dumps(log, indent=1) + "\n"


def _rule(kind: str) -> str:
    return f"treadle/{kind.replace(' ', '-')}"


def _sarif_result(one: Annotation, rule: int) -> dict[str, Any]:
    uri = quote(Path(from_here(one.file)).as_posix())
    place: dict[str, Any] = {"artifactLocation": {"uri": f"file://{uri}" if uri.startswith("/") else uri}}
    if one.line:
        place["region"] = {"startLine": one.line}
    return {
        "ruleId": _rule(one.rule),
        "ruleIndex": rule,
        "level": one.level,
        "message": {"text": f"{one.title}\n{one.message}"},
        "locations": [{"physicalLocation": place}],
    }
