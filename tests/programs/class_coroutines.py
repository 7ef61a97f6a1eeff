"""Classes whose methods are coroutines, each with a corrected twin."""

import asyncio
import functools


class Cache:
    """Checks, awaits, acts."""

    def __init__(self) -> None:
        self.values: dict[int, int] = {}
        self.loads = 0

    async def get(self, key: int) -> int:
        if key not in self.values:
            await asyncio.sleep(0)
            self.loads += 1
            self.values[key] = self.loads
        return self.values[key]


class LockedCache(Cache):
    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()

    async def get(self, key: int) -> int:
        async with self.lock:
            return await super().get(key)


class Pool:
    """Looks for room, awaits the connection, counts it."""

    def __init__(self) -> None:
        self.open = 0

    async def acquire(self) -> bool:
        if self.open >= 1:
            return False
        await asyncio.sleep(0)
        self.open += 1
        return True

    async def release(self) -> None:
        if self.open:
            self.open -= 1


class CountingPool(Pool):
    """Counts before it awaits."""

    async def acquire(self) -> bool:
        if self.open >= 1:
            return False
        self.open += 1
        await asyncio.sleep(0)
        return True


class Held:
    """Keeps its lock when it is cancelled at the await."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.total = 0

    async def add(self) -> int:
        await self.lock.acquire()
        await asyncio.sleep(0)
        self.total += 1
        self.lock.release()
        return self.total


class Released(Held):
    async def add(self) -> int:
        async with self.lock:
            await asyncio.sleep(0)
            self.total += 1
            return self.total


class Box:
    """Waits by design: whoever is cancelled leaves it full, or empty."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[int] = asyncio.Queue(1)

    async def put(self, item: int) -> None:
        await self.queue.put(item)

    async def get(self) -> int:
        return await self.queue.get()

    def size(self) -> int:
        return self.queue.qsize()


class Register:
    """A later call fails when an entry is not there, because who was to make it was cancelled."""

    def __init__(self) -> None:
        self.entries: set[int] = set()
        self.lock = asyncio.Lock()

    async def add(self, entry: int) -> None:
        async with self.lock:
            self.entries.add(entry)

    def first(self) -> int:
        return min(self.entries)


class Handed:
    """A lock that is handed to who waits first, also when that one is cancelled before it knows."""

    def __init__(self) -> None:
        self._owner: object = None
        self._waiters: list[tuple[object, asyncio.Event]] = []

    async def __aenter__(self) -> None:
        me = asyncio.current_task()
        if self._owner is None:
            self._owner = me
            return
        waiter = (me, asyncio.Event())
        self._waiters.append(waiter)
        try:
            await waiter[1].wait()
        except BaseException:
            if not waiter[1].is_set():
                self._waiters.remove(waiter)
            raise

    async def __aexit__(self, *error: object) -> None:
        if self._waiters:
            self._owner, event = self._waiters.pop(0)
            event.set()
        else:
            self._owner = None


class Fetching:
    """A task of the object's own fetches what somebody asks for; whoever else asks meanwhile waits for the same."""

    def __init__(self) -> None:
        self.found: dict[str, asyncio.Future[str]] = {}

    async def get(self, key: str) -> str:
        if key not in self.found:
            self.found[key] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._fetch(key))
            task.add_done_callback(functools.partial(self._fetched, key))
        return await asyncio.shield(self.found[key])  # who is cancelled leaves the others alone

    async def _fetch(self, key: str) -> str:
        await asyncio.sleep(0)
        return key.upper()

    def _fetched(self, key: str, task: asyncio.Task[str]) -> None:
        asyncio.get_running_loop().call_later(60, self.found.pop, key, None)
        self.found[key].set_result(task.result())

    def fetching(self) -> int:
        return sum(not future.done() for future in self.found.values())


class Forgetting(Fetching):
    """Whoever waits for what is forgotten waits for ever."""

    def forget(self, key: str) -> None:
        self.found.pop(key, None)


class ClosedMeanwhile:
    """Correct: to close it cancels what is being loaded."""

    def __init__(self):
        self._closed = False
        self._tasks = set()

    async def load(self, key: str) -> str:
        if self._closed:
            raise RuntimeError("closed")
        task = asyncio.ensure_future(self._load(key))
        self._tasks.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)

    async def _load(self, key):
        await asyncio.sleep(0)
        return key

    async def close(self):
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
