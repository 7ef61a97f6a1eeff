"""How coverage grows from execution to execution, or with the time, one curve per criterion or generator, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 90, 30, 40
_COLOURS = ("#1f5fbf", "#c0392b", "#2b7a3d", "#8e44ad")


def _points(curve: Sequence[dict[str, int]], name: str) -> list[tuple[float, float]]:
    most = max((value for row in curve for value in row.values()), default=1) or 1
    steps = max(len(curve) - 1, 1)
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    return [(_LEFT + wide * n / steps, HEIGHT - _BOTTOM - high * row[name] / most) for n, row in enumerate(curve)]


def _names(curve: Sequence[dict[str, int]]) -> list[str]:
    return [name for name in (curve[0] if curve else ()) if curve[-1][name]]


def svg(curve: Sequence[dict[str, int]], title: str, across: str = "", up: str = "ordering goals covered") -> str:
    """The curves as an SVG document: a row for each moment, `across` says what all of them are."""
    most = max((value for row in curve for value in row.values()), default=0)
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<style>text{font:12px sans-serif;fill:#222} polyline{fill:none;stroke-width:2}</style>",
        f'<text x="{_LEFT}" y="18">{escape(title)}</text>',
        f'<path d="M{_LEFT},{_TOP} V{bottom} H{right}" stroke="#666" fill="none"/>',
        f'<text x="{_LEFT - 8}" y="{_TOP + 4}" text-anchor="end">{most}</text>',
        f'<text x="{_LEFT - 8}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{right}" y="{bottom + 18}" text-anchor="end">{across or f"{len(curve)} executions"}</text>',
        f'<text x="{_LEFT}" y="{bottom + 32}">{up}</text>',
    ]
    for name, colour in zip(_names(curve), _COLOURS * len(curve), strict=False):
        points = _points(curve, name)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" stroke="{colour}"/>')
        x, y = points[-1]
        out.append(f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" style="fill:{colour}">{name} {curve[-1][name]}</text>')
    return "\n".join([*out, "</svg>\n"])
