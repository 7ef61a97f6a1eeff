"""A result in a notebook: the verdict in two lines, and for a failure its lanes in a frame of their own.

Keeps: nothing of the program becomes markup, and what the frame runs cannot reach the notebook.
"""

from __future__ import annotations

from html import escape

from treadle.core.result import Result
from treadle.report.console import advice, sentence, verdict
from treadle.report.explore_page import result_part
from treadle.report.page import render
from treadle.report.terminal import harmless

# Enough for what clashes and the lanes around it; more scrolls inside.
_HEIGHT = 720


def notebook_html(result: Result) -> str:
    """What a cell shows that ends in `treadle.check(...)`."""
    lines = [f"<b>{escape(verdict(result))}</b> {escape(result.target)}", escape(sentence(result))]
    hint = advice(result)
    lines += [f"next: {escape(hint)}"] if hint else []
    head = f"<div>{'<br>'.join(lines)}</div>"
    if not result.findings:
        return head
    page = escape(render([result_part(result)]))
    # where scripts are not run (a notebook that is not trusted, a preview), the same as text
    texts = "".join(
        f"<pre>{escape(harmless(finding.explanation))}</pre>{escape(f'on: {finding.builds}' if finding.builds else '')}"
        for finding in result.findings
    )
    frame = (
        f'<iframe title="the failing schedule" sandbox="allow-scripts" srcdoc="{page}" '
        f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8888"></iframe>'
    )
    return f"{frame}<details><summary>as text</summary>{head}{texts}</details>"
