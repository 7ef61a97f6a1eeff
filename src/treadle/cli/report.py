"""`treadle report`: a page to look at, of one execution that a failure left behind."""

from __future__ import annotations

from pathlib import Path

import click

from treadle.cli.output import FileToWrite
from treadle.cli.replay import read, run_test
from treadle.core.errors import UsageError
from treadle.core.packages import with_extra
from treadle.core.result import Result
from treadle.core.verdict import exit_code_of
from treadle.doors.replay import replayer_of
from treadle.report import page
from treadle.report.explore_page import result_part


@click.command()
@click.argument("trail", metavar="STRING_OR_FILE")
@click.option("--output", type=FileToWrite(), default="report.html", metavar="FILE", help="The page.")
def command(trail: str, output: Path) -> int:
    """Run one saved execution again and write a page to look at.

    STRING_OR_FILE is what a failure printed behind 'replay:', or the JSON file it named. The page shows the schedule as
    it goes with the source as it is now; default: report.html. Exit codes are those of treadle replay.
    """
    saved = read(trail)
    result = with_extra("report " + saved.target, replayer_of(saved)).replay_trail(saved, run_test)
    if not isinstance(result, Result):
        raise UsageError(
            f"{saved.target} is a case of treadle {saved.door}: its page comes from --report of that command"
        )
    page.write(output, [result_part(result)])
    print(f"{'FAILED' if result.failed else 'DID NOT FAIL'}  {result.target}\nreport: {output}")
    return exit_code_of(failed=result.failed)
