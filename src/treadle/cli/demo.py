"""`treadle demo`: each of the five doors at work on a bundled example, as the commands that a person would type.

Decides nothing about the examples: every command runs in a process of its own, in a folder with copies of them, and the
demo fails when one ends with another exit code than the one that is announced. It ends by naming the pages it wrote.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from treadle.core.errors import UsageError
from treadle.core.verdict import EXIT_FAILED, EXIT_INTERNAL, EXIT_PASSED
from treadle.report.lines import Lines

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True, slots=True)
class DemoPart:
    """One door: the example it is shown on, what it needs, and its commands with the exit code of each."""

    title: str
    example: str  # below the folder of examples
    commands: Sequence[tuple[str, int]]
    needs: tuple[str, ...] = ()  # modules of the extra
    extra: str = ""


PARTS = (
    DemoPart(
        "explore: every schedule of a test that already exists",
        "threads/lost_update.py",
        [
            ("explore lost_update.py::test_buggy_deposits --report explore.html", EXIT_FAILED),
            ("replay FINDING", EXIT_FAILED),
            ("explore lost_update.py::test_fixed_deposits", EXIT_PASSED),
        ],
    ),
    DemoPart(
        "class: concurrent tests for a class that threads share",
        "threads/lost_update.py",
        [("class lost_update:Account --budget 5s --report class.html", EXIT_FAILED)],
        ("hypothesis",),
        "class",
    ),
    DemoPart(
        "unit: a test for every path of a function",
        "functions/transfer.py",
        [("unit transfer:transfer --show cases --report unit.html", EXIT_PASSED)],
        ("z3", "coverage"),
        "unit",
    ),
    DemoPart(
        "schedule: few orders of messages that an actor test has not seen",
        "actors/early_message.py",
        [("schedule early_message.py::test_early_message --report schedule.html", EXIT_FAILED)],
        ("pykka",),
        "pykka",
    ),
    DemoPart(
        "actor: tests of an actor's method whose inputs are unknown, of an ABS model",
        "models/till.abs",
        [("actor till.abs:Till.pay --report actor.html", EXIT_PASSED)],
        ("z3", "lark"),
        "abs",
    ),
)


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the first page in a browser at the end.")
def command(opens: bool) -> int:
    """Show each of the five doors at work on a bundled example."""
    out = Lines()
    folder = Path(tempfile.mkdtemp(prefix="treadle-demo-"))
    well = True
    for part in PARTS:
        out.rule(part.title, align="left", characters="-")
        missing = [name for name in part.needs if importlib.util.find_spec(name) is None]
        if missing:
            out.say(f"left out, it needs {', '.join(missing)}: pip install '.[{part.extra}]' in the folder of Treadle")
            continue
        shutil.copy(EXAMPLES / part.example, folder)
        for words, code in part.commands:
            well &= _run(out, folder, words, code)
    pages = sorted(folder.glob("*.html"), key=lambda page: page.stat().st_mtime)
    if not well or not pages:
        out.say("the demo did not go as announced: please report this as a bug in Treadle")
        return EXIT_INTERNAL
    out.rule("pages to look at, in a browser", align="left", characters="-")
    for page in pages:
        out.say(str(page), indent=2, whole=True)
    if opens and not webbrowser.open(pages[0].as_uri()):
        raise UsageError("there is no browser that could be opened; the pages are named above")
    return EXIT_PASSED


def _run(out: Lines, folder: Path, words: str, expected: int) -> bool:
    """One command, as it is typed; FINDING is the failing execution that was saved last."""
    saved = sorted((folder / ".treadle" / "findings").glob("*.json"))
    typed = words.replace("FINDING", str(saved[-1].relative_to(folder)) if saved else "FINDING")
    out.say(f"\n$ treadle {typed}", whole=True)
    run = subprocess.run([sys.executable, "-m", "treadle", *typed.split()], cwd=folder, check=False)
    if run.returncode != expected:
        out.say(f"this ended with exit code {run.returncode}, {expected} was expected")
    return run.returncode == expected
