"""Sequence diagrams as SVG: one column per actor or object, time downwards. The only drawer of them.

A panel is drawn from plain data; several panels stand side by side. A step is an arrow by itself (a message that is
received) or a bar (a task that runs) with the arrows that leave it. Solid arrows are calls and messages, dashed ones
creations; what is marked, and what is stuck in a deadlock, is red.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

_COLUMN, _LEFT, _TOP, _BAR, _ROW, _HEAD = 190, 20, 56, 24, 24, 26
# A longer label would run into the next column.
_LONGEST = 40
_STYLE = """<style>
text{font:12px sans-serif;fill:#222} .title{font-weight:bold;font-size:14px}
.head{fill:#eef2f7;stroke:#5b6b7f} .life{stroke:#9aa7b5;stroke-dasharray:3 3}
.task{fill:#cfe3ff;stroke:#3b6fb5} .call{stroke:#333;fill:none} .new{stroke:#2b7a3d;stroke-dasharray:5 3;fill:none}
.wait{fill:#fff3cd;stroke:#a67c00} .dead{fill:#ffd6d6;stroke:#b00020} .marked{stroke:#b00020;stroke-width:2;fill:none}
.note{font-size:11px} .rednote{font-size:11px;fill:#b00020;font-weight:bold}
</style>
<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">
<path d="M0,0 L7,3 L0,6 z" fill="#333"/></marker></defs>"""


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one column to another, or to itself."""

    source: str
    target: str
    label: str = ""
    creates: bool = False  # the column of its target begins here
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A task that runs in a column, and the arrows that leave it."""

    column: str
    label: str
    arrows: Sequence[Arrow] = ()


@dataclass(slots=True)
class Panel:
    """One execution."""

    note: str  # what came of it
    columns: dict[str, str]  # name -> what stands in its head
    steps: Sequence[Arrow | Bar] = ()
    waiting: dict[str, list[str]] = field(default_factory=dict)  # column -> what it waits for at the end
    deadlock: bool = False


def svg(title: str, *panels: Panel) -> str:
    """The panels as one SVG document."""
    parts: list[str] = []
    width, height = 2 * _LEFT, 0
    for panel in panels:
        drawing = _Drawing(panel, width - 2 * _LEFT)
        parts += drawing.parts
        width += _COLUMN * max(len(panel.columns), 1)
        height = max(height, drawing.bottom)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">',
            _STYLE,
            _text(_LEFT, 20, title, "title", ""),
            *parts,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "middle") -> str:
    kind = f' class="{style}"' if style else ""
    place = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text{kind} x="{x:g}" y="{y:g}"{place}>{escape(text)}</text>'


class _Drawing:
    """The parts of one panel."""

    def __init__(self, panel: Panel, offset: int) -> None:
        first = offset + _LEFT + _COLUMN // 2
        self.x = {name: first + number * _COLUMN for number, name in enumerate(panel.columns)}
        self.parts = [_text(offset + _LEFT, 36, panel.note, "note", "")]
        self.born: dict[str, int] = {}
        over: list[str] = []  # drawn above the lifelines, whose length is not known before
        y = _TOP + _HEAD + 10
        for step in panel.steps:
            if isinstance(step, Bar):
                y = self._bar(over, step, y)
            else:
                y += _ROW
                over += self._arrow(step, y, 0)
                over.append(f'<rect class="task" x="{self.x[step.target] - 3}" y="{y - 3}" width="6" height="8"/>')
        y += 20
        for name, label in panel.columns.items():
            self.parts += self._lifeline(name, label, y)
        self.parts += over
        for name, notes in panel.waiting.items():
            self.parts += _stuck(self.x[name], notes, y, panel.deadlock)
        self.bottom = y + 30 + 18 * max(map(len, panel.waiting.values()), default=0)

    def _bar(self, over: list[str], bar: Bar, y: int) -> int:
        x, height = self.x[bar.column], _BAR + len(bar.arrows) * _ROW
        over.append(f'<rect class="task" x="{x - 50}" y="{y}" width="100" height="{height}" rx="3"/>')
        over.append(_text(x, y + 15, bar.label))
        for number, arrow in enumerate(bar.arrows):
            over += self._arrow(arrow, y + _BAR + number * _ROW + 8, 50)
        return y + height + 10

    def _arrow(self, arrow: Arrow, y: int, out: int) -> Iterable[str]:
        """`out` is how far from the middle of its column it begins."""
        source, target = self.x[arrow.source], self.x[arrow.target]
        right = 1 if target > source else -1
        start, end = source + right * out, target
        if arrow.creates:
            self.born[arrow.target] = y
            end -= right * 60
        style = "marked" if arrow.marked else "new" if arrow.creates else "call"
        label = arrow.label if len(arrow.label) <= _LONGEST else arrow.label[: _LONGEST - 3] + "..."
        if source == target:
            path, at, anchor = f"M{source + out},{y - 4} h18 v10 h-14", source + out + 24, ""
        else:
            path, at, anchor = f"M{start},{y} L{end},{y}", (start + end) // 2, "middle"
        yield f'<path class="{style}" d="{path}" marker-end="url(#tip)"/>'
        if label:
            yield _text(at, y - 3, label, "rednote" if arrow.marked else "note", anchor)

    def _lifeline(self, name: str, label: str, bottom: int) -> list[str]:
        x, born = self.x[name], self.born.get(name)
        top = _TOP if born is None else born - _HEAD // 2
        return [
            f'<line class="life" x1="{x}" y1="{top + _HEAD}" x2="{x}" y2="{bottom}"/>',
            f'<rect class="head" x="{x - 60}" y="{top}" width="120" height="{_HEAD}" rx="4"/>',
            _text(x, top + 17, label),
        ]


def _stuck(x: int, notes: list[str], bottom: int, dead: bool) -> list[str]:
    kind, word = ("dead", "deadlock") if dead else ("wait", "waits")
    out = [f'<rect class="{kind}" x="{x - 60}" y="{bottom}" width="120" height="20" rx="3"/>']
    out.append(_text(x, bottom + 14, word))
    style = "rednote" if dead else "note"
    return out + [_text(x, bottom + 34 + 16 * number, note, style) for number, note in enumerate(notes)]
