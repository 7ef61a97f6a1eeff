"""A command that is stuck in C is ended when its time is over; whoever watches over it changes nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treadle.core import stuck

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells who sent a signal")

TESTS = """
import os, pathlib, signal, threading, time

def in_threads(work):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def test_never_comes_back():
    in_threads(lambda: sum(range(10**12)))

def test_lost():
    box = [0]
    def count():
        box[0] += 1
    in_threads(count)
    assert box == [2]

def test_ends_by_11():
    in_threads(lambda: os.kill(os.getpid(), signal.SIGSEGV))

def test_ends_by_9():
    in_threads(lambda: os.kill(os.getpid(), signal.SIGKILL))

def test_long():
    pathlib.Path("worker").write_text(str(os.getpid()))
    lock = threading.Lock()
    def work():
        for _ in range(1000):
            with lock:
                pass
    in_threads(work)
"""


def started(folder: Path, test: str, *options: str) -> subprocess.Popen[str]:
    (folder / "test_it.py").write_text(TESTS)
    words = [sys.executable, "-m", "treadle", "explore", f"test_it.py::{test}", *options]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def worker_of(folder: Path) -> int:
    """The process that explores, once it does."""
    noted = folder / "worker"
    while not noted.exists() or not noted.read_text():
        time.sleep(0.05)
    return int(noted.read_text())


@pytest.mark.slow  # the time that it is given, and some seconds more
def test_it_is_ended_and_its_line_is_named(tmp_path: Path) -> None:
    done = started(tmp_path, "test_never_comes_back", "--seconds", "1")
    out, err = done.communicate()
    assert done.returncode == 3
    assert out == ""
    assert "test_it.py:12 in <lambda> does not come back from a call that nothing can interrupt" in err
    assert len(err.splitlines()) == 1


def test_exit_codes_and_output_are_those_of_the_worker(tmp_path: Path) -> None:
    done = started(tmp_path, "test_lost", "--seconds", "60")
    out, err = done.communicate()
    assert done.returncode == 1, err
    assert out.startswith("FAILED  test_it.py::test_lost")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_who_crashes_is_seen_to_crash(tmp_path: Path, number: signal.Signals) -> None:
    done = started(tmp_path, f"test_ends_by_{number.value}")
    done.communicate()
    assert done.returncode == -number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_is_told_to_stop_hands_that_on(tmp_path: Path, number: signal.Signals) -> None:
    done = started(tmp_path, "test_long")
    worker = worker_of(tmp_path)
    assert worker != done.pid
    done.send_signal(number)
    out, err = done.communicate()
    assert "interrupted" in out, err
    assert done.returncode == 3


def test_nobody_is_left_when_the_one_who_waits_is_killed(tmp_path: Path) -> None:
    done = started(tmp_path, "test_long")
    worker = worker_of(tmp_path)
    done.kill()
    done.communicate()
    until = time.monotonic() + 20
    while _is_alive(worker):
        assert time.monotonic() < until
        time.sleep(0.05)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_process_that_nobody_watches_over_is_not_ended(capfd: pytest.CaptureFixture[str]) -> None:
    stuck.end_after(0.05)
    time.sleep(0.2)
    stuck.never_mind()
    assert capfd.readouterr().err == ""


WATCHED = """
import sys, time
from treadle.core import stuck

def tell(stack):
    print("stack:", stack[0][2])
    return 7

def sleeps():
    time.sleep(60)

stuck.watched_over(tell)
stuck.end_after(60)
stuck.end_after(0.1)
if sys.argv[1] == "stays":
    sleeps()
stuck.never_mind()
time.sleep(0.3)
sys.exit(5)
"""


@pytest.mark.parametrize(("what", "code", "said"), [("stays", 7, "stack: sleeps\n"), ("goes on", 5, "")])
def test_who_does_not_say_in_time_that_it_goes_on_is_ended(what: str, code: int, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED, what], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, said), done.stderr
