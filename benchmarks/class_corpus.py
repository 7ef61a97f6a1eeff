"""`treadle class` on released packages, given ONLY package, release and class: is the known bug's release broken, and
does the release that fixed it raise an alarm?

The programs of `corpus.json` are not used. An alarm on a fixed release is listed with its message: it is a false one,
or a fault that the fix left.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.environments import NotInstalled, environment, interpreter, with_treadle
from benchmarks.rows import Rows

CORPUS = Path(__file__).with_name("corpus.json")
BUDGET = 60
PATIENCE = 300

# Entries whose target names more than one thing, or a module that keeps its state in globals.
TARGETS = {
    "T14-openfeature-events": "openfeature._event_support",
    "T23-pyee-once": "pyee:BaseEventEmitter",
}


def main(quick: bool = False) -> None:
    rows = Rows("class_corpus", ["id", "release", "version", "verdict", "seconds", "first_fault", "message"])
    found = entries = alarms = fixed = 0
    for entry in json.loads(CORPUS.read_text()):
        if entry["kind"] != "thread":
            continue
        for release in ("buggy", "fixed"):
            version = entry[f"{release}_version"]
            if version.startswith("("):
                continue
            try:
                facts = run(entry, release)
            except NotInstalled as reason:
                rows.add(id=entry["id"], release=release, version=version, verdict=f"not run: {reason}")
                continue
            failed = facts.get("verdict") == "FAILED"
            if release == "buggy":
                entries, found = entries + 1, found + failed
            else:
                fixed, alarms = fixed + 1, alarms + failed
            faults = facts.get("faults", [])
            rows.add(
                id=entry["id"],
                release=release,
                version=version,
                verdict=facts.get("verdict", facts.get("problem", "?")),
                seconds=facts.get("wall"),
                first_fault=facts.get("first_fault_seconds"),
                message=faults[0]["message"][:100] if faults else "",
            )
    rows.table()
    rows.add(id="all", release="buggy", verdict=f"{found} of {entries} exposed within {BUDGET} s each")
    rows.add(id="all", release="fixed", verdict=f"{alarms} of {fixed} raise an alarm")


def run(entry: dict[str, Any], release: str) -> dict[str, Any]:
    """One class of one release, in an environment and a folder of its own."""
    version, python = entry[f"{release}_version"], entry["python" if release == "buggy" else "fixed_python"]
    if entry["package"] == "stdlib":
        inner = environment(interpreter(version))
    else:
        inner = environment(interpreter(python), f"{entry['package']}=={version}")
    target = TARGETS.get(entry["id"], entry["target"])
    with tempfile.TemporaryDirectory(prefix="treadle-class-") as folder:
        started = time.perf_counter()
        command = [inner, "-m", "treadle", "class", target, "--budget", f"{BUDGET}s", "--json"]
        environ = {**os.environ, **with_treadle()}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, env=environ, timeout=PATIENCE, check=False
        )
        wall = time.perf_counter() - started
    try:
        facts: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        facts = {"problem": said[-1] if said else f"exit {done.returncode}"}
    return {**facts, "wall": wall}


if __name__ == "__main__":
    main()
