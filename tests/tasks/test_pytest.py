"""Coroutine tests in an ordinary pytest run: plain functions and cases of unittest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio
import unittest

import treadle


class Counter:
    def __init__(self):
        self.count = 0

    def add(self):
        value = self.count
        self.count = value + 1


async def add_in_threads(counter):
    await asyncio.gather(asyncio.to_thread(counter.add), asyncio.to_thread(counter.add))
    assert counter.count == 2


@treadle.explore()
async def test_function():
    await add_in_threads(Counter())


class Case(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.counter = Counter()

    async def asyncTearDown(self):
        self.counter = None

    @treadle.explore()
    async def test_method(self):
        await add_in_threads(self.counter)

    @treadle.explore()
    async def test_right_method(self):
        await asyncio.to_thread(self.counter.add)
        assert self.counter.count == 1
"""


@pytest.mark.slow
def test_functions_and_cases_are_explored(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "test_program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    told = [line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED"))]
    assert sorted((line.split()[0], line.partition("::")[2].partition(" - ")[0]) for line in told) == [
        ("FAILED", "Case::test_method"),
        ("FAILED", "test_function"),
        ("PASSED", "Case::test_right_method"),
    ], done.stdout
