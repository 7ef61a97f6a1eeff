"""`pytest --treadle-copies 2` on suites that others wrote: is each test still right with a copy of it beside it?

    python -m benchmarks.copies [--list 6]

The packages are the first of `wild_packages_2.txt`, or of another list, in the order that the seed below shuffles it
into; list, seed and limits were stated before any of these suites was run so. A suite has SECONDS by the clock and each
of its tests a second, file by file in the order of the same seed; a file that is not at its end by then is not counted.
Races are to be looked at by hand: a suite that shares a file or a port on purpose is no fault of its package.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Rows
from benchmarks.wild import built, install, packages, prepared, run_command

SEED, PACKAGES = "copies of tests", 14
LIST = 2
SECONDS = 60

_COUNTED = ("races", "passes", "cut", "shares nothing", "cannot share")


def drawn(number: int = LIST) -> list[str]:
    names = packages(number).read_text(encoding="utf-8").split()
    random.Random(SEED).shuffle(names)
    return names[:PACKAGES]


def main(quick: bool = False, names: Sequence[str] = (), number: int = LIST) -> None:
    rows = Rows("copies", ["package", "files", "tests", *_COUNTED, "seconds"])
    for package in list(names or drawn(number))[: 2 if quick else None]:
        ready = prepared(package)
        if ready is None or not install(ready[1], str(built())):
            rows.add(package=package, files="cannot be installed from source")
            continue
        rows.add(package=package, **with_copies(*ready))
    rows.table()


def with_copies(source: Path, inner: str) -> dict[str, Any]:
    """How the tests of one suite end with a copy beside them: file by file, as far as the time goes."""
    files = sorted({*source.rglob("test_*.py"), *source.rglob("*_test.py")})
    random.Random(SEED).shuffle(files)
    started = time.perf_counter()
    outcomes: dict[str, str] = {}
    begun = 0
    for file in files:
        left = SECONDS - (time.perf_counter() - started)
        if left < 1:
            break
        begun += 1
        outcomes |= _of_file(file, source, inner, left)
    counts = Counter(outcome.partition(":")[0] for outcome in outcomes.values())
    return {
        "files": f"{begun} of {len(files)}",
        "tests": len(outcomes),
        **{name: counts[name] for name in _COUNTED},
        "seconds": time.perf_counter() - started,
        "failing": [name for name, outcome in outcomes.items() if outcome.startswith("races")],
    }


def _of_file(file: Path, source: Path, inner: str, seconds: float) -> dict[str, str]:
    """How the tests of one file end; none when it did not come to its end in time."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "copies.json"
        words = [inner, "-m", "pytest", "-q", "-o", "addopts=", "-o", f"cache_dir={folder}/cache"]
        words += ["--treadle-copies", "2"]
        words += ["--treadle-seconds", "1", "--treadle-executions", "500", "--treadle-json", str(out), str(file)]
        run_command(words, source, seconds)
        found: dict[str, str] = json.loads(out.read_text())["tests"] if out.exists() else {}
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="these instead of the draw")
    parser.add_argument("--list", type=int, default=LIST, help="the number of the list to draw from")
    given = parser.parse_args()
    main(names=given.packages, number=given.list)
