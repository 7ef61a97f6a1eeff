"""WorkerProcess processes: started once, given tasks as data, replaced when they die, and gone in the end.

    with WorkerPool(2, "package.module:Server", setup) as pool:
        for worker in pool.ready:
            pool.give(worker, number, task)
        for worker, message in pool.news(0.2):
            ...

Contract:
- A server is named, not sent: `Server(setup, tell)` is made in the worker, where it imports the code under test by its
  own path, and its `run(number, task)` does a task. What it returns comes back as ("done", number, returned); on the
  way `tell` sends messages of its own, tuples that begin with a word. Where tasks can only be done inside something
  that calls back (pytest runs a test), the server is a function `serve(setup, conversation)`, which calls
  `conversation.serve(run)` from there.
- A fresh interpreter is started, not a copy of this one: libraries have threads and state that a copy would share.
- A worker that dies costs the task it was running: ("died", numbers, how) names what it had been given, the running
  one first. Another takes its place, as long as there are spare ones.
- Ctrl-C is for the process that a person started; `interrupt` raises KeyboardInterrupt in servers that ask for it.

Messages are pickles, each after its length. Standard output belongs to the conversation; what the code under test
prints goes nowhere. Each worker has a thread here that waits for its messages, so that one queue has the news of all.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, Protocol

from treadle.core.errors import TreadleError

# Replacements for workers that died; a program that kills more of them than this is not worth the next one.
_SPARE = 8

_COMMAND = "from treadle.search.workers import main; main()"


class Tell(Protocol):
    """Sends a message; a pickler of its own may refuse some values with PicklingError."""

    def __call__(self, message: tuple[Any, ...], pickler: type[pickle.Pickler] = pickle.Pickler) -> None: ...


class Server(Protocol):
    """What runs tasks in a worker."""

    def run(self, number: int, task: Any) -> Any: ...


def send(stream: IO[bytes], message: Any, pickler: type[pickle.Pickler] = pickle.Pickler) -> None:
    data = io.BytesIO()
    pickler(data, pickle.HIGHEST_PROTOCOL).dump(message)
    stream.write(struct.pack("!Q", data.tell()) + data.getvalue())
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError when there is none."""
    head = stream.read(8)
    size = struct.unpack("!Q", head)[0] if len(head) == 8 else 0
    data = stream.read(size)
    if len(head) < 8 or len(data) < size:
        raise EOFError
    return pickle.loads(data)


