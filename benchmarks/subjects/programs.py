"""The programs that every tool explores: shared state, and the functions that run in threads on it.

Written once, in the plainest form, so that all tools see the same source.
"""

import queue
import threading


class Counter:
    def __init__(self):
        self.x = 0


def add(times):
    def worker(counter):
        for _ in range(times):
            counter.x = counter.x + 1

    return worker


class Locks:
    def __init__(self):
        self.a = threading.Lock()
        self.b = threading.Lock()


def a_then_b(locks):
    with locks.a:
        with locks.b:
            pass


def b_then_a(locks):
    with locks.b:
        with locks.a:
            pass


class Pipe:
    def __init__(self):
        self.queue = queue.Queue(1)
        self.got = []


def produce(pipe):
    for number in range(2):
        pipe.queue.put(number)


def consume(pipe):
    for _ in range(2):
        pipe.got.append(pipe.queue.get())


class Variable:
    def __init__(self):
        self.x = 0


def write(variable):
    variable.x = 1


def read(variable):
    return variable.x


class Cells:
    def __init__(self):
        self.c0 = self.c1 = self.c2 = self.c3 = self.c4 = self.c5 = 0


def write_1(cells):
    cells.c1 = cells.c0 + 1


def write_2(cells):
    cells.c2 = cells.c1 + 1


def write_3(cells):
    cells.c3 = cells.c2 + 1


def write_4(cells):
    cells.c4 = cells.c3 + 1


def write_5(cells):
    cells.c5 = cells.c4 + 1


def scan(cells):
    if cells.c5 == 0:
        return
    if cells.c4 == 0:
        return
    if cells.c3 == 0:
        return
    if cells.c2 == 0:
        return
    if cells.c1 == 0:
        return
    cells.c0


# name -> how the shared state is made, and the workers
PROGRAMS = {
    "2 x 1 increments": (Counter, [add(1), add(1)]),
    "2 x 3 increments": (Counter, [add(3), add(3)]),
    "3 x 1 increments": (Counter, [add(1), add(1), add(1)]),
    "opposite-order locks": (Locks, [a_then_b, b_then_a]),
    "Queue(1), 2 items": (Pipe, [produce, consume]),
    "readers(6)": (Variable, [write] + [read] * 6),
    "lastzero(5)": (Cells, [scan, write_1, write_2, write_3, write_4, write_5]),
}


def model(name):
    """The program as one function that starts threads and joins them."""
    setup, workers = PROGRAMS[name]

    def program():
        state = setup()
        threads = [threading.Thread(target=worker, args=(state,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return program
