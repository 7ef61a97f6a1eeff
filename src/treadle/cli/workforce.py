"""`--workers`, `--cluster` and `--ship`: the same words for every command."""

from __future__ import annotations

from typing import Any

import click


def workforce_options(command: Any) -> Any:
    for option in (
        click.option("--ship", is_flag=True, help="Send the project to the cluster: no shared file system."),
        click.option("--cluster", metavar="ADDRESS", help="Let the workers of a Dask cluster do it instead."),
        click.option("--workers", type=click.IntRange(1), default=1, metavar="N", help="Processes that do the work."),
    ):
        command = option(command)
    return command
