"""How the result of `treadle class` is told to a person: the fault in one sentence, its schedule, and what next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treadle.classes.races import told_together
from treadle.classes.result import ClassResult, Fault
from treadle.core.verdict import Verdict
from treadle.report.lines import Lines
from treadle.report.progress import many

_COLOUR = {Verdict.FAILED: "bold red", Verdict.PASSED_WITHIN_BOUNDS: "bold green"}
_MOST_NOTES = 6


def show(result: ClassResult, written: Path | None = None) -> None:
    """Print one result."""
    out = Lines()
    name = result.subject.name if result.subject is not None else result.target
    out.say(
        f"{name}: {many(result.methods, 'method')}, {many(result.sequences, 'sequence')}, "
        f"{many(result.traces, 'method trace')} covered, {many(result.pairs, 'pair')} of calls, "
        f"{many(result.interleavings_tried, 'execution')}  {result.seconds:.1f} s"
    )
    out.say((verdict(result), _COLOUR.get(result.verdict, "bold yellow")), f"  {result.target}: {sentence(result)}")
    for model in result.models:
        out.say(f"{model.switches}: {model.verdict.value}, {model.reason}", indent=2)
    for number, fault in enumerate(result.faults):
        _show_fault(out, fault, number + 1, result)
    for warning in result.warnings:
        out.say(("warning: ", "yellow"), f"{warning.kind}: {warning.message}{_places(warning)}", indent=2)
        _show_effects(out, warning)
        _show_again(out, warning, result)
    for fault in result.unconfirmed:
        out.print()
        out.say(("unconfirmed: ", "yellow"), f"{fault.message} ({fault.unwritten})", indent=2)
        out.table(fault.explanation)
    for line in not_called(result):
        out.say(line, indent=2)
    for note in result.notes[:_MOST_NOTES]:
        out.say(f"note: {note}", indent=2)
    if len(result.notes) > _MOST_NOTES:
        out.say(f"note: {len(result.notes) - _MOST_NOTES} more in --json", indent=2)
    if written is not None:
        tests = sum(bool(one.test) for fault in result.faults for one in fault.all_effects if one.gravity < 3)
        out.say(f"wrote {written} ({many(tests, 'test')}; run it with: pytest {written})", whole=True)
    hint = advice(result)
    if hint:
        out.say(f"next: {hint}")


def verdict(result: ClassResult) -> str:
    """A pass names its model: `PASSED-WITHIN-BOUNDS (gil, CPython 3.12)`."""
    return f"{result.verdict.value} ({result.switches})" if result.verdict.is_pass else result.verdict.value


def calls_in(result: ClassResult) -> str:
    """What the calls of a test run in."""
    return "task" if result.subject is not None and result.subject.in_tasks else "thread"


def sentence(result: ClassResult) -> str:
    if result.verdict is Verdict.FAILED:
        number = len(result.faults)
        return (
            f"{many(number, 'way')} to break it with two {calls_in(result)}s, each with a schedule that was run again"
        )
    exhausted = f"; {result.exhausted_pairs} of {result.pairs} pairs exhausted" if result.pairs else ""
    return f"no fault found. {result.reason}{exhausted}"


def _show_fault(out: Lines, fault: Fault, number: int, result: ClassResult) -> None:
    test = fault.witness.test
    out.print()
    out.say((f"{number}. {fault.kind}: ", "bold"), fault.message, indent=2)
    if test.alpha:
        out.say(f"after {'; '.join([test.root.source(), *(c.source() for c in test.alpha)])}", indent=4)
    else:
        out.say(f"on a fresh {test.root.source()}", indent=4)
    for place, calls in enumerate(test.threads):
        out.say(f"T{place + 1}: {'; '.join(call.source() for call in calls)}", indent=4)
    out.print()
    out.table(fault.explanation)
    if fault.blame:
        out.say(fault.blame, indent=4)
    _show_again(out, fault, result)
    _show_effects(out, fault)
    out.print()


def _show_effects(out: Lines, fault: Fault) -> None:
    """What else the same race does, each with its own replay."""
    if fault.effects:
        out.say("the same race also:", indent=4)
    for effect, said in told_together(fault.effects):
        out.say(f"{effect.kind}: {said}{_places(effect)}", indent=6)
        if effect.replay:
            out.say(f"replay: treadle replay '{effect.replay}'", indent=8, whole=True)


def _places(fault: Fault) -> str:
    """` (at lru.py:30)`: the lines that clash, without their paths."""
    names = [place.rpartition("/")[2] for place in fault.locations]
    return f" (at {', '.join(names)})" if names else ""


def _show_again(out: Lines, fault: Fault, result: ClassResult) -> None:
    if fault.on:
        out.say(f"on: {fault.on}", indent=4)
    if not fault.test:
        out.say(f"no test shows it: {fault.unwritten or 'none was written'}", indent=4)
    if fault.replay:
        out.say(f"replay: treadle replay '{fault.replay}'", indent=4, whole=True)
        return
    methods = ",".join(dict.fromkeys(fault.methods))
    out.say(f"again: treadle class {result.target} --methods {methods}", indent=4, whole=True)


def not_called(result: ClassResult) -> list[str]:
    """The methods that were not called, and those whose calls did nothing, each with the reason."""
    return [
        f"{'not at work' if name in result.idle else 'not called'}: {name}: {why}"
        for name, why in result.not_called.items()
    ]


def advice(result: ClassResult) -> str:
    if result.verdict is Verdict.CUT and result.interrupted:
        return "let it run to its end"
    if result.verdict is Verdict.CUT and result.untried:
        return "give values that the method takes with --values, tests that call it with --from-tests, or --skip it"
    if result.verdict is Verdict.CUT:
        return "give it more time with --budget 300s, or fewer methods with --methods"
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        return "if the class keeps its state in another package, look into that with --instrument"
    if result.verdict is Verdict.FAILED:
        one = calls_in(result)
        return f"fix the class, or use it from one {one} at a time; the written tests pass when it is fixed"
    return ""


def show_facts(facts: dict[str, Any]) -> None:
    """Print the result of a class that another process worked on."""
    out = Lines()
    if facts.get("skipped"):
        out.say(f"skipped  {facts['target']}: {facts['reason']}")
        return
    verdict = Verdict(facts["verdict"])
    said = f"{verdict.value} ({facts['switches']})" if verdict.is_pass else verdict.value
    out.say((said, _COLOUR.get(verdict, "bold yellow")), f"  {facts['target']}: {facts['reason']}")
    for fault in facts["faults"]:
        out.say((f"{fault['kind']}: ", "bold"), fault["message"], indent=2)
        out.say(f"at {', '.join(fault['locations'])}", indent=4)
        for effect in fault.get("effects", ()):
            out.say(f"also {effect['kind']}: {effect['message']}", indent=4)
        if fault["on"]:
            out.say(f"on: {fault['on']}", indent=4)
        where = f"test: {fault['test']}" if fault["test"] else f"no test shows it: {fault['unwritten']}"
        out.say(where, indent=4)
        if fault["replay"]:
            out.say(f"replay: treadle replay '{fault['replay']}'", indent=4, whole=True)
