"""Explores one program with frontrun's DPOR, again and again for some seconds; prints what a search took."""

import json
import sys
import time

import programs

import frontrun

name, seconds = sys.argv[1], float(sys.argv[2])
setup, workers = programs.PROGRAMS[name]


def search():
    return frontrun.explore(
        setup,
        workers,
        lambda state: True,
        preemption_bound=None,
        stop_on_first=True,
        reproduce_on_failure=0,
        detect_io=False,
        total_timeout=seconds,
    )


def main():
    executions = 0
    started, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        before = time.perf_counter()
        result = search()
        executions += result.num_explored
        cut = time.perf_counter() - before >= seconds
    spent = time.perf_counter() - started
    answer = {
        "executions": result.num_explored,
        "rate": executions / spent,
        "cpu_rate": executions / (time.process_time() - used),
        "found": result.property_holds is False,
        "complete": not cut and result.property_holds is not None,
    }
    print(json.dumps(answer))


main()
