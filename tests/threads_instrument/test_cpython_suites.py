"""CPython's own tests pass when they, and the libraries they test, are rewritten.

A test that also fails plain on this machine does not count. Not run are the suites that look at what rewriting
changes by its nature: events of sys.settrace and sys.monitoring (the hooks have frames), and bytecode.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

LANGUAGE = (
    *("test_augassign", "test_class", "test_compare", "test_contains", "test_coroutines", "test_decorators"),
    *("test_descr", "test_except_star", "test_exceptions", "test_fstring", "test_generators", "test_genexps"),
    *("test_grammar", "test_listcomps", "test_named_expressions", "test_patma", "test_property", "test_raise"),
    *("test_scope", "test_slice", "test_super", "test_type_params", "test_unpack", "test_with", "test_yield_from"),
)

LIBRARIES = {
    "test_argparse": ["argparse"],
    "test_collections": ["collections"],
    "test_contextlib": ["contextlib"],
    "test_copy": ["copy"],
    "test_dataclasses": ["dataclasses"],
    "test_enum": ["enum"],
    "test_fractions": ["fractions"],
    "test_functools": ["functools"],
    "test_heapq": ["heapq"],
    "test_json": ["json"],
    "test_ordered_dict": ["collections"],
    "test_textwrap": ["textwrap"],
    "test_typing": ["typing"],
}


# A warning shows the line of the frame that is current: where an attribute is read, that is the hook's.
CANNOT_PASS = {
    "test.test_functools.TestPartialC.test_partial_as_method",
    "test.test_functools.TestPartialPy.test_partial_as_method",
    "test.test_functools.TestPartialCSubclass.test_partial_as_method",
    "test.test_functools.TestPartialPySubclass.test_partial_as_method",
    "test.test_typing.InternalsTests.test_collect_parameters",
}


def run(form: str, *arguments: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("run_suite.py")), form, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def check(suite: str, *libraries: str) -> None:
    if importlib.util.find_spec("test") is None or importlib.util.find_spec(f"test.{suite}") is None:
        pytest.skip(f"this Python comes without test.{suite}")
    report = run("rewritten", f"test.{suite}", *libraries)
    assert f"test.{suite}" in report["rewritten"]
    assert set(libraries) <= set(report["rewritten"])
    assert report["ran"] > 0
    failed = {test: trace for test, trace in report["failed"].items() if test not in CANNOT_PASS}
    if failed:
        also_plain = run("plain", f"test.{suite}", *libraries)["failed"]
        failed = {test: trace for test, trace in failed.items() if test not in also_plain}
    assert not failed, "\n".join(failed.values())


@pytest.mark.slow
@pytest.mark.parametrize("suite", LANGUAGE)
def test_language(suite: str) -> None:
    check(suite)


@pytest.mark.slow
@pytest.mark.parametrize("suite", LIBRARIES)
def test_library(suite: str) -> None:
    check(suite, *LIBRARIES[suite])
