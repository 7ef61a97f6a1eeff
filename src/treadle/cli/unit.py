"""`treadle unit`: its options. What it does with them is in `unit_run`, so that --help needs no solver."""

from __future__ import annotations

from typing import Any

import click

from treadle.cli.output import machine_options, page_option
from treadle.cli.workforce import workforce_options
from treadle.core.packages import with_extra

# Where an option stands in --help: a person looks for a purpose, not for a name.
_GROUPS = {
    "How far to look": ("k", "seconds", "paths", "terminate", "workers", "cluster", "ship", "more"),
    "Inputs": ("types", "none", "alias", "domain", "states", "pre", "assume", "infer_assumptions", "contracts"),
    "Which tests": ("select", "reach", "missing", "tests"),
    "How to get there": ("heap", "summaries", "stubs", "probe", "defensive", "allow_effects"),
    "Output": (
        "output",
        "append",
        "force",
        "style",
        "trails",
        "show",
        "report",
        "sarif",
        "format",
        "strict",
        "json",
        "help",
    ),
}


class _Grouped(click.Command):
    """A command whose help shows its options by purpose."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        left = {_name(p): record for p in options if (record := p.get_help_record(ctx)) is not None}
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([left.pop(name) for name in names if name in left])
        if left:
            with formatter.section("Other options"):
                formatter.write_dl(list(left.values()))


def _name(parameter: click.Parameter) -> str:
    """The option as it is written, '--infer-assumptions' as infer_assumptions."""
    return max(parameter.opts, key=len).lstrip("-").replace("-", "_")


@click.command(cls=_Grouped)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("-k", "k", type=int, metavar="N", help="Most iterations of each loop. Default: 2; with --more, one more.")
@click.option(
    "--seconds", type=float, metavar="N", help="Budget of the whole command. Default: 20 to explore each function."
)
@click.option("--paths", type=int, default=500, show_default=True, metavar="N", help="Most paths of each function.")
@click.option("--terminate", default="", metavar="WHAT", help="Where else paths end: depth-N, or module:function.")
@workforce_options
@click.option("--more", is_flag=True, help="Add what the bounds of the last run cut: one more iteration of each loop.")
@click.option("--types", "kinds", multiple=True, metavar="NAME=TYPE", help="Type of a parameter. Repeatable.")
@click.option("--none/--no-none", default=True, help="Whether references may be None whatever their hint says.")
@click.option("--alias/--no-alias", default=True, help="Whether arguments may share objects. Default: they may.")
@click.option("--domain", default="-10..10", show_default=True, metavar="LO..HI", help="Integers tried first.")
@click.option("--pre", multiple=True, metavar="CONDITION", help="What the inputs fulfil: 'n >= 0'. Repeatable.")
@click.option(
    "--states",
    type=click.Choice(["built", "any"]),
    default="built",
    show_default=True,
    help="Objects made by calls where some are found, or any fields.",
)
@click.option("--assume", multiple=True, metavar="WHAT", help="non_aliasing(a, b), non_sharing(a, b) or acyclic(a).")
@click.option("--infer-assumptions", is_flag=True, help="Assume what the code shows: acyclic, not shared.")
@click.option(
    "--contracts/--no-contracts", default=True, help="Whether preconditions are assumed, and promises checked."
)
@click.option(
    "--select",
    default="brief",
    show_default=True,
    metavar="WHAT",
    help="brief, all-paths, local-paths, statements, branches, points FILE:LINE.",
)
@click.option("--reach", multiple=True, metavar="FILE:LINE", help="A test that reaches this line: --select points.")
@click.option("--missing", is_flag=True, help="Only paths that the project's own tests do not take.")
@click.option("--tests", metavar="PATH", help="The own tests that --missing looks at. Default: the folder tests.")
@click.option(
    "--heap",
    type=click.Choice(["solver", "lazy"]),
    default="solver",
    show_default=True,
    help="How aliasing is decided: carried along until the program asks, or at every first dereference.",
)
@click.option(
    "--summaries/--no-summaries",
    default=True,
    help="Whether calls are composed from summaries of the functions, kept below .treadle/. The tests are the same.",
)
@click.option("--stubs", multiple=True, metavar="FILE", help="What code does that cannot be followed. Repeatable.")
@click.option(
    "--probe/--no-probe",
    default=True,
    help="Whether calls with picked values are tried for what cannot be followed.",
)
@click.option("--defensive", is_flag=True, help="Try values that the hints exclude as well, to get behind guards.")
@click.option("--allow-effects", is_flag=True, help="Really run code that uses files, processes or the network.")
@click.option("--output", metavar="FILE", help="The test file. Default: tests/test_<module>_<name>_unit.py.")
@click.option("--append", is_flag=True, help="Add the tests to an existing file.")
@click.option("--force", is_flag=True, help="Replace a file even if it was edited by hand.")
@click.option(
    "--style", type=click.Choice(["pytest", "unittest"]), default="pytest", show_default=True, help="Of the test file."
)
@click.option("--trails", is_flag=True, help="Write beside each test the string that treadle replay takes.")
@click.option("--show", type=click.Choice(["ir", "cases", "tree", "summary"]), help="Print this as well.")
@page_option
@machine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(**given: Any) -> int:
    """Write unit tests for functions, methods, classes, modules or packages.

    A TARGET is pkg.mod:function, pkg.mod:Class.method, pkg.mod:Class, or a whole module or package. The tests cover
    every path up to -k iterations of each loop, every None and every aliasing that matters, and every exception;
    each has been run before it is written.

    With --select points, each FILE:LINE or LINE among the arguments is a program point; without any other TARGET, the
    function around it is meant.

    Exit codes: 0 tests were written, 1 the code breaks a contract of its own, 2 wrong use, 3 nothing could be covered,
    or no test reaches a program point, 70 an internal error of Treadle ended some paths.
    """
    return int(with_extra("unit", "treadle.cli.unit_run").run(**given))
