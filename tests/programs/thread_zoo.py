"""Programs with threads as people write them: names imported, locks in classes, subclasses of everything."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from queue import Queue
from threading import Condition, Event, Lock, RLock, Thread, local
from time import monotonic, sleep

GUARD = Lock()
STATE = local()
total = 0


class Counter:
    lock = Lock()  # shared by all, made when the class was defined

    def __init__(self):
        self.value = 0

    def add(self):
        with self.lock:
            self.value += 1


@dataclass
class Account:
    balance: int = 0
    lock: object = field(default_factory=Lock)
    again: object = field(default_factory=RLock)

    def deposit(self, amount):
        with self.lock:
            with self.again, self.again:
                self.balance += amount

    def unsafe(self, amount):
        self.balance += amount


class Worker(Thread):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter
        self.done = False

    def run(self):
        self.counter.add()
        self.done = True


class Stack(Queue):
    """A queue with its own order, written in Python: rewritten code under the queue's mutex."""

    def _init(self, maxsize):
        self.kept = []

    def _qsize(self):
        return len(self.kept)

    def _put(self, item):
        self.kept = self.kept + [item]

    def _get(self):
        *self.kept, last = self.kept
        return last


class Mine(local):
    def __init__(self):
        self.depth = 0


MINE = Mine()


class Lazy:
    def __init__(self):
        self.made = 0

    @cached_property
    def thing(self):
        self.made += 1
        return object()


def both(*targets):
    threads = [Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def class_lock():
    counter = Counter()
    both(counter.add, counter.add)
    assert counter.value == 2


def global_lock():
    global total

    def add():
        global total
        with GUARD:
            total += 1

    both(add, add)
    assert total == 2


def default_factory_lock():
    account = Account()
    both(lambda: account.deposit(1), lambda: account.deposit(2))
    assert account.balance == 3


def no_lock():
    account = Account()
    both(lambda: account.unsafe(1), lambda: account.unsafe(2))
    assert account.balance == 3


def thread_subclass():
    counter = Counter()
    workers = [Worker(counter) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter.value == 2
    assert all(worker.done for worker in workers)


def queue_subclass():
    stack = Stack()
    both(lambda: stack.put(1), lambda: stack.put(2))
    assert sorted([stack.get(), stack.get()]) == [1, 2]


def thread_local():
    seen = []

    def work(number):
        STATE.number = number
        MINE.depth += number
        seen.append((STATE.number, MINE.depth))

    both(lambda: work(1), lambda: work(2))
    assert sorted(seen) == [(1, 1), (2, 2)]
    assert not hasattr(STATE, "number")
    assert MINE.depth == 0


def lazy_property():
    lazy = Lazy()
    seen = []
    both(lambda: seen.append(lazy.thing), lambda: seen.append(lazy.thing))
    assert lazy.made == 1


def handed_over():
    channel = Queue(1)
    got = []

    def produce():
        for number in range(2):
            channel.put(Account(number))
        channel.put(None)

    def consume():
        while (account := channel.get()) is not None:
            account.deposit(1)
            got.append(account.balance)

    both(produce, consume)
    assert got == [1, 2]


def waiting():
    condition, ready = Condition(), []

    def wait():
        with condition:
            condition.wait_for(lambda: ready)

    def tell():
        with condition:
            ready.append(1)
            condition.notify_all()

    both(wait, tell)


def pooled():
    account = Account()
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(account.deposit, [1, 2]))
    assert account.balance == 3


def pooled_no_lock():
    account = Account()
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(account.unsafe, [1, 2]))
    assert account.balance == 3


def timed():
    event = Event()
    before = monotonic()

    def later():
        sleep(5)
        event.set()

    thread = Thread(target=later)
    thread.start()
    assert not event.wait(2)
    assert event.wait(10)
    thread.join()
    assert round(monotonic() - before, 3) == 5  # a wait ends a little late


def drained():
    channel = queue.Queue()
    channel.put(1)

    def take():
        if not channel.empty():
            channel.get_nowait()

    both(take, take)


def timer_cancelled():
    fired = []
    timer = threading.Timer(1, fired.append, [1])
    timer.start()
    timer.cancel()
    timer.join()
    assert not fired


def dated():
    deadline = datetime.now() + timedelta(seconds=5)
    seen = []

    def watch():
        while datetime.now() < deadline:
            sleep(1)
        seen.append(datetime.now() - deadline)

    both(watch)
    assert timedelta(0) <= seen[0] < timedelta(seconds=2)
