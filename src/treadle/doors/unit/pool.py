"""The processes behind `--workers`: started, talked to, replaced when they die, and gone in the end.

Each has a thread that waits for its messages, so that one queue has the news of all. A fresh interpreter is started,
not a copy of this one: the solver's library has threads and state of its own, which a copy would share.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from treadle.doors.unit.worker import PathsTask, Setup, receive, send

# Replacements for workers that died; a program that kills more of them than this is not worth the next one.
_SPARE = 8

_COMMAND = "from treadle.doors.unit.worker import main; main()"


class Process:
    """One worker."""

    def __init__(self, setup: Setup, news: queue.Queue[tuple[Process, Any]]) -> None:
        paths = [p for p in sys.path if p]
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            process_group=0,  # Ctrl-C is for the process that a person started
        )
        self.tasks: list[int] = []
        self.up = False
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in, self._out = self._popen.stdin, self._popen.stdout
        threading.Thread(target=self._listen, args=(news,), daemon=True).start()
        self.tell(setup)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def _listen(self, news: queue.Queue[tuple[Process, Any]]) -> None:
        while True:
            try:
                message = receive(self._out)
            except Exception:  # the end of the conversation, or half a message: either way the worker is gone
                news.put((self, None))
                return
            news.put((self, message))

    def tell(self, message: Any) -> None:
        try:
            send(self._in, message)
        except OSError:
            pass  # it has died; the thread that listens says so

    def ended(self) -> str:
        """How a process that is gone has ended."""
        try:
            code = self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            code = self._popen.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def stop(self) -> None:
        self._popen.kill()
        for stream in (self._in, self._out):
            try:
                stream.close()
            except OSError:
                pass
        self._popen.wait()


class UnitWorkers:
    """So many workers, as long as it is open."""

    def __init__(self, workers: int, setup: Setup) -> None:
        self._setup = setup
        self._news: queue.Queue[tuple[Process, Any]] = queue.Queue()
        self._processes: list[Process] = []
        self._spare = _SPARE
        self._met = False  # some worker has come up
        self.warnings: list[str] = []
        for _ in range(workers):
            self._start()

    def _start(self) -> None:
        try:
            self._processes.append(Process(self._setup, self._news))
        except OSError as error:
            self.warnings.append(f"a worker process cannot be started ({error.strerror}); the others do its work")

    def __enter__(self) -> UnitWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.stop()

    @property
    def ready(self) -> list[Process]:
        return [process for process in self._processes if process.up]

    @property
    def coming(self) -> bool:
        """Whether there are workers, up or starting."""
        return bool(self._processes)

    @property
    def exhausted(self) -> bool:
        """Workers came up and died, again and again."""
        return self._met and not self._processes

    def give(self, process: Process, task: PathsTask) -> None:
        process.tasks.append(task.number)
        process.tell(task)

    def news(self, seconds: float) -> Iterator[tuple[Process, Any]]:
        """What workers have said, all of it; waits so long for the first word."""
        try:
            process, message = self._news.get(timeout=seconds) if seconds else self._news.get_nowait()
            while True:
                if message == ("ready",):
                    process.up = self._met = True
                elif message is None:
                    yield process, self._replace(process)
                else:
                    if message[0] == "done":
                        process.tasks.remove(message[1])
                    yield process, message
                process, message = self._news.get_nowait()
        except queue.Empty:
            return

    def _replace(self, process: Process) -> Any:
        self._processes.remove(process)
        how = process.ended()
        if not process.up:
            self.warnings.append(f"a worker process did not start ({how}); the others do its work")
        elif self._spare:
            self._spare -= 1
            self._start()
        return ("died", process.tasks, how)
