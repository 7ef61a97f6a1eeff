"""A Python that has imported pytest and coverage, and forks a child for every run that is asked for on its stdin.

A run in it is what a run in a fresh process is, but for the second that the imports take; it knows nothing of the code
under test. Asked with a line of JSON, it answers with the exit code, or with null when the time is up.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import signal
import sys
import time
from typing import Any

import coverage
import coverage.jsonreport
import pytest

import treadle.observe.effects  # noqa: F401 (what the plugin needs)


def main() -> None:
    own_path = list(sys.path)
    for line in sys.stdin:
        wanted = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(wanted, own_path)
        print(json.dumps(_exit_code(child, wanted["seconds"])), flush=True)


def _run(wanted: dict[str, Any], own_path: list[str]) -> None:
    for number, name in ((0, os.devnull), (1, wanted["stdout"]), (2, wanted["stderr"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.chdir(wanted["folder"])
    sys.path[:] = [os.getcwd(), *wanted["environment"]["PYTHONPATH"].split(os.pathsep), *own_path[1:]]
    sys.argv[:] = ["pytest", *wanted["words"]]
    code = 1
    try:
        code = int(pytest.main(wanted["words"]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code(child: int, seconds: float) -> int | None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):  # whatever is imported late
        pytest.main(["--version"])
    measure = coverage.Coverage(data_file=None, branch=True, config_file=False)
    measure.start()
    measure.stop()
    gc.freeze()
    main()
