"""A shutdown that races with a thread: the loop is closed before the thread has handed over its result."""

import asyncio
import threading

import treadle


class Service:
    def __init__(self) -> None:
        self.results: list[int] = []

    def report(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_soon_threadsafe(self.results.append, 1)  # the loop may be closed by now

    async def run(self) -> threading.Thread:
        thread = threading.Thread(target=self.report, args=(asyncio.get_running_loop(),))
        thread.start()
        await asyncio.sleep(0)
        return thread


class CarefulService(Service):
    async def run(self) -> threading.Thread:
        thread = await super().run()
        await asyncio.to_thread(thread.join)
        await asyncio.sleep(0)
        return thread


def start_and_stop(service: Service) -> None:
    asyncio.run(service.run()).join()
    assert service.results == [1]


@treadle.explore()
def test_buggy_service() -> None:
    start_and_stop(Service())


@treadle.explore()
def test_fixed_service() -> None:
    start_and_stop(CarefulService())
