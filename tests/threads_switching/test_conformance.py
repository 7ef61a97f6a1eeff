"""The models against plain threads: `gil` finds a failure if and only if threads with a tiny switch interval show it,
and `free` finds all that a build without a GIL shows.

What plain threads show was recorded by `plain_threads.py` on each version; `make conformance-switches` does it again.
Of builds without a GIL what counts are the programs that `free` passes: they lost nothing there in 10 million calls.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import treadle
from tests.threads_switching import plain_threads
from treadle.core.builds import VERSIONS
from treadle.core.result import Result, Verdict

switching: Any = import_module("tests.programs.switching")
NAMES = list(switching.PROGRAMS)
VERSION = plain_threads.version()
WITHOUT_GIL = ("3.13t", "3.14t")
ASKED = 10_000_000  # calls after which a program that lost nothing is said to lose nothing


def facts(version: str) -> dict[str, dict[str, int]]:
    """What plain threads of that version did: see `plain_threads`."""
    found: dict[str, dict[str, int]] = json.loads((plain_threads.HERE / "lost" / f"{version}.json").read_text())
    return found


def table(version: str) -> dict[str, int]:
    """After how many calls each program lost something on plain threads of that version; 0: never."""
    return facts(version)["lost"]


def lost_nothing(version: str, name: str) -> bool:
    """Was it called so often that something would have been lost?"""
    return not table(version)[name] and facts(version)["calls"][name] >= ASKED


def test_of(name: str) -> Callable[[], None]:
    """Two threads that perform the step of a program once each."""
    program = switching.PROGRAMS[name]

    def test() -> None:
        state = program.make()
        treadle.parallel(lambda: program.step(state), lambda: program.step(state))
        assert program.ok(state, 2)

    return test


test_of.__test__ = False  # type: ignore[attr-defined]  # makes tests, and is none


def explored(name: str, switches: str) -> Result:
    return treadle.check(test_of(name), source=switching.PROGRAMS[name].step, switches=switches, strategy="dpor")


@pytest.mark.skipif(VERSION not in VERSIONS, reason="no table was recorded for this version")
@pytest.mark.parametrize("name", NAMES)
def test_gil_finds_what_plain_threads_show_and_nothing_else(name: str) -> None:
    result = explored(name, "gil")
    expected = Verdict.FAILED if table(VERSION)[name] else Verdict.PASSED_EXHAUSTIVE
    assert result.verdict is expected


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_carries_the_builds_that_show_it(name: str) -> None:
    """Every version with a table says yes or no as its plain threads did, whatever version runs us."""
    result = explored(name, "free")
    if not result.findings:
        assert all(lost_nothing(version, name) for version in (*VERSIONS, *WITHOUT_GIL))
        return
    builds = result.findings[0].builds
    assert builds is not None
    assert not builds.unsettled
    for version in VERSIONS:
        assert (version in builds.possible) == bool(table(version)[name])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_program_is_in_every_table(version: str) -> None:
    lost, calls = table(version), facts(version)["calls"]
    assert list(lost) == list(calls) == NAMES
    assert all(lost[name] or lost_nothing(version, name) for name in NAMES)


def test_what_never_switches_keeps_its_promise_here() -> None:
    """A short look at plain threads of the interpreter that runs us: what the model calls safe loses nothing."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        safe = [name for name in NAMES if VERSION in VERSIONS and not table(VERSION)[name]]
        assert not [name for name in safe if plain_threads.lost(switching.PROGRAMS[name], 200, True)]
    finally:
        sys.setswitchinterval(interval)
