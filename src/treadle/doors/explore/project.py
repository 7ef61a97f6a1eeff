"""Everything that explore can say about a project it has never seen: which tests start threads, and a verdict
for each of them.

Decides which tests are tried: those of files that speak of threads, which pass and start a thread when they are run
once, plainly. Each is then explored in a process of its own, as `treadle explore` does, within its seconds; what does
not come to an end long after them is ended, and said to hang. Nothing of the project is imported in this process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treadle.core.json_form import JsonForm
from treadle.core.verdict import EXIT_INTERNAL, EXIT_NOT_A_PASS
from treadle.report.fresh_process import scratch_folder
from treadle.threads.instrument.selection import INSTALLED_FOLDERS, find_root

# Names without which nothing starts a thread; what a test file does not say, the code that it tests may do.
_THREADS = re.compile(rb"\b(threading|_thread|ThreadPool\w*|concurrent\.futures|to_thread|run_in_executor|Thread)\b")
_TEST_FILE = re.compile(r"^(test_.*|.*_test|tests)\.py$")
_NO_PACKAGES = frozenset(
    {"tests", "test", "testing", "docs", "doc", "examples", "benchmarks", "build", "dist", "scripts"}
)

_LOOK_EVERY = 0.05

# Seconds for running one test as it is.
_PLAINLY = 30.0

# What cuts a search that more time would not help.
_NOT_BY_TIME = ("unseen", "repeated", "threads", "everywhere")

# A test that was cut after fewer executions is tried once more, as long as so many seem to need, and half as much more:
# at least and at most so many times the seconds.
_FEW, _LONGER, _LONGEST = 20, 3, 12

# Seconds beyond its budget that an exploration may take: it imports, shrinks, replays, looks at other builds.
_PATIENCE = 120.0


@dataclass(frozen=True)
class ThreadedTest:
    """A test of the project, and how it went when it was run once."""

    path: str
    names: tuple[str, ...]
    outcome: str
    seconds: float

    @property
    def target(self) -> str:
        return "::".join((os.path.relpath(self.path), *self.names))


@dataclass(slots=True)
class Row(JsonForm):
    """What came out for one test."""

    target: str
    verdict: str  # of explore; or REFUSED, CRASH, HANG; or what it was when run plainly: "fails plainly"
    builds: str  # where a failure can happen
    executions: int
    seconds: float
    todo: str  # what its reader can do next
    one_schedule: bool = False  # is it shown that there is one schedule, with all that the threads share seen?


def test_files(folder: Path) -> list[Path]:
    """The files with tests that speak of threads; all files with tests when none does."""
    if folder.is_file():
        return [folder]
    files = [Path(path) for path in sorted(_below(folder)) if _TEST_FILE.match(os.path.basename(path))]
    speaking = [path for path in files if _THREADS.search(path.read_bytes())]
    return speaking or files


def _below(folder: Path) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        skipped = {*INSTALLED_FOLDERS, "build", "dist"}
        folders[:] = [name for name in folders if name not in skipped and not name.startswith(".")]
        yield from (os.path.join(at, name) for name in names)


def own_packages(root: Path) -> list[str]:
    """The names under which the code of a project is imported: what stands in its folder, or in `src`."""
    found = []
    for folder in (root, root / "src"):
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (entry / "__init__.py").is_file() and entry.name not in _NO_PACKAGES:
                found.append(entry.name)
            elif entry.suffix == ".py" and entry.stem not in ("setup", "conftest") and not _TEST_FILE.match(entry.name):
                found.append(entry.stem)
    return found


@dataclass
class Once:
    """The tests that start threads, in their order; those that took too long; those that start processes and no thread;
    and did all come to their turn?"""

    threaded: list[ThreadedTest]
    slow: list[str]
    in_processes: list[str]
    ended: bool


def run_once(files: Sequence[Path], seconds: float) -> Once:
    """Run the tests of some files as they are. One that takes a quarter of the time is given up; the rest goes on."""
    until = time.monotonic() + seconds
    entries: list[dict[str, Any]] = []
    slow: list[str] = []
    while True:
        more, ended = _run_files(files, [entry["ended"] for entry in entries] + slow, until, seconds / 4)
        entries += [entry for entry in more if "ended" in entry]
        if ended or time.monotonic() >= until or not more or "begun" not in more[-1]:
            break
        slow.append(more[-1]["begun"])
    threaded = [
        ThreadedTest(entry["path"], tuple(entry["names"]), entry["outcome"], entry["seconds"])
        for entry in entries
        if entry["threads"] and entry["function"] and entry["outcome"] != "skipped"
    ]
    in_processes = [entry["ended"] for entry in entries if entry["processes"] and not entry["threads"]]
    return Once(threaded, slow, in_processes, ended)


def raised_plainly(target: str, overrides: Sequence[str] = ()) -> frozenset[str] | None:
    """What goes wrong when a test is run as it is and fails nothing there, by the names of `core.usual`; None when it
    does not pass. `overrides` are settings of pytest, as `-o` has them."""
    words = [f"--override-ini={one}" for one in overrides]
    entries, _ = _run_files([*words, target], [], time.monotonic() + _PLAINLY, _PLAINLY)
    passed = [entry for entry in entries if entry.get("outcome") == "passed"]
    return frozenset(name for entry in passed for name in entry["raised"]) if passed else None


def _run_files(
    files: Sequence[Path | str], without: Sequence[str], until: float, longest: float
) -> tuple[list[dict[str, Any]], bool]:
    """What the tests of some files noted until all ended, time was over, or one of them took too long."""
    with scratch_folder() as scratch:
        notes = scratch / "tests.jsonl"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "treadle.pytest_plugin.thread_starts"]
        words += ["--continue-on-collection-errors", "-m", ""]
        told = {"TREADLE_THREAD_STARTS": str(notes), "TREADLE_WITHOUT": json.dumps(without), "PYTHONHASHSEED": "1"}
        environment = {**os.environ, **told}
        process = _started([*words, *map(str, files)], environment, subprocess.DEVNULL)
        try:
            while (ended := process.poll() is not None) is False and time.monotonic() < until:
                if notes.exists() and time.time() - notes.stat().st_mtime > longest:
                    break
                time.sleep(_LOOK_EVERY)
        finally:
            _end(process)
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")], ended


def explore_alone(
    test: ThreadedTest, seconds: float, packages: Sequence[str], page: Path | None = None, longer: bool = False
) -> Row:
    """Explore one test in a process of its own; once more and longer, when it had few executions in its time."""
    if test.outcome != "passed":
        return Row(test.target, "fails plainly", "", 0, test.seconds, "mend the test first: it fails without Treadle")
    words = [sys.executable, "-m", "treadle", "explore", test.target, "--json", "--seconds", f"{seconds:g}"]
    for package in packages:
        words += ["--instrument", package]
    words += ["--report", str(page)] if page is not None else []
    done = _run(words, {**os.environ}, seconds + _PATIENCE)
    if done is None:
        todo = f"it did not end within {seconds + _PATIENCE:g} s: a limit of Treadle, please report it"
        return Row(test.target, "HANG", "", 0, seconds + _PATIENCE, todo)
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return _without_result(test, done)
    if found["verdict"] == "CUT" and found["executions"] < _FEW and _ran_out(found, seconds) and not longer:
        needed = 1.5 * _FEW * found["seconds"] / max(1, found["executions"])
        times = min(max(_LONGER, needed / seconds), _LONGEST)
        again = explore_alone(test, times * seconds, packages, page, longer=True)
        return again if again.verdict != "HANG" else _row(test, found)
    return _row(test, found)


def _ran_out(found: dict[str, Any], seconds: float) -> bool:
    """Was it time that ended the search, whatever else there is to say of it?"""
    return found.get("cut_by") == "seconds" or (found.get("cut_by") == "unseen" and found["seconds"] >= seconds)


def _without_result(test: ThreadedTest, done: subprocess.CompletedProcess[str]) -> Row:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    why = lines[-1].removeprefix("treadle: ") if lines else f"exit code {done.returncode}"
    if done.returncode == EXIT_NOT_A_PASS and lines and lines[-1].startswith("treadle: "):
        return Row(test.target, "CUT", "", 0, 0.0, why)
    if done.returncode == EXIT_NOT_A_PASS:
        return Row(test.target, "NOTHING", "", 0, 0.0, "it was skipped, or did not run")
    crashed = done.returncode == EXIT_INTERNAL or done.returncode < 0 or done.returncode > 128
    return Row(test.target, "CRASH" if crashed else "REFUSED", "", 0, 0.0, why)


def _row(test: ThreadedTest, found: dict[str, Any]) -> Row:
    findings = found.get("findings", [])
    verdict, todo, builds = found["verdict"], "", ""
    if findings and findings[0]["replayed"] == "this process":
        verdict = "CUT"
        todo = f"not repeatable in a fresh process: {findings[0]['kind']}: {findings[0]['message'].splitlines()[0]}"
    elif findings:
        todo = f"{findings[0]['kind']}: {findings[0]['message'].splitlines()[0]}"
        builds = (findings[0].get("builds") or {}).get("on", "")
    elif verdict == "CUT":
        more = "" if found.get("cut_by") in _NOT_BY_TIME else "; give it more --seconds"
        todo = f"{found.get('reason', '')}{more}"
    elif verdict == "NOTHING-TO-EXPLORE":
        todo = found.get("reason", "")
    elif found.get("warnings"):
        todo = f"{found['warnings'][0]['kind']}: {found['warnings'][0]['message']}"
    elif verdict == "PASSED-WITHIN-BOUNDS" and found.get("atomic_modules"):
        first = found["atomic_modules"][0]
        todo = f"{first} was not looked into; if that is what it tests: --instrument {first}"
    return Row(test.target, verdict, builds, found["executions"], found["seconds"], todo, _is_shown_to_be_one(found))


def _is_shown_to_be_one(found: dict[str, Any]) -> bool:
    """Is "nothing to explore" a proof: threads share something, nothing of that was left unseen or taken as one step,
    and running it in other orders and with finer points made no difference?"""
    seen = found.get("evidence") or {}
    checked = bool(seen.get("shared")) and not seen.get("one_step") and seen.get("checked", 0) > 0
    return bool(found["verdict"] == "NOTHING-TO-EXPLORE" and checked)


def installed_packages(root: Path) -> list[str]:
    """Those of the project's packages that its tests import from elsewhere than its folder: they must be named."""
    code = (
        "import importlib.util, json, sys\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        spec = importlib.util.find_spec(name)\n"
        "        found[name] = spec.origin if spec else None\n"
        "    except Exception:\n"
        "        found[name] = None\n"
        "print(json.dumps(found))\n"
    )
    done = _run([sys.executable, "-c", code, *own_packages(root)], {**os.environ}, 60.0)
    if done is None or done.returncode:
        return []
    places: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return [name for name, place in places.items() if place and INSTALLED_FOLDERS & set(Path(place).parts)]


def _run(words: list[str], environment: dict[str, str], seconds: float) -> subprocess.CompletedProcess[str] | None:
    """Run a command; None when it did not end."""
    process = _started(words, environment, subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return None
    except BaseException:
        _end(process)
        raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _started(words: list[str], environment: dict[str, str], output: int) -> subprocess.Popen[str]:
    """A command in a session of its own, so that all it starts can be ended with it."""
    return subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, 9)
    else:
        process.kill()
    process.communicate()


def root_of(folder: Path) -> Path:
    return find_root(folder) or folder
