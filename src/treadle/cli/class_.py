"""`treadle class`: concurrent tests for a class, from nothing but the class."""

from __future__ import annotations

import importlib.util
import json
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from treadle.classes.descriptors import examine_use
from treadle.classes.longer import MOST_CALLS
from treadle.classes.result import ClassResult, Options
from treadle.classes.sequences import prunings
from treadle.classes.subject import (
    Subject,
    check_class,
    find_class,
    import_module,
    is_function_of,
    may_be_shared,
    public_classes,
)
from treadle.cli.explore import terminal_line
from treadle.cli.output import FileToWrite, annotate, machine_options, page_option, write_page, write_sarif
from treadle.cli.workforce import resume_option, workforce_options
from treadle.core.errors import UsageError
from treadle.core.files import check_may_write, write_whole
from treadle.core.saved import SavedCampaign
from treadle.core.settings import read_settings
from treadle.core.verdict import Verdict, worst, worst_exit_code
from treadle.doors.class_ import console as class_console
from treadle.doors.class_.alone import run_alone
from treadle.doors.class_.from_tests import recorded_for
from treadle.doors.class_.issue import issue_of
from treadle.doors.class_.models import run_under_model
from treadle.doors.class_.page import class_part
from treadle.doors.class_.pytest_file import class_file, shown_path, tests_path, warnings_path
from treadle.doors.class_.remarks import class_remarks
from treadle.doors.class_.replay import staged
from treadle.doors.class_.shown import decide_faults, decide_warnings
from treadle.doors.class_.workers import run_in_processes
from treadle.observe.streams import silent_stdout
from treadle.report.progress import Progress
from treadle.report.pytest_file import PytestFile, write_pytest_file
from treadle.search.cluster import ALONE, Workforce, pool_of
from treadle.search.workers import AnyPool, Died, Tell, answers
from treadle.threads.switching import MODELS


@dataclass(frozen=True, slots=True)
class TestsPlace:
    """Where the tests go, and how."""

    output: str
    keep_green: bool
    force: bool
    paged: bool = False  # is there to be a page?
    issued: bool = False  # is there to be a bug report?


@click.command()
@click.argument("target", metavar="PKG.MOD[:CLASS]")
@click.option("--budget", default="60s", metavar="TIME", help="Time for one class: 60s, 5m. Default: 60s.")
@click.option("--methods", default="", metavar="A,B", help="Judge only these methods; the others still build states.")
@click.option("--skip", default="", metavar="A,B", help="Never call these methods.")
@click.option(
    "--setup", default="", metavar="FILE:FUNCTION", help="A factory of fresh objects instead of the constructor."
)
@click.option(
    "--from-tests", default="", metavar="PATH", help="Tests to take objects, values and calls from. Default: tests/."
)
@click.option(
    "--values", multiple=True, metavar="NAME=EXPR", help="A value for every parameter of that name. Repeatable."
)
@click.option("--atomic-set", multiple=True, metavar="F,G", help="Fields that belong together. Repeatable.")
@click.option("--generator", default="coverage", metavar="coverage|random", help="How sequences are made.")
@click.option("--calls", type=int, default=2, metavar="N", help="At most N calls in one thread. Default: 2.")
@click.option("--prune", default="all", metavar="D1,D2,D3,B1,B2|all|none", help="The prunings that are on.")
@click.option("--instrument", multiple=True, metavar="PKG", help="Also look inside this installed package. Repeatable.")
@click.option("--switches", metavar="free|gil|auto", help="Where threads may switch: everywhere, or as CPython does.")
@click.option("--output", default="", metavar="PATH", help="Folder or file for the tests. Default: tests/, or here.")
@click.option("--keep-green", is_flag=True, help="Mark the tests xfail(strict): they tell when the fault is gone.")
@workforce_options
@resume_option
@click.option("--allow-effects", is_flag=True, help="Let calls change files, start processes and use the network.")
@click.option("--seed", type=int, default=0, metavar="N", help="Other values and other random numbers.")
@click.option("--force", is_flag=True, help="Replace a file even if it was edited by hand.")
@page_option
@click.option("--issue", type=FileToWrite(), metavar="FILE", help="Also write a bug report, to paste.")
@machine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    target: str,
    as_json: bool,
    output: str,
    keep_green: bool,
    force: bool,
    workers: int | None,
    cluster: str | None,
    ship: bool | None,
    resume: bool | None,
    page: Path | None,
    sarif: Path | None,
    form: str,
    strict: bool,
    issue: Path | None,
    **given: Any,
) -> int:
    """Write concurrent tests for a class that threads share.

    PKG.MOD:CLASS names one class; PKG.MOD works on all public classes of a module, PKG on those of a package.
    """
    options = make_options(**given)
    workforce = Workforce.asked(workers, cluster, ship)
    place = TestsPlace(output, keep_green, force, page is not None, issue is not None)
    with silent_stdout():
        found = classes(target, not options.allow_effects)
        if workforce.several and len(found) > 1:
            facts = _in_processes([name for name, _ in found], workforce, given, place, bool(resume))
        else:
            facts, results = [], _one_after_the_other(found, options, place, ":" in target, workforce)
    judged = facts or [result.to_json() for result in results if result.subject is not None]
    if issue is not None:
        texts = [one.pop("issue", "") for one in facts] or [_issue(result, options) for result in results]
        write_whole(issue, "\n---\n\n".join(filter(None, texts)) or "No fault was found.\n")
    told = [remark for one in judged for remark in class_remarks(one)]
    write_sarif(sarif, told)
    code = report_facts(facts, as_json, page) if facts else report(results, as_json, page)
    annotate(form, told, as_json)
    return worst_exit_code([code], strict)


