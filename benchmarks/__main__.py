"""Runs the benchmarks: all of them, or those that are named. A benchmark that fails does not stop the others."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback

import benchmarks


def names() -> list[str]:
    """The modules of this package that define `main` themselves."""
    found = []
    for info in pkgutil.iter_modules(benchmarks.__path__):
        if not info.name.startswith("_") and not info.ispkg:
            main = getattr(importlib.import_module(f"benchmarks.{info.name}"), "main", None)
            if main is not None and main.__module__ == f"benchmarks.{info.name}":
                found.append(info.name)
    return found


def run() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="One JSON line per row on the standard output, tables beside it."
    )
    parser.add_argument(
        "names", nargs="*", metavar="BENCHMARK", help=f"all of them when none is named: {', '.join(names())}"
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, no measurement over minutes")
    options = parser.parse_args()
    for name in options.names:
        if name not in names():
            parser.error(f"there is no benchmark '{name}'; there are: {', '.join(names())}")
    failed = []
    for name in options.names or names():
        print(f"\n== {name}", file=sys.stderr, flush=True)
        try:
            importlib.import_module(f"benchmarks.{name}").main(options.quick)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run())
