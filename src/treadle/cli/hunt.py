"""`treadle hunt`: every public class and module of installed packages, with a budget each, and one ranked report."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from treadle.classes.subject import import_module
from treadle.cli.class_ import ClassServer, TestsPlace, modules_of, one_by_one, seconds, skipped
from treadle.cli.output import annotate, machine_options, page_option, write_page, write_sarif
from treadle.cli.workforce import workforce_options
from treadle.core.errors import NoSuchModule, TreadleError, UsageError
from treadle.core.verdict import EXIT_NOT_A_PASS, Verdict, worst, worst_exit_code
from treadle.doors.class_.hunt import Ledger, Prey, ranked, summary
from treadle.doors.class_.remarks import class_remarks
from treadle.observe.streams import silent_stdout
from treadle.report.lines import Lines
from treadle.report.progress import many
from treadle.search.cluster import Workforce, pool_of

_FOLDER = Path(".treadle") / "hunt"
# Words of `treadle class` that a hunt leaves as they are.
_USUAL: dict[str, Any] = {
    "methods": "", "skip": "", "setup": "", "values": (), "atomic_set": (), "generator": "coverage", "calls": 2,
    "prune": "all", "instrument": (), "from_tests": "",
}  # fmt: skip


@click.command()
@click.argument("packages", nargs=-1, required=True, metavar="PACKAGE...")
@click.option("--budget", default="10s", metavar="TIME", help="Time for each class or module. Default: 10s.")
@workforce_options
@click.option("--switches", metavar="free|gil|auto", help="Where threads may switch: everywhere, or as CPython does.")
@click.option(
    "--output", default=_FOLDER, type=click.Path(path_type=Path), metavar="FOLDER", help="For tests and notes."
)
@click.option("--again", is_flag=True, help="Begin anew, where otherwise a hunt goes on that was stopped.")
@click.option("--allow-effects", is_flag=True, help="Let imports and calls change files and use the network.")
@click.option("--seed", type=int, default=0, metavar="N", help="Other values and other random numbers.")
@page_option
@machine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    packages: tuple[str, ...],
    budget: str,
    workers: int | None,
    cluster: str | None,
    ship: bool | None,
    output: Path,
    again: bool,
    page: Path | None,
    sarif: Path | None,
    form: str,
    strict: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Look for races in installed packages.

    Every public class, and every module whose functions change its state, is run for its budget in a process of its
    own. Nothing is installed; a module whose import would change the world is left out and told. A hunt that was
    stopped goes on where it was.
    """
    seconds(budget)
    workforce = Workforce.asked(workers, cluster, ship)
    if output.exists() and not output.is_dir():
        raise UsageError(f"--output takes a folder, not '{output}'")
    ledger = Ledger(output / "hunt.jsonl", budget)
    if again:
        ledger.path.unlink(missing_ok=True)
    prey = _prey(packages, not given["allow_effects"])
    ledger.read(prey.targets)
    words = {**_USUAL, **given, "budget": budget}
    place = TestsPlace(str(output), keep_green=False, force=False, paged=page is not None)
    stopped = _run(prey, ledger, words, place, workforce)
    facts = [ledger.facts[target] for target in prey.targets if target in ledger.facts]
    told = [remark for one in facts for remark in class_remarks(one)]
    code = _tell(facts, prey, stopped, as_json)
    annotate(form, told, as_json)
    write_page(page, [one["page"] for one in facts if one.get("page")], as_json)
    write_sarif(sarif, told)
    left_out = strict and (prey.refused or any(one.get("skipped") for one in facts))
    return worst_exit_code([code, EXIT_NOT_A_PASS] if left_out else [code], strict)


def _prey(packages: tuple[str, ...], guarded: bool) -> Prey:
    prey = Prey()
    with silent_stdout():
        for package in packages:
            try:
                prey.add(package, modules_of(import_module(package, guarded), guarded))
            except NoSuchModule:
                raise
            except UsageError as error:
                prey.refused[package] = str(error)
    return prey


def _run(prey: Prey, ledger: Ledger, words: dict[str, Any], place: TestsPlace, workforce: Workforce) -> bool:
    """Run what is not in the ledger. True when somebody stopped it."""
    waiting = [target for target in prey.targets if target not in ledger.facts]
    if not waiting:
        return False
    with silent_stdout(), pool_of(workforce, HuntServer, (words, place, os.getcwd()), "hunt") as pool:
        for done in one_by_one(pool, waiting):
            if done.get("not_run"):
                print(f"treadle: {done['target']}: {done['reason']}", file=sys.stderr)
                continue
            ledger.add(done, prey.targets[done["target"]])
            left = sum(target not in ledger.facts for target in waiting)
            print(f"{len(waiting) - left} of {len(waiting)}  {done['target']}: {_short(done)}", file=sys.stderr)
    return any(target not in ledger.facts for target in waiting)


def _short(facts: dict[str, Any]) -> str:
    return f"left out, {facts['reason']}" if facts.get("skipped") else f"{facts['verdict']}, {facts['reason']}"


class HuntServer(ClassServer):
    """A worker: one target after the other, whatever becomes of it."""

    def place_of(self, name: str) -> TestsPlace:
        """Classes of one name in several modules do not write one file."""
        return replace(self._place, output=str(Path(self._place.output) / name.partition(":")[0]))

    def run(self, number: int, name: str) -> dict[str, Any]:
        try:
            return super().run(number, name)
        except TreadleError as error:
            return skipped(name, str(error))


def _tell(facts: list[dict[str, Any]], prey: Prey, stopped: bool, as_json: bool) -> int:
    faults = ranked(facts)
    verdict = worst(Verdict(one["verdict"]) for one in facts if not one.get("skipped"))
    verdict = Verdict.CUT if stopped and not faults else verdict
    rows = summary(facts, prey.refused)
    if as_json:
        results = [{name: value for name, value in one.items() if name != "page"} for one in facts]
        whole = {"targets": len(prey.targets), "run": len(facts), "stopped": stopped, "packages": rows}
        print(json.dumps({**whole, "refused": prey.refused, "faults": faults, "results": results}))
        return verdict.exit_code
    out = Lines()
    for number, fault in enumerate(faults, 1):
        out.say((f"{number}. {fault['kind']}: ", "bold"), f"{fault['release']}, {fault['target']}")
        out.say(fault["message"], indent=4)
        for effect in fault.get("effects", ()):
            out.say(f"also {effect['kind']}: {effect['message']}", indent=4)
        for text in (f"on: {fault['on']}" if fault["on"] else "", f"test: {fault['test']}" if fault["test"] else ""):
            if text:
                out.say(text, indent=4)
        if fault["replay"]:
            out.say(f"replay: treadle replay '{fault['replay']}'", indent=4, whole=True)
    for release, row in rows.items():
        counted = [many(number, what.removesuffix("s"), what) for what, number in sorted(row.items()) if number]
        out.say(f"{release}: {', '.join(counted)}")
    for name, why in prey.refused.items():
        out.say(f"refused: {name}: {why}")
    out.say(f"{len(facts)} of {len(prey.targets)} classes and modules run, {many(len(faults), 'race')}")
    if stopped:
        out.say("next: the same command goes on where it was stopped")
    return verdict.exit_code
