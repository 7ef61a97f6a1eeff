"""Draws growth curves from rows on the standard input: one panel a family, one line a way of doing it."""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

rows = json.load(sys.stdin)
panels = [
    ("aliases", "paths", "references that may be the same object", "paths explored"),
    ("aliases and work", "seconds", "the same, with work between the writes", "processor seconds"),
    ("calls", "seconds", "calls of one function", "processor seconds"),
    ("conditions", "seconds", "conditions before the line", "processor seconds"),
]
figure, axes = plt.subplots(2, 2, figsize=(11, 8))
for axis, (family, measure, below, beside) in zip(axes.flat, panels, strict=True):
    ways = list(dict.fromkeys(row["how"] for row in rows if row["family"] == family))
    for way in ways:
        points = {row["size"]: row[measure] for row in rows if row["family"] == family and row["how"] == way}
        axis.plot(list(points), list(points.values()), marker="o", label=way)
    axis.set_yscale("log")
    axis.set_xlabel(below)
    axis.set_ylabel(beside)
    axis.set_xticks(sorted({row["size"] for row in rows if row["family"] == family}))
    axis.legend()
    axis.grid(alpha=0.3)
figure.tight_layout()
figure.savefig(sys.argv[1], dpi=110)
