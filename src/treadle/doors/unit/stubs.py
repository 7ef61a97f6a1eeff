"""What `treadle unit` says about stubs and summaries: which stub files are used, which of their cases are wrong."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treadle.doors.unit.result import Suite
from treadle.doors.unit.shown import aligned, shown
from treadle.symbolic.python.calls.stubs import FILE
from treadle.symbolic.summary.tree import SummaryLeaf
from treadle.units.summary import summary_of


def stub_files(given: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The files of --stubs, and the one beside the project."""
    beside = [FILE] if Path(FILE).is_file() else []
    return tuple(dict.fromkeys(os.path.abspath(file) for file in (*given, *beside)))


def wrong_stubs(suite: Suite) -> list[str]:
    """One sentence per case whose real run contradicts the stub it rests on."""
    lines: list[str] = []
    for case, why in suite.wrong_stubs:
        arguments = ", ".join(f"{name}={shown(value)}" for name, value in case.arguments.items())
        stubs = " or ".join(case.stubs)
        lines.append(f"a stub is wrong: {stubs} says otherwise than the real run of {case.target}({arguments})")
        lines += [f"  {line}" for line in why.strip().splitlines()[:3]]
    return lines


def _not_held(leaf: SummaryLeaf) -> str:
    return "more rounds of a loop than -k" if leaf.kind == "cut" else leaf.why


def table(suite: Suite) -> str:
    """--show summary: the cases of each target in the columns of the paper."""
    blocks: list[str] = []
    for explored in suite.explored:
        summary = summary_of(explored.target, explored.options)
        rows = [["#", "arguments", "result", "heap before", "heap after", "exception", "constraints"]]
        for number, case in enumerate(summary.cases, 1):
            rows.append(
                [
                    str(number),
                    ", ".join(case.arguments),
                    case.result,
                    "; ".join(case.heap_in),
                    "; ".join(case.heap_out),
                    case.exception or "ok",
                    " and ".join(case.constraints),
                ]
            )
        left = dict.fromkeys(_not_held(leaf) for leaf in summary.leaves() if leaf.case is None)
        more = "".join(f"\n  not in the summary: {why}" for why in left)
        blocks.append(f"{explored.target.text}: {len(summary.cases)} cases\n{aligned(rows)}{more}")
    return "\n\n".join(blocks)
