"""`pytest --treadle-copies 2` on suites that others wrote: is each test still right with a copy of it beside it?

    python -m benchmarks.copies

The packages are the first of `wild_packages_2.txt` in the order that the seed below shuffles it into; list, seed and
limits were stated before any of these suites was run so. A suite has SECONDS by the clock and each of its tests a
second; what was not begun then is not counted. Races are to be looked at by hand: a suite that shares a file or a port
on purpose is no fault of its package.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Rows
from benchmarks.wild import built, install, packages, prepared, run_command

SEED, PACKAGES = "copies of tests", 14
SECONDS = 60

_COUNTED = ("races", "passes", "cut", "shares nothing", "cannot share")


def drawn() -> list[str]:
    names = packages(2).read_text(encoding="utf-8").split()
    random.Random(SEED).shuffle(names)
    return names[:PACKAGES]


def main(quick: bool = False, names: Sequence[str] = ()) -> None:
    rows = Rows("copies", ["package", "tests", *_COUNTED, "others", "seconds", "answer"])
    for package in list(names or drawn())[: 2 if quick else None]:
        ready = prepared(package)
        if ready is None or not install(ready[1], str(built())):
            rows.add(package=package, answer="not run: it cannot be installed from source")
            continue
        rows.add(package=package, **with_copies(*ready))
    rows.table()


def with_copies(source: Path, inner: str) -> dict[str, Any]:
    """How the tests of one suite end with a copy beside them, as far as the time goes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "copies.json"
        words = ["timeout", "-s", "INT", "-k", "30", str(SECONDS), inner, "-m", "pytest", "-q", "-o", "addopts="]
        words += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--treadle-copies", "2"]
        words += ["--treadle-seconds", "1", "--treadle-executions", "500", "--treadle-json", str(out)]
        started = time.perf_counter()
        said = run_command(words, source, SECONDS + 60)
        seconds = time.perf_counter() - started
        if not out.exists():
            return {"seconds": seconds, "answer": f"no answer: {' '.join(said.splitlines()[-1:])[:120]}"}
        facts = json.loads(out.read_text())
    counts = facts["counts"]
    row = {"tests": sum(counts.values()), **{name: counts.get(name, 0) for name in _COUNTED}}
    others = {name: count for name, count in counts.items() if name not in _COUNTED}
    races = {name: outcome for name, outcome in facts["tests"].items() if outcome.startswith("races")}
    return {**row, "others": others, "seconds": seconds, "answer": facts["answer"], "failing": races}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="these instead of the draw")
    main(names=parser.parse_args().packages)
