"""What a command leaves besides its text: `--report`, `--sarif`, `--format github`, and the exit code of `--strict`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from treadle.core.files import write_whole
from treadle.report import page as pages
from treadle.report.annotations import Annotation, github, sarif


class FileToWrite(click.Path):
    """A file that is written in the end: that it cannot be is told before the search."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = super().convert(value, param, ctx)
        assert isinstance(path, Path)
        pages.check_writable(path, param.opts[0] if param is not None else "")
        return path


page_option = click.option("--report", "page", type=FileToWrite(), metavar="FILE", help="Also write a page to look at.")
sarif_option = click.option("--sarif", type=FileToWrite(), metavar="FILE", help="Also write what was found as SARIF.")
strict_option = click.option(
    "--strict", is_flag=True, help="Whatever is no pass fails: exit code 1 also for CUT and NOTHING."
)


def machine_options(command: Any) -> Any:
    form = click.option(
        "--format", "form", type=click.Choice(["text", "github"]), default="text", help="Also annotate for GitHub."
    )
    return strict_option(form(sarif_option(command)))


def write_page(path: Path | None, parts: Sequence[pages.Part], as_json: bool) -> None:
    """For --report. To be called when everything has been printed: a disk that is full must not swallow a verdict."""
    if path is not None:
        pages.write(path, parts)
        if not as_json:
            print(f"report: {path}")


def write_sarif(path: Path | None, told: Sequence[Annotation]) -> None:
    if path is not None:
        write_whole(path, sarif(told))


def annotate(form: str, told: Sequence[Annotation], as_json: bool) -> None:
    """With --format github, the lines that GitHub shows in the code; standard output may belong to JSON."""
    if form == "github" and told:
        print(github(told), file=sys.stderr if as_json else sys.stdout)
