"""A run of concurrent objects as a sequence diagram: one column per object, time downwards, one bar per task that runs.

Solid arrows are calls, dashed arrows creations; an object that waits at the end is marked, in red if it is a deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from treadle.abs.explore.replaying import Event, Replayed

_COLUMN, _LEFT, _TOP, _BAR, _EVENT, _HEAD = 190, 20, 56, 24, 22, 26
_STYLE = """<style>
text{font:12px sans-serif;fill:#222} .title{font-weight:bold;font-size:14px}
.head{fill:#eef2f7;stroke:#5b6b7f} .life{stroke:#9aa7b5;stroke-dasharray:3 3}
.task{fill:#cfe3ff;stroke:#3b6fb5} .call{stroke:#333;fill:none} .new{stroke:#2b7a3d;stroke-dasharray:5 3;fill:none}
.wait{fill:#fff3cd;stroke:#a67c00} .dead{fill:#ffd6d6;stroke:#b00020}
.note{font-size:11px} .deadnote{font-size:11px;fill:#b00020;font-weight:bold}
</style>"""


@dataclass(slots=True)
class _Row:
    y: int
    column: int
    label: str
    height: int
    events: list[Event]


def svg(run: Replayed, title: str = "") -> str:
    """The diagram as an SVG document."""
    columns = {name: index for index, name in enumerate(run.classes)}
    rows, bottom = _rows(run, columns)
    waiting = _waiting(run)
    height = bottom + 30 + 18 * max((len(v) for v in waiting.values()), default=0)
    width = 2 * _LEFT + _COLUMN * max(len(columns), 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        _STYLE,
        '<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z" fill="#333"/></marker></defs>',
        f'<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>',
        f'<text class="note" x="{_LEFT}" y="36">{escape(run.outcome)}</text>',
    ]
    births = {e.target: _y_of(rows, e) for e in run.events if e.kind == "new"}
    for name, column in columns.items():
        out += _lifeline(name, run.classes[name], column, births.get(name), bottom)
    for row in rows:
        x = _x(row.column)
        out.append(f'<rect class="task" x="{x - 50}" y="{row.y}" width="100" height="{row.height}" rx="3"/>')
        out.append(f'<text x="{x}" y="{row.y + 15}" text-anchor="middle">{escape(row.label)}</text>')
        for number, event in enumerate(row.events):
            out += _arrow(event, columns, row.y + _BAR + number * _EVENT + 8)
    for name, notes in waiting.items():
        out += _stuck(columns[name], notes, bottom, run.deadlocked)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _x(column: int) -> int:
    return _LEFT + _COLUMN // 2 + column * _COLUMN


def _rows(run: Replayed, columns: dict[str, int]) -> tuple[list[_Row], int]:
    rows: list[_Row] = []
    y = _TOP + _HEAD + 10
    for step, label in enumerate(run.order):
        name, _, task = label.partition(".")
        events = [e for e in run.events if e.step == step]
        height = _BAR + len(events) * _EVENT
        rows.append(_Row(y, columns[name], task, height, events))
        y += height + 10
    return rows, y + 10


def _y_of(rows: list[_Row], event: Event) -> int:
    row = rows[event.step]
    return row.y + _BAR + row.events.index(event) * _EVENT + 8


def _lifeline(name: str, cls: str, column: int, born: int | None, bottom: int) -> list[str]:
    x = _x(column)
    top = _TOP if born is None else born - _HEAD // 2
    label = name if cls == name else f"{name}: {cls}"
    return [
        f'<line class="life" x1="{x}" y1="{top + _HEAD}" x2="{x}" y2="{bottom}"/>',
        f'<rect class="head" x="{x - 60}" y="{top}" width="120" height="{_HEAD}" rx="4"/>',
        f'<text x="{x}" y="{top + 17}" text-anchor="middle">{escape(label)}</text>',
    ]


def _arrow(event: Event, columns: dict[str, int], y: int) -> list[str]:
    source, target = _x(columns[event.source]), _x(columns[event.target])
    if event.kind == "new":
        end = target - 60 if target > source else target + 60
        start = source + (50 if target > source else -50)
        return [f'<path class="new" d="M{start},{y} L{end},{y}" marker-end="url(#arrow)"/>']
    text = escape(event.text if len(event.text) <= 40 else event.text[:37] + "...")
    if source == target:
        path = f"M{source + 50},{y} h18 v10 h-14"
        return [
            f'<path class="call" d="{path}" marker-end="url(#arrow)"/>',
            f'<text class="note" x="{source + 74}" y="{y + 8}">{text}</text>',
        ]
    start = source + (50 if target > source else -50)
    middle = (start + target) // 2
    return [
        f'<path class="call" d="M{start},{y} L{target},{y}" marker-end="url(#arrow)"/>',
        f'<text class="note" x="{middle}" y="{y - 3}" text-anchor="middle">{text}</text>',
    ]


def _waiting(run: Replayed) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for told in run.waiting:
        name, _, rest = told.partition(".")
        found.setdefault(name, []).append(rest)
    return found


def _stuck(column: int, notes: list[str], bottom: int, dead: bool) -> list[str]:
    x = _x(column)
    kind, word = ("dead", "deadlock") if dead else ("wait", "waits")
    out = [
        f'<rect class="{kind}" x="{x - 60}" y="{bottom}" width="120" height="20" rx="3"/>',
        f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{word}</text>',
    ]
    style = "deadnote" if dead else "note"
    for number, note in enumerate(notes):
        y = bottom + 34 + 16 * number
        out.append(f'<text class="{style}" x="{x}" y="{y}" text-anchor="middle">{escape(note)}</text>')
    return out
