"""Every bundled mistake with tasks is found, its corrected twin passes, and what was found replays in a new process."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle.core.result import Result, Verdict

FOLDER = Path(treadle.__file__).parent / "examples" / "tasks"

# example -> what is found, within how many executions, and how many schedules its corrected twin has
KNOWN: dict[str, tuple[str, int, int]] = {
    "check_then_act": ("assertion", 2, 4),
    "lock_over_cancel": ("deadlock", 2, 2),
    "lost_notify": ("deadlock", 2, 2),
    "queue_join": ("assertion", 1, 2),
    "shutdown_race": ("assertion", 1, 14),
    "sibling_failure": ("assertion", 1, 3),
    "to_thread_race": ("assertion", 9, 6),
    "two_loops": ("assertion", 2, 2),
}
if sys.version_info >= (3, 13):  # asyncio has other code: it shuts its pool down under a time limit, for one
    KNOWN |= {
        "shutdown_race": ("assertion", 1, 28),
        "to_thread_race": ("assertion", 21, 12),
    }
# The bound that the test itself names.
BOUNDED = {"lock_over_cancel": {"cancellations": 1}}

REPLAY = """
import importlib, sys, treadle
module = importlib.import_module(f"treadle.examples.tasks.{sys.argv[1]}")
(test,) = [value.__wrapped__ for key, value in vars(module).items() if key.startswith("test_buggy")]
print(treadle.replay(sys.argv[2], test, source=test).verdict.value)
"""


def explored(name: str, start: str) -> Result:
    module = importlib.import_module(f"treadle.examples.tasks.{name}")
    (test,) = [value for key, value in vars(module).items() if key.startswith(start)]
    options: dict[str, Any] = test.treadle_options
    return treadle.check(test.__wrapped__, source=test.__wrapped__, **options)


def test_every_example_is_listed() -> None:
    assert sorted(path.stem for path in FOLDER.glob("[a-z]*.py")) == sorted(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_the_mistake_is_found(name: str) -> None:
    kind, most, _ = KNOWN[name]
    result = explored(name, "test_buggy")
    assert [finding.kind for finding in result.findings] == [kind]
    assert result.executions <= most


@pytest.mark.parametrize("name", KNOWN)
def test_the_corrected_twin_passes(name: str) -> None:
    result = explored(name, "test_fixed")
    expected = Verdict.PASSED_WITHIN_BOUNDS if name in BOUNDED else Verdict.PASSED_EXHAUSTIVE
    assert (result.verdict, result.bounds) == (expected, BOUNDED.get(name, {}))
    assert result.executions == KNOWN[name][2]


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_what_was_found_replays_in_a_new_process(name: str) -> None:
    (finding,) = explored(name, "test_buggy").findings
    command = [sys.executable, "-c", REPLAY, name, finding.replay]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "FAILED", done.stderr
