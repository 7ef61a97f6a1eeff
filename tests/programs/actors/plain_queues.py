"""Programs that know nothing of mailboxes: their queues are taken for mailboxes by `treadle schedule`."""

import asyncio
import queue
import threading


def test_threads():
    inbox = queue.Queue()
    seen = []

    def ledger():
        while (message := inbox.get()) != "stop":
            seen.append(message)

    reader = threading.Thread(target=ledger)
    reader.start()
    writers = [threading.Thread(target=inbox.put, args=(name,)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    inbox.put("stop")
    reader.join()
    assert seen == ["a", "b"]


async def test_tasks():
    inbox = asyncio.Queue()

    async def put(name):
        await inbox.put(name)

    first, second = asyncio.create_task(put("a")), asyncio.create_task(put("b"))
    assert [await inbox.get(), await inbox.get()] == ["a", "b"]
    await asyncio.gather(first, second)


async def test_workers():
    """Two workers read one queue of limited size, and everything is done."""
    jobs = asyncio.Queue(maxsize=1)
    done = []

    async def work():
        while True:
            job = await jobs.get()
            done.append(job)
            jobs.task_done()

    workers = [asyncio.create_task(work()) for _ in range(2)]
    for job in range(3):
        await jobs.put(job)
    await jobs.join()
    for worker in workers:
        worker.cancel()
    assert sorted(done) == [0, 1, 2]


def test_bounded():
    room = queue.Queue(1)
    got = []

    def reader():
        for _ in range(2):
            got.append(room.get())

    thread = threading.Thread(target=reader)
    thread.start()
    room.put(1)
    room.put(2)
    thread.join()
    assert got == [1, 2]


async def test_nothing_comes():
    inbox = asyncio.Queue()
    await inbox.get()


async def test_taken_without_waiting():
    inbox = asyncio.Queue()
    for number in range(3):
        inbox.put_nowait(number)
    taken = []
    while not inbox.empty():
        taken.append(inbox.get_nowait())
    assert taken == [0, 1, 2]


def test_a_thread_that_has_gone_home():
    """The reader ends at "stop": what comes later is never read."""
    inbox, seen = queue.Queue(), []

    def ledger():
        while (message := inbox.get()) != "stop":
            seen.append(message)

    threads = [threading.Thread(target=ledger), *(threading.Thread(target=inbox.put, args=(m,)) for m in ("stop", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not seen


async def test_a_task_that_has_gone_home():
    inbox, seen = asyncio.Queue(), []

    async def ledger():
        while (message := await inbox.get()) != "stop":
            seen.append(message)

    await asyncio.gather(ledger(), inbox.put("stop"), inbox.put("a"))
    assert not seen
