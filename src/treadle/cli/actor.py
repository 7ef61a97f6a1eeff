"""`treadle actor`: its options. What it does with them is in `actor_run`, so that --help needs no solver."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from treadle.abs.machine.criteria import OBJECT_SELECTIONS, REDUCTIONS, SELF_CALLS
from treadle.cli.output import page_option, sarif_option, strict_option
from treadle.cli.workforce import resume_option, workforce_options
from treadle.core.packages import with_extra


class _Limit(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer clicks
    """A number of one or more, or 'none' for no limit."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if isinstance(value, int):
            return value
        if value == "none":
            return "none"
        if not re.fullmatch(r"\d+", str(value)) or int(value) < 1:
            self.fail(f"'{value}' is no limit: give a number of 1 or more, or 'none'", param, ctx)
        return int(value)


@click.command()
@click.argument("target", metavar="MODEL.abs[:CLASS.METHOD]")
@click.option("-k", "--loop", type=_Limit(), help="At most N turns of a loop and N nested recursive calls. Default: 2.")
@click.option("--tasks", type=_Limit(), help="At most N task switches per actor. Default: 10.")
@click.option("--actors", type=_Limit(), help="At most N unknown actors per call, N+1 per new. Default: 2.")
@click.option("--queue", type=click.IntRange(0), default=0, metavar="N", help="Up to N related methods in the queue.")
@click.option(
    "--pruning",
    type=click.IntRange(0, 3),
    default=3,
    help="Which methods --queue tries: 0 all, 3 fewest. Default: 3.",
)
@click.option("--alias/--no-alias", default=False, help="Whether unknown references may be the same object.")
@click.option("--select-objects", type=click.Choice(OBJECT_SELECTIONS), default="all", help="Which object is next.")
@click.option(
    "--select-tasks",
    multiple=True,
    metavar="[CLASS=]all|fifo|lifo",
    help="Which task is next, for all actors or those of a class. Repeatable. Default: all.",
)
@click.option("--reduce", type=click.Choice(REDUCTIONS), default="independent", help="Which orders are left out.")
@click.option(
    "--self-calls",
    type=click.Choice(SELF_CALLS),
    default="at-once",
    help="Whether a call on the own actor runs at once or is waited for.",
)
@click.option("--domain", default="-10..10", metavar="LO..HI", help="The range of unknown integers, or none.")
@click.option(
    "--values",
    type=click.Choice(["values", "constraints", "hybrid"]),
    default="values",
    help="Tell inputs and outputs as values, as constraints, or as values only where the path asks for one.",
)
@click.option("--seconds", type=float, metavar="N", help="Stop after N seconds.")
@click.option("--states", type=int, metavar="N", help="Stop after N states.")
@workforce_options
@resume_option
@click.option("--cases", "wanted", metavar="N|all|none", help="How many cases to tell and replay. All are counted.")
@click.option("--write", "where", type=click.Path(path_type=Path), metavar="FILE", help="Write the tests to FILE.")
@click.option("--format", "form", type=click.Choice(["pytest", "absunit"]), help="What to write. Default: pytest.")
@click.option("--pictures", type=click.Path(path_type=Path), metavar="DIR", help="A sequence diagram (SVG) per test.")
@click.option("--tree", type=click.Path(path_type=Path), metavar="FILE", help="The execution tree as .svg or .dot.")
@click.option("--force", is_flag=True, help="Replace files even if they were edited by hand.")
@page_option
@sarif_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(**given: Any) -> int:
    """Explore a method of an ABS class with unknown arguments, fields and other actors, in all orders that matter.

    Without a method, the main block is explored. Prints the tests found: initial state, arguments, order of tasks and
    final state; --write makes a pytest file of them. Exit code 1: a test shows a deadlock or a failed assertion.
    """
    return int(with_extra("actor", "treadle.cli.actor_run").run(**given))