class WorkerProcess:
    """One process; `tasks` are the numbers of what it has been given and not done, the running one first."""

    def __init__(
        self,
        server: str,
        setup: Any,
        environment: Mapping[str, str],
        news: queue.Queue[tuple[WorkerProcess, Any]],
        folder: str | None = None,
        path: Sequence[str] | None = None,
    ) -> None:
        path = sys.path if path is None else path
        paths = [p for p in path if p]
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(paths)},
            process_group=0,  # Ctrl-C does not reach it, and whatever it starts ends with it
        )
        self.tasks: list[int] = []
        self.up = False
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in, self._out = self._popen.stdin, self._popen.stdout
        threading.Thread(target=self._listen, args=(news,), daemon=True).start()
        self.tell((server, folder or os.getcwd(), list(path)))
        self.tell(setup)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def _listen(self, news: queue.Queue[tuple[WorkerProcess, Any]]) -> None:
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

    def interrupt(self) -> None:
        """KeyboardInterrupt, if its server wants it."""
        if self._popen.poll() is None:
            os.kill(self.pid, signal.SIGINT)

    def ended(self) -> str:
        """How a process that is gone has ended."""
        try:
            code = self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            code = self._popen.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def wait(self, seconds: float) -> None:
        """Wait for its end, as long as that."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(seconds)

    def stop(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            self._popen.kill()  # the group is gone already, or not ours
        for stream in (self._in, self._out):
            try:
                stream.close()
            except OSError:
                pass
        self._popen.wait()


class Busy(Protocol):
    """Somebody who does tasks; `tasks` are the numbers of what it has been given and not done."""

    tasks: list[int]


class AnyPool(Protocol):
    """Workers, wherever they are."""

    warnings: list[str]
    size: int  # how many can work at once

    def __enter__(self) -> AnyPool: ...
    def __exit__(self, *_: object) -> None: ...

    @property
    def ready(self) -> Sequence[Busy]: ...
    @property
    def coming(self) -> bool: ...
    def give(self, worker: Any, number: int, task: Any) -> None: ...
    @property
    def exhausted(self) -> bool: ...
    def news(self, seconds: float) -> Iterator[tuple[Any, Any]]: ...
    def interrupt(self) -> None: ...


class WorkerPool:
    """So many workers, as long as it is open."""

    def __init__(self, workers: int, server: str, setup: Any, environment: Mapping[str, str] | None = None) -> None:
        self.size = workers
        self._server = server
        self._setup = setup
        self._environment = environment or {}
        self._news: queue.Queue[tuple[WorkerProcess, Any]] = queue.Queue()
        self._workers: list[WorkerProcess] = []
        self._spare = _SPARE
        self._met = False  # some worker has come up
        self.warnings: list[str] = []
        for _ in range(workers):
            self._start()

    def _start(self) -> None:
        try:
            self._workers.append(WorkerProcess(self._server, self._setup, self._environment, self._news))
        except OSError as error:
            self.warnings.append(f"a worker process cannot be started ({error.strerror}); the others do its work")

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    @property
    def ready(self) -> list[WorkerProcess]:
        return [worker for worker in self._workers if worker.up]

    @property
    def coming(self) -> bool:
        """Whether there are workers, up or starting."""
        return bool(self._workers)

    @property
    def exhausted(self) -> bool:
        """Workers came up and died, again and again."""
        return self._met and not self._workers

    def give(self, worker: WorkerProcess, number: int, task: Any) -> None:
        worker.tasks.append(number)
        worker.tell((number, task))

    def interrupt(self) -> None:
        for worker in self._workers:
            if worker.tasks:
                worker.interrupt()

    def news(self, seconds: float) -> Iterator[tuple[WorkerProcess, Any]]:
        """What workers have said, all of it; waits so long for the first word."""
        try:
            worker, message = self._news.get(timeout=seconds) if seconds else self._news.get_nowait()
            while True:
                if message == ("ready",):
                    worker.up = self._met = True
                elif message is None:
                    yield worker, self._replace(worker)
                elif message[0] == "refused":
                    self.warnings.append(message[1])
                else:
                    if message[0] == "done":
                        worker.tasks.remove(message[1])
                    yield worker, message
                worker, message = self._news.get_nowait()
        except queue.Empty:
            return

    def _replace(self, worker: WorkerProcess) -> Any:
        self._workers.remove(worker)
        how = worker.ended()
        if not worker.up:
            if not self.warnings:
                self.warnings.append(f"a worker process did not start ({how}); the others do its work")
        elif self._spare:
            self._spare -= 1
            self._start()
        return ("died", worker.tasks, how)


class Died(NamedTuple):
    """Nothing came of a task: how its worker ended, or why there is none."""

    how: str
    gone: bool = False  # there is nobody left to do it


# Seconds to wait for an answer before looking around.
_PATIENCE = 0.5
_ALL_DIED = "the worker processes died, again and again"


def gone(pool: AnyPool) -> str:
    """Why nobody is left in a pool."""
    return "; ".join(dict.fromkeys(pool.warnings)) or _ALL_DIED


def answers(pool: AnyPool, tasks: Sequence[Any], *, wait_after_interrupt: bool = False) -> Iterator[tuple[int, Any]]:
    """What comes of each of these tasks, as it comes, by its place among them.

    A task whose worker died is given once more: the next time it is what kills its worker. With `wait_after_interrupt`,
    Ctrl-C goes to the workers, which answer with what they have.
    """
    waiting = list(range(len(tasks)))
    died: set[int] = set()
    left = set(waiting)
    while left:
        try:
            for worker in pool.ready:
                if waiting and not worker.tasks:
                    pool.give(worker, waiting[0], tasks[waiting[0]])
                    del waiting[0]
            for _, message in pool.news(_PATIENCE):
                if message[0] == "done" and message[1] in left:
                    left.remove(message[1])
                    yield message[1], message[2]
                elif message[0] == "died":
                    for number in left.intersection(message[1]):
                        if number in died:
                            left.remove(number)
                            yield number, Died(message[2])
                        else:
                            died.add(number)
                            waiting.append(number)
            if not pool.coming:
                yield from ((number, Died(gone(pool), gone=True)) for number in sorted(left))
                return
        except KeyboardInterrupt:
            if not wait_after_interrupt or len(waiting) == len(tasks):
                raise
            pool.interrupt()


class Conversation:
    """A worker's side: what it is asked, and what it says."""

    def __init__(self, incoming: IO[bytes], out: IO[bytes]) -> None:
        self._incoming = incoming
        self._out = out

    def hear(self) -> Any:
        return receive(self._incoming)

    def tell(self, message: tuple[Any, ...], pickler: type[pickle.Pickler] = pickle.Pickler) -> None:
        send(self._out, message, pickler)

    def serve(self, run: Callable[[int, Any], Any]) -> None:
        """Do tasks until the process that gives them has gone."""
        self.tell(("ready",))
        while True:
            number, task = self.hear()
            self.tell(("done", number, run(number, task)))


def main() -> None:
    """The life of a worker: serve until the input ends."""
    conversation = Conversation(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        named, folder, sys.path[:] = conversation.hear()
        os.chdir(folder)
        module, _, name = named.partition(":")
        make = getattr(importlib.import_module(module), name)
        setup = conversation.hear()
        if isinstance(make, type):
            server: Server = make(setup, conversation.tell)
            conversation.serve(server.run)
        else:
            make(setup, conversation)
        code = 0
    except (EOFError, BrokenPipeError):
        code = 0
    except TreadleError as error:
        conversation.tell(("refused", str(error)))
        code = 2
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stderr.flush()
    os._exit(code)  # whatever threads or handlers the program under test has left behind
