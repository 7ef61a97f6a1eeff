"""`--sarif FILE` of every command that finds something: what it found, for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from treadle.core.files import write_whole
from treadle.report.annotations import Annotation, sarif
from treadle.report.page import check_writable

sarif_option = click.option(
    "--sarif", type=click.Path(path_type=Path), metavar="FILE", help="Also write what was found as SARIF."
)


def check_sarif(path: Path | None) -> None:
    """A file that cannot be written is told before the search."""
    if path is not None:
        check_writable(path, "--sarif")


def write_sarif(path: Path | None, told: Sequence[Annotation]) -> None:
    if path is not None:
        write_whole(path, sarif(told))
