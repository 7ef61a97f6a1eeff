"""Every bundled mistake with threads is found, its corrected twin passes, and what was found replays elsewhere."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import treadle
from treadle.core.result import Finding, Result, Verdict
from treadle.search import strategies
from treadle.threads.loom import Loom

FOLDER = Path(treadle.__file__).parent / "examples" / "threads"

# example -> what is found, within how many executions, and how many schedules its corrected twin has
KNOWN: dict[str, tuple[str, int, int]] = {
    "abba_deadlock": ("deadlock", 2, 2),
    "augmented_assignment": ("assertion", 2, 2),
    "barrier_misuse": ("deadlock", 1, 24),
    "cache_trimmed_twice": ("exception", 4, 2),
    "changed_while_iterated": ("exception", 2, 2),
    "check_then_act": ("assertion", 2, 2),
    "double_checked_init": ("assertion", 2, 4),
    "event_reused": ("deadlock", 2, 6),
    "global_counter": ("assertion", 2, 2),
    "lost_update": ("assertion", 2, 2),
    "missed_notify": ("deadlock", 2, 2),
    "pool_deadlock": ("deadlock", 1, 200),
    "queue_shutdown": ("assertion", 3, 2),
    "semaphore_leak": ("deadlock", 1, 2),
    "torn_read": ("assertion", 2, 2),
    "unsafe_publication": ("exception", 2, 2),
}

# Fresh processes per trail and interpreter in the suite; `python -m benchmarks.replays` makes a hundred of each.
REPLAYS = 2


def example(name: str) -> ModuleType:
    return importlib.import_module(f"treadle.examples.threads.{name}")


def program(name: str, start: str) -> Callable[[], None]:
    """The one function of an example whose name starts like this."""
    (found,) = [value for key, value in vars(example(name)).items() if key.startswith(start)]
    assert callable(found)
    return found  # type: ignore[no-any-return]


def find(name: str) -> Finding:
    result: Result = treadle.check(program(name, "test_buggy"))
    (finding,) = result.findings
    return finding


def test_every_example_is_listed() -> None:
    assert sorted(path.stem for path in FOLDER.glob("[a-z]*.py")) == sorted(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_the_mistake_is_found(name: str) -> None:
    kind, most, _ = KNOWN[name]
    result = treadle.check(program(name, "test_buggy"))
    assert result.verdict is Verdict.FAILED
    assert [finding.kind for finding in result.findings] == [kind]
    assert result.executions <= most


@pytest.mark.parametrize("name", KNOWN)
def test_the_corrected_twin_passes_exhaustively(name: str) -> None:
    result = treadle.check(program(name, "test_fixed"))
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE, result.reason
    assert result.executions == KNOWN[name][2]
    assert result.statistics["blocked"] == 0
    assert not result.warnings


@pytest.mark.parametrize("name", KNOWN)
def test_the_trail_fails_again_here(name: str) -> None:
    finding = find(name)
    again = treadle.replay(finding.replay, program(name, "test_buggy"))
    assert again.verdict is Verdict.FAILED
    assert [(one.kind, one.message) for one in again.findings] == [(finding.kind, finding.message)]


@pytest.mark.parametrize("name", KNOWN)
def test_the_corrected_twin_never_fails_under_random_schedules(name: str) -> None:
    """Something independent of the reduction: an unseen dependency would let a sampled schedule fail."""
    result = treadle.check(program(name, "test_fixed"), strategy="random", executions=200)
    assert not result.findings, result.findings[0].explanation


def outcomes(test: Callable[[], None], strategy: str, most: int) -> set[object]:
    """What every strand did and which plain values it saw, for each execution of a search."""
    search = strategies.make(strategy, seed=0, preemptions=None, delays=None)
    found: set[object] = set()
    with Loom(test) as loom:
        while most and search.begin():
            run = loom.run(search, detail=True)
            search.end(run)
            most -= 1
            seen: dict[str, list[tuple[str, str, str]]] = {}
            for step in run.detail or []:
                value = step.value if step.value.lstrip("-").isdecimal() or step.value in ("None", "True") else ""
                seen.setdefault(step.strand, []).append((step.operation, step.object, value))
            found.add((run.stop_reason, tuple(sorted((strand, tuple(did)) for strand, did in seen.items()))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("start", ["test_buggy", "test_fixed"])
def test_the_reduction_loses_no_outcome(start: str) -> None:
    """Each outcome of the first schedules in plain order is also one of the reduced search."""
    for name in KNOWN:
        test = program(name, start)
        assert outcomes(test, "dfs", 300) <= outcomes(test, "dpor", 1000), name


# ---------------------------------------------------------------------- in other processes

# The last line of its output is a list: example, kind and message of the failure that the trail shows.
REPLAY = """
import importlib, json, sys
import treadle

shown = []
for name, trail in json.load(sys.stdin):
    module = importlib.import_module(f"treadle.examples.threads.{name}")
    (test,) = [value for key, value in vars(module).items() if key.startswith("test_buggy")]
    result = treadle.replay(trail, test)
    shown.append([name, result.verdict.value, *[text for one in result.findings for text in (one.kind, one.message)]])
print(json.dumps(shown))
"""


def replay_in_new_process(python: str, trails: list[list[str]], seed: int, path: Path | None = None) -> list[list[str]]:
    """What each trail shows in a fresh interpreter with its own hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [python, "-c", REPLAY], input=json.dumps(trails), capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    shown: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return shown


def same(shown: list[list[str]], findings: dict[str, Finding]) -> bool:
    """Was the same shown? Here, pytest may have added the values to the message of a failed assertion."""
    for (name, verdict, kind, message), (expected, finding) in zip(shown, findings.items(), strict=True):
        assert (name, verdict, kind) == (expected, "FAILED", finding.kind)
        assert finding.message.startswith(message)
    return True


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return {name: find(name) for name in KNOWN}


@pytest.mark.slow
def test_every_trail_replays_in_fresh_processes(findings: dict[str, Finding]) -> None:
    jobs = [(name, finding, seed) for name, finding in findings.items() for seed in range(REPLAYS)]

    def run(job: tuple[str, Finding, int]) -> list[list[str]]:
        name, finding, seed = job
        return replay_in_new_process(sys.executable, [[name, finding.replay]], seed)

    with ThreadPoolExecutor(2) as pool:
        for (name, finding, _), shown in zip(jobs, pool.map(run, jobs), strict=True):
            assert same(shown, {name: finding})


def other_interpreters() -> list[str]:
    """The interpreters of 3.11 to 3.13 besides this one that can be found and know greenlet."""
    found = []
    for minor in (11, 12, 13):
        if minor == sys.version_info.minor:
            continue
        here = Path(__file__).parents[2] / f".venv-3.{minor}" / "bin" / "python"  # as `make test-all` makes them
        python = str(here) if here.exists() else shutil.which(f"python3.{minor}")
        if (
            python
            and subprocess.run([python, "-c", "import greenlet"], capture_output=True, check=False).returncode == 0
        ):
            found.append(python)
    return found


@pytest.mark.slow
def test_every_trail_replays_on_the_other_interpreters(findings: dict[str, Finding]) -> None:
    pythons = other_interpreters()
    if not pythons:
        pytest.skip("no other interpreter of 3.11 to 3.13 with greenlet is installed")
    trails = [[name, finding.replay] for name, finding in findings.items()]
    for python in pythons:
        assert same(replay_in_new_process(python, trails, 1, Path(treadle.__file__).parents[1]), findings)
