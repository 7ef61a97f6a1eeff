"""What makes `treadle unit` scale: heap solver, summaries, guidance; each with and without, on programs that grow.

    python -m benchmarks unit_scale            (--quick: smaller programs)

Four parts, one table: references that may be the same object (paths and time, heap lazy or solver, without and with
work between the writes), calls of one function in a row (time with and without summaries, and with summaries of an
earlier run; the same on objects that may be one, and for a function that only compares), one line behind many
conditions (time to a test that reaches it, against the time of all paths), and the module of the benchmark `unit` with
each feature switched on alone. Times are processor seconds of exploring and choosing values; writing and running the
tests costs the same for everyone and is left out. The curves are drawn to
docs/img/unit_scale.png.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import environments, unit
from benchmarks.rows import Rows

RUNNER = Path(__file__).parent / "subjects" / "run_unit.py"
CURVES = Path(__file__).parent / "subjects" / "draw_curves.py"
PICTURE = environments.CHECKOUT / "docs" / "img" / "unit_scale.png"

CALLEE = '''\
def checksum(text: str) -> int:
    total = 0
    for position, letter in enumerate(text):
        total = (total * 31 + ord(letter) * (position + 1)) % 65521
    return total


def price(amount: int) -> int:
    """Three bands; the rate of a band is looked up by a checksum of its name, which is work on known values."""
    if amount < 0:
        raise ValueError("amount")
    band = "small" if amount < 10 else "middle" if amount < 100 else "large"
    rate = checksum(band * 8) % 7 + 1
    return amount * rate
'''


def aliases(n: int, work: bool = False) -> str:
    """n references are written, n fields are read, one branch asks about two of them; with work after each write."""
    names = [f"r{i}" for i in range(n)]
    lines = [f"    {name}.f = {i + 1}" + ("\n    checksum(TEXT)" if work else "") for i, name in enumerate(names)]
    return "\n".join(
        [
            CALLEE,
            "TEXT = 'the same text every time' * 2\n\n",
            "class C:\n    def __init__(self, f: int = 0) -> None:\n        self.f = f\n\n",
            f"def main({', '.join(f'{name}: C' for name in names)}) -> int:",
            *lines,
            f"    total = {' + '.join(f'{name}.f' for name in names)}",
            f"    if r0 is r{n - 1}:\n        return total",
            "    return -total\n",
        ]
    )


def calls(n: int) -> str:
    """n calls of one function in a row, on values that keep them in step."""
    lines = [f"    total += price(amount + {i})" for i in range(n)]
    return "\n".join([CALLEE, "", "def main(amount: int) -> int:", "    total = 0", *lines, "    return total\n"])


def object_calls(n: int) -> str:
    """The same with two accounts that are read and written, and that may be one."""
    lines = [f"    charge(a, b, amount + {i})" for i in range(n)]
    return "\n".join(
        [
            CALLEE,
            "",
            "class Account:\n    def __init__(self, balance: int = 0) -> None:\n        self.balance = balance\n\n",
            "def charge(account: Account, other: Account, amount: int) -> None:",
            "    cost = price(amount)",
            "    account.balance -= cost",
            "    other.balance += cost\n\n",
            "def main(a: Account, b: Account, amount: int) -> int:",
            *lines,
            "    return a.balance if a is not b else 0\n",
        ]
    )


def compared_calls(n: int) -> str:
    """Calls with nothing to do but three comparisons: where a summary has least to save."""
    callee = (
        "def band(x: int) -> int:\n    if x < 0:\n        return 0\n    return 1 if x < 10 else 2 if x < 100 else 3\n\n"
    )
    lines = [f"    total += band(amount + {i})" for i in range(n)]
    return "\n".join([callee, "def main(amount: int) -> int:", "    total = 0", *lines, "    return total\n"])


def conditions(n: int) -> str:
    """2 ** n paths, and one line behind all of them."""
    names = [f"x{i}" for i in range(n)]
    lines = [f"    if {name} > 0:\n        count += 1" for name in names]
    return "\n".join(
        [
            f"def main({', '.join(f'{name}: int' for name in names)}) -> int:",
            "    count = 0",
            *lines,
            "    if x0 + x1 == 100 and x2 == -7:",
            "        return -1",
            "    return count\n",
        ]
    )


def measured(folder: Path, name: str, source: str | None, **options: Any) -> dict[str, Any]:
    """One exploration in a process of its own."""
    if source is not None:
        (folder / f"{name}.py").write_text(source)
    request = {"target": f"{name}:main" if source is not None else name, "options": options}
    command = [sys.executable, str(RUNNER), json.dumps(request)]
    done = subprocess.run(
        command, cwd=folder, env=environments.with_treadle(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-500:])
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main(quick: bool = False) -> None:
    folder = environments.FOLDER / "unit-scale"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / ".treadle", ignore_errors=True)
    rows = Rows("unit_scale", ["family", "size", "how", "paths", "cases", "seconds"])

    def row(family: str, size: int, how: str, name: str, source: str | None, **options: Any) -> None:
        found = measured(folder, name, source, **options)
        rows.add(family=family, size=size, how=how, **found)

    for n in range(2, 7 if quick else 9):
        for heap in ("lazy", "solver"):
            row("aliases", n, heap, f"aliases_{n}", aliases(n), heap=heap, none=False)
            row("aliases and work", n, heap, f"busy_{n}", aliases(n, work=True), heap=heap, none=False)
    for n in (1, 2, 4, 8) if quick else (1, 2, 4, 8, 16, 32):
        row("calls", n, "plain", f"calls_{n}", calls(n))
        row("calls", n, "summaries", f"calls_{n}", calls(n), summaries=True)
        measured(folder, f"calls_{n}", calls(n), summaries=True, keep_summaries=True)
        row("calls", n, "kept summaries", f"calls_{n}", calls(n), summaries=True, keep_summaries=True)
        for family, made in (("calls on objects", object_calls), ("calls that compare", compared_calls)):
            name = f"{made.__name__}_{n}"
            row(family, n, "plain", name, made(n), heap="solver")
            row(family, n, "summaries", name, made(n), heap="solver", summaries=True)
    for n in (6, 8, 10) if quick else (6, 8, 10, 12, 13):
        source = conditions(n)
        line = source.splitlines().index("        return -1") + 1
        row("conditions", n, "all-paths", f"conditions_{n}", source)
        row("conditions", n, "one point", f"conditions_{n}", source, select="points", points=[f"{line}"])
    _module(rows, row, folder)
    rows.table()
    _draw(rows, quick)


def _module(rows: Rows, row: Any, folder: Path) -> None:
    """The module of the benchmark `unit`, each feature alone."""
    peers = environments.environment(sys.executable, *unit.PEERS, *unit.REAL)
    (folder / "subject.py").write_text(unit.subject_source(peers))
    count = len(unit.functions(folder / "subject.py"))
    for how, options in (
        ("lazy, plain", {"heap": "lazy"}),
        ("heap solver", {"heap": "solver"}),
        ("summaries", {"heap": "lazy", "summaries": True}),
        ("local paths", {"heap": "lazy", "select": "local-paths"}),
        ("branches", {"heap": "lazy", "select": "branches"}),
    ):
        row("module", count, how, "subject", None, **options)


def _draw(rows: Rows, quick: bool) -> None:
    """The growth curves; drawn by matplotlib in an environment of its own."""
    target = Path("unit_scale_quick.png") if quick else PICTURE
    python = environments.environment(sys.executable, "matplotlib")
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([python, str(CURVES), str(target)], input=json.dumps(rows.rows), text=True, check=True)
    print(f"curves: {target}", file=sys.stderr)


__all__ = ["main"]
