"""`treadle unit` on functions that others wrote for other purposes: how many get tests, and how much do these reach?

    python -m benchmarks.unit_wild --workers 2 --docs     (the official draw: see unit_wild_draw.py)
    python -m benchmarks.unit_wild --packages 2 --workers 2 --docs          (that of the second list; 3: the third)
    python -m benchmarks.unit_wild --seed mine --number 20          (others, to develop with)
    python -m benchmarks.unit_wild --part 1/4

A target gets the default options. Its tests then run in a fresh process under coverage.py, which says how many branches
of the function they reach: a target without tests reaches 0 %, and so does one whose command does not end in 90 s of
processor time, or in 300 s of the clock.

A row is kept when it is measured, in a file of the draw and of the state of src/: what was stopped goes on where it
was, and a run of changed code measures everything anew. `--docs` writes the figures into docs/benchmarks-unit.md once
all rows are there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.environments import CHECKOUT
from benchmarks.rows import Rows
from benchmarks.unit_wild_draw import DRAWN, LISTS, PLACE, Drawn, draw, variables

# of one process; on a busy machine a command waits more than it works
_MOST_CPU_SECONDS = 90
_MOST_SECONDS = 300.0
_DOCS = CHECKOUT / "docs" / "benchmarks-unit.md"


def measured(one: Drawn, number: int) -> dict[str, Any]:
    """One row: the command, then its tests in a fresh process."""
    folder = PLACE / "runs" / one.target.replace(":", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    row: dict[str, Any] = {"number": number, "package": one.package, "target": one.target}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [sys.executable, "-m", "treadle", "unit", one.target, "--json", "--output", "test_wild.py"]
    out, error = run(words, one, folder, _MOST_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["seconds"] = round(time.perf_counter() - start, 1)
    row["cpu"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    try:
        facts = json.loads(out)
    except ValueError:
        facts = {}
        row["said"] = (error.strip().splitlines() or ["it did not end"])[-1][-300:]
    tests, failed, branches = judge(one, folder) if (folder / "test_wild.py").exists() else (0, 0, (0, 0))
    row |= {"tests": tests, "failed": failed, "covered": branches[0], "branches": branches[1]}
    row["percent"] = round(100 * branches[0] / branches[1], 1) if branches[1] else 0.0
    row["complete"] = bool(facts.get("complete"))
    row["wrong"] = len(facts.get("disagreements", ())) + len(facts.get("internal_errors", ()))
    if facts and row["percent"] < 100:
        row["said"] = {name: facts[name] for name in ("unsupported", "cut", "guesses", "left_out") if facts.get(name)}
    return row


def judge(one: Drawn, folder: Path, file: str = "test_wild.py") -> tuple[int, int, tuple[int, int]]:
    """Tests, how many of them fail in a fresh process, branches of the function that they reach and all of them."""
    include = f"--include={one.file}"
    words = [
        sys.executable,
        "-m",
        "coverage",
        "run",
        "--branch",
        include,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    out, _ = run([*words, "--rootdir", ".", "--confcutdir", ".", "-c", os.devnull, file], one, folder, _MOST_SECONDS)
    last = out.strip().splitlines()[-1] if out.strip() else ""
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", last)}
    bad = counts.get("failed", 0) + counts.get("error", 0)
    run([sys.executable, "-m", "coverage", "json", "-q", "-o", "coverage.json"], one, folder, 60.0)
    covered = [0, 0]
    if (folder / "coverage.json").exists():
        for entry in json.loads((folder / "coverage.json").read_text())["files"].values():
            for place, key in enumerate(("executed_branches", "missing_branches")):
                covered[place] = sum(one.lines[0] <= arc[0] <= one.lines[1] for arc in entry[key])
    return counts.get("passed", 0) + bad, bad if last else 1, (covered[0], sum(covered))


def run(
    words: list[str], one: Drawn, where: Path, seconds: float, more: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, str]:
    """What a command says, with these variables as well; PYTHONPATH comes before the usual one."""
    usual = variables(one)
    given = {
        **usual,
        **more,
        "PYTHONPATH": os.pathsep.join(filter(None, [more.get("PYTHONPATH"), usual["PYTHONPATH"]])),
    }
    pipe = subprocess.PIPE
    streams: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": pipe,
        "stderr": pipe,
        "text": True,
        "errors": "replace",
    }
    process = subprocess.Popen(words, cwd=where, env=given, start_new_session=True, preexec_fn=_limited, **streams)
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return process.communicate()[0], "it did not end"


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_SECONDS, _MOST_CPU_SECONDS))


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures over all rows."""
    complete = [row for row in rows if row["complete"]]
    return {
        "targets": len(rows),
        "with tests": sum(row["tests"] > 0 for row in rows),
        "mean branch coverage": f"{statistics.mean(row['percent'] for row in rows):.1f} %",
        "tests": sum(row["tests"] for row in rows),
        "of them fail in a fresh process": sum(row["failed"] for row in rows),
        "complete": len(complete),
        "of these beside a missed branch": sum(row["percent"] < 100 for row in complete),
        "wrong predictions and internal errors": sum(row["wrong"] for row in rows),
        "median s": round(statistics.median(row["seconds"] for row in rows), 1),
        "median CPU s": round(statistics.median(row["cpu"] for row in rows), 1),
    }


