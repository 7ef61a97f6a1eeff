"""Workers on other machines: the pool of `workers.py`, by the tasks of a Dask cluster.

A Dask task drives a Treadle worker process on its node, and gives it one task of ours: no code under test runs inside
the Dask process, which keeps the worker for the next one. A node that dies costs the task it was running: Dask runs it
again elsewhere. Interrupting, and a scheduler that goes away, leave what has come back.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import pickle
import queue
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from treadle.core.errors import UsageError
from treadle.search.workers import Pool, WorkerPool, WorkerProcess

# Seconds in which the scheduler must answer.
_ANSWER = 10.0
# Tasks that one thread of a Dask worker is given ahead, so that it never waits for us.
_AHEAD = 2


class Cluster(NamedTuple):
    """A Dask cluster, by the address of its scheduler, and whether the project is sent there."""

    address: str
    ship: bool = False


def pool_of(
    workers: int,
    cluster: Cluster | None,
    server: str,
    setup: Any,
    purpose: str,
    environment: Mapping[str, str] | None = None,
) -> Pool:
    """So many processes on this machine, or those of a cluster."""
    if cluster is None:
        return WorkerPool(workers, server, setup, environment)
    return ClusterPool(cluster, server, setup, purpose, environment)


class Slot:
    """One place of the cluster, for us: a list of what it has been given."""

    def __init__(self) -> None:
        self.tasks: list[int] = []


class ClusterPool:
    """The worker processes of a Dask cluster, one for each thread that it has."""

    def __init__(
        self, cluster: Cluster, server: str, setup: Any, purpose: str, environment: Mapping[str, str] | None = None
    ) -> None:
        distributed = _distributed()
        address = cluster.address
        ship = f"{os.getpid()} {time.time_ns()}" if cluster.ship else ""  # a name for what is sent
        self.warnings: list[str] = []
        self._news: queue.Queue[tuple[Slot, Any]] = queue.Queue()
        self._purpose = purpose
        self._lost = ""
        try:
            self._client = distributed.Client(address, timeout=_ANSWER, set_as_default=False, name="treadle")
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address} ({_line(error)}); is it running there?") from None
        try:
            self._threads = self._check_nodes(ship)
        except BaseException:
            self._client.close()
            raise
        self._slots = [Slot() for _ in range(self._threads * _AHEAD)]
        folder = "" if ship else os.getcwd()
        self._ask = pickle.dumps((server, setup, folder, [p for p in sys.path if p], dict(environment or {}), ship))
        self._sent = self._client.scatter(self._ask, broadcast=False, hash=False)

    def _check_nodes(self, ship: str) -> int:
        """The number of threads; what does not fit is said before anything runs."""
        import treadle

        nodes = self._client.nthreads()
        if not nodes:
            raise UsageError("the cluster has no workers; start one with: dask worker ADDRESS")
        data = _zipped(Path.cwd()) if ship else b""
        told = self._client.run(look_around, os.getcwd(), ship, data)
        for node, (python, version, there) in told.items():
            if python != sys.version_info[:2]:
                here = ".".join(map(str, sys.version_info[:2]))
                raise UsageError(f"{node} runs Python {'.'.join(map(str, python))}, this is {here}: use the same")
            if version != treadle.__version__:
                raise UsageError(f"{node} has Treadle {version or 'not installed'}, this is {treadle.__version__}")
            if not there:
                raise UsageError(
                    f"{node} has no folder {os.getcwd()}: use a shared file system, or send the project with --ship"
                )
        return sum(nodes.values())

    def __enter__(self) -> ClusterPool:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._client.close(timeout=2)
        except Exception:  # the scheduler has gone: nothing is left to be closed
            pass

    @property
    def ready(self) -> list[Slot]:
        return self._slots if not self._lost else []

    @property
    def coming(self) -> bool:
        return not self._lost

    def give(self, worker: Slot, number: int, task: Any) -> None:
        worker.tasks.append(number)
        future = self._client.submit(
            run_task, self._sent, pickle.dumps(task), number, key=f"{self._purpose} {number} {os.getpid()}", pure=False
        )
        future.add_done_callback(lambda done: self._heard(worker, number, done))

    def _heard(self, worker: Slot, number: int, future: Any) -> None:
        if future.status == "finished":
            try:
                self._news.put((worker, future.result()))
                return
            except Exception as error:  # the answer was lost on the way
                self._news.put((worker, ("died", [number], _line(error))))
                return
        failed = future.exception() if future.status == "error" else None
        self._news.put((worker, ("died", [number], _line(failed) if failed else "cancelled")))

    def news(self, seconds: float) -> Iterator[tuple[Slot, Any]]:
        try:
            worker, heard = self._news.get(timeout=seconds) if seconds else self._news.get_nowait()
            while True:
                for message in heard if isinstance(heard, list) else [heard]:
                    if message[0] == "done":
                        worker.tasks.remove(message[1])
                    elif message[0] == "died":
                        worker.tasks = [one for one in worker.tasks if one not in message[1]]
                    yield worker, message
                worker, heard = self._news.get_nowait()
        except queue.Empty:
            if self._client.status not in ("running", "connecting"):
                self._lost = f"the scheduler has gone ({self._client.status})"
                self.warnings.append(self._lost)

    def interrupt(self) -> None:
        """What has not begun is not run; what runs is not waited for."""
        self._client.close(timeout=2)


# ---------------------------------------------------------------------- on a node

_PROCESSES: dict[tuple[str, int], tuple[WorkerProcess, queue.Queue[Any]]] = {}
_FOLDERS: dict[str, str] = {}


def look_around(folder: str, ship: str, data: bytes) -> tuple[tuple[int, int], str, bool]:
    """What a node has: its Python, its Treadle, and whether the folder of the project is there."""
    import treadle

    if ship:
        _FOLDERS[ship] = _unpacked(data)
    return (sys.version_info[0], sys.version_info[1]), treadle.__version__, bool(ship) or os.path.isdir(folder)


def run_task(ask: bytes, task: bytes, number: int) -> list[Any]:
    """Give a task to this thread's worker process; everything it says, the result last."""
    key = (hashlib.sha256(ask).hexdigest(), threading.get_ident())
    if key not in _PROCESSES:
        _PROCESSES[key] = _started(ask)
    process, news = _PROCESSES[key]
    process.tell((number, pickle.loads(task)))
    heard: list[Any] = []
    while True:
        _, message = news.get()
        if message is None:
            del _PROCESSES[key]
            raise RuntimeError(f"the worker process died ({process.ended()})")
        if message[0] != "ready":
            heard.append(message)
        if message[0] == "done":
            return heard


def _started(ask: bytes) -> tuple[WorkerProcess, queue.Queue[Any]]:
    server, setup, folder, path, environment, ship = pickle.loads(ask)
    news: queue.Queue[Any] = queue.Queue()
    where = _FOLDERS[ship] if ship else folder
    process = WorkerProcess(server, setup, environment, news, where, [where, *path] if ship else path)
    atexit.register(process.stop)
    return process, news


def _zipped(folder: Path) -> bytes:
    """The Python files of a project, and what lies beside them, without what is made from them."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
                archive.write(path, inside)
    return data.getvalue()


def _unpacked(data: bytes) -> str:
    folder = tempfile.mkdtemp(prefix="treadle-shipped-")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("--cluster needs dask.distributed; install it with: pip install 'treadle[cluster]'") from None
    return distributed


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
