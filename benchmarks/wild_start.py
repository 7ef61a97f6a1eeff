"""What `treadle explore` takes beside its search, in seconds of processor time more than a plain pytest takes.

For `benchmarks.wild`, once for each package: pytest runs one of its tests, and Treadle runs one execution of it. What
is left of Treadle's time without that of the search, less pytest's, is importing, rewriting, and telling. Each
command ran before, as it did on the machine of whoever asks a second time: what is kept of compiled and rewritten
code is there.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_TIMES = 3
_MOST_SECONDS = 60.0
# A test that waits so many seconds for something real takes no processor time while it is searched.
_WAITS = 0.1


class _Ran(NamedTuple):
    processor: float  # seconds
    clock: float
    said: str


def more_than_pytest(inner: str, source: Path, target: str) -> float | None:
    """Seconds; None where the test waits, or one of the commands does not tell."""
    plain = [_run([inner, "-m", "pytest", "-q", target], source) for _ in range(_TIMES)]
    words = [inner, "-m", "treadle", "explore", target, "--executions", "1", "--json"]
    explored = [_run(words, source) for _ in range(_TIMES)]
    outside = [one.processor - seconds for one in explored if (seconds := _searched(one.said)) is not None]
    if not outside or min(one.clock - one.processor for one in plain) > _WAITS:
        return None
    return min(outside) - min(one.processor for one in plain)


def told(more: Sequence[float]) -> str:
    """One sentence about a whole draw."""
    if not more:
        return ""
    median, most = statistics.median(more), max(more)
    return (
        f"Outside of its search, `explore` takes {median:.2f} s of processor time more than pytest in the median and "
        f"{most:.2f} s at most (one test of each of {len(more)} packages)."
    )


def _run(words: list[str], where: Path) -> _Ran:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began, before = time.perf_counter(), os.times()
    try:
        done = subprocess.run(
            words, cwd=where, env=environment, capture_output=True, text=True, errors="replace", timeout=_MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return _Ran(_MOST_SECONDS, _MOST_SECONDS, "")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return _Ran(used, time.perf_counter() - began, done.stdout)


def _searched(said: str) -> float | None:
    for line in said.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            return float(found["seconds"]) if "seconds" in found else None
    return None