def _one_after_the_other(
    found: list[tuple[str, Any]], options: Options, place: TestsPlace, alone: bool, workforce: Workforce
) -> list[ClassResult]:
    results: list[ClassResult] = []
    with terminal_line() as stderr:
        for number, (name, cls) in enumerate(found):
            nth = f" ({number + 1} of {len(found)})" if len(found) > 1 else ""
            try:
                with Progress(f"treadle class {name}{nth}", stderr) as progress:
                    results.append(_one(name, cls, options, progress, place, alone, workforce))
            except KeyboardInterrupt:
                if not results:
                    raise
                break
            if results[-1].interrupted:
                break
    return results


def _in_processes(
    names: list[str], workers: Workforce, given: dict[str, Any], place: TestsPlace, resume: bool
) -> list[dict[str, Any]]:
    """The classes of a package, so many at a time."""
    saved = SavedCampaign("class", names, sorted(given.items()), replace(place, force=False))
    known: dict[str, dict[str, Any]] = (saved.load() if resume else None) or {}
    left = [name for name in names if name not in known]
    missing: list[dict[str, Any]] = []
    with pool_of(workers, ClassServer, (given, place, os.getcwd()), "class") as pool:
        for facts in one_by_one(pool, left):
            if facts.pop("not_run", False):
                missing.append(facts)
            else:
                known[facts["target"]] = facts
    if len(known) < len(names):
        saved.save(known)
        print("treadle: the same command with --resume goes on where it was stopped", file=sys.stderr)
    else:
        saved.remove()
    return [*known.values(), *missing]


def one_by_one(pool: AnyPool, names: list[str]) -> Iterator[dict[str, Any]]:
    """What the processes of a pool find out about each class, as it comes. Ctrl-C keeps what is done."""
    try:
        for number, found in answers(pool, names):
            if isinstance(found, Died) and found.gone:
                yield {**skipped(names[number], f"not run: {found.how}"), "not_run": True}
            elif isinstance(found, Died):
                yield skipped(names[number], f"its process died ({found.how})")
            else:
                for path, text in found.pop("files", {}).items():
                    write_whole(Path(path), text)
                yield found
    except KeyboardInterrupt:
        print("treadle: stopped; what was done so far:", file=sys.stderr)


