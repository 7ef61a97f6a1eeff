"""`treadle replay`: one saved execution again, from the string or the file that a failure left behind."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import click

from treadle.cli import collect
from treadle.core.errors import UsageError
from treadle.core.packages import with_extra
from treadle.core.result import Result
from treadle.core.trail import Trail
from treadle.core.verdict import exit_code_of
from treadle.doors.replay import replayer_of, test_from_here
from treadle.pytest_plugin import Campaign
from treadle.report import console, store


@click.command()
@click.argument("trail", metavar="STRING_OR_FILE")
@click.option("--debug", is_flag=True, help="Step through it in a debugger, which stops before every step.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(trail: str, debug: bool, as_json: bool) -> int:
    """Run one saved execution again.

    STRING_OR_FILE is what a failure printed behind 'replay:', or the JSON file it named. Exit code 1: the failure is
    still there. Exit code 0: the same schedule no longer fails. The string beside a test of treadle unit shows
    its case: inputs, outcome and path condition.
    """
    saved = read(trail)
    if debug and saved.door not in ("explore", "class", "schedule"):
        raise UsageError(f"--debug steps through schedules; this trail is a case of treadle {saved.door}")
    if debug and as_json:
        raise UsageError("--debug asks a person, --json answers a machine; give one of them")
    replayer = with_extra("replay " + saved.target, replayer_of(saved))
    result = replayer.replay_trail(saved, functools.partial(run_test, debug=debug))
    if isinstance(result, Result):
        return _report(result, saved, as_json)
    print(json.dumps(result.to_json(), indent=2) if as_json else result)
    return int(result.exit_code)


def run_test(saved: Trail, debug: bool = False) -> Result:
    """The test of a trail as pytest runs it, with its fixtures and parameters, along the trail."""
    campaign = Campaign(replay=str(saved), debug=debug)
    campaign.options = {name: saved.settings[name] for name in ("instrument", "timeouts") if name in saved.settings}
    campaign.overrides = [str(one) for one in saved.settings.get("ini", ())]
    outcome = collect.run(collect.Target(test_from_here(saved.target)), campaign)
    if not campaign.results:
        why = "; ".join(reason for _, reason in outcome.skipped) or "pytest did not run it"
        raise UsageError(f"{saved.target} was not run: {why}")
    return campaign.results[0]


def _report(result: Result, saved: Trail, as_json: bool) -> int:
    if as_json:
        print(json.dumps(result.to_json()))
    else:
        console.show_replay(result, saved)
    return exit_code_of(failed=result.failed)


def read(text: str) -> Trail:
    """A trail from a file when there is one of that name, from the string otherwise."""
    if not text.startswith(("tr1:", "tr2:")) and (text.endswith(".json") or os.path.isfile(text)):
        path = Path(text)
        if not os.path.isfile(text):
            raise UsageError(f"there is no replay file '{text}'")
        return store.load(path)
    return Trail.parse(text)
