"""Inside an execution, with every access a point, a program still does what plain Python does."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.threads_instrument.corpus import PROGRAMS
from tests.threads_instrument.differential import run_both

# Looks at its own line numbers and frames; checked outside of executions.
_NOT_HERE = {"inspect", "builtins that look at the frame"}

_TEST = """
import sink
def test():
    if sink.kept.seen:  # the module is imported already; the second execution would not run it again
        return
    try:
        import {program}
        sink.kept.seen = repr({program}.result), repr(sink.kept.log)
    except Exception as error:
        sink.kept.seen = [type(error).__name__ + ": " + str(error)]
"""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in _NOT_HERE])
def test_program_does_the_same_inside_an_execution(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "program_inside"
    (tmp_path / "pyproject.toml").write_text("")
    source = PROGRAMS[name].replace("log.append", "__import__('sink').kept.log.append")
    (tmp_path / f"{program}.py").write_text(source)
    (tmp_path / "test_inside.py").write_text(_TEST.format(program=program))
    monkeypatch.syspath_prepend(tmp_path)
    sink: Any = types.ModuleType("sink")  # has no file, so what its objects hold is nobody's state and not put back
    sink.kept = types.SimpleNamespace(log=[], seen=None)
    monkeypatch.setitem(sys.modules, "sink", sink)
    importlib.invalidate_caches()
    try:
        treadle.check(importlib.import_module("test_inside").test, strategy="random", executions=1)
    finally:
        for module in ("test_inside", program):
            sys.modules.pop(module, None)
    plain, _ = run_both(PROGRAMS[name])
    expected = [plain.error] if plain.error else [plain.result, plain.log]
    assert [part.replace(program, "program") for part in sink.kept.seen] == expected


def test_module_imported_by_the_test_starts_fresh_in_every_execution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "imported_late.py").write_text(
        "count = 0\nseen = []\ndef bump():\n    global count\n    count += 1\n    seen.append(count)\n"
    )
    (tmp_path / "test_importing.py").write_text(
        "import threading\n"
        "def test():\n"
        "    import imported_late\n"
        "    threads = [threading.Thread(target=imported_late.bump) for _ in range(2)]\n"
        "    for thread in threads:\n"
        "        thread.start()\n"
        "        thread.join()\n"
        "    assert imported_late.seen == [1, 2]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    try:
        result = treadle.check(importlib.import_module("test_importing").test, strategy="random", executions=5)
    finally:
        for module in ("test_importing", "imported_late"):
            sys.modules.pop(module, None)
    assert result.findings == []
