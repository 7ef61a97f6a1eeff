"""What running a test again and again finds, beside what exploring it finds: the bundled examples with a known mistake.

Each buggy test runs many times on plain threads, as a stress test does; then it is explored once. Examples that end in
a deadlock are left out: a stress test would never come back from them. So is one that keeps its state in the module.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

import treadle
from benchmarks.rows import Rows

TESTS = {
    "lost_update": "test_buggy_deposits",
    "augmented_assignment": "test_buggy_counter",
    "changed_while_iterated": "test_buggy_report",
    "check_then_act": "test_buggy_last_ticket",
    "torn_read": "test_buggy_size",
    "double_checked_init": "test_buggy_pool",
    "unsafe_publication": "test_buggy_plugin",
    "cache_trimmed_twice": "test_buggy_cache",
}
RUNS = 10_000


def main(quick: bool) -> None:
    rows = Rows("stress", ["program", "plain_runs", "failures", "stress_s", "treadle", "executions", "treadle_s"])
    for name, test in TESTS.items():
        rows.add(program=name, **measured(name, test, RUNS // 10 if quick else RUNS))
    rows.table()


def measured(name: str, test: str, runs: int) -> dict[str, Any]:
    """One test, both ways; seconds are those of the processor."""
    function = getattr(importlib.import_module(f"treadle.examples.threads.{name}"), test)
    started, failures = time.process_time(), 0
    for _ in range(runs):
        try:
            function()
        except Exception:
            failures += 1
    stress = time.process_time() - started
    started = time.process_time()
    result = treadle.check(function)
    return {
        "plain_runs": runs,
        "failures": failures,
        "stress_s": round(stress, 2),
        "treadle": result.verdict.value,
        "executions": result.executions,
        "treadle_s": round(time.process_time() - started, 2),
    }
