"""Workers on other machines: the pool of `workers.py`, by the tasks of a Dask cluster.

A Dask task drives a Treadle worker process on its node, and gives it one task of ours: no code under test runs inside
the Dask process, which keeps the worker for the next one. A node that dies costs the task it was running: Dask runs it
again elsewhere. Interrupting, and a scheduler that goes away, leave what has come back.
"""

from __future__ import annotations

import atexit
import functools
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
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from treadle.core.errors import UsageError
from treadle.search.workers import AnyPool, Conversation, WorkerPool, WorkerProcess

# Seconds in which the scheduler must answer.
_ANSWER = 10.0
# Seconds of a piece of work here and on a cluster: what is sent costs milliseconds.
SHARE_HERE = 0.5
SHARE_ELSEWHERE = 3.0
# Tasks that one thread of a Dask worker is given ahead, so that it never waits for us.
_AHEAD = 2


class Cluster(NamedTuple):
    """A Dask cluster, by the address of its scheduler, and whether the project is sent there."""

    address: str
    ship: bool = False


class Workforce(NamedTuple):
    """Who does the work: so many processes on this machine, or those of a cluster."""

    processes: int = 1
    cluster: Cluster | None = None

    @property
    def several(self) -> bool:
        return self.processes > 1 or self.cluster is not None

    @property
    def share(self) -> float:
        """Seconds that a piece of work may take."""
        return SHARE_HERE if self.cluster is None else SHARE_ELSEWHERE

    @classmethod
    def asked(cls, processes: int | None, address: str | None, ship: bool | None) -> Workforce:
        """What a person asked for, checked."""
        processes = 1 if processes is None else processes
        if processes < 1:
            raise UsageError(f"workers must be 1 or more, not {processes}")
        if ship and not address:
            raise UsageError("ship sends the project to a cluster: give its address as well")
        return cls(processes, Cluster(address, bool(ship)) if address else None)


ALONE = Workforce()


def pool_of(
    workforce: Workforce,
    server: str | type,
    setup: Any,
    purpose: str,
    environment: Mapping[str, str] | None = None,
) -> AnyPool:
    """The workers that a server is started in; `purpose` names their tasks to who watches the cluster."""
    if isinstance(server, type):
        server = f"{server.__module__}:{server.__qualname__}"
    if workforce.cluster is None:
        return WorkerPool(workforce.processes, server, setup, environment)
    return ClusterPool(workforce.cluster, server, setup, purpose, environment)


class ClusterPlace:
    """One place of the cluster, for us: a list of what it has been given."""

    def __init__(self) -> None:
        self.tasks: list[int] = []