def table_row(name: str, number: int, rows: list[dict[str, Any]]) -> str:
    """The figures as a row of the page."""
    of = figures(rows)
    cells = [
        name,
        f"{of['targets']} of {number}",
        of["with tests"],
        of["mean branch coverage"],
        f"{of['tests']}, {of['of them fail in a fresh process']}",
        f"{of['complete']}, {of['of these beside a missed branch']}",
        f"{of['median s']} ({of['median CPU s']})",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def write_into(page: str, row: str) -> str:
    """The page with a row in the place of the one of the same name, or below the head of the table."""
    lines, name = page.splitlines(), row.split(" | ")[0]
    old = next((place for place, line in enumerate(lines) if line.split(" | ")[0] == name), None)
    if old is None:
        head = next(place for place, line in enumerate(lines) if line.startswith("| draw |"))
        lines.insert(head + 2, row)
    else:
        lines[old] = row
    return "\n".join(lines) + "\n"


def _state() -> str:
    """What the code is that is measured."""
    sources = sorted((CHECKOUT / "src").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _measure(chosen: dict[int, Drawn], kept: Path, workers: int, rows: Rows) -> None:
    """Measures what is not kept yet; each row is kept as soon as it is known."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    for row in known:
        if row["number"] in chosen:
            rows.add(**row)
            del chosen[row["number"]]
    start, left = time.monotonic(), len(chosen)
    pool = ProcessPoolExecutor(workers)
    waiting = [pool.submit(measured, one, number) for number, one in chosen.items()]
    try:
        with kept.open("a", encoding="utf-8") as file:
            for done, future in enumerate(as_completed(waiting), 1):
                row = future.result()
                file.write(json.dumps(row) + "\n")
                file.flush()
                rows.add(**row)
                minutes = (time.monotonic() - start) / 60
                said = f"{done} of {left}, {minutes:.1f} min, about {minutes / done * (left - done):.0f} min left"
                print(f"{said}: {row['tests']} tests, {row['percent']} %", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


def main(
    quick: bool = False,
    seed: str = "",
    number: int = DRAWN,
    part: str = "1/1",
    workers: int = 1,
    docs: bool = False,
    packages: int = 1,
) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    number = 5 if quick else number
    which, _, parts = part.partition("/")
    chosen = {p: one for p, one in enumerate(draw(seed, number, packages)) if p % int(parts) == int(which) - 1}
    rows = Rows("unit_wild", ["number", "target", "tests", "failed", "percent", "complete", "seconds", "cpu"])
    name = seed or ("official" if packages == 1 else f"official, list {packages}")
    _measure(chosen, PLACE / "rows" / f"{name}-{_state()}.jsonl", workers, rows)
    rows.table()
    print(", ".join(f"{value} {name}" for name, value in figures(rows.rows).items()), file=sys.stderr)
    if docs:
        row = table_row(f"`--seed {seed}`" if seed else name, number, rows.rows)
        _DOCS.write_text(write_into(_DOCS.read_text(encoding="utf-8"), row), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How far treadle unit gets with functions of others.")
    parser.add_argument("--seed", default="", help="draw others, to develop with")
    parser.add_argument("--number", type=int, default=DRAWN, help="how many functions")
    parser.add_argument("--part", default="1/1", help="every so-manieth of them: 2/4")
    parser.add_argument("--workers", type=int, default=1, help="how many targets at a time")
    parser.add_argument("--packages", type=int, default=1, choices=tuple(LISTS), help="from which list of packages")
    parser.add_argument("--docs", action="store_true", help="write the figures into docs/benchmarks-unit.md")
    main(**vars(parser.parse_args()))
