"""Actors that are threads or tasks of the program's own, with queues as mailboxes."""

import asyncio
import queue
import threading

import treadle


class Ledger(threading.Thread):
    """Reads its queue until it is told to stop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.inbox = treadle.actors.mailbox(queue.Queue(), "Ledger")
        self.entries = []

    def run(self):
        while (message := self.inbox.get()) != "stop":
            self.entries.append(message)


def _post(number):
    ledger = Ledger()
    ledger.start()
    threads = [threading.Thread(target=ledger.inbox.put, args=(name,)) for name in "abc"[:number]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.inbox.put("stop")
    ledger.join()
    return ledger.entries


def test_two_threads():
    assert sorted(_post(2)) == ["a", "b"]


def test_three_threads():
    assert sorted(_post(3)) == ["a", "b", "c"]


def test_first_come():
    assert _post(2) == ["a", "b"]


async def _consumer(inbox, seen):
    while (message := await inbox.get()) != "stop":
        seen.append(message)
        inbox.task_done()
    inbox.task_done()


async def _producer(inbox, name, number):
    for count in range(number):
        await inbox.put(f"{name}{count}")


async def _tasks(number):
    inbox = treadle.actors.mailbox(asyncio.Queue(), "Consumer")
    seen = []
    consumer = asyncio.create_task(_consumer(inbox, seen))
    await asyncio.gather(_producer(inbox, "a", number), _producer(inbox, "b", number))
    await inbox.join()
    await inbox.put("stop")
    await consumer
    return seen


def test_tasks():
    seen = asyncio.run(_tasks(1))
    assert sorted(seen) == ["a0", "b0"]


def test_tasks_of_two():
    seen = asyncio.run(_tasks(2))
    assert seen.index("a0") < seen.index("a1")


def test_order_of_tasks():
    assert asyncio.run(_tasks(1)) == ["a0", "b0"]
