"""The benchmark with functions of others: a draw goes on where it was, and its figures land in the page once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import unit_wild, unit_wild_draw
from benchmarks.unit_wild_draw import Drawn


def test_a_draw_that_was_stopped_gives_the_same_functions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[str] = []

    def attempt(package: str, which: float, found: list[Drawn]) -> Drawn | None:
        made.append(package)
        return None if which < 0.3 else Drawn(package, tmp_path, tmp_path / "x.py", f"{package}:{which}", (1, 2))

    monkeypatch.setattr(unit_wild_draw, "_attempt", attempt)
    monkeypatch.setattr(unit_wild_draw, "official_seed", lambda packages: "official")
    monkeypatch.setattr(unit_wild_draw, "PLACE", tmp_path / "whole")
    whole, attempts = unit_wild_draw.draw("", 8), len(made)
    monkeypatch.setattr(unit_wild_draw, "PLACE", tmp_path / "stopped")
    first = unit_wild_draw.draw("", 3)
    made.clear()
    assert unit_wild_draw.draw("", 8) == whole
    assert first == whole[:3]
    assert len(made) < attempts  # what had been drawn was not drawn again


def test_the_figures_replace_their_own_row() -> None:
    rows = [
        {"tests": 3, "failed": 0, "percent": 50.0, "complete": False, "wrong": 0, "seconds": 4.0, "cpu": 2.0},
        {"tests": 0, "failed": 0, "percent": 0.0, "complete": False, "wrong": 0, "seconds": 8.0, "cpu": 3.0},
    ]
    page = "| draw | targets |\n|---|---|\n| official | old |\n| other | kept |\n"
    row = unit_wild.table_row("official", 100, rows)
    assert row == "| official | 2 of 100 | 1 | 25.0 % | 3, 0 | 0, 0 | 6.0 (2.5) |"
    assert unit_wild.write_into(page, row) == page.replace("| official | old |", row)
    new = unit_wild.write_into(page, unit_wild.table_row("`--seed a`", 2, rows))
    assert new.splitlines()[2].startswith("| `--seed a` | 2 of 2 |")
