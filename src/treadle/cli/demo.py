"""`treadle demo`: the tool at work on the bundled examples. It finds, shrinks, explains and replays each mistake.

Decides nothing about the examples: what is shown is what the searches really do, and the command fails when one of
them does not do what it says. Each door adds its part to PARTS.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click
from rich.console import Console
from rich.rule import Rule

from treadle.model.result import Result, Verdict
from treadle.output import console as printing

# title -> module:function that shows one door and says whether all went as announced
PARTS: dict[str, str] = {
    "explore: every schedule of a test that already exists": "treadle.cli.demo:show_explore",
}

# The examples that are shown; the folder has more.
EXAMPLES = ("lost_update", "abba_deadlock", "dict_changed_while_iterated")


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
    from treadle.generate.explore import check, replay

    well = True
    for name in EXAMPLES:
        try:
            module = importlib.import_module(f"treadle.examples.threads.{name}")
        except ModuleNotFoundError:
            continue
        buggy, fixed = tests_of(module)
        console.print()
        console.print(f"[bold]{(module.__doc__ or name).strip().splitlines()[0]}[/bold]")
        console.print(f"$ treadle explore {target(buggy)}", markup=False)
        result = check(buggy, target=target(buggy))
        printing.show(result)
        well &= result.failed
        if result.failed:
            console.print("\n$ treadle replay 'tr1:...'", markup=False)
            again = replay(result.findings[0].replay, buggy)
            well &= again.failed
            console.print(_replayed(again), markup=False)
        console.print(f"\n$ treadle explore {target(fixed)}", markup=False)
        result = check(fixed, target=target(fixed))
        printing.show(result)
        well &= result.verdict is Verdict.PASSED_EXHAUSTIVE
    console.print()
    console.print(f"more examples: {Path(__file__).parent.parent / 'examples' / 'threads'}", markup=False)
    return well


def _replayed(result: Result) -> str:
    if result.failed:
        return f"FAILED  the same schedule again, the same failure: {result.findings[0].message}"
    return "the schedule did not fail again"


def tests_of(module: ModuleType) -> tuple[Callable[[], None], Callable[[], None]]:
    """The first buggy test of an example and the first corrected one."""
    functions = [value for _, value in inspect.getmembers(module, inspect.isfunction)]
    buggy = next(function for function in functions if function.__name__.startswith("test_buggy"))
    fixed = next(function for function in functions if function.__name__.startswith("test_fixed"))
    return buggy, fixed


def target(test: Callable[[], None]) -> str:
    """How the command line names a test of the examples: seen from here when it is below."""
    file = Path(inspect.getsourcefile(test) or "").resolve()
    shown = os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)
    return f"{shown}::{test.__name__}"
