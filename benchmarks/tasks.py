"""Treadle's steps of tasks in any order against simloom, simloop and frontrun: schedules per second.

All run 2 tasks x 3 updates of a shared number across `asyncio.sleep(0)` (`subjects/run_tasks.py`), on one interpreter,
one after the other, each in a process of its own, in one environment that holds the peers and a wheel of this checkout;
with `--pure` the checkout as it is, without its compiled parts, which saves minutes of building.
The peers draw schedules at random; so does `treadle random`. `treadle dpor` runs one execution per class, of which
there are 50, and then is done: what it takes to begin counts most there. `plain asyncio` is `asyncio.run` of the same
program as often, with no tool, in the one order that it has.

A tool alone is called by its function in a process with little else in it. With `pytest` the same is a test with the
tool's decorator (`subjects/tasks_under_pytest.py`), as their documentation has it, and what is measured is that test.
Peers that collect all garbage after every execution are slower there: there is more to look through.

A machine with other work on it disturbs the rate per second; `cpu_rate` is the rate per second of processor time, and
`cpu_ratio` that of `treadle random` by that of the peer, in the same surroundings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks.environments import NotInstalled, environment, install_checkout, interpreter, with_treadle
from benchmarks.explore import SUBJECTS
from benchmarks.rows import Rows

PEERS = ["simloom==0.5.0", "simloop==0.2.2", "frontrun==0.7.0"]
CLASSES = 50


def run(inner: str, tool: str, schedules: int, pure: bool) -> dict[str, Any]:
    done = subprocess.run(
        [inner, "run_tasks.py", tool, str(schedules)],
        capture_output=True,
        text=True,
        cwd=SUBJECTS,
        env=with_treadle() if pure else None,
        check=False,
    )
    if done.returncode:
        return {"note": (done.stderr.strip().splitlines() or ["fails"])[-1][:80]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main(quick: bool, pure: bool = False) -> None:
    rows = Rows("tasks", ["tool", "executions", "classes", "rate", "cpu_rate", "cpu_ratio", "note"])
    try:
        inner = environment(interpreter("3.12"), *PEERS)
        if not pure:
            install_checkout(inner)
    except NotInstalled as missing:
        print(f"skipped, {missing}", file=sys.stderr)
        return
    schedules = 200 if quick else 2000
    peers = [peer.split("==")[0] for peer in PEERS]
    for tools in (
        ["treadle random", "treadle dpor", "plain asyncio", *peers],
        ["treadle random, pytest", "simloom, pytest", "simloop, pytest"],
    ):
        mine: dict[str, Any] = {}
        for tool in tools:
            answer = run(inner, tool, schedules, pure)
            mine = mine or answer
            ratio = mine["cpu_rate"] / answer["cpu_rate"] if "cpu_rate" in answer and "cpu_rate" in mine else None
            rows.add(tool=tool, classes=CLASSES, cpu_ratio=ratio, **answer)
    rows.table()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pure", action="store_true")
    main(**vars(parser.parse_args()))
