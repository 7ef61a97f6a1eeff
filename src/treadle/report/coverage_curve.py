"""How ordering coverage grows from execution to execution, one curve per criterion, as SVG or PNG.

The PNG is drawn here, dot by dot, so that the picture needs no library: lines, axes, and the few words there are.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from treadle.core.errors import UsageError

WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 90, 30, 40
_COLOURS = {"PR": (0x1F, 0x5F, 0xBF), "PCR": (0xC0, 0x39, 0x2B), "PMR": (0x2B, 0x7A, 0x3D), "PETR": (0x8E, 0x44, 0xAD)}
_GREY = (0x66, 0x66, 0x66)


def write(path: Path, curve: Sequence[dict[str, int]], title: str) -> None:
    """Draw the curve into a file; its ending says as what."""
    if path.suffix == ".svg":
        path.write_text(svg(curve, title), encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(png(curve))
    else:
        raise UsageError(f"'{path}' must end in .svg or .png")


def _points(curve: Sequence[dict[str, int]], name: str) -> list[tuple[float, float]]:
    most = max((value for row in curve for value in row.values()), default=1) or 1
    steps = max(len(curve) - 1, 1)
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    return [(_LEFT + wide * n / steps, HEIGHT - _BOTTOM - high * row[name] / most) for n, row in enumerate(curve)]


def _names(curve: Sequence[dict[str, int]]) -> list[str]:
    return [name for name in _COLOURS if curve and name in curve[0] and curve[-1][name]]


def svg(curve: Sequence[dict[str, int]], title: str) -> str:
    """The curves as an SVG document."""
    most = max((value for row in curve for value in row.values()), default=0)
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<style>text{font:12px sans-serif;fill:#222} polyline{fill:none;stroke-width:2}</style>",
        f'<text x="{_LEFT}" y="18">{escape(title)}</text>',
        f'<path d="M{_LEFT},{_TOP} V{bottom} H{right}" stroke="#666" fill="none"/>',
        f'<text x="{_LEFT - 8}" y="{_TOP + 4}" text-anchor="end">{most}</text>',
        f'<text x="{_LEFT - 8}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{right}" y="{bottom + 18}" text-anchor="end">{len(curve)} executions</text>',
        f'<text x="{_LEFT}" y="{bottom + 32}">ordering goals covered</text>',
    ]
    for name in _names(curve):
        colour = "#" + bytes(_COLOURS[name]).hex()
        points = _points(curve, name)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" stroke="{colour}"/>')
        x, y = points[-1]
        out.append(f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" style="fill:{colour}">{name} {curve[-1][name]}</text>')
    return "\n".join([*out, "</svg>\n"])


# ---------------------------------------------------------------------- PNG

# Letters of 3 by 5 dots, a row per digit of base 8.
_FONT = {
    "0": 0o75557,
    "1": 0o26227,
    "2": 0o71747,
    "3": 0o71717,
    "4": 0o55711,
    "5": 0o74717,
    "6": 0o74757,
    "7": 0o71111,
    "8": 0o75757,
    "9": 0o75717,
    "P": 0o65644,
    "R": 0o65655,
    "C": 0o34443,
    "M": 0o57755,
    "E": 0o74647,
    "T": 0o72222,
}
_SCALE = 2


class _Canvas:
    def __init__(self) -> None:
        self.rows = [bytearray(b"\xff" * (WIDTH * 3)) for _ in range(HEIGHT)]

    def dot(self, x: float, y: float, colour: tuple[int, int, int]) -> None:
        column, row = round(x), round(y)
        if 0 <= column < WIDTH and 0 <= row < HEIGHT:
            self.rows[row][column * 3 : column * 3 + 3] = bytes(colour)

    def line(self, start: tuple[float, float], end: tuple[float, float], colour: tuple[int, int, int]) -> None:
        (x, y), (right, down) = start, end
        steps = max(abs(round(right - x)), abs(round(down - y)), 1)
        for n in range(steps + 1):
            self.dot(x + (right - x) * n / steps, y + (down - y) * n / steps, colour)
            self.dot(x + (right - x) * n / steps, y + 1 + (down - y) * n / steps, colour)

    def word(self, x: float, y: float, word: str, colour: tuple[int, int, int]) -> None:
        for letter in word:
            shape = _FONT.get(letter, 0)
            for place in range(15):
                if shape >> (14 - place) & 1:
                    for n in range(_SCALE * _SCALE):
                        self.dot(x + place % 3 * _SCALE + n % _SCALE, y + place // 3 * _SCALE + n // _SCALE, colour)
            x += 4 * _SCALE

    def encode(self) -> bytes:
        pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in self.rows), 9)
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )


def png(curve: Sequence[dict[str, int]]) -> bytes:
    """The curves as a PNG picture."""
    canvas = _Canvas()
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    canvas.line((_LEFT, _TOP), (_LEFT, bottom), _GREY)
    canvas.line((_LEFT, bottom), (right, bottom), _GREY)
    most = max((value for row in curve for value in row.values()), default=0)
    canvas.word(8, _TOP, str(most), _GREY)
    canvas.word(_LEFT - 14, bottom - 6, "0", _GREY)
    canvas.word(right - 24, bottom + 10, str(len(curve)), _GREY)
    for name in _names(curve):
        points = _points(curve, name)
        for start, end in pairwise(points):
            canvas.line(start, end, _COLOURS[name])
        x, y = points[-1]
        canvas.word(x + 6, y - 4, name, _COLOURS[name])
    return canvas.encode()
