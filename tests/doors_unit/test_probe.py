"""What cannot be followed is tried: real calls with picked values, in a process that may not touch the world."""

from __future__ import annotations

import ast
import zlib
from pathlib import Path
from textwrap import dedent

import pytest

import treadle
from tests.doors_unit.suites import suite_of
from treadle.core.errors import UsageError
from treadle.doors.unit.console import summary
from treadle.symbolic.python.values.matching import matching
from treadle.units.probing.examples import example_calls
from treadle.units.target import resolve

pytestmark = pytest.mark.usefixtures("empty_folder")


EXPIRING = """
    import threading
    import time
    from collections import OrderedDict


    class Cache:
        def __init__(self, size: int, ttl: float) -> None:
            self._data: OrderedDict[str, tuple[float, object]] = OrderedDict()
            self._lock = threading.Lock()
            self.size = size
            self.ttl = ttl

        def get(self, key: str, default: object = None) -> object:
            with self._lock:
                if key not in self._data:
                    return default
                when, value = self._data[key]
                if time.monotonic() - when > self.ttl:
                    del self._data[key]
                    return default
                self._data.move_to_end(key)
                return value

        def put(self, key: str, value: object) -> None:
            with self._lock:
                self._data.pop(key, None)
                self._data[key] = (time.monotonic(), value)
                while len(self._data) > self.size:
                    self._data.popitem(last=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "put"])
def test_a_cache_with_a_lock_a_clock_and_expiry_is_covered(method: str) -> None:
    suite = suite_of(f"probe_cache_{method}", EXPIRING, f"Cache.{method}")
    assert suite.coverage.percent("branches") == 100
    assert not suite.complete
    assert "_data = 3" not in suite.source


@pytest.mark.slow
def test_a_parameter_that_nothing_tells_of_is_stood_in_for() -> None:
    program = """
        def describe(shape):
            if shape.kind == "round":
                return "a circle"
            for side in shape.sides:
                if side.length > 3:
                    return "long"
            return "short"
    """
    suite = suite_of("probe_shape", program, "describe")
    assert suite.coverage.percent("branches") == 100
    assert "'shape' of 'describe' is unknown" in suite.unfollowed[0]
    assert "tried, not followed" in summary(suite)
    assert not suite.complete
    assert "every path" not in summary(suite)
    names = [node.name for node in ast.parse(suite.source).body if isinstance(node, ast.FunctionDef)]
    assert names == list(suite.probed)
    assert all(len(name) <= 60 for name in names)


def test_a_hint_is_taken_at_its_word() -> None:
    """Only a value that is no int gets behind the condition."""
    program = "def f(n: int) -> int:\n    if not isinstance(n, int):\n        return 1\n    return 2\n"
    suite = suite_of("probe_hint", program, "f")
    assert not suite.probed
    assert [line for _, line, _ in suite.coverage.unreached] == [3]


@pytest.mark.slow
def test_a_coroutine_is_run() -> None:
    program = """
        import asyncio

        async def wait(n: int) -> str:
            await asyncio.sleep(0)
            if n > 7:
                raise ValueError("too long")
            return "done"
    """
    suite = suite_of("probe_wait", program, "wait")
    assert suite.coverage.percent("branches") == 100
    assert "asyncio.run(wait(" in suite.source


@pytest.mark.slow
def test_the_world_is_left_alone() -> None:
    program = """
        import os

        def clean(folder):
            for name in folder.names:
                os.unlink("precious.txt")
            return 1
    """
    Path("precious.txt").write_text("kept")
    suite = suite_of("probe_clean", program, "clean")
    assert Path("precious.txt").read_text() == "kept"
    assert "monkeypatch.chdir(tmp_path)" in suite.source
    assert 'Path("precious.txt").write_text(' in suite.source
    assert suite.coverage.percent("branches") == 100
    assert sorted(path.name for path in Path().iterdir() if path.suffix == ".txt") == ["precious.txt"]


@pytest.mark.slow
def test_a_call_that_does_not_come_back_is_given_up() -> None:
    program = """
        def spin(thing):
            if thing.ready:
                return 1
            while True:
                pass
    """
    suite = suite_of("probe_spin", program, "spin", seconds=4)
    assert suite.tests == 1
    assert (suite.coverage.lines[0], suite.complete) == (2, False)


@pytest.mark.parametrize("pattern", [r"[A-Z]{2}-\d+", r"(a|bc)\s*=\s*\w+", r"^(?P<x>\d+)\.(?P=x)$", r"[^a]x?"])
def test_strings_for_a_pattern_match_it(pattern: str) -> None:
    import re

    found = matching(pattern)
    assert any(re.match(pattern, text) for text in found), found


def test_a_pattern_that_is_none_gives_no_strings() -> None:
    assert matching("(") == []


def test_calls_in_docstrings_and_in_the_package_are_read() -> None:
    program = """
        import dataclasses

        @dataclasses.dataclass
        class Price:
            cents: int

            def shown(self, mark: str = "", wide: bool = False):
                '''A text.

                >>> Price(7).shown("EUR", wide=True)
                'EUR  7'
                >>> Price(7).shown(unknown)
                '''
                return mark

        def show(price: Price):
            return price.shown(wide=False)
    """
    Path("probe_calls.py").write_text(dedent(program))
    [target] = resolve("probe_calls:Price.shown")
    assert example_calls(target) == [{"mark": '"EUR"', "wide": "True"}, {"wide": "False"}]


@pytest.mark.slow
def test_an_example_leads_where_no_value_does() -> None:
    program = """
        import zlib

        def name_of(colour: str) -> str:
            '''
            >>> name_of("#ffa07a")
            'salmon'
            '''
            if zlib.crc32(colour.encode()) == 2138345205:
                return "salmon"
            return "unknown"
    """
    program = program.replace("2138345205", str(zlib.crc32(b"#ffa07a")))
    suite = suite_of("probe_colour", program, "name_of")
    assert suite.coverage.percent("branches") == 100
    assert "#ffa07a" in suite.source


@pytest.mark.slow
def test_keys_of_named_arguments_are_given() -> None:
    program = """
        def f(n: int, **options: str) -> str:
            if "mode" in options:
                return options["mode"]
            return options.get("name", "none")
    """
    suite = suite_of("probe_keys", program, "f")
    assert suite.coverage.percent("branches") == 100
    assert "mode=" in suite.source


@pytest.mark.slow
def test_defensive_tries_what_hints_exclude() -> None:
    program = "def f(n: int) -> int:\n    if not isinstance(n, int):\n        return 1\n    return 2\n"
    suite = suite_of("probe_defensive", program, "f", defensive=True)
    assert suite.coverage.unreached == []
    assert len(suite.probed) == 1
    with pytest.raises(UsageError, match="--no-probe that none are"):
        treadle.unit("probe_defensive:f", defensive=True, probe=False)