class ClusterPool:
    """The worker processes of a Dask cluster, one for each thread that it has.

    The client of Dask lives in a process of its own (`relay`): in this one, threads and event loops may be models.
    """

    def __init__(
        self, cluster: Cluster, server: str, setup: Any, purpose: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self.warnings: list[str] = []
        self._slots: list[ClusterPlace] = []
        self._lost = False
        self._news: queue.Queue[tuple[WorkerProcess, Any]] = queue.Queue()
        asked = (cluster, server, setup, purpose, dict(environment or {}), [p for p in sys.path if p])
        self._relay = WorkerProcess(f"{__name__}:{relay.__name__}", asked, {}, self._news)
        try:
            _, first = self._news.get(timeout=4 * _ANSWER)
        except queue.Empty:
            first = ("refused", f"the cluster at {cluster.address} does not answer")
        if first is None or first[0] == "refused":
            self._relay.stop()
            raise UsageError(first[1] if first else f"the client of the cluster ended ({self._relay.ended()})")
        self.size: int = first[1]
        self._slots = [ClusterPlace() for _ in range(self.size * _AHEAD)]

    def __enter__(self) -> ClusterPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._relay.stop()

    @property
    def ready(self) -> list[ClusterPlace]:
        return self._slots

    @property
    def coming(self) -> bool:
        return not self._lost

    @property
    def exhausted(self) -> bool:
        return self._lost

    def give(self, worker: ClusterPlace, number: int, task: Any) -> None:
        worker.tasks.append(number)
        self._relay.tell((number, task))

    def news(self, seconds: float) -> Iterator[tuple[ClusterPlace, Any]]:
        try:
            _, message = self._news.get(timeout=seconds) if seconds else self._news.get_nowait()
            while True:
                if message is None or message[0] == "lost":
                    yield from self._lose("its client ended" if message is None else message[1])
                    return
                number = message[1] if message[0] == "done" else message[1][0] if message[0] == "died" else None
                slot = next((one for one in self._slots if number in one.tasks), self._slots[0])
                if number in slot.tasks:
                    slot.tasks.remove(number)
                yield slot, message
                _, message = self._news.get_nowait()
        except queue.Empty:
            return

    def _lose(self, why: str) -> Iterator[tuple[ClusterPlace, Any]]:
        self._lost = True
        self.warnings.append(f"the cluster has gone ({why})")
        slots, self._slots = self._slots, []
        for slot in slots:
            if slot.tasks:
                yield slot, ("died", slot.tasks, why)

    def interrupt(self) -> None:
        """What has not begun is not run; what runs is not waited for."""
        self._relay.stop()


# ---------------------------------------------------------------------- beside the process that explores


def relay(asked: tuple[Any, ...], conversation: Conversation) -> None:
    """Hand tasks to Dask, and what comes back to who gave them."""
    cluster, server, setup, purpose, environment, path = asked
    try:
        client, threads, ship = _connected(cluster)
    except UsageError as error:
        conversation.tell(("refused", str(error)))
        return
    ask = pickle.dumps((server, setup, "" if ship else os.getcwd(), path, environment, ship))
    speaking = threading.Lock()
    done: queue.Queue[Any] = queue.Queue()
    futures: dict[int, Any] = {}  # a future that nobody holds is not run

    def tell(message: tuple[Any, ...]) -> None:
        with speaking:
            conversation.tell(message)

    def listen() -> None:
        while client.status in ("running", "connecting"):
            try:
                number, future = done.get(timeout=1)
            except queue.Empty:
                continue
            for message in _heard(number, future):
                tell(message)
            futures.pop(number, None)
        tell(("lost", "the scheduler does not answer any more"))

    tell(("threads", threads))
    threading.Thread(target=listen, daemon=True).start()
    while True:
        number, task = conversation.hear()
        key = f"{purpose}: {type(task).__name__} {number} of {os.getpid()}"
        future = client.submit(run_task, ask, pickle.dumps(task), number, key=key, pure=False)
        futures[number] = future
        future.add_done_callback(functools.partial(_note, done, number))


def _note(done: queue.Queue[Any], number: int, future: Any) -> None:
    done.put((number, future))


def _heard(number: int, future: Any) -> list[Any]:
    """What a task of Dask's came to."""
    if future.status == "finished":
        try:
            return list(future.result(timeout=_ANSWER))
        except Exception as error:  # the answer was lost with the node that had it
            return [("died", [number], _line(error))]
    failed = future.exception() if future.status == "error" else None
    return [("died", [number], _line(failed) if failed else "cancelled")]


def _connected(cluster: Cluster) -> tuple[Any, int, str]:
    """A client, how many threads there are, and the name of what was sent; what does not fit is told."""
    distributed = _distributed()
    try:
        client = distributed.Client(cluster.address, timeout=_ANSWER, set_as_default=False, name="treadle")
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {cluster.address} ({_line(error)}); is it running there?"
        ) from None
    nodes = client.nthreads()
    if not nodes:
        raise UsageError(f"the cluster has no workers; start one with: dask worker {cluster.address}")
    ship = f"{os.getpid()} {time.time_ns()}" if cluster.ship else ""
    try:
        told = client.run(look_around, os.getcwd(), ship, _zipped(Path.cwd()) if ship else b"")
    except Exception as error:
        raise UsageError(f"the workers of {cluster.address} cannot run Treadle ({_line(error)})") from None
    for node, (python, treadle, there) in told.items():
        if python != sys.version_info[:2]:
            here = ".".join(map(str, sys.version_info[:2]))
            raise UsageError(f"{node} runs Python {'.'.join(map(str, python))}, this is {here}: use the same")
        if treadle != version("treadle"):
            raise UsageError(f"{node} has Treadle {treadle}, this is {version('treadle')}: use the same")
        if not there:
            raise UsageError(
                f"{node} has no folder {os.getcwd()}: use a shared file system, or send the project with --ship"
            )
    return client, sum(nodes.values()), ship


# ---------------------------------------------------------------------- on a node

_PROCESSES: dict[tuple[str, int], tuple[WorkerProcess, queue.Queue[Any]]] = {}
_FOLDERS: dict[str, str] = {}


def look_around(folder: str, ship: str, data: bytes) -> tuple[tuple[int, int], str, bool]:
    """What a node has: its Python, its Treadle, and whether the folder of the project is there."""
    if ship:
        _FOLDERS[ship] = _unpacked(data)
    return (sys.version_info[0], sys.version_info[1]), version("treadle"), bool(ship) or os.path.isdir(folder)


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
        raise UsageError(
            "--cluster needs dask.distributed; run, in the folder of Treadle: pip install '.[cluster]'"
        ) from None
    return distributed


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
