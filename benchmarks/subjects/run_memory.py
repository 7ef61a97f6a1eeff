"""One search of 1 000 000 executions; prints the memory after 10 000, 100 000 and all of them."""

import json
import resource
import sys
import time

import treadle


class Counter:
    def __init__(self):
        self.x = 0

    def add(self):
        for _ in range(3):
            self.x = self.x + 1


def program():
    counter = Counter()
    treadle.parallel(counter.add, counter.add, counter.add)


def rss_now():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20


def main():
    marks = [int(mark) for mark in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    started = time.perf_counter()
    done = []

    def look(executions, estimate, name):
        while marks and executions >= marks[0]:
            marks.pop(0)
            done.append({"executions": executions, "rss_mib": round(rss_now(), 1), "seconds": time.perf_counter() - started})
            print(json.dumps(done[-1]), flush=True)

    last = marks[-1]
    result = treadle.check(program, strategy="dpor", executions=last, progress=look)
    look(result.executions, None, "")


main()
