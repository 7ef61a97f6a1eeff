"""A node of a Dask cluster: what runs inside the Dask process there, and the Treadle worker processes that it drives.

A worker process is started for what is asked, and kept for the next task of the same campaign; it ends with the
campaign, with the Dask process, or after a minute without work.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import pickle
import queue
import shutil
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from treadle.search.workers import WorkerProcess

# Seconds without work after which a worker process of another campaign is taken to be left behind.
_IDLE = 60.0


class NodeFacts(NamedTuple):
    """What a node has: its Python, its Treadle, and a digest of the project's code, empty when that is not there."""

    python: tuple[int, int]
    treadle: str
    code: str


class _Free(NamedTuple):
    process: WorkerProcess
    news: queue.Queue[Any]
    since: float


_FREE: dict[bytes, list[_Free]] = {}
_BUSY: dict[bytes, list[WorkerProcess]] = {}
_FOLDERS: dict[str, str] = {}
_CHANGING = threading.Lock()


def look_around(folder: str, ship: str, data: bytes) -> NodeFacts:
    """What there is; what was sent is unpacked."""
    if ship and ship not in _FOLDERS:
        _FOLDERS[ship] = _unpacked(data)
    place = Path(_FOLDERS[ship] if ship else folder)
    return NodeFacts(sys.version_info[:2], version("treadle"), digest(place) if place.is_dir() else "")


def prepare(ask: bytes) -> str:
    """Start a worker process; why it cannot do what is asked, or nothing."""
    process, news = _started(ask)
    _, message = news.get()
    if message == ("ready",):
        _put_back(ask, process, news)
        return ""
    return message[1] if message is not None else f"its worker process ended ({process.ended()})"


def run_tasks(ask: bytes, tasks: bytes) -> bytes:
    """Give tasks to a worker process, one after the other; everything it says. A new node has no shipped code."""
    shipped = pickle.loads(ask)[-1]
    if shipped and shipped not in _FOLDERS:
        return packed([("unshipped",)], "")
    heard: list[Any] = []
    for number, task in pickle.loads(tasks):
        heard += _run_task(ask, number, task)
    return packed(heard, _FOLDERS[shipped] if shipped else "")


def _run_task(ask: bytes, number: int, task: Any) -> list[Any]:
    """What a worker process says of one task, the result last; of one that dies, why."""
    process, news = _taken(ask)
    process.tell((number, task))
    heard: list[Any] = []
    while True:
        _, message = news.get()
        if message is None:
            with _CHANGING:
                _BUSY[_key(ask)] = [one for one in _BUSY.get(_key(ask), []) if one is not process]
            refused = [one for one in heard if one[0] == "refused"]
            return refused or [*heard, ("died", [number], f"the worker process died ({process.ended()})")]
        if message[0] != "ready":
            heard.append(message)
        if message[0] == "done":
            _put_back(ask, process, news)
            return heard


def finish(ask: bytes, ship: str) -> None:
    """The campaign is over: nothing is left of it."""
    with _CHANGING:
        left = [one.process for one in _FREE.pop(_key(ask), [])] + _BUSY.pop(_key(ask), [])
    for process in left:
        process.stop()
    shutil.rmtree(_FOLDERS.pop(ship, ""), ignore_errors=True)


def _key(ask: bytes) -> bytes:
    return hashlib.sha256(ask).digest()


def _taken(ask: bytes) -> tuple[WorkerProcess, queue.Queue[Any]]:
    with _CHANGING:
        mine = _FREE.get(_key(ask))
        found = mine.pop() if mine else None
        left_behind = [one for some in _FREE.values() for one in some if time.monotonic() - one.since > _IDLE]
        for key, some in list(_FREE.items()):
            _FREE[key] = [one for one in some if one not in left_behind]
    for one in left_behind:
        one.process.stop()
    process, news = (found.process, found.news) if found is not None else _started(ask)
    with _CHANGING:
        _BUSY.setdefault(_key(ask), []).append(process)
    return process, news


def _put_back(ask: bytes, process: WorkerProcess, news: queue.Queue[Any]) -> None:
    with _CHANGING:
        busy = _BUSY.get(_key(ask), [])
        if process in busy:
            busy.remove(process)
        _FREE.setdefault(_key(ask), []).append(_Free(process, news, time.monotonic()))


def _started(ask: bytes) -> tuple[WorkerProcess, queue.Queue[Any]]:
    server, setup, folder, path, environment, ship = pickle.loads(ask)
    news: queue.Queue[Any] = queue.Queue()
    where = _FOLDERS[ship] if ship else folder
    return WorkerProcess(server, setup, environment, news, where, [where, *path] if ship else path), news


@atexit.register
def _stop_all() -> None:
    for some in _FREE.values():
        for one in some:
            one.process.stop()
    for folder in _FOLDERS.values():
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------- what is said of a folder


class _AwayPickler(pickle.Pickler):
    """Leaves the name of a folder open."""

    folder: str

    def persistent_id(self, one: Any) -> list[str] | None:
        return one.split(self.folder) if type(one) is str and self.folder in one else None


class _HomeUnpickler(pickle.Unpickler):
    """Puts the name of another folder there."""

    folder: str

    def persistent_load(self, parts: list[str]) -> str:
        return self.folder.join(parts)


def packed(messages: list[Any], folder: str) -> bytes:
    """Messages that speak of the folder where code was shipped to, as they are to be read where it came from."""
    data = io.BytesIO()
    pickler = _AwayPickler(data, pickle.HIGHEST_PROTOCOL) if folder else pickle.Pickler(data, pickle.HIGHEST_PROTOCOL)
    if isinstance(pickler, _AwayPickler):
        pickler.folder = folder
    pickler.dump(messages)
    return data.getvalue()


def unpacked(data: bytes, folder: str) -> list[Any]:
    unpickler = _HomeUnpickler(io.BytesIO(data))
    unpickler.folder = folder
    return list(unpickler.load())


# ---------------------------------------------------------------------- the code of a project


def _files(folder: Path) -> Iterator[Path]:
    """The files of a project, without what is made from them, hidden ones, and environments."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in ("__pycache__", "node_modules")
            and not Path(place, name, "pyvenv.cfg").exists()
        )
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


def digest(folder: Path) -> str:
    """Of the code in a folder."""
    found = hashlib.sha256()
    for path in _files(folder):
        if path.suffix in (".py", ".abs"):
            found.update(f"{path.relative_to(folder)}\0".encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def zipped(folder: Path) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(folder):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return data.getvalue()


def _unpacked(data: bytes) -> str:
    folder = tempfile.mkdtemp(prefix="treadle-shipped-")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder
