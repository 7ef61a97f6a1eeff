"""Explores one program with the exhaustive search of interleave-test (at most 2 preemptions, its default)."""

import json
import sys
import time

import programs

import interleave_test

seconds = float(sys.argv[2])
program = programs.model(sys.argv[1])


def search(strategy, most):
    return interleave_test.explore(program, iterations=most, seed=0, strategy=strategy, raise_on_failure=False)


def main():
    started = time.perf_counter()
    search("random", 50)  # how many schedules may fit in the time
    most = max(50, int(50 / (time.perf_counter() - started) * seconds))
    started, used = time.perf_counter(), time.process_time()
    result = search("dfs", most)
    spent = time.perf_counter() - started
    answer = {
        "executions": result.schedules_run,
        "rate": result.schedules_run / spent,
        "cpu_rate": result.schedules_run / (time.process_time() - used),
        "found": result.failure is not None,
        "complete": result.exhausted or result.failure is not None,
    }
    print(json.dumps(answer))


main()
