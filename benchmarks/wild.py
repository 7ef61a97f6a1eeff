"""Tests that were written by others, for other purposes: how many get a useful verdict from `treadle try`?

    python -m benchmarks.wild --workers 2 --docs            (the official draw)
    python -m benchmarks.wild --list 2 --seed dev-3 --apart HASH    (others, to develop with)

The packages are the lines of wild_packages_N.txt, chosen before any of their tests was looked at; a list whose draw was
looked at is material to develop with from then on. The seed is the hash of the commit that brought that file into the
repository, so nobody chose the twenty that are drawn; `--seed` and `--apart` draw others, that the official draw does
not contain. `--docs` writes what came out into docs/benchmarks-wild.md, between its two marks. Of each package the
newest source distribution is unpacked and installed in an environment of its own, what its tests import is installed as
it turns out to be missing, and `treadle try` finds the tests that start threads and pass plainly, and explores at most
six of them.

What a row counts as, by its verdict alone:

- useful: PASSED-EXHAUSTIVE, PASSED-WITHIN-BOUNDS, FAILED, and CUT after at least MANY executions; from the ninth draw
  on also NOTHING-TO-EXPLORE where that is a proof: the threads share something, all of it was seen, and the check that
  a pass makes of itself found no other schedule (`one_schedule`);
- nothing: every other NOTHING-TO-EXPLORE, and CUT after fewer;
- refused: REFUSED, one sentence that says why;
- crash, hang: an internal error or a process that dies; a process that does not end.

Each FAILED is then looked at by hand. One that no schedule of real threads can show is an alarm, and not useful. They
are named in docs/benchmarks-wild.md, where `--docs` lists what is to be looked at.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.environments import CHECKOUT, FOLDER
from benchmarks.rows import Rows
from benchmarks.wild_start import more_than_pytest, told

LIST = 15  # the newest
DRAWN = 20
TESTS = 6
SECONDS = 10.0
MANY = 20
# Seconds for all tests of one package: running them once, and exploring at most six.
_MOST_SECONDS = 1_500.0
# Seconds for running a package's tests once, and for collecting them.
_ONCE, _COLLECT = 120.0, 120.0
# Seconds for installing something, compiled from its source where need be.
_INSTALL = 240.0
# How often what is missing is installed before a package's tests are taken as they are.
_ROUNDS = 6
_EXTRAS = ("test", "tests", "testing", "dev")
_MISSING = re.compile(r"No module named '?([A-Za-z0-9_]+)")
# Options of a project's pytest configuration that come with a plugin.
_OPTIONS = {
    "--asyncio-mode": "pytest-asyncio",
    "--benchmark": "pytest-benchmark",
    "--cov": "pytest-cov",
    "--dist": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--reruns": "pytest-rerunfailures",
    "--timeout": "pytest-timeout",
    "-n": "pytest-xdist",
}
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)")
# Markers and settings that come with a plugin.
_MARK = re.compile(r"Unknown (?:pytest\.mark\.|config option: )(asyncio|timeout|freeze_time|flaky|httpbin)")
_MARKED = {"freeze_time": "pytest-freezer", "flaky": "pytest-rerunfailures"}
_PAGE = CHECKOUT / "docs" / "benchmarks-wild.md"
_BEGIN, _END = "<!-- what follows is written by benchmarks/wild.py -->\n", "<!-- up to here -->\n"
_INSTALLED_AS = {"yaml": "pyyaml", "dateutil": "python-dateutil", "attr": "attrs", "mock": "mock", "zmq": "pyzmq"}


def packages(number: int) -> Path:
    return Path(__file__).with_name(f"wild_packages_{number}.txt")


def official_seed(number: int = LIST) -> str:
    """The hash of the commit that brought a list of packages."""
    words = ["git", "log", "--diff-filter=A", "--format=%H", "--", str(packages(number))]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def draw(seed: str, apart: str = "", number: int = LIST) -> list[str]:
    """Twenty packages of a list by a seed; none that the seed `apart` draws."""
    others = set(draw(apart, number=number)) if apart else set()
    left = [name for name in packages(number).read_text(encoding="utf-8").split() if name not in others]
    return sorted(random.Random(seed).sample(left, min(DRAWN, len(left))))


def install(inner: str, *words: str) -> bool:
    """Install packages in an environment, with uv where there is one."""
    uv = shutil.which("uv")
    command = [uv, "pip", "install", "-q", "--python", inner] if uv else [inner, "-m", "pip", "install", "-q"]
    try:
        return subprocess.run([*command, *words], capture_output=True, check=False, timeout=_INSTALL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def unpacked(package: str, folder: Path) -> Path | None:
    """The newest source distribution of a package, or that of `package==release`, unpacked; None when there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    name = package.partition("==")[0]
    words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name]
    subprocess.run([*words, "-d", str(folder), package], capture_output=True, check=False)
    for archive in sorted(folder.iterdir()):
        if archive.name.endswith((".tar.gz", ".tgz")):
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        elif archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
    return next((path for path in sorted(folder.iterdir()) if path.is_dir() and path.name != "environment"), None)


