"""The words for a broken contract: in the summary, in JSON, in the comment of the test that shows it.

A finding is reported only with its case, and a case is only kept after its test has been run.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import textwrap
from typing import Any

from treadle.model.testcase import Outcome, TestCase, Violation
from treadle.output.unit_result import plain, shown


def _place(violation: Violation) -> str:
    if not violation.file:
        return ""
    near = os.path.relpath(violation.file)
    file = violation.file if near.startswith("..") else near
    return f" ({file}:{violation.line})"


def what(violation: Violation) -> str:
    """violates its postcondition `result >= 0` (shop.py:12)"""
    place = _place(violation)
    if violation.kind == "exceptions":
        declared = "no exception at all" if violation.condition == "raises nothing" else f"`{violation.condition}`"
        return f"raises {violation.raised}, but declares {declared}{place}"
    whose = "its" if violation.own else f"the {violation.kind} of '{violation.of}'"
    kind = f"{whose} {violation.kind}" if violation.own else whose
    if violation.raised:
        return f"makes {kind} `{violation.condition}`{place} raise {violation.raised}"
    return f"violates {kind} `{violation.condition}`{place}"


def comment(violation: Violation) -> list[str]:
    """The lines above the call in the test that shows the finding."""
    near = dataclasses.replace(violation, file=os.path.abspath(os.path.basename(violation.file)))
    how = f", returns {shown(violation.returned)}" if _tells_result(violation) else ""
    return [f"# {line}" for line in textwrap.wrap(f"a finding: {what(near)}{how}", 90, break_on_hyphens=False)]


def _tells_result(violation: Violation) -> bool:
    return violation.has_returned and violation.kind != "invariant"


def call(case: TestCase) -> str:
    """isqrt(n=-1), or account.withdraw(amount=3) with its account"""
    arguments = ", ".join(f"{name}={shown(value)}" for name, value in case.arguments.items())
    name = case.target.partition(":")[2]
    return f"{name}({arguments})"


def sentence(case: TestCase) -> str:
    """What a person reads: which contract, and the call that breaks it."""
    violation = case.violation
    assert violation is not None
    how = f" returned {shown(violation.returned)}" if _tells_result(violation) else ""
    after = _state_after(case) if violation.kind == "invariant" else ""
    return f"{case.target} {what(violation)}: {call(case)}{how}{after}"


def _state_after(case: TestCase) -> str:
    """An invariant is about the object: as the call left it."""
    me = case.arguments.get("self")
    node = case.after.get(getattr(me, "number", 0))
    return f" left {shown(node)}" if node is not None else ""


def as_json(case: TestCase) -> dict[str, Any]:
    violation = case.violation
    assert violation is not None
    return {
        "target": case.target,
        "kind": violation.kind,
        "of": violation.of,
        "condition": violation.condition,
        "file": violation.file,
        "line": violation.line,
        "inputs": {name: plain(value) for name, value in case.arguments.items()},
        "returned": plain(violation.returned) if violation.has_returned else None,
        "raises": case.outcome.raises.__name__ if case.outcome.raises is not None else None,
        "message": sentence(case),
    }


def broken_for_real(case: TestCase, why: str) -> bool:
    """A condition that could not be decided turned out to be broken: the case becomes a finding, to be run as one."""
    if case.violation is not None or not case.undecided or case.outcome.raises is not None:
        return False
    error = _reported(why)
    if error is None:
        return False
    named = [violation for violation, _ in case.undecided if violation.condition in why]
    case.violation = named[0] if named else case.undecided[0][0]
    case.outcome = Outcome(raises=error)
    return True


def _reported(why: str) -> type | None:
    """The exception of a contract library that a failed test ended with."""
    for library, name in re.findall(r"\b(icontract|deal)\.(?:errors\.)?(\w+(?:Error))\b", why):
        found = getattr(importlib.import_module(library), name, None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return None
