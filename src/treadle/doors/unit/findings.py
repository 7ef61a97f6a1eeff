"""The words for a broken contract: in the summary, in JSON, in the comment of the test that shows it.

A finding is reported only with its case, and a case is only kept after its test has been run.
"""

from __future__ import annotations

import importlib
import os
import textwrap
from collections import Counter

from treadle.core.files import from_here
from treadle.doors.unit.result import Suite
from treadle.doors.unit.shown import shown
from treadle.report.annotations import Annotation
from treadle.report.fresh_process import FreshOutcome
from treadle.symbolic.testcase import RAISES_NOTHING, BrokenContract, CallOutcome, TestCase
from treadle.units.target import UnitTarget


def _place(violation: BrokenContract) -> str:
    return f" ({from_here(violation.file)}:{violation.line})" if violation.file else ""


def what(case: TestCase, place: str) -> str:
    """violates its postcondition `result >= 0` (shop.py:12)"""
    violation = case.violation
    assert violation is not None
    if violation.kind == "exceptions":
        declared = "no exception at all" if violation.condition == RAISES_NOTHING else f"`{violation.condition}`"
        if not violation.own:
            return f"makes '{violation.of}' raise {violation.raised}, which declares {declared}{place}"
        return f"raises {violation.raised}, but declares {declared}{place}"
    if violation.kind == "effect":
        return f"breaks its promise {violation.condition} (deal.has){place}"
    owner = case.target.partition(":")[2].rpartition(".")[0]
    whose = "its" if violation.own or (owner and violation.of == owner) else "the"
    other = violation.of.rpartition(".")[0] if violation.kind == "invariant" else ""
    of = "" if whose == "its" else f" of '{other or violation.of}'"
    condition = f"{whose} {violation.kind} `{violation.condition}`{of}{place}"
    if violation.where:
        return f"leaves '{violation.where}' without its {violation.kind} `{violation.condition}`{place}"
    if violation.raised:
        return f"makes {condition} raise {violation.raised}"
    return f"violates {condition}"


def comment(case: TestCase) -> list[str]:
    """The lines above the call in the test that shows the finding."""
    violation = case.violation
    assert violation is not None
    place = f" ({os.path.basename(violation.file)}:{violation.line})" if violation.file else ""
    how = f", returns {shown(violation.returned)}" if _tells_result(violation) else ""
    return [f"# {line}" for line in textwrap.wrap(f"a finding: {what(case, place)}{how}", 90, break_on_hyphens=False)]


def _tells_result(violation: BrokenContract) -> bool:
    shows = violation.own and violation.kind != "invariant"
    return shows and violation.has_returned and violation.returned is not None


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
    after = _state_after(case) if not how and violation.kind in ("invariant", "postcondition") else ""
    return f"{case.target} {what(case, _place(violation))}: {call(case)}{how}{after}"


def _state_after(case: TestCase) -> str:
    """What the condition was about: the arguments that the call has changed."""
    parts = []
    for name, value in case.arguments.items():
        node = case.after.get(getattr(value, "number", 0))
        if node is not None and shown(node) != shown(value):
            parts.append(f"{name}={shown(node)}")
    return f" left {', '.join(parts)}" if parts else ""


def findings(suite: Suite) -> list[str]:
    """One line for each condition that is broken, however many paths break it."""
    first: dict[tuple[str, str, str], TestCase] = {}
    more: Counter[tuple[str, str, str]] = Counter()
    for case in suite.violations:
        assert case.violation is not None
        key = (case.target, case.violation.where or case.violation.of, case.violation.condition)
        if first.setdefault(key, case) is not case:
            more[key] += 1
    return [
        sentence(case) + (f" (and {more[key]} more {'paths' if more[key] > 1 else 'path'})" if more[key] else "")
        for key, case in first.items()
    ]


def contract_remarks(suite: Suite) -> list[Annotation]:
    """What a machine is told: every contract that is broken, at its line."""
    told = []
    for case in suite.violations:
        violation = case.violation
        assert violation is not None
        module = case.target.partition(":")[0]
        title = f"broken contract: {case.target}"
        file = violation.file or f"{module.replace('.', '/')}.py"
        told.append(Annotation("error", violation.kind, title, sentence(case), file, violation.line))
    return told


# Libraries of contracts, whose exceptions say that a condition does not hold.
_LIBRARIES = ("icontract", "deal")
# Exceptions by which deal.has reports an effect that was not declared, and what was promised.
_MARKERS = {"SilentContractError": "to write nothing", "OfflineContractError": "to stay offline"}


def broken_for_real(case: TestCase, ended: FreshOutcome, target: UnitTarget, contracts: bool) -> bool:
    """The real run decided what the prediction had left open: the case becomes one of that, to be run again.

    That is a condition that could not be decided, an effect that deal.has does not declare, or how a violation is told.
    """
    if case.violation is not None and _untold(ended) and case.outcome.raises is not RuntimeError:
        case.outcome = CallOutcome(raises=RuntimeError, drained=case.outcome.drained)
        return True
    if case.violation is not None or case.outcome.raises is not None:
        return False
    error = _reported(ended)
    if error is None or not (case.undecided or error.__name__ in _MARKERS):
        return False
    if error.__name__ in _MARKERS:
        broken = BrokenContract("effect", target.name, True, _MARKERS[error.__name__], target.file, target.line)
    else:
        named = [violation for violation, _ in case.undecided if violation.condition in ended.why]
        broken = named[0] if named else case.undecided[0][0]
    case.violation = broken if contracts else None
    case.outcome = CallOutcome(raises=error, drained=case.outcome.drained)
    return True


def _untold(ended: FreshOutcome) -> bool:
    """icontract raises a RuntimeError of its own instead of the violation, for conditions that it cannot print."""
    raised = ended.raised
    return raised is not None and raised.name == "RuntimeError" and raised.within.partition(".")[0] == "icontract"


def _reported(ended: FreshOutcome) -> type | None:
    """The exception of a contract library that a failed test ended with."""
    library = ended.raised.module.partition(".")[0] if ended.raised is not None else ""
    if ended.raised is None or library not in _LIBRARIES:
        return None
    found = getattr(importlib.import_module(library), ended.raised.name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
