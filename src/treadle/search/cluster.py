"""Workers on other machines: the pool of `workers.py`, by the tasks of a Dask cluster.

A Dask task drives a Treadle worker process on its node (`node.py`), and gives it a task of ours, or several that are
short: no code under test runs inside the Dask process, which keeps the worker for the next one. A node that dies costs
what it was running: Dask runs it again elsewhere. Interrupting, and a scheduler that goes away, leave what has come
back. What keeps a node from doing the work (another Python, another Treadle, other code, a test that cannot be imported
there) is told before anything runs.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import pickle
import queue
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
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
# A task of Dask's costs some 8 ms of everybody's time together. Where tasks of ours take less than this many seconds,
# so many of them are asked for at once that up to `_TOGETHER` go as one.
_SHORT = 0.05
_TOGETHER = 16


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
        self._answered, self._since = 0, time.perf_counter()  # since there were so many places

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
                if message[0] == "done":
                    self._widen()
                yield slot, message
                _, message = self._news.get_nowait()
        except queue.Empty:
            return

    def _widen(self) -> None:
        """Twice as many places when what every one of them did was short."""
        self._answered += 1
        if self._answered < len(self._slots):
            return
        seconds = (time.perf_counter() - self._since) * self.size / self._answered
        if seconds < _SHORT and len(self._slots) < self.size * _AHEAD * _TOGETHER:
            self._slots += [ClusterPlace() for _ in self._slots]
        self._answered, self._since = 0, time.perf_counter()

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
    conversation.tell(("threads", threads))
    events: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_hear, args=(conversation, events), daemon=True).start()
    given = GivenToDask(client, ask, f"{purpose}: ", threads * _AHEAD, lambda *ended: events.put(ended))
    while client.status in ("running", "connecting"):
        for event in _happened(events):
            if event == _OVER:
                client.run(node.finish, ask, ship)
                return
            if event == _ALONE:
                return
            if not isinstance(event[0], list):
                given.waiting.append(event)
                continue
            tasks, future = event
            messages = given.ended(tasks, future)
            if messages == [("unshipped",)]:
                client.run(node.look_around, os.getcwd(), ship, node.zipped(Path.cwd()))
                given.submit(tasks)
                continue
            for message in messages:
                conversation.tell(message)
        given.submit_waiting()
    conversation.tell(_LOST)
    while events.get() not in (_OVER, _ALONE):
        pass


# What the process that explores has to say in the end: that it is over. Or nothing: it has gone.
_OVER, _ALONE = ("over",), ("alone",)
_LOST = ("lost", "the scheduler does not answer any more")


def _hear(conversation: Conversation, events: queue.Queue[Any]) -> None:
    try:
        while (heard := conversation.hear()) is not None:
            events.put(heard)
        events.put(_OVER)
    except (EOFError, OSError):
        events.put(_ALONE)


def _happened(events: queue.Queue[Any]) -> Iterator[Any]:
    """All that has happened; waits a second for the first."""
    try:
        yield events.get(timeout=1)
        while True:
            yield events.get_nowait()
    except queue.Empty:
        return


class GivenToDask:
    """Tasks of ours as tasks of Dask's: one of these for every place, each with a share of what waits."""

    def __init__(self, client: Any, ask: bytes, purpose: str, places: int, tell: Callable[[Any, Any], None]) -> None:
        self._client, self._ask, self._purpose, self._places, self._tell = client, ask, purpose, places, tell
        self.waiting: deque[tuple[int, Any]] = deque()
        self._futures: dict[int, Any] = {}  # by their first task; a future that nobody holds is not run
        self._suspects: set[int] = set()  # died with their node: nobody shares a task with them again
        self._times = itertools.count()

    def submit_waiting(self) -> None:
        while self.waiting and len(self._futures) < self._places:
            count = max(1, min(_TOGETHER, len(self.waiting) // self._places))
            if self._suspects.intersection(number for number, _ in itertools.islice(self.waiting, count)):
                count = 1
            self.submit([self.waiting.popleft() for _ in range(count)])

    def submit(self, tasks: list[tuple[int, Any]]) -> None:
        number, first = tasks[0]
        # one name for all: Dask keeps what it learns of a name for ever
        key = (f"{self._purpose}{type(first).__name__}", os.getpid(), number, next(self._times))
        future = self._client.submit(node.run_tasks, self._ask, pickle.dumps(tasks), key=key, pure=False)
        self._futures[number] = future
        future.add_done_callback(functools.partial(self._tell, tasks))

    def ended(self, tasks: list[tuple[int, Any]], future: Any) -> list[Any]:
        """What a task of Dask's came to: all that was said of ours."""
        del self._futures[tasks[0][0]]
        if future.status == "cancelled":  # not by us: a client that loses its scheduler gives up all it has asked for
            return [_LOST]
        if future.status == "finished":
            try:
                return node.unpacked(future.result(timeout=_ANSWER), os.getcwd())
            except Exception as error:  # the answer was lost with the node that had it
                why = _line(error)
        else:
            why = _line(future.exception())
        self._suspects.update(number for number, _ in tasks)
        return [("died", [number], why) for number, _ in tasks]


def _connected(cluster: Cluster) -> tuple[Any, int, str]:
    """A client, how many threads there are, and the name of what was sent; what does not fit is told."""
    distributed = _distributed()
    # what matters of versions that differ, and of a scheduler that goes away, is told in one sentence
    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(cluster.address, timeout=_ANSWER, set_as_default=False, name="treadle")
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {cluster.address} ({_line(error)}); is it running there?"
        ) from None
    try:
        return client, *_fitting(client, cluster)
    except BaseException:
        client.close()
        raise


def _fitting(client: Any, cluster: Cluster) -> tuple[int, str]:
    """How many threads there are, and the name of what was sent."""
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
    return sum(nodes.values()), ship


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
