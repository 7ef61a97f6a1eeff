"""`treadle demo`: the tool at work on the bundled examples. It finds, shrinks, explains and replays each mistake.

Decides nothing about the examples: what is shown is what the searches really do, and the command fails when one of
them does not do what it says. Each door adds its part to PARTS.
"""

from __future__ import annotations

import ast
import importlib
import os
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.rule import Rule

from treadle.cli import collect
from treadle.core.result import Result, Verdict
from treadle.pytest_plugin import Campaign
from treadle.report import console as printing

# title -> module:function that shows one door and says whether all went as announced
PARTS: dict[str, str] = {
    "explore: every schedule of a test that already exists": "treadle.cli.demo:show_explore",
}

# The examples that are shown; the folder has more.
EXAMPLES = ("lost_update", "augmented_assignment", "abba_deadlock", "changed_while_iterated")
EXAMPLES_FOLDER = Path(__file__).parent.parent / "examples" / "threads"


@click.command()
def command() -> int:
    """Show Treadle finding, shrinking, explaining and replaying bugs in the bundled examples."""
    console = Console(highlight=False, soft_wrap=True)
    well = True
    for title, place in PARTS.items():
        console.print(Rule(title, align="left"))
        module, _, name = place.partition(":")
        show: Callable[[Console], bool] = getattr(importlib.import_module(module), name)
        well &= show(console)
    if not well:
        console.print("the demo did not go as announced: please report this as a bug in Treadle")
    return 0 if well else 1


def show_explore(console: Console) -> bool:
    """For each example: the bug and its replay, then the corrected twin, which passes under every schedule."""
    well = True
    for name in EXAMPLES:
        path = EXAMPLES_FOLDER / f"{name}.py"
        source = ast.parse(path.read_text(encoding="utf-8"))
        buggy, fixed = (f"{_here(path)}::{test}" for test in tests_of(source))
        console.print()
        console.print((ast.get_docstring(source) or name).splitlines()[0], style="bold", markup=False)
        console.print(f"\n$ treadle explore {buggy}", markup=False)
        result = _run(buggy, Campaign())
        printing.show(result)
        well &= result.failed
        if result.failed:
            console.print("\n$ treadle replay 'tr2:...'", markup=False)
            again = _run(buggy, Campaign(replay=result.findings[0].replay))
            well &= again.failed
            console.print(_replayed(again), markup=False)
        console.print(f"\n$ treadle explore {fixed}", markup=False)
        result = _run(fixed, Campaign())
        printing.show(result)
        well &= result.verdict is Verdict.PASSED_EXHAUSTIVE
    console.print()
    console.print(f"more examples: {_here(EXAMPLES_FOLDER)}", markup=False)
    return well


def _run(target: str, campaign: Campaign) -> Result:
    collect.run(collect.Target(target), campaign)
    if campaign.results[0].cut_by == "interrupted":
        raise KeyboardInterrupt
    return campaign.results[0]


def _replayed(result: Result) -> str:
    if result.failed:
        return f"FAILED  the same schedule again, the same failure: {result.findings[0].message}"
    return "the schedule did not fail again"


def tests_of(source: ast.Module) -> tuple[str, str]:
    """The first buggy test of an example and the first corrected one."""
    names = [node.name for node in source.body if isinstance(node, ast.FunctionDef)]
    buggy = next(name for name in names if name.startswith("test_buggy"))
    return buggy, next(name for name in names if name.startswith("test_fixed"))


def _here(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
