"""`treadle replay`: one saved execution again, from the string or the file that a failure left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from treadle.cli import collect
from treadle.cli.extra import with_extra
from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.core.trail import Trail
from treadle.pytest_plugin import Campaign
from treadle.report import console, store


@click.command()
@click.argument("trail", metavar="STRING_OR_FILE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(trail: str, as_json: bool) -> int:
    """Run one saved execution again.

    STRING_OR_FILE is what a failure printed behind 'replay:', or the JSON file it named. Exit code 1: the failure is
    still there. Exit code 0: the same schedule no longer fails.
    """
    saved = read(trail)
    if saved.door == "actor":
        models = with_extra("replay " + saved.target, "treadle.doors.actor.models")
        return _report(models.replay_model(_here(saved.target, saved.target), saved), as_json)
    campaign = Campaign(replay=str(saved))
    campaign.options = {name: saved.settings[name] for name in ("instrument", "timeouts") if name in saved.settings}
    outcome = collect.run(collect.Target(find(saved.target)), campaign)
    if not campaign.results:
        why = "; ".join(reason for _, reason in outcome.skipped) or "pytest did not run it"
        raise UsageError(f"{saved.target} was not run: {why}")
    return _report(campaign.results[0], as_json)


def _report(result: Result, as_json: bool) -> int:
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        console.show_replay(result)
    return result.verdict.exit_code if result.failed else 0


def read(text: str) -> Trail:
    """A trail from a file when there is one of that name, from the string otherwise."""
    if not text.startswith(("tr1:", "tr2:")) and (text.endswith(".json") or os.path.isfile(text)):
        path = Path(text)
        if not os.path.isfile(text):
            raise UsageError(f"there is no replay file '{text}'")
        return store.load(path)
    return Trail.parse(text)


def find(target: str) -> str:
    """The test of a trail, seen from here: targets are written from the root of the project."""
    path, mark, names = target.partition("::")
    if not mark:
        raise UsageError(
            f"this trail belongs to '{target}', which is not a test in a file; "
            "replay it where it was found, with treadle.replay(string, function)"
        )
    return f"{_here(path, target)}::{names}"


def _here(path: str, target: str) -> str:
    """The file of a target, seen from here."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if os.path.isfile(folder / path):
            return str(folder / path) if folder != Path.cwd() else path
    raise UsageError(f"this trail belongs to {target}, but there is no file '{path}' here or in a folder above")
