"""`treadle class` on released packages, given ONLY package, release and class: is the known bug found, and does the
release that fixed it raise an alarm?

The programs of `corpus.json` are not used. The entries are split by a seed, stated here before any of the measured ones
was looked at: what is built is developed with the others, and only the measured ones count. A fault is the entry's own
when its written test passes on the release that fixed the bug; where there is none, when every line that clashes in it
is one at which the entry's own program clashes when it fails (`sites_of`). A line outside of the package and of what
the entry's program reaches (a limit of the operating system) never counts. An alarm on a fixed release is listed with
its message: it is a false one, or a fault that the fix left.

With `--with-tests` the command is given the tests that the source distribution of the release carries (`--from-tests`),
in an environment that has what these tests import. With `--by-work` the budget is processor time (`by_work.py`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.environments import FOLDER, NotInstalled, environment, interpreter, with_treadle
from benchmarks.real_bugs import run_program
from benchmarks.rows import Rows
from benchmarks.wild import install_what_tests_import, unpacked

CORPUS = Path(__file__).with_name("corpus.json")
BUDGET = 60
PATIENCE = 300
BY_WORK = Path(__file__).with_name("by_work.py")

SEED, MEASURED = 16, 12

# Entries whose target names more than one thing, or a program around the library.
TARGETS = {
    "T23-pyee-once": "pyee:BaseEventEmitter",
    "P04-mopidy-listener-send": "pykka:ActorRegistry",
}

# Runs in the environment of a release: the lines at which the threads of an entry's failing program clash.
SITES = """
import json, sys
sys.path.insert(0, sys.argv[1])
import treadle, program
from treadle.core.dependency import dependent
result = treadle.check(program.test_program, **json.loads(sys.argv[2]))
found = set()
for finding in result.findings:
    steps = finding.steps
    for number, one in enumerate(steps):
        for other in steps[:number]:
            if one.strand != other.strand and dependent(one.performed, other.performed):
                found |= {f"{step.file}:{step.line}" for step in (one, other)}
