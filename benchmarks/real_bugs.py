"""Bugs in released packages: found on the release that has them, no failure on the release that fixed them.

`corpus.json` names packages, releases and a small program for each, `hunt.json` the bugs that Treadle itself found.
Every program runs under `treadle.check` with the package rewritten, in an environment of its own per release: under
`free`, and, where it has threads, once more under `gil`. The delays of asyncio programs are choices of the
search. Where the release that fixed the bug has another one that the program comes to, the entry says which, and a
later release is run as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.environments import NotInstalled, environment, interpreter, with_treadle
from benchmarks.rows import Rows

CORPUS = Path(__file__).with_name("corpus.json")
HUNT = Path(__file__).with_name("hunt.json")

# Executions and seconds that a program may use; the bugs need a few executions.
BUDGET = {"executions": 20_000, "seconds": 60}
PATIENCE = 300

# What stands behind the program of an entry: two threads, then the program's own check.
HARNESS = """

def test_program():
    import threading
    a, b, check = mk()
    results = {}, {}

    def run(function, result):
        try:
            result["v"] = function()
        except Exception as error:
            result["e"] = error

    threads = [threading.Thread(target=run, args=pair) for pair in zip((a, b), results)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [result["e"] for result in results if "e" in result]
    try:
        answer = check(*results)
    except KeyError:
        answer = None
        if not errors:
            raise
    if answer not in (None, "ok"):
        raise AssertionError(answer)
    if errors and answer != "ok":
        raise errors[0]
"""

# Behind the program of an asyncio entry: each delay is drawn when it is first asked for.
ASYNC_HARNESS = """

def test_program():
    import asyncio, treadle

    class Delays(dict):
        def __missing__(self, number):
            self[number] = treadle.choose(range(6))
            return self[number]

    answer = asyncio.run(amk(Delays()))
    if answer:
        raise AssertionError(answer)
"""

# A program of actors leaves them running, and says so only in its own way.
STOP_ACTORS = """

def test_program(program=test_program):
    try:
        program()
    finally:
        pykka.ActorRegistry.stop_all()
"""

# Runs in the environment of a release; the last line of its output is the result.
SUBJECT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import treadle, program
options = json.loads(sys.argv[2])
result = treadle.check(program.test_program, **options)
again = treadle.replay(result.findings[0].replay, program.test_program).verdict.value if result.findings else ""
gil = None
if result.switches:  # threads: also only where this version of CPython can switch
    gil = treadle.check(program.test_program, switches="gil", **options)
print(json.dumps({
    "gil": gil and gil.verdict.value, "gil_executions": gil and gil.executions,
    "on": [str(one.builds) for one in result.findings if one.builds is not None],
    "verdict": result.verdict.value, "executions": result.executions, "seconds": round(result.seconds, 3),
    "reason": result.reason, "replayed": again == "FAILED",
    "found": [f"{one.kind}: {one.message}" for one in result.findings],
}))
"""


def package_of(entry: dict[str, Any]) -> str:
    """What to rewrite: the top of the module that has the bug, or of the library that the program uses wrongly."""
    if entry["kind"] == "actor":
        return str(entry["package"]).lower()
    return str(entry["target"]).split(":")[0].split()[0].split(".")[0]


def run_program(entry: dict[str, Any], release: str, subject: str) -> subprocess.CompletedProcess[str]:
    """The program of an entry, under a script, in the environment of its "buggy", "fixed" or "later" release."""
    of_python = entry["package"] == "stdlib"
    version = entry[f"{release}_version"]
    python = interpreter(version if of_python else entry["python" if release == "buggy" else "fixed_python"])
    inner = environment(python, *([] if of_python else [f"{entry['package']}=={version}"]))
    with tempfile.TemporaryDirectory() as folder:
        ending = {"actor": HARNESS + STOP_ACTORS, "asyncio": ASYNC_HARNESS}.get(entry["kind"], HARNESS)
        Path(folder, "program.py").write_text(entry["program"] + ending)
        # on one loop, without threads, nothing comes between two awaits: no need to look inside the package
        options = {"instrument": [] if entry["kind"] == "asyncio" else [package_of(entry)], **BUDGET}
        return subprocess.run(
            [inner, "-c", subject, folder, json.dumps(options)],
            capture_output=True,
            text=True,
            env=with_treadle(),
            cwd=folder,
            timeout=PATIENCE,
            check=False,
        )


def run_release(entry: dict[str, Any], release: str) -> dict[str, Any]:
    """The result of an entry's program on its "buggy", "fixed" or "later" release."""
    done = run_program(entry, release, SUBJECT)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"verdict": "ERROR", "reason": lines[-1] if lines else f"exit code {done.returncode}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def judge(found: bool, fixed: bool, answer: dict[str, Any]) -> str:
    """Is the result what it should be? A miss, a false alarm and an error are our bugs."""
    if answer["verdict"] == "ERROR":
        return "error"
    if fixed:
        return "FALSE ALARM" if found else "clean"
    return "found" if found else "MISSED"


def run_entry(entry: dict[str, Any], rows: Rows) -> None:
    releases = ["buggy", *(["fixed"] if entry["fixed_clean"] else []), *(["later"] if "later_version" in entry else [])]
    for release in releases:
        fixed = release != "buggy"
        row = {"id": entry["id"], "release": entry[f"{release}_version"], "fixed": fixed}
        try:
            answer = run_release(entry, release)
        except NotInstalled as missing:
            rows.add(**row, outcome="not installed", detail=str(missing))
            continue
        except subprocess.TimeoutExpired:
            rows.add(**row, outcome="error", detail=f"no answer in {PATIENCE} s")
            continue
        found = answer["verdict"] == "FAILED"
        detail = answer["found"][0] if found else answer["reason"]
        rows.add(
            **row,
            outcome=judge(found, fixed, answer),
            verdict=answer["verdict"],
            executions=answer.get("executions"),
            gil=answer.get("gil"),
            gil_executions=answer.get("gil_executions"),
            on=(answer.get("on") or [None])[0],
            seconds=answer.get("seconds"),
            replayed=answer.get("replayed") if found else None,
            detail=detail.splitlines()[0][:100],
            other_bug=entry.get(f"{release}_other_bug"),
        )


_COLUMNS = ["id", "release", "outcome", "verdict", "executions", "gil", "gil_executions", "on", "seconds", "replayed"]
_COLUMNS += ["detail", "other_bug"]


def main(quick: bool, ids: list[str] | None = None) -> None:
    rows = Rows("real_bugs", _COLUMNS)
    for entry in json.loads(CORPUS.read_text()) + json.loads(HUNT.read_text()):
        if ids and not any(entry["id"].startswith(one) for one in ids):
            continue
        run_entry(entry, rows)
    rows.table()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="beginnings of the ids of the entries to run")
    main(False, parser.parse_args().ids or None)
    sys.exit(0)
