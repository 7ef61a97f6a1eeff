"""What a machine is told of a class: every fault at the place of its first access, and a search that is no pass."""

from __future__ import annotations

import importlib.util
from typing import Any

from treadle.core.verdict import Verdict
from treadle.report.annotations import Annotation, no_pass


def class_remarks(facts: dict[str, Any]) -> list[Annotation]:
    """Of the JSON document of one class."""
    module = facts["target"].partition(":")[0]
    file = _file_of(module)
    found = []
    for fault in facts["faults"]:
        near, _, line = (fault["locations"] or [""])[0].rpartition(":")
        at = file if not near or file.endswith(near) else near
        title = f"{facts['verdict']}: {facts['target']}"
        lines = [f"{fault['kind']}: {fault['message']}"]
        lines += [f"on: {fault['on']}"] if fault["on"] else []
        lines += [f"treadle replay '{fault['replay']}'"] if fault["replay"] else []
        number = int(line) if line.isdecimal() else 0
        found.append(Annotation("error", fault["kind"], title, "\n".join(lines), at, number))
    if found or facts.get("skipped"):
        return found
    told = no_pass(facts["target"], Verdict(facts["verdict"]), facts["reason"])
    return [Annotation(one.level, one.rule, one.title, one.message, file) for one in told]


def _file_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    return spec.origin if spec is not None and spec.origin is not None else module
