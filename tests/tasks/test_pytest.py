"""Coroutine tests in an ordinary pytest run: plain functions, cases of unittest, and async fixtures of every scope,
alone and beside pytest-asyncio and anyio."""

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


def run_pytest(folder: Path, program: str, *options: str) -> tuple[dict[str, str], str]:
    """The outcome of every test, and what pytest printed."""
    (folder / "test_program.py").write_text(program)
    plugins = [word for name in ("asyncio", "anyio") if name not in options for word in ("-p", f"no:{name}")]
    options = tuple(option for option in options if option not in ("asyncio", "anyio"))
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *plugins, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    told = [line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))]
    outcomes = {line.partition("::")[2].partition(" - ")[0]: line.split()[0] for line in told}
    return outcomes, done.stdout + done.stderr


@pytest.mark.slow
def test_functions_and_cases_are_explored(tmp_path: Path) -> None:
    outcomes, said = run_pytest(tmp_path, PROGRAM)
    assert outcomes == {
        "Case::test_method": "FAILED",
        "test_function": "FAILED",
        "Case::test_right_method": "PASSED",
    }, said


FIXTURES = """
import asyncio
import threading

import pytest
{imports}
import treadle

EVENTS = []


class Counter:
    def __init__(self):
        self.count = 0
        self.loop = asyncio.get_running_loop()

    def add(self):
        value = self.count
        self.count = value + 1


@{fixture}(scope="session")
async def of_session():
    yield "session"


@{fixture}(scope="module")
async def of_module(of_session):
    await asyncio.sleep(0)
    return of_session + " module"


@{fixture}(scope="class")
async def of_class(of_module):
    return of_module + " class"


@{fixture}
async def counter(of_class):
    made = Counter()
    yield made
    assert asyncio.get_running_loop() is made.loop  # it ends on the loop where it began


@{fixture}
async def same_counter(counter):
    return counter


async def add_in_threads(counter):
    assert asyncio.get_running_loop() is counter.loop
    thread = threading.Thread(target=counter.add)
    thread.start()
    counter.add()
    thread.join()


@treadle.explore()
{mark}
async def test_function(counter, same_counter, of_class):
    assert counter is same_counter and of_class == "session module class"
    await add_in_threads(counter)
    assert counter.count == 2


class TestClass:
    @{fixture}
    async def own(self):
        self.seen = getattr(self, "seen", 0) + 1  # a new instance in every execution
        return self

    @treadle.explore()
    {mark}
    async def test_method(self, counter, own):
        assert own is self and self.seen == 1
        await add_in_threads(counter)
        assert counter.count in (1, 2)


@pytest.mark.treadle
{mark}
async def test_marked(counter):
    await add_in_threads(counter)
    assert counter.count in (1, 2)
"""

EXPECTED = {"test_function": "FAILED", "TestClass::test_method": "PASSED", "test_marked": "PASSED"}


@pytest.mark.slow
def test_async_fixtures_without_another_plugin(tmp_path: Path) -> None:
    program = FIXTURES.format(imports="", fixture="pytest.fixture", mark="")
    outcomes, said = run_pytest(tmp_path, program, "--treadle")
    assert outcomes == EXPECTED, said
    assert "assert 1 == 2" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "fixture", "mark"),
    [
        ("auto", "pytest.fixture", ""),
        ("strict", "pytest_asyncio.fixture", "@pytest.mark.asyncio"),
        ("strict", "pytest_asyncio.fixture", '@pytest.mark.asyncio(loop_scope="module")'),
    ],
)
def test_beside_pytest_asyncio(tmp_path: Path, mode: str, fixture: str, mark: str) -> None:
    pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")
    program = FIXTURES.format(imports="import pytest_asyncio", fixture=fixture, mark=mark)
    outcomes, said = run_pytest(tmp_path, program, "asyncio", f"--asyncio-mode={mode}", "--treadle")
    assert outcomes == EXPECTED, said
    assert "assert 1 == 2" in said


WITHOUT_FIXTURES = """
import asyncio
import pytest


@pytest.mark.treadle(any_order=True)
async def test_two_tasks():
    log = []

    async def note(name):
        log.append(name)

    await asyncio.gather(note(1), note(2))
    assert len(log) == 2
"""


@pytest.mark.slow
def test_every_execution_has_its_own_runner_of_pytest_asyncio(tmp_path: Path) -> None:
    """Where there are no fixtures that would be set up anew."""
    pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")
    outcomes, said = run_pytest(tmp_path, WITHOUT_FIXTURES, "asyncio", "--asyncio-mode=auto", "--treadle")
    assert outcomes == {"test_two_tasks": "PASSED"}, said


ANYIO = """

@pytest.fixture(scope="session")
def anyio_backend():
    return {backend!r}
"""


@pytest.mark.slow
def test_beside_anyio(tmp_path: Path) -> None:
    pytest.importorskip("anyio", reason="anyio is not installed")
    program = FIXTURES.format(imports="", fixture="pytest.fixture", mark="@pytest.mark.anyio")
    outcomes, said = run_pytest(tmp_path, program + ANYIO.format(backend="asyncio"), "anyio", "--treadle")
    assert outcomes == EXPECTED, said
    assert "assert 1 == 2" in said


@pytest.mark.slow
def test_trio_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("anyio", reason="anyio is not installed")
    program = """
import anyio
import pytest
import trio

import treadle


@pytest.mark.anyio
@pytest.mark.treadle
async def test_on_trio():
    pass


@treadle.explore()
def test_trio_run():
    trio.run(trio.sleep, 0)


@treadle.explore()
def test_anyio_run():
    anyio.run(anyio.sleep, 0, backend="trio")  # the line that is named
"""
    pytest.importorskip("trio", reason="trio is not installed")
    outcomes, said = run_pytest(tmp_path, program + ANYIO.format(backend="trio"), "anyio", "--treadle")
    assert outcomes == {"test_on_trio": "FAILED", "test_trio_run": "FAILED", "test_anyio_run": "FAILED"}, said
    line = program.splitlines().index('    anyio.run(anyio.sleep, 0, backend="trio")  # the line that is named') + 1
    assert f":{line} uses trio" in said
    assert "runs on trio: Treadle controls asyncio alone" in said
    assert "uses trio, whose event loop no schedule controls" in said
