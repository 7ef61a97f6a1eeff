"""Finds the failing schedule of written tests, in a process of its own: `-m treadle.doors.class_.record FILE TARGET
SECONDS`, with the name that the file will have and the time for one search.

Prints one JSON object: for each test its replay string and how it failed, or why it did not. A test without a schedule
that fails is not written.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from treadle.core.errors import TreadleError
from treadle.doors.explore.check import check


def record(path: Path, target: str, seconds: float) -> dict[str, Any]:
    """What each test of the file does when it is explored."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found: dict[str, Any] = {}
    for name, value in list(vars(module).items()):
        test = getattr(value, "__wrapped__", None)
        if name.startswith("test_") and test is not None:
            found[name] = _explore(test, f"{target}::{name}", tuple(module.INSTRUMENT), seconds)
    return found


def _explore(test: Any, target: str, packages: tuple[str, ...], seconds: float) -> dict[str, Any]:
    problem = ""
    for options in ({"preemptions": 1}, {"preemptions": 2}, {}):
        try:
            result = check(test, target=target, instrument=packages, seconds=seconds, executions=5_000, **options)  # type: ignore[arg-type]
        except TreadleError as error:
            return {"problem": str(error)}
        if result.findings:
            finding = result.findings[0]
            return {"replay": finding.replay, "kind": finding.kind, "message": finding.message}
        problem = result.reason
    return {"problem": problem}


if __name__ == "__main__":
    print(json.dumps(record(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))