class ClassServer:
    """A worker of --workers: one class after the other."""

    def __init__(self, setup: tuple[dict[str, Any], TestsPlace, str], tell: Tell) -> None:
        given, self._place, home = setup
        self._away = os.getcwd() != home  # shipped: the files that it writes are sent home
        if self._away and Path(self._place.output).is_relative_to(home):
            self._place = replace(self._place, output=os.path.relpath(self._place.output, home))
        self._options = make_options(**given)

    def place_of(self, name: str) -> TestsPlace:
        """Where the tests of a class go."""
        return self._place

    def run(self, number: int, name: str) -> dict[str, Any]:
        [(_, cls)] = classes(name, not self._options.allow_effects)
        result = _one(name, cls, self._options, None, self.place_of(name), alone=False, workers=ALONE)
        if result.subject is None:
            return skipped(name, result.reason)
        page = {"page": class_part(result)} if self._place.paged else {}
        issue = {"issue": _issue(result, self._options)} if self._place.issued else {}
        written = [Path(result.written), warnings_path(result)] if self._away else []
        files = {"files": {str(path): path.read_text("utf-8") for path in written if path.is_file()}} if written else {}
        return {**result.to_json(), **page, **issue, **files}


def _issue(result: ClassResult, options: Options) -> str:
    return issue_of(result, options) if result.subject is not None and result.faults else ""


def skipped(name: str, why: str) -> dict[str, Any]:
    """A class that was not run, and why."""
    return {**ClassResult(name, Verdict.NOTHING_TO_EXPLORE, reason=why).to_json(), "skipped": True}


def report_facts(facts: list[dict[str, Any]], as_json: bool, page: Path | None = None) -> int:
    """What processes reported, those with the most findings first."""
    ranked = sorted(facts, key=lambda one: (-len(one["faults"]), -len(one["warnings"]), one["target"]))
    parts = [one.pop("page") for one in ranked if "page" in one]
    verdict = worst(Verdict(one["verdict"]) for one in ranked)
    if as_json:
        print(json.dumps(_as_one(ranked, verdict)))
    else:
        for one in ranked:
            class_console.show_facts(one)
    write_page(page, parts, as_json)
    return verdict.exit_code


def make_options(
    budget: str,
    methods: str,
    skip: str,
    setup: str,
    values: tuple[str, ...],
    atomic_set: tuple[str, ...],
    generator: str,
    calls: int,
    prune: str,
    instrument: tuple[str, ...],
    allow_effects: bool,
    seed: int,
    switches: str | None = None,
    from_tests: str = "",
) -> Options:
    """The options of a campaign from the words of the command line."""
    if generator not in ("coverage", "random"):
        raise UsageError(f"--generator must be 'coverage' or 'random', not '{generator}'")
    if not 1 <= calls < MOST_CALLS:
        raise UsageError(f"--calls must be from 1 to {MOST_CALLS - 1}, not {calls}: longer tests are not for people")
    options = Options(
        methods=_names(methods),
        skip=_names(skip),
        values=_values(values),
        budget=seconds(budget),
        seed=seed,
        generator=generator,
        calls=calls,
        prune=prunings(prune, UsageError),
        atomic_sets=tuple(frozenset(_names(part)) for part in atomic_set),
        instrument=instrument,
        switches=_switches(switches),
        allow_effects=allow_effects,
        from_tests=from_tests,
    )
    if setup:
        load_setup(setup, options)
    return options


