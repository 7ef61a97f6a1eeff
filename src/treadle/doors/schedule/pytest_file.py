"""A failing schedule as a pytest file: the user's own test, run in the order that breaks it.

Decides what is written, and keeps: a file lands only if the test in it, run alone in a new process, fails as it says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.messages.result import OrderFinding


def source(target: str, finding: OrderFinding, file: Path) -> str:
    """The text of the file. `target` is PATH::TEST, `file` where it will stand."""
    path, _, test = target.partition("::")
    function = test.partition("[")[0]
    if "::" in function:
        raise UsageError(f"{target} is a method: orders can be written for test functions only")
    where = os.path.relpath(Path(path).resolve(), file.resolve().parent)
    orders = ", ".join(repr(one) for one in finding.order)
    name = re.sub(r"\W+", "_", f"{function}_{'_'.join(finding.order)}").strip("_").lower()
    message = textwrap.shorten(finding.message, 100).replace('"', "'")
    return f'''"""Written by treadle schedule: an order of messages in which {function} fails.

{finding.kind}: {message}
"""

import importlib.util
from pathlib import Path

import treadle

_PATH = Path(__file__).parent / {where!r}
_SPEC = importlib.util.spec_from_file_location({Path(path).stem!r}, _PATH)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)


@treadle.order({orders})
def {name if name.startswith("test") else "test_" + name}():
    _MODULE.{function}()
'''


def write(target: str, finding: OrderFinding, file: Path) -> str:
    """Write the test; returns what to say about it."""
    if not finding.order:
        raise UsageError(f"{target} fails without any order of messages: the test itself shows it")
    text = source(target, finding, file)
    file.parent.mkdir(parents=True, exist_ok=True)
    trial = file.with_name(f"{file.stem}_trial_{os.getpid()}.py")
    trial.write_text(text, encoding="utf-8")
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", str(trial)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        error = type(finding.exception).__name__ if finding.exception is not None else finding.kind
        if ran.returncode != 1 or error not in ran.stdout:
            raise UsageError(f"the test for {file} was not written: run alone it did not fail with {error}")
        os.replace(trial, file)
    finally:
        trial.unlink(missing_ok=True)
    return f"wrote {file} (1 test, it fails until the order is handled)"
