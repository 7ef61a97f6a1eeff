"""A failing schedule as a pytest file: the user's own test, run in the order that breaks it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.core.verdict import exception_for
from treadle.messages.result import OrderFinding
from treadle.report.pytest_file import PytestFile, not_as_told, write_pytest_file

_LOAD = """\
_SPEC = importlib.util.spec_from_file_location({name!r}, _PATH)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)"""


def order_file(target: str, finding: OrderFinding) -> PytestFile:
    """The file with the test. `target` is PATH::TEST."""
    path, _, test = target.partition("::")
    function = test.partition("[")[0]
    if "::" in function:
        raise UsageError(f"{target} is a method: orders can be written for test functions only")
    name = re.sub(r"\W+", "_", f"{function}_{'_'.join(finding.order)}").strip("_").lower()
    name = name if name.startswith("test") else f"test_{name}"
    orders = ", ".join(repr(one) for one in finding.order)
    message = textwrap.shorten(finding.message, 100).replace("\\", "\\\\").replace('"', "'")
    return PytestFile(
        title=f"Written by treadle schedule: an order of messages in which {function} fails.",
        about=f"{finding.kind}: {message}",
        imports=["import importlib.util", "import treadle"],
        files={"_PATH": Path(path)},
        definitions=[_LOAD.format(name=Path(path).stem)],
        tests={name: f"@treadle.order({orders})\ndef {name}():\n    _MODULE.{function}()\n"},
    )


def write(target: str, finding: OrderFinding, file: Path, force: bool = False) -> str:
    """Write the test, if it fails as it says when it is run alone; returns what to say about it."""
    if not finding.order:
        raise UsageError(f"{target} fails without any order of messages: the test itself shows it")
    made = order_file(target, finding)
    error = type(finding.exception or exception_for(finding.kind, finding.message)).__name__
    for why in not_as_told(made, lambda ended: not ended.passed and error in ended.why).values():
        raise UsageError(f"the test for {file} was not written: run alone it did not fail with {error} ({why})")
    write_pytest_file(file, made, "--write", force)
    return f"wrote {file} (1 test, it fails until the order is handled)"
