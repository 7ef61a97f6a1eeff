"""The receives of an execution, as text and as a diagram, beside those of an execution that passes.

Decides where two executions part: the first receive of an actor that is another one than that actor received at the
same place in the other execution. (That different actors take turns in another order means nothing.)
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.messages.receive import Receive
from treadle.report.sequence_diagram import Arrow, Panel, svg
from treadle.report.terminal import columns

# More rows than this leave out what both executions share.
_MOST_ROWS = 40
_CONTEXT = 4


def divergence(failing: Sequence[Receive], passing: Sequence[Receive]) -> tuple[int | None, int | None]:
    """The rows where the two part, in the one and in the other; None where there is none."""
    places: dict[int, list[int]] = {}
    for row, event in enumerate(passing):
        places.setdefault(event.rec, []).append(row)
    received: dict[int, int] = {}
    for row, event in enumerate(failing):
        count = received.get(event.rec, 0)
        received[event.rec] = count + 1
        rows = places.get(event.rec, [])
        if passing and count >= len(rows):
            return row, None
        if passing and passing[rows[count]] != event:
            return row, rows[count]
    return None, None


def text(failing: Sequence[Receive], passing: Sequence[Receive] = ()) -> str:
    """One line per receive, in two columns or, where the terminal is too narrow, below each other; `>` marks where
    they part."""
    here, there = divergence(failing, passing)
    left = [_line(event, row == here) for row, event in enumerate(failing)]
    right = [_line(event, row == there) for row, event in enumerate(passing)]
    width = max(len(line) for line in (*left, "  this fails"))
    if width + 3 + max(map(len, right), default=0) > columns() - 4:
        halves = [("  this fails", left, here), ("  this passes", right, there)]
        return "\n".join(_column(*half) for half in halves if half[1])
    rows = max(len(left), len(right))
    shown = _shown(rows, here)
    out = [f"{'  this fails':<{width}}   {'  this passes' if passing else ''}".rstrip()]
    for row in range(rows):
        if row in shown:
            one = left[row] if row < len(left) else ""
            other = right[row] if row < len(right) else ""
            out.append(f"{one:<{width}}   {other}".rstrip())
        elif row - 1 in shown:
            out.append("  ...")
    return "\n".join(out)


def _column(title: str, lines: Sequence[str], part: int | None) -> str:
    shown = _shown(len(lines), part)
    return "\n".join([title, *(line for row, line in enumerate(lines) if row in shown)])


def diagram(failing: Sequence[Receive], passing: Sequence[Receive] = (), title: str = "") -> str:
    """The failing execution and, beside it, the passing one as an SVG document; red is where they part."""
    here, there = divergence(failing, passing)
    panels = [_panel("this fails", failing, here)]
    if passing:
        panels.append(_panel("this passes", passing, there))
    return svg(title, *panels)


def _panel(note: str, events: Sequence[Receive], difference: int | None) -> Panel:
    columns = {name: name for event in events for name in (event.origin, event.actor)}
    arrows = [
        Arrow(event.origin, event.actor, event.label, marked=row == difference) for row, event in enumerate(events)
    ]
    return Panel(note, columns, arrows)


def story(failing: Sequence[Receive], passing: Sequence[Receive], order: Sequence[str], note: str = "") -> str:
    """A failing execution, told: the orders that it takes, and its messages beside those of one that passes."""
    parts = [f"all it takes: {', '.join(order)}"] if order else []
    parts.append(text(failing, passing))
    if note:
        parts.append(f"note: {note}")
    return "\n\n".join(parts)


def _line(event: Receive, marked: bool) -> str:
    return f"{'>' if marked else ' '} {event.origin} -> {event.actor}: {event.label}"


def _shown(rows: int, difference: int | None) -> set[int]:
    if rows <= _MOST_ROWS:
        return set(range(rows))
    start = max(0, (difference or 0) - _CONTEXT)
    return set(range(_CONTEXT)) | set(range(start, min(rows, start + _MOST_ROWS - _CONTEXT)))
