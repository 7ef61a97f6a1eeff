"""Strands on OS threads that hand on a baton: the same executions, trails and verdicts as on greenlets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from treadle.core.errors import UsageError
from treadle.threads.carriers import Carrier, finalises, wanted

PROGRAM = """
import contextvars, json, os, sys, threading
import treadle

LOCAL = threading.local()
LOCAL.value = "main's"
HELD = threading.RLock()
HELD.acquire()
VARIABLE = contextvars.ContextVar("VARIABLE", default="none")


def both(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def lost_update():
    box = [0]

    def add():
        box[0] = box[0] + 1

    both(add, add)
    assert box == [2]


def counted():
    box = [0, 0]

    def add():
        for _ in range(2):
            box[0] += 1

    both(add, add)


def deadlock():
    one, two = threading.Lock(), threading.Lock()

    def take(first, second):
        with first, second:
            pass

    both(lambda: take(one, two), lambda: take(two, one))


def own():
    assert LOCAL.value == "main's" and HELD.acquire(blocking=False)

    def work():
        assert not hasattr(LOCAL, "value") and VARIABLE.get() == "none"
        LOCAL.value = 1
        VARIABLE.set("mine")

    both(work, work)
    assert LOCAL.value == "main's"


def stubborn():
    def work():
        while True:
            try:
                threading.Event().wait()
            except BaseException:
                pass

    threading.Thread(target=work, daemon=True).start()


found = {}
for program in (lost_update, counted, deadlock, own, stubborn):
    result = treadle.check(program)
    found[program.__name__] = [
        result.verdict.value,
        result.executions,
        [(finding.kind, finding.replay) for finding in result.findings],
    ]
print(json.dumps(found))
"""

# Blocks in C, where no exception reaches it: the search must end all the same.
BLOCKED = """
import os, threading, treadle

def blocked():
    reading, _ = os.pipe()
    thread = threading.Thread(target=os.readv, args=(reading, [bytearray(1)]))
    thread.start()
    thread.join()

print(treadle.check(blocked, seconds=1).reason)
print(treadle.check(lambda: None, seconds=1).verdict.value)
os._exit(0)
"""


def run(text: str, strands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    file = folder / "program.py"
    file.write_text(text)
    environment = {**os.environ, "TREADLE_STRANDS": strands}
    return subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_the_same_executions_trails_and_verdicts_on_threads_and_on_greenlets(tmp_path: Path) -> None:
    found: list[dict[str, Any]] = []
    for strands in ("greenlets", "threads"):
        done = run(PROGRAM, strands, tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert [name for name, (verdict, *_) in found[0].items() if verdict == "FAILED"] == ["lost_update", "deadlock"]


@pytest.mark.slow
def test_a_thread_that_blocks_for_ever_does_not_hold_the_command(tmp_path: Path) -> None:
    done = run(BLOCKED, "threads", tmp_path)
    assert done.stdout.splitlines() == ["time ran out after 0 executions: not a pass", "NOTHING-TO-EXPLORE"]


def test_another_word_for_it_is_one_sentence(tmp_path: Path) -> None:
    done = run("import treadle\ntreadle.check(print)\n", "fibers", tmp_path)
    assert "TREADLE_STRANDS must be 'greenlets' or 'threads', not 'fibers'" in done.stderr


def test_a_carrier_that_is_ended_before_it_began_never_runs() -> None:
    ran: list[int] = []
    carrier = Carrier(lambda: ran.append(1))
    carrier.throw()
    assert (carrier.dead, ran) == (True, [])


def test_a_finaliser_is_known_from_any_depth_below_it() -> None:
    seen: list[bool] = []

    def deep() -> None:
        seen.append(finalises())

    class Closed:
        def __del__(self) -> None:
            deep()

    deep()
    Closed()
    assert seen == [False, True]


def test_a_pre_release_whose_garbage_collector_crashes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.threads.carriers.sysconfig.get_config_var", lambda name: name == "Py_GIL_DISABLED")
    monkeypatch.setattr("treadle.threads.carriers.sys.version_info", (3, 13, 0, "beta", 1))
    with pytest.raises(UsageError, match=r"^pre-releases of free-threaded Python 3\.13 crash"):
        wanted()
    monkeypatch.setattr("treadle.threads.carriers.sys.version_info", (3, 13, 0, "final", 0))
    monkeypatch.delenv("TREADLE_STRANDS", raising=False)
    assert wanted() == "threads"
