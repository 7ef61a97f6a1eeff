"""Where a failure was raised: the innermost line of the program's own code, which is what its reader looks for."""

from __future__ import annotations

import sysconfig
from collections.abc import Container
from os import sep

from treadle.core.result import Finding
from treadle.report.explanation import short_names, source_line

_LIBRARIES = tuple(sysconfig.get_path(name) + sep for name in ("stdlib", "purelib", "platlib"))


def raised_at(finding: Finding) -> tuple[str, int, str] | None:
    """File, line and function from which the exception of a finding came; a library is passed over, unless steps of the
    schedule are in it."""
    trace = finding.exception.__traceback__ if finding.exception is not None else None
    shown = {step.file for step in finding.steps}
    last = own = None
    while trace is not None:
        code = trace.tb_frame.f_code
        last = code.co_filename, trace.tb_lineno, code.co_qualname
        own = last if _is_own(code.co_filename, shown) else own
        trace = trace.tb_next
    return own or last


def raised_line(finding: Finding) -> str:
    """`test_bank.py:16: assert account.balance == 2`, or "" where nothing was raised."""
    place = raised_at(finding)
    if place is None:
        return ""
    return source_line(*place[:2], short_names([place[0], *(step.file for step in finding.steps)]))


def _is_own(file: str, shown: Container[str]) -> bool:
    return file in shown or not file.startswith(_LIBRARIES)
