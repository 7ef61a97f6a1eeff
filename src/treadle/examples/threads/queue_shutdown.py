"""Queue shutdown race: a task submitted while the worker is being stopped lands behind the stop mark, and is lost."""

import queue
import threading

import treadle


class Worker:
    def __init__(self) -> None:
        self.tasks: queue.Queue[str | None] = queue.Queue()
        self.stopping = False
        self.done: list[str] = []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while (task := self.tasks.get()) is not None:
            self.done.append(task)

    def submit(self, task: str) -> bool:
        if self.stopping:
            return False
        self.tasks.put(task)
        return True

    def stop(self) -> None:
        self.stopping = True
        self.tasks.put(None)
        self.thread.join()


class LockedWorker(Worker):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        super().__init__()

    def submit(self, task: str) -> bool:
        with self.lock:
            return super().submit(task)

    def stop(self) -> None:
        with self.lock:
            self.stopping = True
            self.tasks.put(None)
        self.thread.join()


def test_buggy_shutdown() -> None:
    worker = Worker()
    accepted, _ = treadle.parallel(lambda: worker.submit("mail"), worker.stop)
    assert worker.done == (["mail"] if accepted else [])


def test_fixed_shutdown() -> None:
    worker = LockedWorker()
    accepted, _ = treadle.parallel(lambda: worker.submit("mail"), worker.stop)
    assert worker.done == (["mail"] if accepted else [])
