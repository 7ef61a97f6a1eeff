"""`--workers`, `--cluster` and `--ship`: the same words for every command."""

from __future__ import annotations

from typing import Any

import click

from treadle.core.errors import UsageError
from treadle.search.cluster import processes_of


class _Workers(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer clicks
    """A number of one or more, or 'auto' for one per processor."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return processes_of(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)


resume_option = click.option(
    "--resume",
    is_flag=True,
    default=None,
    help="Go on with what workers were doing when they were stopped.",
)


def workforce_options(command: Any) -> Any:
    for option in (
        click.option("--ship", is_flag=True, default=None, help="Send the project to the cluster."),
        click.option("--cluster", metavar="ADDRESS", help="Let the workers of a Dask cluster do the work."),
        click.option("--workers", type=_Workers(), metavar="N|auto", help="Processes that do the work."),
    ):
        command = option(command)
    return command
