"""How the result of `treadle class` is told to a person: the fault in one sentence, its schedule, and what next."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.text import Text

from treadle.classes.result import ClassResult, Fault
from treadle.core.verdict import Verdict
from treadle.report.progress import count

_COLOUR = {Verdict.FAILED: "bold red", Verdict.PASSED_WITHIN_BOUNDS: "bold green"}
_MOST_NOTES = 6


def show(result: ClassResult, written: Path | None = None, file: IO[str] | None = None) -> None:
    """Print one result."""
    console = Console(file=file, highlight=False, soft_wrap=True)
    name = result.subject.name if result.subject is not None else result.target
    console.print(
        f"{name}: {_many(result.methods, 'method')}, {_many(result.sequences, 'sequence')}, "
        f"{_many(result.traces, 'method trace')} covered, {_many(result.pairs, 'pair')} of calls, "
        f"{_many(result.interleavings_tried, 'execution')}  {result.seconds:.1f} s",
        markup=False,
    )
    console.print(
        Text.assemble(
            (verdict(result), _COLOUR.get(result.verdict, "bold yellow")), f"  {result.target}: {sentence(result)}"
        )
    )
    for model in result.models:
        console.print(f"  {model.switches}: {model.verdict.value}, {model.reason}", markup=False)
    for number, fault in enumerate(result.faults):
        _show_fault(console, fault, number + 1, result)
    for warning in result.warnings:
        methods = " || ".join(warning.methods if len(warning.methods) > 1 else warning.methods * 2)
        said = warning.message if " || " in warning.message.partition(":")[0] else f"{methods}: {warning.message}"
        console.print(Text.assemble(("  warning: ", "yellow"), f"{warning.kind}: {said}"))
        _show_again(console, warning, result)
    for fault in result.unconfirmed:
        console.print()
        console.print(Text.assemble(("  unconfirmed: ", "yellow"), f"{fault.message} ({fault.unwritten})"))
        for line in fault.explanation.splitlines():
            console.print(f"    {line}".rstrip(), markup=False)
    for note in result.notes[:_MOST_NOTES]:
        console.print(f"  note: {note}", markup=False)
    if len(result.notes) > _MOST_NOTES:
        console.print(f"  note: {len(result.notes) - _MOST_NOTES} more in --json", markup=False)
    if written is not None:
        tests = sum(bool(fault.test) for fault in result.faults)
        console.print(
            f"wrote {written} ({tests} test{'s' * (tests != 1)}; run it with: pytest {written})", markup=False
        )
    hint = advice(result)
    if hint:
        console.print(f"next: {hint}", markup=False)


def verdict(result: ClassResult) -> str:
    """A pass names its model: `PASSED-WITHIN-BOUNDS (gil, CPython 3.12)`."""
    return f"{result.verdict.value} ({result.switches})" if result.verdict.is_pass else result.verdict.value


def _many(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'s' * (number != 1)}"


def sentence(result: ClassResult) -> str:
    if result.verdict is Verdict.FAILED:
        number = len(result.faults)
        return (
            f"{number} way{'s' * (number != 1)} to break it with two threads, each with a schedule that was run again"
        )
    exhausted = f"; {result.exhausted_pairs} of {result.pairs} pairs exhausted" if result.pairs else ""
    return f"no fault found. {result.reason}{exhausted}"


def _show_fault(console: Console, fault: Fault, number: int, result: ClassResult) -> None:
    test = fault.witness.test
    console.print()
    console.print(Text.assemble((f"  {number}. {fault.kind}: ", "bold"), fault.message))
    if test.alpha:
        console.print(f"    after {'; '.join([test.root.source(), *(c.source() for c in test.alpha)])}", markup=False)
    else:
        console.print(f"    on a fresh {test.root.source()}", markup=False)
    console.print(f"    T1: {'; '.join(call.source() for call in test.threads[0])}", markup=False)
    console.print(f"    T2: {'; '.join(call.source() for call in test.threads[1])}", markup=False)
    console.print()
    for line in fault.explanation.splitlines():
        console.print(f"    {line}".rstrip(), markup=False)
    _show_again(console, fault, result)
    console.print()


def _show_again(console: Console, fault: Fault, result: ClassResult) -> None:
    if fault.on:
        console.print(f"    on: {fault.on}", markup=False)
    if not fault.test:
        console.print(f"    no test shows it: {fault.unwritten or 'none was written'}", markup=False)
    if fault.replay:
        console.print(f"    replay: treadle replay '{fault.replay}'", markup=False)
        return
    methods = ",".join(dict.fromkeys(fault.methods))
    console.print(f"    again: treadle class {result.target} --methods {methods}", markup=False)


def advice(result: ClassResult) -> str:
    if result.verdict is Verdict.CUT:
        return "give it more time with --budget 300s, or fewer methods with --methods"
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        return "if the class keeps its state in another package, look into that with --instrument"
    if result.verdict is Verdict.FAILED:
        return "fix the class, or use it from one thread at a time; the written tests pass when it is fixed"
    return ""


def show_facts(facts: dict[str, Any], file: IO[str] | None = None) -> None:
    """Print the result of a class that another process worked on."""
    console = Console(file=file, highlight=False, soft_wrap=True)
    if facts.get("skipped"):
        console.print(f"skipped  {facts['target']}: {facts['reason']}", markup=False)
        return
    verdict = Verdict(facts["verdict"])
    said = f"{verdict.value} ({facts['switches']})" if verdict.is_pass else verdict.value
    head = Text.assemble((said, _COLOUR.get(verdict, "bold yellow")), f"  {facts['target']}: {facts['reason']}")
    console.print(head)
    for fault in facts["faults"]:
        console.print(Text.assemble((f"  {fault['kind']}: ", "bold"), fault["message"]))
        console.print(f"    at {', '.join(fault['locations'])}", markup=False)
        if fault["on"]:
            console.print(f"    on: {fault['on']}", markup=False)
        where = f"test: {fault['test']}" if fault["test"] else f"no test shows it: {fault['unwritten']}"
        console.print(f"    {where}", markup=False)
        if fault["replay"]:
            console.print(f"    replay: treadle replay '{fault['replay']}'", markup=False)
