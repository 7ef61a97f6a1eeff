"""How figures are printed: one JSON line per row on the standard output, one aligned table beside it."""

from __future__ import annotations

import json
import platform
import sys
from typing import Any


class Rows:
    """The rows of one benchmark."""

    def __init__(self, benchmark: str, columns: list[str]) -> None:
        self.benchmark = benchmark
        self.columns = columns
        self.rows: list[dict[str, Any]] = []

    def add(self, **row: Any) -> None:
        """A row is written as soon as it is known, so that an interrupted benchmark keeps what it has."""
        self.rows.append(row)
        record = {"benchmark": self.benchmark, "python": platform.python_version(), **row}
        print(json.dumps(record, default=str), flush=True)

    def table(self) -> None:
        """The columns that were asked for, of all rows, for a person."""
        cells = [self.columns] + [[show(row.get(column, "")) for column in self.columns] for row in self.rows]
        widths = [max(len(line[place]) for line in cells) for place in range(len(self.columns))]
        for line in cells:
            print(
                "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), file=sys.stderr
            )
        sys.stderr.flush()


def show(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
