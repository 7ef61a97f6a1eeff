"""Calling the program's code in a child that can be ended: a fork of this process, which answers once.

Whatever the calls do to the child, or however long they take, the caller goes on: no answer is one as well. The child
has no streams, does not hear Ctrl-C, and works in a folder that nobody keeps.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from treadle.observe.effects import scratch_folder


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def answer_of_a_child(work: Callable[[str], Any], seconds: float) -> Any:
    """What `work` returns, given a scratch folder, in a child; None where it ends too late or tells nothing."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_answer, args=(there, work))
    process.start()
    there.close()
    try:
        return pickle.loads(here.recv_bytes()) if here.poll(seconds) else None
    except (EOFError, OSError, pickle.UnpicklingError):
        return None
    finally:
        process.kill()
        process.join()


def _answer(pipe: Connection, work: Callable[[str], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 (until the process ends)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        with scratch_folder() as scratch:
            os.chdir(scratch)
            answer = work(scratch)
        pipe.send_bytes(pickle.dumps(answer))
    finally:
        os._exit(0)
