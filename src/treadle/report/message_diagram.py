"""Sequence diagrams of actor programs as SVG: a failing schedule beside the nearest one that passes.

Decides what is drawn: one row per receive, in the order in which they happened, from sender to receiver; the first
receive in which the two executions differ is marked. The same as text is in treadle.report.message_sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from treadle.messages.receive import Receive
from treadle.report.message_sequence import divergence

_COLUMN, _ROW, _LEFT, _TOP = 120, 26, 70, 78
_STYLE = """<style>
text{font:12px sans-serif;fill:#222} .title{font-weight:bold;font-size:14px} .head{fill:#eef2f7;stroke:#5b6b7f}
.life{stroke:#9aa7b5;stroke-dasharray:3 3} .arrow{stroke:#333;fill:none} .label{text-anchor:middle;font-size:11px}
.other{stroke:#b00020;stroke-width:2;fill:none}
.othertext{text-anchor:middle;font-size:11px;fill:#b00020;font-weight:bold}
.receive{fill:#3b6fb5} .otherreceive{fill:#b00020}
</style>"""


def svg(failing: Sequence[Receive], passing: Sequence[Receive] = (), title: str = "") -> str:
    """The failing execution and, beside it, the passing one."""
    here, there = divergence(failing, passing)
    parts: list[str] = []
    width, height = _diagram(parts, failing, "this fails", here, 0)
    if passing:
        more, other = _diagram(parts, passing, "this passes", there, width)
        width, height = width + more, max(height, other)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
            _STYLE,
            '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
            '<path d="M0,0 L7,3 L0,6 z" fill="#333"/></marker></defs>',
            f'<text class="title" x="10" y="20">{escape(title)}</text>',
            *parts,
            "</svg>\n",
        ]
    )


def _diagram(
    parts: list[str], events: Sequence[Receive], title: str, difference: int | None, offset: int
) -> tuple[int, int]:
    columns: dict[str, int] = {}
    for event in events:
        for name in (event.origin, event.actor):
            columns.setdefault(name, offset + _LEFT + len(columns) * _COLUMN)
    bottom = _TOP + _ROW * (len(events) + 1)
    parts.append(f'<text x="{offset + 10}" y="42">{escape(title)}</text>')
    for name, x in columns.items():
        parts.append(f'<rect class="head" x="{x - 55}" y="50" width="110" height="20" rx="3"/>')
        parts.append(f'<text class="label" x="{x}" y="64">{escape(name)}</text>')
        parts.append(f'<line class="life" x1="{x}" y1="70" x2="{x}" y2="{bottom}"/>')
    for row, event in enumerate(events):
        y = _TOP + _ROW * (row + 1)
        start, end = columns[event.origin], columns[event.actor]
        here = "other" if row == difference else "arrow"
        if start == end:
            path = f"M{start},{y - 12} h40 v12 h-36"
        else:
            path = f"M{start},{y} L{end},{y}"
        parts.append(f'<path class="{here}" d="{path}" marker-end="url(#tip)"/>')
        word = "othertext" if row == difference else "label"
        middle = (start + end) / 2 if start != end else start + 46
        parts.append(f'<text class="{word}" x="{middle:g}" y="{y - 4}">{escape(event.label)}</text>')
        box = "otherreceive" if row == difference else "receive"
        parts.append(f'<rect class="{box}" x="{end - 3}" y="{y - 3}" width="6" height="8"/>')
    return _LEFT + len(columns) * _COLUMN, bottom + 20
