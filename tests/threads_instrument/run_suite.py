"""Runs a test module of CPython's own suite, rewritten together with the library it tests; prints JSON.

Usage: run_suite.py plain|rewritten TEST_MODULE [LIBRARY...]
"""

from __future__ import annotations

import importlib
import io
import json
import sys
import unittest
import warnings
from contextlib import nullcontext

from tests.threads_instrument.passthrough import HOOKS
from treadle.threads.instrument import ModuleSelection, instrumented, rewritten_modules


def main(form: str, test_module: str, *libraries: str) -> None:
    warnings.simplefilter("ignore")
    del sys.argv[1:]
    selection = ModuleSelection(None, (test_module, *libraries))
    with instrumented(None, selection, HOOKS) if form == "rewritten" else nullcontext():
        tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(test_module))
        result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(tests)
        modules = rewritten_modules()
    failed = {test.id(): trace for test, trace in result.failures + result.errors}
    print("\n" + json.dumps({"ran": result.testsRun, "failed": failed, "rewritten": modules}))


if __name__ == "__main__":
    main(*sys.argv[1:])
