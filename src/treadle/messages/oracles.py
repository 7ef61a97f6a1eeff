"""What went wrong in one execution of an actor program.

Decides the findings beyond those of every execution (`treadle.threads.outcome`), most telling first:

    exception               an actor's handler raised, and nobody was told: no reply was asked for
    handler never ends      an actor's handler goes on without an operation
    actor dead              the same, because the actor it talked to had stopped (ActorDeadError)
    cycle of blocking gets  actors wait for each other's replies
    ask never answered      somebody waits for a reply that cannot come any more
    leaked actors           the test is over and actors still run: the process would not end
    deadlock                anything else that cannot go on

and the warnings: messages that were never processed because the actor stopped first, actors of daemon threads left
running, failures that the program has code for (`on_failure`, a PoisonMessage that is received).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.core.result import Finding
from treadle.threads import outcome
from treadle.threads.watchdog import ReallyBlocked


def judge(run: Any) -> list[Finding]:
    """The findings of one execution at message granularity, most important first."""
    findings = [_failure(failure) for failure in run.journal.failures if not failure.known]
    usual = outcome.judge(run)
    raised = [finding for finding in usual if finding.exception is not None]
    findings += raised
    if run.stop_reason == "stuck":
        stuck = _stuck(run)
        if stuck.kind != "leaked actors" or not findings:
            findings.append(stuck)
    else:
        endless = [finding for finding in usual if finding.exception is None]
        findings += [_in_a_circle(run)] if endless and _cycle(_waits(run)) else endless
    return findings


def warnings(run: Any) -> list[Finding]:
    """What is worth knowing and no failure."""
    found = [
        Finding(
            "message never processed", f"{message.label} from {message.sender.label}: {message.to.label} stopped first"
        )
        for message in run.journal.messages
        if message.dropped and not message.stops
    ]
    found += [
        _failure(failure, ", which the program takes care of") for failure in run.journal.failures if failure.known
    ]
    if not run.stop_reason:
        left = [
            _actor_of(run, strand) or strand.treadle_name for strand, _ in run.unfinished if _is_person(run, strand)
        ]
        if left:
            found.append(Finding("actors left running", f"{', '.join(left)} {_were(left)} still running at the end"))
    return found


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _is_person(run: Any, strand: Any) -> bool:
    return not getattr(strand, "retired", False) and any(strand is person for person in run.people)


def _failure(failure: Any, more: str = "") -> Finding:
    error = failure.error
    text = str(error).strip().split("\n")[0]
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    where = failure.actor.label
    if failure.message is not None:
        where += f" handling {failure.message.label} from {failure.message.sender.label}"
    dead = any(kind.__name__ == "ActorDeadError" for kind in type(error).__mro__)
    if isinstance(error, ReallyBlocked):
        file, line, function = error.where
        return Finding("handler never ends", f"{where} does not end ({file}:{line} in {function})")
    kind = "actor dead" if dead else "assertion" if isinstance(error, AssertionError) else "exception"
    return Finding(kind, f"{what} in {where}{more}", exception=error)


def _actor_of(run: Any, strand: Any) -> str:
    """The label of the actor that a strand is, '' for other threads."""
    handling = getattr(strand, "handling", None)
    if handling is not None and handling.actor in run.journal.actors:
        return str(handling.actor.label)
    return ""


def _name(run: Any, strand: Any) -> str:
    return _actor_of(run, strand) or str(strand.treadle_name)


def _stuck(run: Any) -> Finding:
    """No strand can go on: why?"""
    waits = _waits(run)
    if _cycle(waits):
        return _in_a_circle(run)
    for strand, guard in waits.items():
        asked = getattr(guard, "asked", None)
        if asked is not None and asked.actor is not None:
            return Finding("ask never answered", f"{_name(run, strand)} waits for a reply of {asked.actor.label}")
        if hasattr(guard, "asked"):
            return Finding("ask never answered", f"{_name(run, strand)} waits for a future that nobody sets")
    for strand, guard in waits.items():
        if _waits_for_mail(guard) and guard.actor is not None and guard.actor.outside:
            return Finding(
                "ask never answered", f"{_name(run, strand)} waits for a reply and nobody is left to send one"
            )
    idle = [strand for strand, guard in waits.items() if _waits_for_mail(guard) and guard.reader is strand]
    if len(idle) == len(waits):
        names = [_name(run, strand) for strand in idle]
        return Finding("leaked actors", f"the test is over and {', '.join(names)} {_were(names)} not stopped")
    return outcome.judge(run)[-1]


def _waits(run: Any) -> dict[Any, Any]:
    return {strand: guard for strand, guard in run.at_end if not strand.daemon}


def _in_a_circle(run: Any) -> Finding:
    names = [_name(run, strand) for strand in _cycle(_waits(run))]
    if len(names) == 1:
        return Finding("cycle of blocking gets", f"{names[0]} asks itself and waits for the reply")
    pairs = zip(names, [*names[1:], names[0]], strict=True)
    return Finding("cycle of blocking gets", "; ".join(f"{one} waits for a reply of {two}" for one, two in pairs))


def _waits_for_mail(guard: Any) -> bool:
    return hasattr(guard, "reader") and hasattr(guard, "undelivered")


def _cycle(waits: dict[Any, Any]) -> list[Any]:
    """Strands that wait for replies of each other, in a circle."""
    for start in waits:
        seen: list[Any] = []
        strand = start
        while strand is not None and strand not in seen:
            seen.append(strand)
            asked = getattr(waits.get(strand), "asked", None)
            strand = asked.reader if asked is not None else None
        if strand is not None:
            return seen[seen.index(strand) :]
    return []