print(json.dumps(sorted(found)))
"""


def entries() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(CORPUS.read_text())
    return found


def measured() -> frozenset[str]:
    """The entries that count, by the seed."""
    return frozenset(random.Random(SEED).sample(sorted(entry["id"] for entry in entries()), MEASURED))


def target_of(entry: dict[str, Any]) -> str:
    """What the command is given: the first thing that the entry names."""
    match = re.match(r"[\w.]+(:\w+)?", entry["target"])
    return TARGETS.get(entry["id"]) or (match[0] if match else "")


_COLUMNS = [
    "id",
    "part",
    "release",
    "version",
    "tests",
    "verdict",
    "own",
    "faults",
    "first_fault",
    "seconds",
    "message",
]


def main(
    quick: bool = False,
    ids: list[str] | None = None,
    part: str = "",
    releases: tuple[str, ...] = (),
    with_tests: bool = False,
    workers: int = 1,
    by_work: bool = False,
) -> None:
    rows = Rows("class_corpus", _COLUMNS)
    counted = measured()
    chosen = [e for e in entries() if not ids or any(e["id"].startswith(one) for one in ids)]
    chosen = [e for e in chosen if not part or (e["id"] in counted) == (part == "measured")]
    for entry in chosen:
        for release in releases or ("buggy", "fixed"):
            row = {"id": entry["id"], "part": "measured" if entry["id"] in counted else "development"}
            row |= {"release": release, "version": entry[f"{release}_version"]}
            if release == "fixed" and not entry["fixed_clean"]:
                rows.add(**row, verdict=f"not run: {entry['status']}")
                continue
            words = ["--workers", str(workers)] if workers > 1 else []
            try:
                tests = tests_of(entry, release) if with_tests else ""
                row["tests"] = Path(tests).name or ("none" if with_tests else "")
                words += ["--from-tests", tests] if tests else []
                rows.add(**row, **run(entry, release, 10 if quick else BUDGET, words, by_work))
            except NotInstalled as reason:
                rows.add(**row, verdict=f"not run: {reason}")
    rows.table()
    for name in ("measured", "development"):
        _sum_up(rows, name)


def _sum_up(rows: Rows, part: str) -> None:
    """How many were exposed, how many by their own bug, how many fixed releases raised an alarm."""
    ran = [row for row in rows.rows if row.get("part") == part and not str(row["verdict"]).startswith("not run")]
    buggy = [row for row in ran if row["release"] == "buggy"]
    fixed = [row for row in ran if row["release"] == "fixed"]
    if buggy:
        exposed, own = (sum(bool(row[key]) for row in buggy) for key in ("faults", "own"))
        said = f"{exposed} of {len(buggy)} exposed, {own} by the bug of the entry"
        rows.add(id=f"all {part}", release="buggy", verdict=said)
    if fixed:
        alarms = sum(bool(row["faults"]) for row in fixed)
        rows.add(id=f"all {part}", release="fixed", verdict=f"{alarms} of {len(fixed)} raise an alarm")


def python_of(entry: dict[str, Any], release: str) -> str:
    """The interpreter of an environment that holds a release."""
    version = entry[f"{release}_version"]
    if entry["package"] == "stdlib":
        return environment(interpreter(version))
    python = interpreter(entry["python" if release == "buggy" else "fixed_python"])
    return environment(python, f"{entry['package']}=={version}")


def tests_of(entry: dict[str, Any], release: str) -> str:
    """The tests that the source distribution of a release carries, which can be run; empty when it carries none."""
    if entry["package"] == "stdlib":
        return ""
    wanted = f"{entry['package']}=={entry[f'{release}_version']}"
    folder = FOLDER / "sdists" / wanted
    source = next((one for one in folder.glob("*") if one.is_dir()), None) or unpacked(wanted, folder)
    if source is None:
        return ""
    mark = folder / "tests-ready.txt"
    if not mark.exists():
        install_what_tests_import(python_of(entry, release), source)
        mark.touch()
    folders = [one for one in source.rglob("test*") if one.is_dir() and one.name in ("tests", "test")]
    files = [one for one in source.rglob("*test*.py") if one.name.startswith("test_") or one.stem.endswith("_test")]
    return str(min(folders or files, key=lambda one: len(one.parts), default=""))


def run(
    entry: dict[str, Any], release: str, budget: int, more: list[str] | None = None, by_work: bool = False
) -> dict[str, Any]:
    """One class of one release, in an environment and a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="treadle-class-") as folder:
        started = time.perf_counter()
        words = ["class", target_of(entry), "--budget", f"{budget}s", "--json", *(more or [])]
        words = [str(BY_WORK), *words] if by_work else ["-m", "treadle", *words]
        done = _python(python_of(entry, release), words, folder, PATIENCE * (20 if by_work else 1))
        wall = time.perf_counter() - started
        facts = _facts(done)
        faults = facts.get("faults", [])
        own = _own(entry, facts, folder) if release == "buggy" and faults else []
    return {
        "verdict": facts.get("verdict", facts.get("problem", "?")),
        "own": len(own),
        "faults": len(faults),
        "first_fault": facts.get("first_fault_seconds"),
        "seconds": wall,
        "message": (own or faults)[0]["message"][:100] if faults else facts.get("reason", "")[:100],
        "all": [fault["message"][:160] for fault in faults],
        "notes": facts.get("notes", []),
    }


def _python(inner: str, words: list[str], folder: str, patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [inner, *words], capture_output=True, text=True, cwd=folder, env=with_treadle(), timeout=patience
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"no answer in {patience:g} s")


def _facts(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        facts = {"problem": said[-1] if said else f"exit {done.returncode}"}
    return facts


def _own(entry: dict[str, Any], facts: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    """The findings that are the bug of the entry: faults, and what else the same race does."""
    faults: list[dict[str, Any]] = [one for fault in facts["faults"] for one in (fault, *fault.get("effects", []))]
    try:
        if not entry["fixed_clean"]:
            sites = sites_of(entry)
            return [fault for fault in faults if fault["locations"] and sites.issuperset(fault["locations"])]
        fixed = python_of(entry, "fixed")
    except NotInstalled:
        return []
    return [fault for fault in faults if fault["test"] and _passes(fixed, fault["test"], folder)]


def sites_of(entry: dict[str, Any]) -> frozenset[str]:
    """The lines, as file:line, at which the entry's own program clashes on the release that has the bug."""
    done = run_program(entry, "buggy", SITES)
    return frozenset(json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else ())


def _passes(inner: str, test: str, folder: str) -> bool:
    """Does a written test pass in a fresh process?"""
    return _python(inner, ["-m", "pytest", "-q", "-p", "no:cacheprovider", test], folder).returncode == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="beginnings of the ids of the entries to run")
    parser.add_argument("--part", choices=["measured", "development"], default="")
    parser.add_argument("--release", choices=["buggy", "fixed"], action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--with-tests", action="store_true", help="--from-tests with those of the source distribution")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--by-work", action="store_true", help="the budget is processor time, for a busy machine")
    given = parser.parse_args()
    main(given.quick, given.ids, given.part, tuple(given.release), given.with_tests, given.workers, given.by_work)
    sys.exit(0)
