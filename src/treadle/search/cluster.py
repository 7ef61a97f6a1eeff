"""Workers on other machines: the pool of `workers.py`, by the tasks of a Dask cluster.

A Dask task drives a Treadle worker process on its node (`node.py`), and gives it one task of ours: no code under test
runs inside the Dask process, which keeps the worker for the next one. A node that dies costs the task it was running:
Dask runs it again elsewhere. Interrupting, and a scheduler that goes away, leave what has come back. What keeps a node
from doing the work (another Python, another Treadle, other code, a test that cannot be imported there) is told before
anything runs.
"""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from treadle.core.errors import UsageError
from treadle.search import node
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
    def asked(cls, processes: int | str | None, address: str | None, ship: bool | None) -> Workforce:
        """What a person asked for, checked."""
        processes = 1 if processes is None else processes_of(processes)
        if ship and not address:
            raise UsageError("ship sends the project to a cluster: give its address as well")
        return cls(processes, Cluster(address, bool(ship)) if address else None)


def processes_of(workers: int | str) -> int:
    """How many processes somebody asks for by a number, or by 'auto': one per processor."""
    if workers == "auto":
        return os.cpu_count() or 1
    if not str(workers).isdecimal() or not int(workers):
        raise UsageError(f"workers must be a number of processes, 1 or more, or auto, not {workers}")
    return int(workers)


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
        if not self._lost:
            self._relay.tell(None)  # the workers on the nodes end
            self._relay.wait(_ANSWER)
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
                if message is None or message[0] in ("lost", "refused"):
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
        self._lost = True
        self._relay.stop()


# ---------------------------------------------------------------------- beside the process that explores


def relay(asked: tuple[Any, ...], conversation: Conversation) -> None:
    """Hand tasks to Dask, and what comes back to who gave them."""
    cluster, server, setup, purpose, environment, path = asked
    try:
        client, threads, ship = _connected(cluster)
        ask = pickle.dumps((server, setup, "" if ship else os.getcwd(), path, environment, ship))
        _prepared(client, ask)
    except UsageError as error:
        conversation.tell(("refused", str(error)))
        return
    except Exception as error:  # whatever Dask raises when somebody goes away meanwhile
        conversation.tell(("refused", f"the cluster at {cluster.address} went away ({_line(error)})"))
        return
    speaking = threading.Lock()
    done: queue.Queue[Any] = queue.Queue()
    futures: dict[int, Any] = {}  # a future that nobody holds is not run
    tasks: dict[int, Any] = {}  # what was not answered yet
    times = itertools.count()

    def tell(message: tuple[Any, ...]) -> None:
        with speaking:
            conversation.tell(message)

    def submit(number: int, task: Any) -> None:
        tasks[number] = task
        # one name for all: Dask keeps what it learns of a name for ever
        key = (f"{purpose}: {type(task).__name__}", os.getpid(), number, next(times))
        future = client.submit(node.run_task, ask, pickle.dumps(task), number, key=key, pure=False)
        futures[number] = future
        future.add_done_callback(functools.partial(_note, done, number))

    def listen() -> None:
        while client.status in ("running", "connecting"):
            try:
                number, future = done.get(timeout=1)
            except queue.Empty:
                continue
            messages = _heard(number, future)
            if messages[0][0] == "unshipped":
                client.run(node.look_around, os.getcwd(), ship, node.zipped(Path.cwd()))
                submit(number, tasks[number])
                continue
            for message in messages:
                tell(message)
            futures.pop(number, None)
            tasks.pop(number, None)
        tell(("lost", "the scheduler does not answer any more"))

    tell(("threads", threads))
    threading.Thread(target=listen, daemon=True).start()
    while True:
        heard = conversation.hear()
        if heard is None:
            client.run(node.finish, ask, ship)
            return
        submit(*heard)


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
        told = client.run(node.look_around, os.getcwd(), ship, node.zipped(Path.cwd()) if ship else b"")
    except Exception as error:
        raise UsageError(f"the workers of {cluster.address} cannot run Treadle ({_line(error)})") from None
    for name, facts in told.items():
        if facts.python != sys.version_info[:2]:
            here = ".".join(map(str, sys.version_info[:2]))
            raise UsageError(f"{name} runs Python {'.'.join(map(str, facts.python))}, this is {here}: use the same")
        if facts.treadle != version("treadle"):
            raise UsageError(f"{name} has Treadle {facts.treadle}, this is {version('treadle')}: use the same")
        if not facts.code:
            raise UsageError(
                f"{name} has no folder {os.getcwd()}: use a shared file system, or send the project with --ship"
            )
        if facts.code != node.digest(Path.cwd()):
            raise UsageError(f"{name} has other code in {os.getcwd()}: bring it up to date, or send it with --ship")
    return client, sum(nodes.values()), ship


def _prepared(client: Any, ask: bytes) -> None:
    """Start a worker process on every node: what cannot be imported there is told before anything runs."""
    for name, why in client.run(node.prepare, ask).items():
        if why:
            raise UsageError(f"{name} cannot do this work: {why}")


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
