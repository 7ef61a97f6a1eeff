"""Treadle against frontrun and interleave-test: executions to the end of a search, and executions per second.

All tools run the same programs (`subjects/programs.py`) on the same interpreter, one after the other, each in a process
of its own, in one environment that holds the peers and a wheel of this checkout. frontrun is asked for a complete
search (no bound on preemptions, which is 2 by default), interleave-test has none and keeps its bound of 2.

A machine with other work on it disturbs the rate per second; the rate per second of processor time is given beside it.
`ratio` and `cpu_ratio` compare these rates, `time_ratio` the processor time of a whole search, where both complete it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Generator
from typing import Any

from benchmarks.environments import CHECKOUT, NotInstalled, environment, install_checkout, interpreter
from benchmarks.rows import Rows

SUBJECTS = CHECKOUT / "benchmarks" / "subjects"

# frontrun is fastest on 3.11, and interleave-test needs 3.12 or newer
PEERS = {
    "3.11": ["frontrun==0.7.0"],
    "3.13": ["frontrun==0.7.0", "interleave-test==0.1.0"],
}

# What an optimal reduction must produce: one execution per class of equivalent schedules.
OPTIMAL = {
    "2 x 1 increments": 4,
    "2 x 3 increments": 328,
    "3 x 1 increments": 36,
    "opposite-order locks": None,  # stops at the deadlock
    "Queue(1), 2 items": 1,
    "readers(6)": 64,
    "lastzero(5)": 64,
}


def run(tool: str, inner: str, program: str, seconds: float) -> dict[str, Any]:
    """One tool on one program."""
    script = {"treadle": "run_treadle.py", "frontrun": "run_frontrun.py", "interleave-test": "run_interleave.py"}[tool]
    command = [inner, script, program, str(seconds)]
    if tool == "frontrun":  # does not see locks and queues without its own command
        command = [str(inner).replace("bin/python", "bin/frontrun"), *command]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=SUBJECTS, timeout=seconds * 3 + 30, check=False
        )
    except subprocess.TimeoutExpired:
        return {"note": "hangs"}
    if done.returncode:
        return {"note": (done.stderr.strip().splitlines() or ["fails"])[-1][:80]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if not answer["complete"]:
        answer["note"] = "cut"
    elif answer["found"]:
        answer["note"] = "found the deadlock"
    return answer


def against_peers(version: str, quick: bool, rows: Rows) -> None:
    inner = environment(interpreter(version), *PEERS[version])
    install_checkout(inner)
    seconds = 1.0 if quick else 5.0
    tools = ["treadle", *(peer.split("==")[0] for peer in PEERS[version])]
    for program, optimal in OPTIMAL.items():
        rates: dict[str, float] = {}
        for tool in tools:
            answer = run(tool, inner, program, seconds)
            ratio = cpu_ratio = time_ratio = None
            if tool == "treadle":
                rates = answer
            elif "rate" in answer and "rate" in rates:
                ratio, cpu_ratio = rates["rate"] / answer["rate"], rates["cpu_rate"] / answer["cpu_rate"]
                if answer["complete"]:
                    time_ratio = answer["executions"] / answer["cpu_rate"] / (rates["executions"] / rates["cpu_rate"])
            rows.add(
                interpreter=version,
                program=program,
                tool=tool,
                optimal=optimal,
                ratio=ratio,
                cpu_ratio=cpu_ratio,
                time_ratio=time_ratio,
                **answer,
            )


# ---------------------------------------------------------------------- what plain Python could do


def increments(counter: list[int], times: int) -> Generator[None, None, None]:
    """A thread of the increments program, instrumented by hand: it gives up control before each access."""
    for _ in range(times):
        yield
        value = counter[0]
        yield
        counter[0] = value + 1


def ceiling(times: int, seconds: float) -> tuple[int, float]:
    """Schedules of a full search over generators, and schedules per second: no hooks, no threads, no reduction."""
    total, started = 0, time.process_time()
    while True:
        prefix: list[int] = []
        schedules = 0
        while True:
            counter = [0]
            live = [increments(counter, times), increments(counter, times)]
            for strand in live:
                next(strand)
            trace: list[tuple[int, int]] = []
            while live:
                width = len(live)
                chosen = 0
                if width > 1:
                    depth = len(trace)
                    chosen = prefix[depth] if depth < len(prefix) else 0
                    trace.append((width, chosen))
                try:
                    next(live[chosen])
                except StopIteration:
                    del live[chosen]
            schedules += 1
            while trace and trace[-1][1] + 1 >= trace[-1][0]:
                trace.pop()
            if not trace:
                break
            prefix = [choice for _, choice in trace]
            prefix[-1] += 1
        total += schedules
        spent = time.process_time() - started
        if spent > seconds:
            return schedules, total / spent


def against_ceiling(quick: bool, rows: Rows) -> None:
    for times in (1, 3):
        schedules, rate = ceiling(times, 1.0 if quick else 3.0)
        program = f"2 x {times} increments"
        mine = [
            row["cpu_rate"]
            for row in rows.rows
            if row["program"] == program and row["tool"] == "treadle" and "cpu_rate" in row
        ]
        rows.add(
            interpreter="",
            program=program,
            tool="generators by hand",
            executions=schedules,
            cpu_rate=rate,
            cpu_ratio=max(mine) / rate if mine else None,
        )


# ---------------------------------------------------------------------- memory


def memory(rows: Rows) -> None:
    """The memory of a long search, after 10 000, 100 000 and 1 000 000 executions."""
    inner = environment(interpreter("3.11"), *PEERS["3.11"])
    install_checkout(inner)
    done = subprocess.run([inner, "run_memory.py"], stdout=subprocess.PIPE, text=True, cwd=SUBJECTS, check=True)
    for line in done.stdout.splitlines():
        rows.add(**json.loads(line))


def main(quick: bool) -> None:
    columns = [
        "interpreter",
        "program",
        "tool",
        "executions",
        "optimal",
        "rate",
        "cpu_rate",
        "ratio",
        "cpu_ratio",
        "time_ratio",
        "note",
    ]
    rows = Rows("explore", columns)
    for version in PEERS:
        try:
            against_peers(version, quick, rows)
        except NotInstalled as missing:
            print(f"Python {version}: skipped, {missing}", file=sys.stderr)
    against_ceiling(quick, rows)
    rows.table()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", action="store_true", help="also the memory of 1 000 000 executions, some minutes")
    options = parser.parse_args()
    if options.long:
        table = Rows("explore memory", ["executions", "rss_mib", "traced_mib", "seconds"])
        memory(table)
        table.table()
    else:
        main(options.quick)
