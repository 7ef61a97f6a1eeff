"""Every door that takes --cluster: what comes out is what one process finds, although a worker of the cluster dies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.local_cluster import cluster as cluster

SHOP = """
class Stock:
    def __init__(self) -> None:
        self.items = 3

    def take(self) -> bool:
        if self.items > 0:
            self.items = self.items - 1
            return True
        return False

    def left(self) -> int:
        return self.items


class Till:
    def __init__(self) -> None:
        self.total = 0

    def add(self, amount: int) -> None:
        old = self.total
        self.total = old + amount

    def sum(self) -> int:
        return self.total


def price(count: int, member: bool, code: int) -> int:
    total = 0
    for _ in range(count):
        total += 3 if member else 5
    if code == 7:
        total -= 1
    return max(total, 0)


def change(paid: int, owed: int) -> int:
    if paid < owed:
        raise ValueError("not enough")
    return paid - owed
"""


def run(folder: Path, *words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "treadle", *words, "--json"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def kill_soon(pid: str) -> None:
    subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {pid}"])


@pytest.mark.slow
def test_unit_on_a_cluster(tmp_path: Path, cluster: list[str]) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    words = ("unit", "shop:price", "shop:change", "--no-probe")
    alone = run(tmp_path, *words, "--output", "alone.py")
    kill_soon(cluster[1])
    together = run(tmp_path, *words, "--output", "together.py", "--cluster", cluster[0])
    tests = [(tmp_path / f"{name}.py").read_text() for name in ("alone", "together")]
    assert "def test_" in tests[0]
    assert [line for line in tests[0].splitlines() if "assert" in line] == [
        line for line in tests[1].splitlines() if "assert" in line
    ]
    assert together["tests"] == alone["tests"]


@pytest.mark.slow
def test_classes_of_a_module_on_a_cluster(tmp_path: Path, cluster: list[str]) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    alone = run(tmp_path, "class", "shop", "--output", "alone")
    kill_soon(cluster[1])
    together = run(tmp_path, "class", "shop", "--output", "together", "--cluster", cluster[0])
    assert faults(together) == faults(alone) != []


def faults(told: Any) -> list[tuple[str, str]]:
    classes = told.get("classes", [told])
    return sorted((one["target"], fault["kind"]) for one in classes for fault in one["faults"])