def environment_for(source: Path, folder: Path) -> str | None:
    """An interpreter that has the package, its extras for tests, and pytest."""
    inner = str(folder / "environment" / "bin" / "python")
    uv = shutil.which("uv")
    make = [uv, "venv", "-q", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
    subprocess.run([*make, str(folder / "environment")], check=True)
    if not install(inner, f"{source}[{','.join(_EXTRAS)}]"):  # uv takes unknown extras for a warning
        return None
    install(inner, "pytest")
    return inner


@functools.cache
def built() -> Path:
    """Treadle as people install it, built once for this state of the checkout, before packages are tried."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    folder = FOLDER / "wild-wheel" / commit.stdout.strip()
    if not list(folder.glob("*.whl")):
        words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(CHECKOUT)]
        subprocess.run(words, check=True)
    return next(folder.glob("*.whl"))


def prepared(package: str) -> tuple[Path, str] | None:
    """The source of a package and an interpreter that can run its tests, made once; None when there is none."""
    folder = FOLDER / "wild" / package
    mark = folder / "ready.json"
    if not mark.exists():
        shutil.rmtree(folder, ignore_errors=True)
        source = unpacked(package, folder)
        inner = environment_for(source, folder) if source is not None else None
        if source is not None and inner is not None:
            install_what_tests_import(inner, source)
        folder.mkdir(parents=True, exist_ok=True)
        mark.write_text(json.dumps([str(source), inner] if inner else None))
    found = json.loads(mark.read_text())
    return (Path(found[0]), found[1]) if found else None


def install_what_tests_import(inner: str, source: Path) -> None:
    """Collect the tests of a source tree in an environment until nothing more is missing that can be had."""
    for _ in range(_ROUNDS):
        words = [inner, "-m", "pytest", "-q", "--collect-only", "--continue-on-collection-errors", "."]
        said = run_command(words, source, _COLLECT)
        missing = {_INSTALLED_AS.get(name, name) for name in _MISSING.findall(said)}
        unknown = [word for line in _UNKNOWN.findall(said) for word in line.split()]
        missing |= {plugin for option, plugin in _OPTIONS.items() if any(word.startswith(option) for word in unknown)}
        missing |= {_MARKED.get(name, f"pytest-{name}") for name in _MARK.findall(said)}
        if not [name for name in sorted(missing) if install(inner, name) or install(inner, f"pytest-{name}")]:
            return


def explored(inner: str, source: Path, seconds: float) -> tuple[list[dict[str, Any]], str]:
    """The rows of `treadle try`, and what it said when there are none."""
    words = [inner, "-m", "treadle", "try", ".", "--json", "--tests", str(TESTS)]
    said = run_command([*words, "--seconds", f"{seconds:g}", "--once", f"{_ONCE:g}"], source, _MOST_SECONDS)
    for line in said.splitlines():
        if line.startswith('{"tests"'):
            return json.loads(line)["tests"], ""
    lines = [line for line in said.splitlines() if line.startswith("treadle: ")]
    return [], lines[-1].removeprefix("treadle: ") if lines else "it did not end"


def run_command(words: list[str], where: Path, seconds: float) -> str:
    """What a command printed; as much as it had when it had to be ended."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        words,
        cwd=where,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        _end_session(process.pid)
        return process.communicate()[0]
    except BaseException:
        _end_session(process.pid)
        raise


def _end_session(leader: int) -> None:
    """End a process and all that it started, also in sessions of their own: they have it among their ancestors."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    doomed = [leader]
    for process in doomed:
        doomed += [child for child, parent in parents.items() if parent == process]
    for process in doomed:
        try:
            os.kill(process, 9)
        except ProcessLookupError:
            pass


def counts_as(verdict: str, executions: int, one_schedule: bool = False) -> str:
    """The rules at the top of this file."""
    if verdict.startswith("PASSED") or verdict == "FAILED" or (verdict == "CUT" and executions >= MANY) or one_schedule:
        return "useful"
    return {"REFUSED": "refused", "CRASH": "crash", "HANG": "hang"}.get(verdict, "nothing")


def main(
    quick: bool = False, names: Sequence[str] = (), drawn_by: str = "", workers: int = 1, docs: bool = False
) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    rows = Rows("wild", ["package", "test", "verdict", "executions", "seconds", "counts_as"])
    names = list(names or draw(official_seed()))[: 2 if quick else None]
    without: dict[str, str] = {}
    built()  # once, before several ask for it
    with ThreadPoolExecutor(workers) as pool:
        for package, (found, said) in zip(names, pool.map(_tried, names), strict=True):
            if not found:
                without[package] = said
                print(f"{package}: {said}", file=sys.stderr, flush=True)
            for one in found:
                rows.add(package=package, test=one["target"], **_figures(one))
    rows.table()
    print(_counted(rows.rows), file=sys.stderr)
    if docs:
        text = _PAGE.read_text(encoding="utf-8")
        head, rest = text.split(_BEGIN)
        written = page_part(rows.rows, without, names, drawn_by, workers)
        _PAGE.write_text(f"{head}{_BEGIN}{written}{_END}{rest.split(_END)[1]}", encoding="utf-8")


def _counted(rows: list[dict[str, Any]]) -> str:
    kinds = [row["counts_as"] for row in rows]
    return f"{len(kinds)} tests: " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def page_part(
    rows: list[dict[str, Any]], without: dict[str, str], names: Sequence[str], drawn_by: str, workers: int
) -> str:
    """What a run says of itself on the page of this benchmark."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True)
    form = "pure Python" if os.environ.get("TREADLE_PURE") else "compiled where a compiler was found"
    useful = sum(row["counts_as"] == "useful" for row in rows)
    lines = [
        f"{len(names)} packages, drawn by {drawn_by}; Treadle of {commit.stdout.strip()} ({form}), {workers} at once "
        f"on {os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}. "
        f"{_counted(rows)} ({100 * useful / max(1, len(rows)):.0f} % useful by the rules). "
        + told([row["outside"] for row in rows if row.get("outside") is not None]),
        "",
        "| package | test | verdict | executions | seconds | counts as |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        test = row["test"].rpartition("/")[2].replace("|", "\\|")
        figures = f"{row['verdict']} | {row['executions']} | {row['seconds']:.1f} | {row['counts_as']}"
        lines.append(f"| {row['package']} | `{test}` | {figures} |")
    lines += [""] + [f"- {package}: {said}" for package, said in without.items()]
    to_tell = [row for row in rows if row["verdict"] not in ("CUT",) and row["todo"]]
    lines += ["", "What each test that failed, was refused or did not end said:", ""]
    folder = re.compile(rf"{FOLDER}/wild/[^/ ]+/(environment/lib/[^/]+/site-packages/)?")
    for row in to_tell:
        said = folder.sub("", row["todo"])[:300]
        lines.append(f"- {row['package']} `{row['test'].rpartition('::')[2]}`: {said}")
    return "\n".join(lines) + "\n\n"


def _tried(package: str) -> tuple[list[dict[str, Any]], str]:
    """The tests of one package that pass plainly, each with what `treadle try` says of it."""
    ready = prepared(package)
    if ready is None or not install(ready[1], str(built())):
        return [], "cannot be installed from source"
    found, said = explored(ready[1], ready[0], SECONDS)
    passing = [one for one in found if one["verdict"] != "fails plainly"]
    for one in passing[:1]:
        one["outside"] = more_than_pytest(ready[1], ready[0], one["target"])
    return passing, said or "its threaded tests fail plainly"


def _figures(one: dict[str, Any]) -> dict[str, Any]:
    kept = {name: one[name] for name in ("verdict", "executions", "seconds", "todo")} | {"outside": one.get("outside")}
    return kept | {"counts_as": counts_as(one["verdict"], one["executions"], one["one_schedule"])}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How many tests written by others get a useful verdict?")
    parser.add_argument("--list", type=int, default=LIST, metavar="N", help="draw from wild_packages_N.txt")
    parser.add_argument("--seed", default="", help="draw other packages, to develop with")
    parser.add_argument("--apart", default="", help="none that this seed draws")
    parser.add_argument("--prepare", action="store_true", help="only download and install, and say nothing")
    parser.add_argument("--docs", action="store_true", help="write what came out into docs/benchmarks-wild.md")
    parser.add_argument("--workers", type=int, default=1, help="so many packages at once")
    parser.add_argument("packages", nargs="*", help="these instead of a draw")
    given = parser.parse_args()
    seed = given.seed or official_seed(given.list)
    wanted = given.packages or draw(seed, given.apart, given.list)
    if given.prepare:
        with ThreadPoolExecutor(given.workers) as preparers:
            list(preparers.map(prepared, wanted))
    else:
        by = "name" if given.packages else f"the seed {seed[:12]} from wild_packages_{given.list}.txt"
        main(names=wanted, drawn_by=by, workers=given.workers, docs=given.docs)