def _switches(given: str | None) -> str:
    """The model of switches: as asked, or as `[tool.treadle]` of the project here says."""
    if given is not None and given not in MODELS:
        raise UsageError(f"--switches must be 'free', 'gil' or 'auto', not '{given}'")
    model = given or read_settings(Path.cwd()).get("switches", "free")
    if model not in MODELS:
        raise UsageError(f"switches in [tool.treadle] must be 'free', 'gil' or 'auto', not '{model}'")
    return str(model)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def seconds(text: str) -> float:
    """`60s`, `5m`, `1h` or a number of seconds."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?\s*", text)
    if match is None:
        raise UsageError(f"--budget must be a time such as 60s or 5m, not '{text}'")
    found = float(match[1]) * {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600}[match[2] or "s"]
    if found <= 0:
        raise UsageError(f"a budget of {text} leaves nothing to run; give more than 0")
    return found


def _values(given: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in given:
        name, mark, expression = text.partition("=")
        if not mark or not name.strip().isidentifier():
            raise UsageError(f"--values takes NAME=EXPRESSION, for example --values size=2, not '{text}'")
        try:
            compile(expression.strip(), "--values", "eval")
        except SyntaxError as error:
            raise UsageError(f"--values {text}: '{expression}' is not a Python expression: {error.msg}") from None
        found.setdefault(name.strip(), []).append(expression.strip())
    return found


def load_setup(text: str, options: Options) -> None:
    """Load the factory that FILE:function names; a test imports it from its folder."""
    file, mark, name = text.rpartition(":")
    if not mark or not file:
        raise UsageError(f"--setup takes FILE:function, not '{text}'")
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"--setup: there is no file '{file}'")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--setup: '{file}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"--setup: {file} cannot be run: {type(error).__name__}: {error}") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"--setup: there is no function '{name}' in {file}")
    sys.modules.setdefault(path.stem, module)
    options.setup, options.setup_folder = function, path.resolve().parent
    options.setup_import, options.setup_call = f"from {path.stem} import {name}", f"{name}()"


def classes(target: str, guarded: bool = True) -> list[tuple[str, Any]]:
    """The classes that a target names."""
    if target.endswith(".py") or "/" in target or os.sep in target:
        raise UsageError(f"'{target}' is a path; name the class as Python imports it: pkg.mod:Class")
    if ":" in target:
        return [(target, find_class(target, guarded))]
    module = import_module(target, guarded)
    found = [(f"{m.__name__}:{cls.__qualname__}", cls) for m in _modules(module, guarded) for cls in public_classes(m)]
    functions = any(is_function_of(value, module.__name__) for value in vars(module).values())
    if functions and not any(may_be_shared(cls) for _, cls in found):
        return [(target, module)]  # no classes: the functions share the module's globals
    if not found:
        raise UsageError(f"there is no public class in '{target}'")
    return found


def _modules(module: ModuleType, guarded: bool) -> list[ModuleType]:
    """A module, or a package with all its public modules that can be imported."""
    return [one for _, one in modules_of(module, guarded) if isinstance(one, ModuleType)]


def modules_of(module: ModuleType, guarded: bool) -> Iterator[tuple[str, ModuleType | UsageError]]:
    """A module, and of a package all its public modules, or why one cannot be imported."""
    yield module.__name__, module
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), module.__name__ + ".", onerror=lambda _: None):
        if any(part.startswith("_") or part in ("tests", "test") for part in info.name.split(".")):
            continue
        try:
            yield info.name, import_module(info.name, guarded)
        except UsageError as error:
            yield info.name, error


def _one(
    name: str, cls: Any, options: Options, progress: Any, place: TestsPlace, alone: bool, workers: Workforce
) -> ClassResult:
    """One class; among several, those that cannot be tested are noted and left out."""
    try:
        check_class(cls, name)
        subject = examine_use(name, cls)
        path = tests_path(subject, place.output)
        check_may_write(path, "--output", place.force)
        options = replace(options, recorded=recorded_for(subject, options.from_tests, options.budget))

        def run(asked: Options) -> ClassResult:
            return run_in_processes(subject, asked, workers) if workers.several else run_alone(subject, asked, progress)

        result = run_under_model(options, run)
    except UsageError as error:
        if alone:
            raise
        return ClassResult(name, Verdict.NOTHING_TO_EXPLORE, reason=str(error))
    _decide_and_write(result, options, path, place)
    left = options.budget - result.seconds
    if result.unconfirmed and not result.faults and left > _WORTHWHILE and not result.interrupted:
        result = _go_on_without(result, subject, replace(options, budget=left), progress)
        _decide_and_write(result, options, path, place)
    if result.interrupted:
        print("treadle: stopped; what was found so far:", file=sys.stderr)
    return result


# Seconds of the budget that are worth a second campaign.
_WORTHWHILE = 5.0


def _go_on_without(result: ClassResult, subject: Subject, options: Options, progress: Any) -> ClassResult:
    """A second campaign that leaves out what was not confirmed; it cannot pass any more."""
    ignored = options.ignored | {frozenset(fault.methods) for fault in result.unconfirmed}
    again = run_under_model(replace(options, ignored=ignored), lambda asked: run_alone(subject, asked, progress))
    again.notes += [note for note in result.notes if note not in again.notes]
    again.warnings += result.warnings
    again.unconfirmed = result.unconfirmed
    again.seconds += result.seconds
    if not again.faults:
        again.verdict, again.reason, again.untried = result.verdict, result.reason, result.untried
    return again


def _decide_and_write(result: ClassResult, options: Options, path: Path, place: TestsPlace) -> None:
    """Decide which faults tests show, and write those tests; whatever goes wrong here, the faults stay."""
    try:
        warnings = decide_warnings(result, options)
        if warnings.tests:
            _write(result, class_file(result, warnings.tests, options, warnings.trails), warnings_path(result), options)
        shown = decide_faults(result, options, path)
        if shown.tests:
            file = class_file(result, shown.tests, options, shown.trails, place.keep_green)
            if _write(result, file, path, options, place):
                result.written = str(path)
    except KeyboardInterrupt:
        result.interrupted = True
        result.notes.append("no tests were written: stopped while they were run for the first time")


def _write(
    result: ClassResult, file: PytestFile, path: Path, options: Options, place: TestsPlace | None = None
) -> bool:
    """Write a file of tests; what cannot be written is said, and its faults are replayed without it."""
    try:
        if place is None:
            write_whole(path, file.source(path.parent))  # warnings lie where only Treadle writes
        else:
            write_pytest_file(path, file, "--output", place.force)
        return True
    except (OSError, UsageError) as error:
        why = f"no test can be written to '{path}': {getattr(error, 'strerror', None) or error}"
        result.notes.insert(0, f"{why}; name another place with --output" if place is not None else why)
        for fault in (effect for one in (*result.faults, *result.warnings) for effect in one.all_effects):
            if fault.test.startswith(f"{shown_path(path)}::"):
                fault.test, fault.replay, fault.unwritten = "", staged(fault, options), why
        return False


def report(results: list[ClassResult], as_json: bool, page: Path | None = None) -> int:
    """Print the results, those with the most findings first; return the exit code."""
    ranked = sorted(results, key=lambda r: (-len(r.faults), -len(r.warnings), r.target))
    parts = [class_part(result) for result in ranked if result.subject is not None] if page is not None else []
    verdict = worst(result.verdict for result in ranked)
    if as_json:
        every = [result.to_json() for result in ranked]
        facts = every[0] if len(every) == 1 else _as_one(every, verdict)
        print(json.dumps(facts))
        write_page(page, parts, as_json)
        return verdict.exit_code
    for number, result in enumerate(ranked):
        if number:
            print()
        if result.subject is None:
            print(f"skipped  {result.target}: {result.reason}")
        else:
            class_console.show(result, Path(result.written) if result.written else None)
    write_page(page, parts, as_json)
    return verdict.exit_code


def _as_one(classes: list[dict[str, Any]], verdict: Verdict) -> dict[str, Any]:
    """The sum of several classes, with each of them under `classes`."""
    added = ("sequences", "tests_assembled", "interleavings_tried", "exhausted_pairs")
    return {
        "target": classes[0]["target"].partition(":")[0] if classes else "",
        "verdict": verdict.value,
        "seconds": round(sum(facts["seconds"] for facts in classes), 3),
        **{name: sum(facts[name] for facts in classes) for name in added},
        "faults": [{"target": facts["target"], **fault} for facts in classes for fault in facts["faults"]],
        "warnings": [{"target": facts["target"], **one} for facts in classes for one in facts["warnings"]],
        "classes": classes,
    }
