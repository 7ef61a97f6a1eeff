"""A server for worker processes: it says what it was asked, or does something worse."""

from __future__ import annotations

import os
import signal
import time

from treadle.search.workers import Tell


class AnsweringServer:
    def __init__(self, setup: str, tell: Tell) -> None:
        self._setup = setup
        self._tell = tell

    def run(self, number: int, task: str) -> str:
        if task == "die":
            os._exit(7)
        if task == "tell":
            self._tell(("told", number, os.getpid()))
        if task == "print":
            print("what the code under test prints is no message", flush=True)
        if task == "until interrupted":
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                self._tell(("told", number, "waiting"))  # inside: the signal may come before the message has left
                while True:
                    time.sleep(1)  # ended by the signal
            except KeyboardInterrupt:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                return "interrupted"
        return f"{self._setup}: {task}"
