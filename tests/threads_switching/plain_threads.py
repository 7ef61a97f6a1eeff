"""Runs the programs on plain threads and writes down which of them lose something: the table of one interpreter.

    python tests/threads_switching/plain_threads.py [--tries N] [--seconds S] [--only NAME ...]

Two threads perform the step again and again with the smallest switch interval, once with code that the interpreter
has specialised and once with a fresh copy for every call, until something is lost or so many calls were made. The
table goes to `lost/<version>.json` beside this file: after how many calls each program lost something, 0 for never, and
how many calls were made. What stands there is not done again: a program that lost nothing is called until it has as
many calls as are asked for, and with `--seconds` the rest is left for the next time. `make conformance-switches` does
that for every interpreter at hand.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))

import switching  # type: ignore[import-not-found]  # noqa: E402  # a program under test, without types

# Calls of one thread before the state is looked at.
_FIRST_CALLS = 500
_MOST_CALLS = 100_000
# A fresh copy of a function costs as much as many calls, and only its first call is worth having.
_FRESH_CALLS = 5_000


def shown(program: Any, tries: int) -> tuple[int, int]:
    """After how many calls something was lost, 0 when nothing was; and how many calls were made."""
    calls = 0
    count = _FIRST_CALLS
    while calls < tries:
        for fresh, often in ((True, min(count, _FRESH_CALLS)), (False, count)):
            calls += 2 * often
            if lost(program, often, fresh):
                return calls, calls
        count = min(_MOST_CALLS, count * 2)
    return 0, calls


def lost(program: Any, count: int, fresh: bool) -> bool:
    """Do two threads that perform the step so often lose something?"""
    state = program.make()
    step = program.step
    together = threading.Barrier(2)

    def repeat() -> None:
        together.wait()
        for _ in range(count):
            step(state)

    def repeat_fresh() -> None:
        copies = [
            types.FunctionType(step.__code__.replace(), step.__globals__, step.__name__, None, step.__closure__)
            for _ in range(count)
        ]
        together.wait()
        for copy in copies:
            copy(state)

    threads = [threading.Thread(target=repeat_fresh if fresh else repeat) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return not program.ok(state, 2 * count)


def version() -> str:
    """`3.12`, or `3.13t` for a build without a GIL."""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return f"{sys.version_info[0]}.{sys.version_info[1]}{'' if gil else 't'}"


def read_table() -> dict[str, Any]:
    """What is known of the interpreter that runs this; of another release of it nothing is."""
    path = HERE / "lost" / f"{version()}.json"
    facts: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if facts.get("release") != sys.version.split()[0]:
        facts = {"release": sys.version.split()[0], "lost": {}, "calls": {}}
    return facts


def write_table(facts: dict[str, Any]) -> None:
    for column in ("lost", "calls"):
        facts[column] = {name: facts[column][name] for name in switching.PROGRAMS if name in facts[column]}
    path = HERE / "lost" / f"{version()}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(facts, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    sys.setswitchinterval(1e-6)
    facts = read_table()
    started = time.time()
    for name in options.only or switching.PROGRAMS:
        if facts["lost"].get(name) or facts["calls"].get(name, 0) >= options.tries:
            continue
        if time.time() - started > options.seconds:
            break
        before = time.time()
        lost_after, calls = shown(switching.PROGRAMS[name], options.tries)
        facts["lost"][name], facts["calls"][name] = lost_after, calls
        write_table(facts)
        print(f"{version()} {name:<36} {lost_after or 'never'}  {time.time() - before:.1f} s", flush=True)


if __name__ == "__main__":
    main()
